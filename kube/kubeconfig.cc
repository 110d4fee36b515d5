// SPDX-License-Identifier: Apache-2.0
#include "kube/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reclaim::kube {
namespace {

// One entry of clusters, users or contexts, and where it stands.
struct Entry {
  YAML::Node body;
  std::string file;
  std::string where;  // "FILE: users[\"admin\"]"
};
using Entries = std::map<std::string, Entry>;

absl::Status Wrong(absl::string_view where, absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ".", field, ": ", what));
}

bool HasControls(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

// Reads members of one entry; keeps the first error, so that callers check once at the end.
class FieldReader {
 public:
  explicit FieldReader(const Entry& entry) : entry_(entry) {}

  const absl::Status& status() const { return status_; }

  bool Has(const char* field) const {
    return entry_.body.IsMap() && entry_.body[field].IsDefined() && !entry_.body[field].IsNull();
  }

  // A value that goes into a header or a message may not hold control characters.
  std::string Text(const char* field) {
    if (!Has(field)) return "";
    const YAML::Node node = entry_.body[field];
    if (!node.IsScalar()) return Fail(field, "must be text");
    if (HasControls(node.Scalar())) return Fail(field, "control characters in it");
    return node.Scalar();
  }

  std::vector<std::string> TextList(const char* field) {
    std::vector<std::string> list;
    if (!Has(field)) return list;
    const YAML::Node node = entry_.body[field];
    if (!node.IsSequence()) {
      Fail(field, "must be a list of text");
      return list;
    }
    for (const YAML::Node& item : node) {
      if (!item.IsScalar() || HasControls(item.Scalar())) {
        Fail(field, "must be a list of text without control characters");
        break;
      }
      list.push_back(item.Scalar());
    }
    return list;
  }

  bool Bool(const char* field) {
    const std::string text = Text(field);
    if (text.empty() || text == "false") return false;
    if (text != "true") Fail(field, "must be true or false");
    return text == "true";
  }

  // A path, made relative to the kubeconfig's folder.
  std::string Path(const char* field) {
    const std::string path = Text(field);
    if (path.empty()) return "";
    const std::filesystem::path folder = std::filesystem::path(entry_.file).parent_path();
    return (folder / path).lexically_normal().string();
  }

  // NAME-data (base64), else the path NAME.
  PemSource Pem(const char* field) {
    PemSource source;
    const std::string data_field = absl::StrCat(field, "-data");
    if (!Has(data_field.c_str())) {
      source.path = Path(field);
      return source;
    }
    const YAML::Node node = entry_.body[data_field];
    if (!node.IsScalar() || !absl::Base64Unescape(node.Scalar(), &source.data) ||
        source.data.empty()) {
      Fail(data_field.c_str(), "must be base64");
    }
    return source;
  }

  std::string Fail(const char* field, absl::string_view what) {
    if (status_.ok()) status_ = Wrong(entry_.where, field, what);
    return "";
  }

 private:
  const Entry& entry_;
  absl::Status status_;
};

absl::Status ReadCluster(const Entry& entry, ClientConfig& config) {
  FieldReader fields(entry);
  if (fields.Has("proxy-url")) {
    return Wrong(entry.where, "proxy-url", "proxies are not supported; name the server directly");
  }
  const std::string server = fields.Text("server");
  config.certificate_authority = fields.Pem("certificate-authority");
  config.tls_server_name = fields.Text("tls-server-name");
  config.insecure_skip_tls_verify = fields.Bool("insecure-skip-tls-verify");
  if (!fields.status().ok()) return fields.status();
  if (config.insecure_skip_tls_verify && !config.certificate_authority.empty()) {
    return Wrong(entry.where, "insecure-skip-tls-verify",
                 "cannot be true together with certificate-authority; remove one of them");
  }
  absl::Status parsed = ParseServerUrl(server, config);
  if (!parsed.ok()) return Wrong(entry.where, "server", parsed.message());
  return absl::OkStatus();
}

absl::Status ReadUser(const Entry& entry, ClientConfig& config) {
  FieldReader fields(entry);
  if (fields.Has("exec")) {
    return Wrong(entry.where, "exec",
                 "credential plugins are not supported; use tokenFile or client-certificate");
  }
  if (fields.Has("auth-provider")) {
    return Wrong(entry.where, "auth-provider",
                 "Kubernetes removed auth providers in 1.26; use tokenFile or client-certificate");
  }
  config.client_certificate = fields.Pem("client-certificate");
  config.client_key = fields.Pem("client-key");
  config.token = fields.Text("token");
  config.token_file = fields.Path("tokenFile");
  config.username = fields.Text("username");
  config.password = fields.Text("password");
  config.impersonate_user = fields.Text("as");
  config.impersonate_uid = fields.Text("as-uid");
  config.impersonate_groups = fields.TextList("as-groups");
  if (!fields.status().ok()) return fields.status();
  if (config.client_certificate.empty() != config.client_key.empty()) {
    return config.client_key.empty()
               ? Wrong(entry.where, "client-key", "missing; client-certificate needs it")
               : Wrong(entry.where, "client-certificate", "missing; client-key needs it");
  }
  return absl::OkStatus();
}

// All files as one, first wins.
struct Merged {
  Entries clusters;
  Entries users;
  Entries contexts;
  std::string current_context;
  std::string files;  // for messages
};

absl::Status AddEntries(const YAML::Node& root, const char* list_name, const char* body_name,
                        const std::string& file, Entries& entries) {
  const YAML::Node list = root[list_name];
  if (!list.IsDefined() || list.IsNull()) return absl::OkStatus();
  if (!list.IsSequence()) return Wrong(file, list_name, "must be a list");
  for (const YAML::Node& item : list) {
    if (!item.IsMap() || !item["name"].IsDefined() || !item["name"].IsScalar()) {
      return Wrong(file, list_name, "an entry without a name");
    }
    const std::string name = item["name"].Scalar();
    const YAML::Node body = item[body_name];
    const std::string where = absl::StrCat(file, ": ", list_name, "[\"", name, "\"]");
    if (body.IsDefined() && !body.IsNull() && !body.IsMap()) {
      return Wrong(where, body_name, "must be a map");
    }
    entries.try_emplace(name, Entry{body.IsDefined() ? body : YAML::Node(), file, where});
  }
  return absl::OkStatus();
}

absl::Status AddFile(const KubeconfigFile& file, Merged& merged) {
  const YAML::Node root = YAML::Load(file.text);
  if (!merged.files.empty()) merged.files += ':';
  merged.files += file.path;
  if (root.IsNull()) return absl::OkStatus();  // kubectl takes an empty file for an empty config
  if (!root.IsMap())
    return absl::InvalidArgumentError(absl::StrCat(file.path, ": not a kubeconfig"));
  absl::Status status = AddEntries(root, "clusters", "cluster", file.path, merged.clusters);
  status.Update(AddEntries(root, "users", "user", file.path, merged.users));
  status.Update(AddEntries(root, "contexts", "context", file.path, merged.contexts));
  const YAML::Node current = root["current-context"];
  if (current.IsDefined() && current.IsScalar() && merged.current_context.empty()) {
    merged.current_context = current.Scalar();
  }
  return status;
}

absl::StatusOr<ClientConfig> Follow(const Merged& merged, absl::string_view wanted) {
  const std::string name = wanted.empty() ? merged.current_context : std::string(wanted);
  if (name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(merged.files, ": current-context is not set; name a context"));
  }
  const auto context = merged.contexts.find(name);
  if (context == merged.contexts.end()) {
    return absl::InvalidArgumentError(absl::StrCat(merged.files, ": no context \"", name, "\""));
  }
  FieldReader fields(context->second);
  const std::string cluster_name = fields.Text("cluster");
  const std::string user_name = fields.Text("user");
  const std::string name_space = fields.Text("namespace");
  if (!fields.status().ok()) return fields.status();

  ClientConfig config;
  config.source = merged.files;
  if (!name_space.empty()) config.default_namespace = name_space;
  const auto cluster = merged.clusters.find(cluster_name);
  if (cluster == merged.clusters.end()) {
    return Wrong(context->second.where, "cluster",
                 absl::StrCat("no cluster \"", cluster_name, "\""));
  }
  absl::Status status = ReadCluster(cluster->second, config);
  if (!status.ok()) return status;
  if (user_name.empty()) return config;
  const auto user = merged.users.find(user_name);
  if (user == merged.users.end()) {
    return Wrong(context->second.where, "user", absl::StrCat("no user \"", user_name, "\""));
  }
  status = ReadUser(user->second, config);
  if (!status.ok()) return status;
  return config;
}

}  // namespace

