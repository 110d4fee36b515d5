// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_CRDS_CRD_SCHEMA_H_
#define RECLAIM_CRDS_CRD_SCHEMA_H_

#include <string>

#include "yaml-cpp/yaml.h"

// For tests: the openAPIV3Schema of a CRD of this folder, and one of its top-level properties.
namespace reclaim::crds {

// `file` is a name in crds/. Aborts the test program when it cannot be read.
inline YAML::Node LoadSchema(const std::string& file) {
  const YAML::Node crd = YAML::LoadFile(std::string(RECLAIM_SOURCE_DIR "/crds/") + file);
  return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
}

inline YAML::Node LoadProperty(const std::string& file, const std::string& property) {
  return LoadSchema(file)["properties"][property];
}

}  // namespace reclaim::crds

#endif  // RECLAIM_CRDS_CRD_SCHEMA_H_
