// SPDX-License-Identifier: Apache-2.0
#include "kube/status.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

using ::testing::HasSubstr;

std::string Body(int code, const char* reason) {
  return DumpJson({{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", "words"}});
}

// The names of the predicates that hold. Qualified: absl has some of the same name, found by ADL.
std::string Predicates(const absl::Status& s) {
  std::vector<std::string> names;
  if (kube::IsNotFound(s)) names.push_back("NotFound");
  if (kube::IsAlreadyExists(s)) names.push_back("AlreadyExists");
  if (kube::IsConflict(s)) names.push_back("Conflict");
  if (kube::IsGone(s)) names.push_back("Gone");
  if (kube::IsInvalid(s)) names.push_back("Invalid");
  if (kube::IsUnauthorized(s)) names.push_back("Unauthorized");
  if (kube::IsForbidden(s)) names.push_back("Forbidden");
  if (kube::IsTooManyRequests(s)) names.push_back("TooManyRequests");
  return absl::StrJoin(names, ",");
}

TEST(StatusTest, MapsEveryCodeToOneStatusAndOnePredicate) {
  const struct {
    int http;
    const char* reason;
    absl::StatusCode code;
    const char* predicates;
  } kCases[] = {
      {400, "BadRequest", absl::StatusCode::kInvalidArgument, ""},
      {401, "Unauthorized", absl::StatusCode::kUnauthenticated, "Unauthorized"},
      {403, "Forbidden", absl::StatusCode::kPermissionDenied, "Forbidden"},
      {404, "NotFound", absl::StatusCode::kNotFound, "NotFound"},
      {405, "MethodNotAllowed", absl::StatusCode::kUnimplemented, ""},
      {409, "AlreadyExists", absl::StatusCode::kAlreadyExists, "AlreadyExists"},
      {409, "Conflict", absl::StatusCode::kAborted, "Conflict"},
      {410, "Expired", absl::StatusCode::kOutOfRange, "Gone"},
      {410, "", absl::StatusCode::kOutOfRange, "Gone"},
      {413, "RequestEntityTooLarge", absl::StatusCode::kResourceExhausted, ""},
      {422, "Invalid", absl::StatusCode::kInvalidArgument, "Invalid"},
      {429, "TooManyRequests", absl::StatusCode::kResourceExhausted, "TooManyRequests"},
      {500, "InternalError", absl::StatusCode::kInternal, ""},
      {502, "", absl::StatusCode::kInternal, ""},
      {503, "ServiceUnavailable", absl::StatusCode::kUnavailable, ""},
      {504, "Timeout", absl::StatusCode::kDeadlineExceeded, ""},
      {302, "", absl::StatusCode::kUnknown, ""},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.http);
    const absl::Status status = MakeApiStatus("GET x", c.http, Body(c.http, c.reason));
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_EQ(Predicates(status), c.predicates) << status;
    EXPECT_FALSE(IsTransportError(status));
    EXPECT_THAT(status.message(), HasSubstr("GET x: HTTP "));
    EXPECT_THAT(status.message(), HasSubstr("words"));
  }
}

TEST(StatusTest, ReasonExpiredIsGoneWhateverTheCode) {
  EXPECT_TRUE(IsGone(MakeApiStatus("LIST x", 400, Body(400, "Expired"))));
}

TEST(StatusTest, TakesTheDelayFromHeaderOrDetails) {
  const std::string body = R"({"kind":"Status","details":{"retryAfterSeconds":7}})";
  EXPECT_EQ(GetApiError(MakeApiStatus("x", 429, body))->retry_after, absl::Seconds(7));
  EXPECT_EQ(GetApiError(MakeApiStatus("x", 429, body, absl::Seconds(2)))->retry_after,
            absl::Seconds(2));
  EXPECT_EQ(GetApiError(MakeApiStatus("x", 429, ""))->retry_after, std::nullopt);
}

TEST(StatusTest, SeesThatTheCacheLags) {
  const std::string body = R"({"kind":"Status","reason":"Timeout",
      "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large"}]}})";
  EXPECT_TRUE(IsResourceVersionTooLarge(MakeApiStatus("x", 504, body)));
  EXPECT_FALSE(IsResourceVersionTooLarge(MakeApiStatus("x", 504, Body(504, "Timeout"))));
}

TEST(StatusTest, QuotesOnlyTheBeginningOfAPageThatIsNoStatus) {
  const absl::Status status = MakeApiStatus("x", 502, "<html>" + std::string(100'000, 'a'));
  EXPECT_THAT(status.message(), HasSubstr("<html>"));
  EXPECT_LT(status.message().size(), 300);
}

TEST(StatusTest, SurvivesAStatusOfWrongTypes) {
  for (const char* body :
       {R"({"kind":"Status","reason":5,"details":[]})", "null", "[]", "{",
        R"({"kind":"Status","details":{"causes":{},"retryAfterSeconds":"x"}})"}) {
    EXPECT_TRUE(kube::IsNotFound(MakeApiStatus("x", 404, body))) << body;
  }
}

TEST(StatusTest, NoAnswerIsATransportError) {
  EXPECT_TRUE(IsTransportError(absl::UnavailableError("refused")));
  EXPECT_TRUE(IsTransportError(absl::DeadlineExceededError("silence")));
  EXPECT_FALSE(IsTransportError(absl::CancelledError("stop")));
  EXPECT_FALSE(IsTransportError(absl::OkStatus()));
  EXPECT_FALSE(GetApiError(absl::OkStatus()).has_value());
}

}  // namespace
}  // namespace reclaim::kube
