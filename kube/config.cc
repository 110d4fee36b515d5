// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/credentials.h"
#include "kube/kubeconfig.h"

namespace reclaim::kube {
namespace {

std::string Environment(const LoadConfigOptions& options, const char* name) {
  if (options.environment) return options.environment(name).value_or("");
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Files that exist; an error for one that exists and cannot be read.
absl::StatusOr<std::vector<KubeconfigFile>> ReadExisting(const std::vector<std::string>& paths) {
  std::vector<KubeconfigFile> files;
  for (const std::string& path : paths) {
    absl::StatusOr<std::string> text = ReadFile(path);
    if (absl::IsNotFound(text.status())) continue;
    if (!text.ok()) return text.status();
    files.push_back({path, *std::move(text)});
  }
  return files;
}

}  // namespace

absl::StatusOr<ClientConfig> LoadConfig(const LoadConfigOptions& options) {
  if (!options.kubeconfig_path.empty()) {
    absl::StatusOr<std::string> text = ReadFile(options.kubeconfig_path);
    if (!text.ok()) return text.status();
    return ParseKubeconfig(*text, options.kubeconfig_path, options.context);
  }
  std::vector<std::string> paths =
      absl::StrSplit(Environment(options, "KUBECONFIG"), ':', absl::SkipEmpty());
  const bool named = !paths.empty();
  const std::string home = Environment(options, "HOME");
  if (!named && !home.empty()) paths.push_back(absl::StrCat(home, "/.kube/config"));
  absl::StatusOr<std::vector<KubeconfigFile>> files = ReadExisting(paths);
  if (!files.ok()) return files.status();
  if (!files->empty()) return MergeKubeconfigs(*files, options.context);

  absl::StatusOr<ClientConfig> in_cluster = LoadInClusterConfig(options);
  if (!absl::IsNotFound(in_cluster.status())) return in_cluster;
  return absl::NotFoundError(absl::StrCat(
      "no way to the API server: ",
      named ? absl::StrCat("no file of KUBECONFIG=", Environment(options, "KUBECONFIG"), " exists")
            : "there is no --kubeconfig, no KUBECONFIG and no ~/.kube/config",
      ", and ", in_cluster.status().message()));
}

absl::StatusOr<ClientConfig> LoadInClusterConfig(const LoadConfigOptions& options) {
  ClientConfig config;
  config.source = "in-cluster";
  config.host = Environment(options, "KUBERNETES_SERVICE_HOST");
  const std::string port = Environment(options, "KUBERNETES_SERVICE_PORT");
  if (config.host.empty() || port.empty()) {
    return absl::NotFoundError(
        "this is not a pod (KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is unset)");
  }
  if (!absl::SimpleAtoi(port, &config.port) || config.port < 1 || config.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("in-cluster: KUBERNETES_SERVICE_PORT=", port, " is not a port"));
  }
  config.token_file = absl::StrCat(options.service_account_dir, "/token");
  config.certificate_authority.path = absl::StrCat(options.service_account_dir, "/ca.crt");
  const absl::StatusOr<std::string> name_space =
      ReadFile(absl::StrCat(options.service_account_dir, "/namespace"));
  if (name_space.ok())
    config.default_namespace = std::string(absl::StripAsciiWhitespace(*name_space));
  if (config.default_namespace.empty()) config.default_namespace = "default";
  return config;
}

absl::StatusOr<ClientConfig> ParseKubeconfig(absl::string_view text, absl::string_view path,
                                             absl::string_view context) {
  return MergeKubeconfigs({{std::string(path), std::string(text)}}, context);
}

}  // namespace reclaim::kube
