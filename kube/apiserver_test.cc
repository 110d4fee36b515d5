// SPDX-License-Identifier: Apache-2.0
// Against a real kube-apiserver, whose kubeconfig stands in RECLAIM_TEST_KUBECONFIG: what a fake
// server cannot prove, that we and Kubernetes mean the same.
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing/eventually.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/pager.h"
#include "kube/reflector.h"
#include "kube/secret.h"
#include "kube/status.h"
#include "kube/store.h"
#include "kube/token_review.h"

namespace reclaim::kube {
namespace {

using ::testing::HasSubstr;

const GroupVersionResource kNamespaces{"", "v1", "namespaces", false};
const GroupVersionResource kServiceAccounts{"", "v1", "serviceaccounts", true};

Json ConfigMap(const std::string& name_space, const std::string& name, const Json& data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", name}, {"namespace", name_space}}},
          {"data", data}};
}

// Each test has a namespace of its own.
class ApiserverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* kubeconfig = std::getenv("RECLAIM_TEST_KUBECONFIG");
    if (kubeconfig == nullptr) GTEST_SKIP() << "RECLAIM_TEST_KUBECONFIG is not set";
    LoadConfigOptions options;
    options.kubeconfig_path = kubeconfig;
    absl::StatusOr<ClientConfig> config = LoadConfig(options);
    ASSERT_TRUE(config.ok()) << config.status();
    config_ = *config;
    absl::StatusOr<std::unique_ptr<Transport>> transport = NewTransport(config_, clock_);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
    client_ = std::make_unique<Client>(*transport_);
    const absl::StatusOr<Json> created =
        client_->Create(kNamespaces, {{"apiVersion", "v1"},
                                      {"kind", "Namespace"},
                                      {"metadata", {{"generateName", "kube-test-"}}}});
    ASSERT_TRUE(created.ok()) << created.status();
    name_space_ = NameOf(*created);
  }

  void TearDown() override {
    if (!name_space_.empty()) {
      EXPECT_TRUE(client_->Delete(kNamespaces, {"", name_space_}).ok());
    }
  }

  Json Put(const std::string& name, const Json& data) {
    const auto created = client_->Create(ConfigMaps(), ConfigMap(name_space_, name, data));
    EXPECT_TRUE(created.ok()) << created.status();
    return created.value_or(Json());
  }

  SystemClock clock_;
  ClientConfig config_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
  std::string name_space_;
};

TEST_F(ApiserverTest, CreatesReadsUpdatesAndDeletes) {
  const Json created = Put("cm", {{"a", "1"}});
  EXPECT_TRUE(kube::IsAlreadyExists(
      client_->Create(ConfigMaps(), ConfigMap(name_space_, "cm", Json::object())).status()));

  Json object = client_->Get(ConfigMaps(), {name_space_, "cm"}).value();
  EXPECT_EQ(ResourceVersionOf(object), ResourceVersionOf(created));
  object["data"]["a"] = "2 \"quoted\" /slash/ \xc3\xa9";
  const auto updated = client_->Update(ConfigMaps(), object);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ((*updated)["data"], object["data"]);
  EXPECT_TRUE(IsConflict(client_->Update(ConfigMaps(), object).status()));  // an old version

  const auto patched = client_->Patch(ConfigMaps(), {name_space_, "cm"}, PatchType::kMerge,
                                      {{"data", {{"a", nullptr}, {"b", "3"}}}});
  ASSERT_TRUE(patched.ok()) << patched.status();
  EXPECT_EQ((*patched)["data"], (Json{{"b", "3"}}));

  EXPECT_TRUE(IsConflict(
      client_->Delete(ConfigMaps(), {name_space_, "cm"}, {.uid = "00000000-0000-0000-0000-0000"})));
  EXPECT_TRUE(client_->Delete(ConfigMaps(), {name_space_, "cm"}, {.uid = UidOf(created)}).ok());
  EXPECT_TRUE(kube::IsNotFound(client_->Get(ConfigMaps(), {name_space_, "cm"}).status()));
}

TEST_F(ApiserverTest, RefusalsSayWhy) {
  const absl::Status invalid =
      client_->Create(ConfigMaps(), ConfigMap(name_space_, "Not A Name", Json::object())).status();
  EXPECT_TRUE(IsInvalid(invalid)) << invalid;
  EXPECT_THAT(invalid.message(), HasSubstr("metadata.name"));
  ClientConfig stranger = config_;
  stranger.client_certificate = {};
  stranger.client_key = {};
  stranger.token = "not-a-token";
  const auto transport = NewTransport(stranger, clock_).value();
  Client client(*transport);
  EXPECT_TRUE(IsUnauthorized(client.Get(ConfigMaps(), {name_space_, "cm"}).status()));
}