absl::StatusOr<ClientConfig> MergeKubeconfigs(const std::vector<KubeconfigFile>& files,
                                              absl::string_view context) {
  Merged merged;
  for (const KubeconfigFile& file : files) {
    try {
      absl::Status status = AddFile(file, merged);
      if (!status.ok()) return status;
    } catch (const YAML::Exception& error) {
      return absl::InvalidArgumentError(absl::StrCat(file.path, ": ", error.what()));
    }
  }
  try {
    return Follow(merged, context);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(merged.files, ": ", error.what()));
  }
}

absl::Status ParseServerUrl(absl::string_view url, ClientConfig& config) {
  absl::string_view rest = url;
  if (absl::ConsumePrefix(&rest, "https://")) {
    config.tls = true;
  } else if (absl::ConsumePrefix(&rest, "http://")) {
    config.tls = false;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", url, "\" must begin with https:// or http://"));
  }
  const absl::string_view authority = rest.substr(0, rest.find('/'));
  config.path_prefix = std::string(absl::StripSuffix(rest.substr(authority.size()), "/"));
  if (config.path_prefix.find_first_of("?# ") != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("\"", url, "\" may not have a query"));
  }

  absl::string_view host = authority;
  absl::string_view port;
  if (absl::StartsWith(authority, "[")) {
    const size_t end = authority.find(']');
    if (end == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("\"", url, "\" has a '[' without ']'"));
    }
    host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (!port.empty() && !absl::ConsumePrefix(&port, ":")) {
      return absl::InvalidArgumentError(absl::StrCat("\"", url, "\" has text after ']'"));
    }
  } else if (const size_t colon = authority.find(':'); colon != absl::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
  }
  if (host.empty() || host.find_first_of("@ []") != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("\"", url, "\" has no usable host"));
  }
  config.host = std::string(host);
  config.port = config.tls ? 443 : 80;
  if (!port.empty() &&
      (!absl::SimpleAtoi(port, &config.port) || config.port < 1 || config.port > 65535)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", url, "\" has no usable port"));
  }
  return absl::OkStatus();
}

}  // namespace reclaim::kube
