// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_KUBECONFIG_H_
#define RECLAIM_KUBE_KUBECONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/config.h"

namespace reclaim::kube {

struct KubeconfigFile {
  std::string path;  // for messages, and what its relative paths are relative to
  std::string text;
};

// Merges kubeconfig files (the first that names a cluster, user, context or the current context
// wins) and follows one context to its cluster and user. `context` empty: current-context.
// Pure: reads no file. kInvalidArgument names the file and the field.
absl::StatusOr<ClientConfig> MergeKubeconfigs(const std::vector<KubeconfigFile>& files,
                                              absl::string_view context);

// "https://host:port/prefix" into the fields of `config`; kInvalidArgument says what is wrong.
absl::Status ParseServerUrl(absl::string_view url, ClientConfig& config);

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_KUBECONFIG_H_
