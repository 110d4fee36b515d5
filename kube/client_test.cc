// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/status.h"
#include "kube/testing/scripted_transport.h"

namespace reclaim::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::ScriptedTransport;

const Json kConfigMap = {{"apiVersion", "v1"},
                         {"kind", "ConfigMap"},
                         {"metadata", {{"name", "cm"}, {"namespace", "ns"}}},
                         {"data", {{"a", "1"}}}};

class CountingObserver : public RequestObserver {
 public:
  void OnRequest(absl::string_view method, absl::string_view code) override {
    ++counts[absl::StrCat(method, " ", code)];
  }
  std::map<std::string, int> counts;
};

class ClientTest : public ::testing::Test {
 protected:
  ScriptedTransport transport_;
  CountingObserver observer_;
  Client client_{transport_, &observer_};
};

TEST_F(ClientTest, GetAsksForOneObject) {
  transport_.Answer(kConfigMap);
  EXPECT_EQ(client_.Get(ConfigMaps(), {"ns", "cm"}).value(), kConfigMap);
  EXPECT_EQ(transport_.requests[0].method, "GET");
  EXPECT_EQ(transport_.requests[0].path, "/api/v1/namespaces/ns/configmaps/cm");
  EXPECT_THAT(observer_.counts, ElementsAre(Pair("GET 200", 1)));
}

TEST_F(ClientTest, ListPassesItsOptionsOn) {
  transport_.Answer(Json{{"items", Json::array()}});
  ASSERT_TRUE(client_
                  .List(ConfigMaps(), {.name_space = "ns",
                                       .label_selector = "a=b",
                                       .field_selector = "metadata.name=x",
                                       .resource_version = "0",
                                       .limit = 500,
                                       .continue_token = "next"})
                  .ok());
  EXPECT_THAT(
      transport_.requests[0].query,
      ElementsAre(Pair("labelSelector", "a=b"), Pair("fieldSelector", "metadata.name=x"),
                  Pair("resourceVersion", "0"), Pair("limit", "500"), Pair("continue", "next")));
}

TEST_F(ClientTest, ApplySendsPlainJsonAsAnApplyPatch) {
  Json object = kConfigMap;
  object["data"]["path"] = "/a/b";
  transport_.Answer(object);
  transport_.Answer(object);
  ASSERT_TRUE(client_.Apply(ConfigMaps(), object, {.field_manager = "me"}).ok());
  ASSERT_TRUE(
      client_.ApplyStatus(ConfigMaps(), object, {.field_manager = "me", .force = false}).ok());
  const HttpRequest& apply = transport_.requests[0];
  EXPECT_EQ(apply.method, "PATCH");
  EXPECT_EQ(apply.path, "/api/v1/namespaces/ns/configmaps/cm");
  EXPECT_EQ(apply.content_type, "application/apply-patch+yaml");
  EXPECT_THAT(apply.query, ElementsAre(Pair("fieldManager", "me"), Pair("force", "true")));
  EXPECT_THAT(apply.body, HasSubstr(R"("path":"/a/b")"));
  EXPECT_EQ(transport_.requests[1].path, "/api/v1/namespaces/ns/configmaps/cm/status");
  EXPECT_THAT(transport_.requests[1].query, ElementsAre(Pair("fieldManager", "me")));
}

TEST_F(ClientTest, RefusesAnObjectThatTheServerWouldMisread) {
  Json managed = kConfigMap;
  managed["metadata"]["managedFields"] = Json::array();
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Apply(ConfigMaps(), managed, {"me"}).status()));
  Json kindless = kConfigMap;
  kindless.erase("kind");
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Create(ConfigMaps(), kindless).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(client_.Update(ConfigMaps(), kindless).status()));
  EXPECT_THAT(transport_.requests, IsEmpty());
}

TEST_F(ClientTest, DeleteCarriesItsPreconditions) {
  transport_.Answer(Json::object());
  transport_.Answer(Json::object());
  ASSERT_TRUE(client_.Delete(ConfigMaps(), {"ns", "cm"}).ok());
  ASSERT_TRUE(
      client_.Delete(ConfigMaps(), {"ns", "cm"}, {.uid = "u", .resource_version = "5"}).ok());
  EXPECT_EQ(transport_.requests[0].body, "");
  EXPECT_EQ(ParseJson(transport_.requests[1].body, "body").value()["preconditions"],
            (Json{{"uid", "u"}, {"resourceVersion", "5"}}));
}

TEST_F(ClientTest, PatchNamesItsType) {
  transport_.Answer(kConfigMap);
  transport_.Answer(kConfigMap);
  const Json patch = {{"data", nullptr}};
  ASSERT_TRUE(client_.Patch(ConfigMaps(), {"ns", "cm"}, PatchType::kMerge, patch).ok());
  ASSERT_TRUE(
      client_.Patch(ConfigMaps(), {"ns", "cm"}, PatchType::kJson, Json::array(), "status").ok());
  EXPECT_EQ(transport_.requests[0].content_type, "application/merge-patch+json");
  EXPECT_EQ(transport_.requests[1].content_type, "application/json-patch+json");
  EXPECT_EQ(transport_.requests[1].path, "/api/v1/namespaces/ns/configmaps/cm/status");
}

