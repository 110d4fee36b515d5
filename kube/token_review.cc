// SPDX-License-Identifier: Apache-2.0
#include "kube/token_review.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace reclaim::kube {
namespace {

std::vector<std::string> TextList(const Json* list) {
  std::vector<std::string> texts;
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& item : *list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string SingleExtra(const Json& review, absl::string_view name) {
  const std::vector<std::string> values = TextList(Find(
      review, {"status", "user", "extra", absl::StrCat("authentication.kubernetes.io/", name)}));
  return values.size() == 1 ? values.front() : "";
}

}  // namespace

absl::StatusOr<TokenIdentity> ReviewToken(Client& client, absl::string_view token,
                                          absl::string_view audience) {
  if (audience.empty()) return absl::InvalidArgumentError("a token review needs an audience");
  if (token.empty()) return absl::UnauthenticatedError("no token");
  const absl::StatusOr<Json> review = client.Create(
      TokenReviews(),
      {{"apiVersion", "authentication.k8s.io/v1"},
       {"kind", "TokenReview"},
       {"spec",
        {{"token", std::string(token)}, {"audiences", Json::array({std::string(audience)})}}}});
  if (!review.ok()) {
    return absl::UnavailableError(
        absl::StrCat("the token could not be reviewed: ", review.status().ToString()));
  }
  const Json* authenticated = Find(*review, {"status", "authenticated"});
  if (authenticated == nullptr || !authenticated->is_boolean() || !authenticated->get<bool>()) {
    const std::string error = StringAt(*review, {"status", "error"}, "not authenticated");
    return absl::UnauthenticatedError(absl::StrCat("token refused: ", error));
  }
  const std::vector<std::string> audiences = TextList(Find(*review, {"status", "audiences"}));
  if (std::find(audiences.begin(), audiences.end(), audience) == audiences.end()) {
    return absl::UnauthenticatedError(
        absl::StrCat("token refused: it is not for audience \"", audience, "\""));
  }
  TokenIdentity identity;
  identity.username = StringAt(*review, {"status", "user", "username"});
  if (identity.username.empty()) {
    return absl::UnauthenticatedError("token refused: the review names no user");
  }
  identity.uid = StringAt(*review, {"status", "user", "uid"});
  identity.groups = TextList(Find(*review, {"status", "user", "groups"}));
  identity.node_name = SingleExtra(*review, "node-name");
  identity.node_uid = SingleExtra(*review, "node-uid");
  identity.pod_name = SingleExtra(*review, "pod-name");
  identity.pod_uid = SingleExtra(*review, "pod-uid");
  return identity;
}

}  // namespace reclaim::kube