TEST_F(ApiserverTest, AppliedFieldsHaveOneOwner) {
  const auto apply = [&](const char* manager, const Json& data, bool force) {
    return client_->Apply(ConfigMaps(), ConfigMap(name_space_, "cm", data),
                          {.field_manager = manager, .force = force});
  };
  ASSERT_TRUE(apply("one", {{"a", "1"}, {"path", "/x/y"}}, false).ok());  // creates
  ASSERT_TRUE(apply("two", {{"b", "2"}}, false).ok());
  const absl::Status conflict = apply("two", {{"a", "9"}}, false).status();
  EXPECT_TRUE(IsConflict(conflict)) << conflict;
  EXPECT_THAT(conflict.message(), HasSubstr(".data.a"));
  const auto forced = apply("two", {{"a", "9"}}, true);
  ASSERT_TRUE(forced.ok()) << forced.status();
  // What "two" left out is gone, what "one" owns stays.
  EXPECT_EQ((*forced)["data"], (Json{{"a", "9"}, {"path", "/x/y"}}));
  const auto again = apply("two", {{"a", "9"}}, true);
  EXPECT_EQ(ResourceVersionOf(*again), ResourceVersionOf(*forced)) << "an equal apply wrote";
}

TEST_F(ApiserverTest, StatusIsAppliedApartFromTheRest) {
  const std::string node = absl::StrCat("node-", name_space_);
  ASSERT_TRUE(client_
                  ->Create(Nodes(),
                           {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", node}}}})
                  .ok());
  const Json status = {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", {{"name", node}}},
      {"spec", {{"unschedulable", true}}},
      {"status",
       {{"conditions",
         Json::array(
             {{{"type", "Test"}, {"status", "True"}, {"reason", "R"}, {"message", "m"}}})}}}};
  const auto applied = client_->ApplyStatus(Nodes(), status, {.field_manager = "status-test"});
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_EQ(StringAt((*applied)["status"]["conditions"][0], {"type"}), "Test");
  EXPECT_EQ(Find(*applied, {"spec", "unschedulable"}), nullptr);
  EXPECT_TRUE(client_->Delete(Nodes(), {"", node}).ok());
}

TEST_F(ApiserverTest, ListsInPages) {
  for (int i = 0; i < 7; ++i) Put(absl::StrCat("cm-", i), Json::object());
  const auto first = client_->List(ConfigMaps(), {.name_space = name_space_, .limit = 3});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)["items"].size(), 3);
  EXPECT_NE(StringAt(*first, {"metadata", "continue"}), "");
  std::set<std::string> names;
  const auto version =
      ListAll(*client_, ConfigMaps(),
              {.name_space = name_space_,
               .field_selector = "metadata.name!=cm-6,metadata.name!=kube-root-ca.crt",
               .limit = 2},
              {.on_restart = [&] { names.clear(); },
               .on_item = [&](const Json& item) { names.insert(NameOf(item)); }});
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_EQ(names.size(), 6);
  const absl::Status bad =
      client_->List(ConfigMaps(), {.limit = 3, .continue_token = "nonsense"}).status();
  EXPECT_FALSE(bad.ok());
}

TEST_F(ApiserverTest, AReflectorFollowsWhatHappens) {
  Put("before", {{"v", "1"}});
  Store<Json> store(KeepWholeObject);
  Reflector reflector(*client_, {.resource = ConfigMaps(), .name_space = name_space_}, store,
                      clock_);
  reflector.Start();
  ASSERT_TRUE(reflector.WaitForSync(kPatience));
  const std::string key = name_space_ + "/before";
  ASSERT_NE(store.Get(key), nullptr);
  EXPECT_EQ(Find(*store.Get(key), {"metadata", "managedFields"}), nullptr);

  Put("after", {{"v", "1"}});
  ASSERT_TRUE(Eventually("the new ConfigMap",
                         [&] { return store.Get(name_space_ + "/after") != nullptr; }));
  ASSERT_TRUE(client_
                  ->Patch(ConfigMaps(), {name_space_, "before"}, PatchType::kMerge,
                          {{"data", {{"v", "2"}}}})
                  .ok());
  ASSERT_TRUE(Eventually("the changed value", [&] {
    return StringAt(*store.Get(key), {"data", "v"}) == "2";
  }));
  ASSERT_TRUE(client_->Delete(ConfigMaps(), {name_space_, "before"}).ok());
  ASSERT_TRUE(Eventually("the deletion", [&] { return store.Get(key) == nullptr; }));
  reflector.Stop();
  EXPECT_EQ(reflector.stats().lists, 1);
  EXPECT_EQ(reflector.stats().watch_errors, 0);
}

