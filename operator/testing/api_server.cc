// SPDX-License-Identifier: Apache-2.0
#include "operator/testing/api_server.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/testing/eventually.h"
#include "kube/config.h"
#include "kube/status.h"
#include "operator/controllers/objects.h"

namespace reclaim::op {
namespace {

const kube::GroupVersionResource kNamespaces{"", "v1", "namespaces", false};
const kube::GroupVersionResource kPods{"", "v1", "pods", true};
const kube::GroupVersionResource kServiceAccounts{"", "v1", "serviceaccounts", true};

[[noreturn]] void Die(absl::string_view what, const absl::Status& status) {
  fprintf(stderr, "test API server: %s: %s\n", std::string(what).c_str(),
          status.ToString().c_str());
  abort();
}

template <typename T>
T OrDie(absl::StatusOr<T> value, absl::string_view what) {
  if (!value.ok()) Die(what, value.status());
  return *std::move(value);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  if (!file) Die(path, absl::NotFoundError("cannot be read"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string RandomName() {
  absl::BitGen random;
  std::string name;
  for (int i = 0; i < 6; ++i) {
    name += "abcdefghijkmnpqrstuvwxyz23456789"[absl::Uniform(random, 0, 32)];
  }
  return name;
}

}  // namespace

TestApiServer::TestApiServer() : random_(RandomName()) {
  kube::IgnoreSigpipe();
  const char* kubeconfig = getenv("RECLAIM_TEST_KUBECONFIG");
  if (kubeconfig == nullptr) {
    Die("RECLAIM_TEST_KUBECONFIG is not set",
        absl::FailedPreconditionError("run this under ./dev apiserver -- …"));
  }
  const auto config =
      OrDie(kube::LoadConfig({.kubeconfig_path = kubeconfig}), "RECLAIM_TEST_KUBECONFIG");
  transport_ = OrDie(kube::NewTransport(config, clock_), "credentials");
  client_ = std::make_unique<kube::Client>(*transport_);
  ApplyCrds();
  name_space_ = Unique("reclaim-test");
  Make(kNamespaces,
       {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name_space_}}}});
}

TestApiServer::~TestApiServer() {
  for (auto it = made_.rbegin(); it != made_.rend(); ++it) {
    const absl::Status status = client_->Delete(it->resource, it->name);
    if (!status.ok() && !kube::IsNotFound(status)) {
      fprintf(stderr, "test API server: not deleted: %s\n", status.ToString().c_str());
    }
  }
}

void TestApiServer::ApplyCrds() {
  const kube::GroupVersionResource crds{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                        false};
  for (const std::string& name : {std::string("reclaimpolicies"), std::string("nodereclaims")}) {
    kube::HttpRequest request;
    request.method = "PATCH";
    request.path = kube::ResourcePath(crds, "", absl::StrCat(name, ".kswapd.dev"));
    request.query = {{"fieldManager", "reclaim-test"}, {"force", "true"}};
    request.content_type = "application/apply-patch+yaml";
    request.body = ReadText(absl::StrCat(RECLAIM_SOURCE_DIR, "/crds/kswapd.dev_", name, ".yaml"));
    const auto response = OrDie(transport_->Request(request), name);
    if (response.status >= 300) {
      Die(name, kube::MakeApiStatus("apply the CRD", response.status, response.body));
    }
  }
  for (const auto& resource : {ReclaimPolicies(), NodeReclaims()}) {
    const auto served = Eventually(absl::StrCat(resource.resource, " to be served"),
                                   [&] { return client_->List(resource, {.limit = 1}).ok(); });
    if (!served) Die(resource.resource, absl::DeadlineExceededError(served.message()));
  }
}

std::string TestApiServer::Unique(absl::string_view name) const {
  return absl::StrCat(name, "-", random_);
}

kube::Json TestApiServer::Make(const kube::GroupVersionResource& resource,
                               const kube::Json& object) {
  auto made = OrDie(client_->Create(resource, object), resource.resource);
  made_.push_back({resource, {kube::NamespaceOf(made), kube::NameOf(made)}});
  return made;
}

void TestApiServer::Remove(const kube::GroupVersionResource& resource, const std::string& name) {
  const absl::Status status = client_->Delete(resource, {"", name});
  if (!status.ok() && !kube::IsNotFound(status)) Die(name, status);
}

kube::Json TestApiServer::MakeNode(const std::string& name) {
  return Make(kube::Nodes(), {{"apiVersion", "v1"},
                              {"kind", "Node"},
                              {"metadata", {{"name", name}, {"labels", {{"test", random_}}}}}});
}

void TestApiServer::MakeServiceAccount(const std::string& name) {
  Make(kServiceAccounts, {{"apiVersion", "v1"},
                          {"kind", "ServiceAccount"},
                          {"metadata", {{"name", name}, {"namespace", name_space_}}}});
}

std::string TestApiServer::MakePod(const std::string& name, const std::string& service_account,
                                   const std::string& node) {
  const kube::Json container = {{"name", "agent"}, {"image", "agent"}};
  return kube::UidOf(Make(kPods, {{"apiVersion", "v1"},
                                  {"kind", "Pod"},
                                  {"metadata", {{"name", name}, {"namespace", name_space_}}},
                                  {"spec",
                                   {{"serviceAccountName", service_account},
                                    {"automountServiceAccountToken", false},
                                    // There is no kubelet that would end it.
                                    {"terminationGracePeriodSeconds", 0},
                                    {"nodeName", node},
                                    {"containers", kube::Json::array({container})}}}}));
}

std::string TestApiServer::MakeToken(const std::string& service_account,
                                     const std::string& audience, const std::string& pod,
                                     const std::string& pod_uid) {
  kube::Json spec = {{"audiences", {audience}}, {"expirationSeconds", 600}};
  if (!pod.empty()) {
    spec["boundObjectRef"] = {
        {"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod}, {"uid", pod_uid}};
  }
  kube::HttpRequest request;
  request.method = "POST";
  request.path = kube::ResourcePath(kServiceAccounts, name_space_, service_account, "token");
  request.content_type = "application/json";
  request.body = kube::DumpJson(
      {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", spec}});
  const auto response = OrDie(transport_->Request(request), "TokenRequest");
  if (response.status >= 300) {
    Die("TokenRequest", kube::MakeApiStatus("token", response.status, response.body));
  }
  return kube::StringAt(OrDie(kube::ParseJson(response.body, "TokenRequest"), "TokenRequest"),
                        {"status", "token"});
}

absl::Status TestApiServer::ApplyPolicy(const std::string& name, const std::string& spec) {
  const kube::Json object = {{"apiVersion", "kswapd.dev/v1alpha1"},
                             {"kind", "ReclaimPolicy"},
                             {"metadata", {{"name", name}}},
                             {"spec", OrDie(kube::ParseJson(spec, "spec"), spec)}};
  made_.push_back({ReclaimPolicies(), {"", name}});
  return client_
      ->Apply(ReclaimPolicies(), object, {.field_manager = "reclaim-test-admin", .force = true})
      .status();
}

}  // namespace reclaim::op