TEST_F(ClientTest, RepeatsWhatTheServerAsksToRepeat) {
  transport_.Answer(429, "", {{"retry-after", "0"}});
  transport_.Answer(503, "", {{"retry-after", "0"}});
  transport_.Answer(kConfigMap);
  EXPECT_TRUE(client_.Create(ConfigMaps(), kConfigMap).ok());
  EXPECT_THAT(observer_.counts,
              ElementsAre(Pair("POST 200", 1), Pair("POST 429", 1), Pair("POST 503", 1)));
}

TEST_F(ClientTest, RepeatsNothingWithoutRetryAfter) {
  for (int code : {429, 500, 503, 409, 404}) {
    transport_.Answer(code, "");
    EXPECT_FALSE(client_.Create(ConfigMaps(), kConfigMap).ok());
    EXPECT_EQ(transport_.answers_left(), 0);
  }
  transport_.Answer(409, "", {{"retry-after", "0"}});
  EXPECT_TRUE(IsConflict(client_.Update(ConfigMaps(), kConfigMap).status()));
}

TEST_F(ClientTest, GivesUpAfterTenAttempts) {
  for (int i = 0; i < 12; ++i) transport_.Answer(429, "", {{"retry-after", "0"}});
  EXPECT_TRUE(IsTooManyRequests(client_.Get(ConfigMaps(), {"ns", "cm"}).status()));
  EXPECT_EQ(transport_.requests.size(), Client::kMaxAttempts);
}

TEST_F(ClientTest, ShutdownEndsTheWaitForARetry) {
  transport_.Answer(429, "", {{"retry-after", "3600"}});
  std::thread stopper([this] { client_.Shutdown(); });
  EXPECT_TRUE(IsTooManyRequests(client_.Get(ConfigMaps(), {"ns", "cm"}).status()));
  stopper.join();
  EXPECT_TRUE(transport_.shut_down);
}

TEST_F(ClientTest, AnUnansweredReadIsRepeatedOnceAndAWriteNever) {
  transport_.Fail(absl::UnavailableError("reset"));
  transport_.Answer(kConfigMap);
  EXPECT_TRUE(client_.Get(ConfigMaps(), {"ns", "cm"}).ok());
  transport_.Fail(absl::UnavailableError("reset"));
  transport_.Fail(absl::UnavailableError("reset"));
  EXPECT_TRUE(IsTransportError(client_.Get(ConfigMaps(), {"ns", "cm"}).status()));
  transport_.Fail(absl::DeadlineExceededError("slow"));
  EXPECT_TRUE(IsTransportError(client_.Get(ConfigMaps(), {"ns", "cm"}).status()));
  transport_.Fail(absl::UnavailableError("reset"));
  const absl::Status write = client_.Update(ConfigMaps(), kConfigMap).status();
  EXPECT_TRUE(IsTransportError(write));
  EXPECT_THAT(write.message(), HasSubstr("UPDATE configmaps ns/cm: reset"));
  EXPECT_EQ(transport_.answers_left(), 0);
  EXPECT_EQ(observer_.counts["GET <error>"], 4);
  EXPECT_EQ(observer_.counts["PUT <error>"], 1);
}

TEST_F(ClientTest, AnAnswerThatIsNoJsonIsAnError) {
  transport_.Answer(200, "<html>");
  const absl::Status status = client_.Get(ConfigMaps(), {"ns", "cm"}).status();
  EXPECT_THAT(status.message(), HasSubstr("GET configmaps ns/cm: not valid JSON"));
}

TEST_F(ClientTest, WatchAsksForBookmarksAndCountsOnce) {
  transport_.Answer(200, "data");
  std::string data;
  StreamOptions stream;
  stream.on_data = [&](absl::string_view piece) {
    data.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  EXPECT_TRUE(client_.Watch(Nodes(), {.resource_version = "7"}, stream).ok());
  EXPECT_EQ(data, "data");
  EXPECT_THAT(transport_.requests[0].query,
              ElementsAre(Pair("watch", "1"), Pair("allowWatchBookmarks", "true"),
                          Pair("resourceVersion", "7"), Pair("timeoutSeconds", "300")));
  transport_.Answer(410, R"({"kind":"Status","reason":"Expired"})");
  EXPECT_TRUE(IsGone(client_.Watch(Nodes(), {}, stream)));
  EXPECT_THAT(observer_.counts, ElementsAre(Pair("GET 200", 1), Pair("GET 410", 1)));
}

TEST_F(ClientTest, LogsADeprecationOnce) {
  const std::multimap<std::string, std::string> headers = {
      {"warning", R"(299 - "v1alpha1 is deprecated")"}, {"warning", R"(214 - "a proxy's")"}};
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    transport_.Answer(200, "{}", headers);
    ASSERT_TRUE(client_.Get(ConfigMaps(), {"ns", "cm"}).ok());
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("v1alpha1 is deprecated"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

}  // namespace
}  // namespace reclaim::kube
