// SPDX-License-Identifier: Apache-2.0
#include "operator/controllers/objects.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/log.h"
#include "common/policy_validate.h"
#include "operator/controllers/unknown_fields.h"
#include "operator/policy/content_hash.h"

namespace reclaim::op {
namespace {

constexpr char kApiVersion[] = "kswapd.dev/v1alpha1";

// kLenient leaves out what the message cannot hold.
enum class Reading { kStrict, kLenient };

absl::Status ReadMessage(const kube::Json* json, absl::string_view what,
                         google::protobuf::Message& message, Reading reading = Reading::kLenient) {
  message.Clear();
  if (json == nullptr) return absl::OkStatus();
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = reading == Reading::kLenient;
  const auto status =
      google::protobuf::util::JsonStringToMessage(kube::DumpJson(*json), &message, options);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, ": ", absl::string_view(status.message().data(), status.message().size())));
}

// `zeros`: numbers that are 0 and texts that are empty are written too.
kube::Json WriteMessage(const google::protobuf::Message& message, bool zeros = false) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = zeros;
  std::string text;
  const auto written = google::protobuf::util::MessageToJsonString(message, &text, options);
  auto json = kube::ParseJson(text, "a message that was just written");
  if (!written.ok() || !json.ok()) {
    // Strings of proto3 are UTF-8 and our numbers are finite: a message always has a JSON form.
    LogError("message without a JSON form", {{"type", message.GetTypeName()}});
    return kube::Json::object();
  }
  return *std::move(json);
}

absl::Status RequireName(const kube::Json& object) {
  if (kube::NameOf(object).empty()) return absl::InvalidArgumentError("an object without a name");
  return absl::OkStatus();
}

// Only what selects nodes, of a spec that cannot be read as a whole.
absl::Status ReadSelection(const kube::Json* spec, kswapd::v1alpha1::ReclaimPolicySpec& out) {
  kube::Json selection = kube::Json::object();
  for (const char* field : {"nodeSelector", "priority"}) {
    if (const kube::Json* value = kube::Find(*spec, {field})) selection[field] = *value;
  }
  return ReadMessage(&selection, "spec", out);
}

// Reads the spec as far as this version can. Returns why it cannot be used, in a sentence that
// names the field; empty when it can. kInvalidArgument when it is no policy at all.
absl::StatusOr<std::string> ReadSpec(const kube::Json* spec,
                                     kswapd::v1alpha1::ReclaimPolicySpec& out) {
  const absl::Status strict = ReadMessage(spec, "spec", out, Reading::kStrict);
  if (strict.ok()) return FormatFieldErrors(ValidatePolicySpec(out));
  const absl::Status lenient = ReadMessage(spec, "spec", out);
  if (lenient.ok()) {
    const std::vector<std::string> unknown = FindUnknown(*spec, *out.GetDescriptor(), "spec");
    if (unknown.empty()) return std::string(strict.message());
    return absl::StrCat("this version of the operator does not know ", absl::StrJoin(unknown, ", "),
                        "; upgrade it or take that out of the spec");
  }
  const absl::Status selection = ReadSelection(spec, out);
  if (!selection.ok()) return selection;
  return std::string(lenient.message());
}

}  // namespace

const kube::GroupVersionResource& ReclaimPolicies() {
  static const auto& resource =
      *new kube::GroupVersionResource{"kswapd.dev", "v1alpha1", "reclaimpolicies", false};
  return resource;
}

const kube::GroupVersionResource& NodeReclaims() {
  static const auto& resource =
      *new kube::GroupVersionResource{"kswapd.dev", "v1alpha1", "nodereclaims", false};
  return resource;
}

absl::StatusOr<StoredPolicy> ProjectPolicy(const kube::Json& object) {
  const absl::Status named = RequireName(object);
  if (!named.ok()) return named;
  StoredPolicy stored;
  stored.resource_version = kube::ResourceVersionOf(object);
  Policy& policy = stored.policy;
  policy.name = kube::NameOf(object);
  policy.uid = kube::UidOf(object);
  policy.generation = static_cast<int32_t>(kube::IntAt(object, {"metadata", "generation"}));
  std::string error;
  const std::string created = kube::StringAt(object, {"metadata", "creationTimestamp"});
  if (!absl::ParseTime(absl::RFC3339_full, created, &policy.created, &error)) {
    return absl::InvalidArgumentError(absl::StrCat("metadata.creationTimestamp: ", error));
  }
  absl::StatusOr<std::string> invalid = ReadSpec(kube::Find(object, {"spec"}), policy.spec);
  if (!invalid.ok()) return invalid.status();
  policy.invalid = *std::move(invalid);
  policy.revision = RevisionOf(policy.spec);
  const absl::Status status = ReadMessage(kube::Find(object, {"status"}), "status", policy.status);
  if (!status.ok()) {
    LogWarning("status not readable, taken as empty",
               {{"policy", policy.name}, {"error", status.message()}});
    policy.status.Clear();
  }
  return stored;
}

