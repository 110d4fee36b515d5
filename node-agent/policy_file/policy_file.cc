// SPDX-License-Identifier: Apache-2.0
#include "node-agent/policy_file/policy_file.h"

#include <errno.h>
#include <sys/stat.h>

#include <sstream>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/policy_validate.h"
#include "common/reasons.h"
#include "node-agent/policy_file/yaml_message.h"
#include "node-agent/state/durable_file.h"
#include "openssl/sha.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/parser.h"

namespace reclaim::agent {
namespace {

constexpr size_t kMaxPolicyFile = size_t{256} * 1024;
constexpr char kApiVersion[] = "kswapd.dev/v1alpha1";
constexpr char kKind[] = "ReclaimPolicy";

absl::Status At(const std::string& file, int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ": ", what));
}

std::string ContentHash(const std::string& bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)).substr(0, 8));
}

// Line of a field, or of the nearest field around it: an error may be about one that is missing.
int LineOf(std::string path, const LineMap& lines) {
  while (!path.empty()) {
    const auto found = lines.find(path);
    if (found != lines.end()) return found->second;
    const size_t cut = path.find_last_of(".[");
    path.resize(cut == std::string::npos ? 0 : cut);
  }
  return 1;
}

absl::Status CheckWord(const YAML::Node& document, const char* field, const char* wanted,
                       const std::string& file) {
  const YAML::Node node = document[field];
  if (!node) {
    return At(file, document.Mark().line + 1, absl::StrCat(field, ": missing; must be ", wanted));
  }
  if (!node.IsScalar() || node.Scalar() != wanted) {
    return At(file, node.Mark().line + 1, absl::StrCat(field, ": must be ", wanted));
  }
  return absl::OkStatus();
}

// apiVersion, kind, metadata.name; `status` is the operator's and is passed over.
absl::StatusOr<std::string> ReadHead(const YAML::Node& document, const std::string& file) {
  if (!document.IsMap()) return At(file, 1, "the document must be a ReclaimPolicy manifest");
  if (absl::Status status = CheckWord(document, "apiVersion", kApiVersion, file); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckWord(document, "kind", kKind, file); !status.ok()) return status;
  for (const auto& pair : document) {
    const std::string& name = pair.first.Scalar();
    if (name != "apiVersion" && name != "kind" && name != "metadata" && name != "spec" &&
        name != "status") {
      return At(file, pair.first.Mark().line + 1,
                absl::StrCat(absl::CHexEscape(name),
                             ": unknown field; the fields here are apiVersion, kind, metadata, "
                             "spec"));
    }
  }
  const YAML::Node metadata = document["metadata"];
  const YAML::Node name = metadata && metadata.IsMap() ? metadata["name"] : YAML::Node();
  if (!name || !name.IsScalar() || name.Scalar().empty()) {
    return At(file, (metadata ? metadata : document).Mark().line + 1,
              "metadata.name: missing; the policy needs a name");
  }
  return name.Scalar();
}

class IgnoreEvents : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// 0, 1, or 2 for more. YAML::LoadAll would tell too, but of some text (",x") it makes one empty
// document after another, without end.
int CountDocumentsToTwo(absl::string_view text) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  IgnoreEvents ignore;
  int count = 0;
  while (count < 2 && parser.HandleNextDocument(ignore)) ++count;
  return count;
}

absl::StatusOr<SpecUpdate> ReadPolicy(const YAML::Node& document, const std::string& file) {
  absl::StatusOr<std::string> name = ReadHead(document, file);
  if (!name.ok()) return name.status();

  SpecUpdate update;
  kswapd::v1alpha1::ReclaimPolicySpec& spec = *update.spec.mutable_spec();
  LineMap lines;
  const YAML::Node spec_node = document["spec"];
  if (!spec_node) return At(file, document.Mark().line + 1, "spec: missing");
  lines["spec"] = spec_node.Mark().line + 1;
  if (absl::Status status = ReadYamlMessage(spec_node, "spec", spec, lines); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ":", status.message()));
  }
  const std::vector<FieldError> errors = ValidatePolicySpec(spec);
  if (!errors.empty()) {
    return At(file, LineOf(errors[0].path, lines),
              absl::StrCat(
                  errors[0].path, " ", errors[0].message,
                  errors.size() == 1 ? "" : absl::StrCat(" (and ", errors.size() - 1, " more)")));
  }

  kswapd::v1alpha1::PolicyInForce& policy = *update.spec.mutable_policy();
  policy.set_name(*name);
  policy.set_generation(1);
  policy.set_revision(ContentHash(spec.SerializeAsString()));
  policy.set_reason(reason::kOnlyMatch);
  policy.set_message(absl::StrCat("read from ", file));
  update.version = ContentHash(update.spec.SerializeAsString());
  return update;
}

}  // namespace

absl::StatusOr<SpecUpdate> ParsePolicy(absl::string_view text, const std::string& file_name) {
  // yaml-cpp throws on syntax errors; nothing leaves this function but a status.
  try {
    const int documents = CountDocumentsToTwo(text);
    if (documents != 1) {
      return At(file_name, 1,
                absl::StrCat("must hold one ReclaimPolicy; it has ",
                             documents == 0 ? "no document" : "more than one document"));
    }
    return ReadPolicy(YAML::Load(std::string(text)), file_name);
  } catch (const YAML::Exception& error) {
    return At(file_name, error.mark.line + 1, absl::StrCat("not YAML: ", error.msg));
  }
}

PolicyFile::Identity PolicyFile::Identify() const {
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) return {.error = errno};
  return {.inode = info.st_ino,
          .size = info.st_size,
          .modified_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
          .regular = S_ISREG(info.st_mode)};
}

std::optional<absl::StatusOr<SpecUpdate>> PolicyFile::Poll() {
  const Identity identity = Identify();
  if (last_ == identity) return std::nullopt;
  last_ = identity;
  if (!identity.regular && identity.error == 0) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": is not a regular file"));
  }
  absl::StatusOr<std::optional<std::string>> text = ReadWhole(path_, kMaxPolicyFile);
  if (!text.ok()) return text.status();
  if (!text->has_value()) {
    return absl::NotFoundError(absl::StrCat(path_, ": there is no such file"));
  }
  return ParsePolicy(**text, path_);
}

}  // namespace reclaim::agent
