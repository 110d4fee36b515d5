// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_CONFIG_H_
#define RECLAIM_KUBE_CONFIG_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reclaim::kube {

// PEM text that stands in the configuration (`data`) or in a file that may be rotated (`path`).
// At most one is set; both empty means "none".
struct PemSource {
  std::string data = {};
  std::string path = {};

  bool empty() const { return data.empty() && path.empty(); }
};

// Where the API server is and how to prove who we are. Plain data, the result of LoadConfig.
struct ClientConfig {
  std::string source;  // for messages: "in-cluster" or the kubeconfig file(s)

  bool tls = true;   // false only for an http:// server
  std::string host;  // name or address; IPv6 without brackets
  int port = 443;
  std::string path_prefix;  // from the server's URL, "" or "/k8s/clusters/c-1": before every path

  PemSource certificate_authority;  // empty: the machine's trust store
  std::string tls_server_name;      // empty: `host`
  bool insecure_skip_tls_verify = false;

  PemSource client_certificate;
  PemSource client_key;
  std::string token;       // fixed token; `token_file` wins when both are set
  std::string token_file;  // re-read while running
  std::string username;    // HTTP basic
  std::string password;

  std::string impersonate_user;  // as, as-uid, as-groups
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;

  std::string default_namespace = "default";  // the context's, or the pod's own
};

struct LoadConfigOptions {
  // The --kubeconfig flag: used alone when set; it must exist.
  std::string kubeconfig_path = {};
  // The --context flag: empty means current-context.
  std::string context = {};
  // Reads the environment (KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT).
  // The default is getenv.
  std::function<std::optional<std::string>(const char* name)> environment = {};
  // Where the kubelet mounts token, ca.crt and namespace.
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Finds the configuration in kubectl's order: `kubeconfig_path`, else the ':' list in $KUBECONFIG
// (missing files are skipped; the first file that names a cluster, user, context or the current
// context wins), else ~/.kube/config, else the pod's own service account.
//
// A path inside a kubeconfig is relative to that file; "…-data" beats the file. `exec` and
// `auth-provider` users and `proxy-url` are refused with a sentence that says what to use instead.
// Errors are kInvalidArgument or kNotFound and name the file and the field. Does not read the
// certificate or token files; credentials.h does, again and again.
absl::StatusOr<ClientConfig> LoadConfig(const LoadConfigOptions& options);

// Only the pod's own service account. kNotFound when KUBERNETES_SERVICE_HOST is unset (not in a
// pod).
absl::StatusOr<ClientConfig> LoadInClusterConfig(const LoadConfigOptions& options);

// One kubeconfig as parsed text, for tests and fuzzing; `path` is used for relative paths and
// messages.
absl::StatusOr<ClientConfig> ParseKubeconfig(absl::string_view text, absl::string_view path,
                                             absl::string_view context = "");

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_CONFIG_H_
