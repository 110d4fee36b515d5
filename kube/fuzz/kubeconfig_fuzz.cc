// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any bytes as a kubeconfig give a configuration or a status, never an exception.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/match.h"
#include "kube/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = reclaim::kube::ParseKubeconfig(text, "/etc/kubeconfig");
  if (!config.ok() && !absl::StrContains(config.status().message(), "/etc/kubeconfig"))
    std::abort();
  if (config.ok() && (config->host.empty() || config->port < 1 || config->port > 65535))
    std::abort();
  return 0;
}