absl::StatusOr<Node> ProjectNode(const kube::Json& object) {
  const absl::Status named = RequireName(object);
  if (!named.ok()) return named;
  Node node;
  node.name = kube::NameOf(object);
  node.uid = kube::UidOf(object);
  const kube::Json* labels = kube::Find(object, {"metadata", "labels"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      if (value.is_string()) node.labels[key] = value.get<std::string>();
    }
  }
  if (auto it = node.labels.find("topology.kubernetes.io/zone"); it != node.labels.end()) {
    node.zone = it->second;
  }
  const kube::Json* unschedulable = kube::Find(object, {"spec", "unschedulable"});
  node.unschedulable = unschedulable != nullptr && *unschedulable == true;
  const kube::Json* conditions = kube::Find(object, {"status", "conditions"});
  if (conditions != nullptr && conditions->is_array()) {
    for (const kube::Json& condition : *conditions) {
      if (kube::StringAt(condition, {"type"}) == "Ready") {
        node.ready = kube::StringAt(condition, {"status"}) == "True";
      }
    }
  }
  return node;
}

absl::StatusOr<NodeReclaim> ProjectNodeReclaim(const kube::Json& object) {
  const absl::Status named = RequireName(object);
  if (!named.ok()) return named;
  NodeReclaim reclaim;
  reclaim.name = kube::NameOf(object);
  reclaim.uid = kube::UidOf(object);
  reclaim.resource_version = kube::ResourceVersionOf(object);
  const kube::Json* owners = kube::Find(object, {"metadata", "ownerReferences"});
  if (owners != nullptr && owners->is_array()) {
    for (const kube::Json& owner : *owners) {
      if (kube::StringAt(owner, {"kind"}) == "Node") {
        reclaim.owner_uid = kube::StringAt(owner, {"uid"});
      }
    }
  }
  const absl::Status status = ReadMessage(kube::Find(object, {"status"}), "status", reclaim.status);
  if (!status.ok()) {
    LogWarning("status not readable, taken as empty",
               {{"nodereclaim", reclaim.name}, {"error", status.message()}});
    reclaim.status.Clear();
  }
  return reclaim;
}

kube::Json MakeNodeReclaim(const Node& owner) {
  return {{"apiVersion", kApiVersion},
          {"kind", "NodeReclaim"},
          {"metadata",
           {{"name", owner.name},
            {"labels", {{"app.kubernetes.io/managed-by", "reclaim-operator"}}},
            {"ownerReferences", kube::Json::array({{{"apiVersion", "v1"},
                                                    {"kind", "Node"},
                                                    {"name", owner.name},
                                                    {"uid", owner.uid},
                                                    {"controller", false}}})}}}};
}

kube::Json MakeNodeReclaimStatus(absl::string_view name,
                                 const kswapd::v1alpha1::NodeReclaimStatus& status) {
  kube::Json json = WriteMessage(status);
  // The JSON mapping leaves false out, and here it is the news.
  if (auto kernel = json.find("kernel"); kernel != json.end()) {
    if (auto features = kernel->find("features"); features != kernel->end()) {
      for (kube::Json& feature : *features) feature.emplace("supported", false);
    }
  }
  return {{"apiVersion", kApiVersion},
          {"kind", "NodeReclaim"},
          {"metadata", {{"name", std::string(name)}}},
          {"status", std::move(json)}};
}

kube::Json MakePolicyStatus(absl::string_view name, absl::string_view uid,
                            const kswapd::v1alpha1::ReclaimPolicyStatus& status) {
  kube::Json json = WriteMessage(status);
  json["nodes"] = WriteMessage(status.nodes(), /*zeros=*/true);
  return {{"apiVersion", kApiVersion},
          {"kind", "ReclaimPolicy"},
          {"metadata", {{"name", std::string(name)}, {"uid", std::string(uid)}}},
          {"status", std::move(json)}};
}

}  // namespace reclaim::op