// The server sends a bookmark shortly before its own deadline, and ends the stream cleanly.
TEST_F(ApiserverTest, WatchesGoOnAfterTheServersDeadlineWithoutAnotherList) {
  Store<Json> store(KeepWholeObject);
  Reflector reflector(*client_,
                      {.resource = ConfigMaps(),
                       .name_space = name_space_,
                       .watch_min = absl::Seconds(6),
                       .watch_max = absl::Seconds(6)},
                      store, clock_);
  reflector.Start();
  ASSERT_TRUE(Eventually("the first watch", [&] { return reflector.stats().watches >= 1; }));
  Put("first", Json::object());  // a watch that has missed nothing gets no bookmark
  ASSERT_TRUE(Eventually("a second watch", [&] { return reflector.stats().watches >= 2; }));
  Put("later", Json::object());
  ASSERT_TRUE(Eventually("an object in the second watch",
                         [&] { return store.Get(name_space_ + "/later") != nullptr; }));
  EXPECT_GE(reflector.stats().bookmarks, 1);
  EXPECT_EQ(reflector.stats().lists, 1);
  EXPECT_EQ(reflector.stats().watch_errors, 0);
}

TEST_F(ApiserverTest, AWatchFromAnOldVersionGetsTheHistoryOrA410) {
  Put("cm", Json::object());
  StreamOptions stream;
  std::string data;
  stream.on_data = [&](absl::string_view piece) {
    data.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  const absl::Status past = client_->Watch(
      ConfigMaps(),
      {.name_space = name_space_, .resource_version = "1", .server_timeout = absl::Seconds(1)},
      stream);
  // Either form of 410 that the server may choose, or a history that still reaches back that far.
  EXPECT_TRUE(past.ok() || IsGone(past)) << past;
  if (past.ok()) {
    EXPECT_THAT(data, ::testing::AnyOf(HasSubstr("410"), HasSubstr("ADDED")));
  }
}

TEST_F(ApiserverTest, SecretsKeepTheirBytes) {
  const SecretData data = {{"key", std::string("\0\x01\xff", 3)}};
  ASSERT_TRUE(client_->Create(Secrets(), MakeSecret(name_space_, "s", "Opaque", data)).ok());
  Json secret = client_->Get(Secrets(), {name_space_, "s"}).value();
  EXPECT_EQ(DecodeSecret(secret).value(), data);
  SetSecretData(secret, {{"other", "x"}});
  const auto updated = client_->Update(Secrets(), secret);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(DecodeSecret(*updated).value(), (SecretData{{"other", "x"}}));
}

TEST_F(ApiserverTest, ATokenIsReviewedForItsAudience) {
  ASSERT_TRUE(client_
                  ->Create(kServiceAccounts,
                           {{"apiVersion", "v1"},
                            {"kind", "ServiceAccount"},
                            {"metadata", {{"name", "agent"}, {"namespace", name_space_}}}})
                  .ok());
  HttpRequest request;
  request.method = "POST";
  request.path = ResourcePath(kServiceAccounts, name_space_, "agent", "token");
  request.content_type = "application/json";
  request.body = DumpJson({{"apiVersion", "authentication.k8s.io/v1"},
                           {"kind", "TokenRequest"},
                           {"spec", {{"audiences", Json::array({"ours"})}}}});
  const auto response = transport_->Request(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->status, 201) << response->body;
  const std::string token =
      StringAt(ParseJson(response->body, "TokenRequest").value(), {"status", "token"});

  const auto identity = ReviewToken(*client_, token, "ours");
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->username, absl::StrCat("system:serviceaccount:", name_space_, ":agent"));
  EXPECT_EQ(identity->node_name, "");
  EXPECT_TRUE(absl::IsUnauthenticated(ReviewToken(*client_, token, "theirs").status()));
  EXPECT_TRUE(absl::IsUnauthenticated(ReviewToken(*client_, token + "x", "ours").status()));
}

}  // namespace
}  // namespace reclaim::kube
