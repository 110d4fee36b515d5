// SPDX-License-Identifier: Apache-2.0
#include "kube/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace reclaim::kube {
namespace {

constexpr char kPayloadType[] = "kswapd.dev/kube.ApiError";
// An answer that is no metav1.Status is quoted up to here.
constexpr size_t kMaxQuotedBytes = 200;

absl::StatusCode CodeFor(int http_code, absl::string_view reason) {
  switch (http_code) {
    case 400:
    case 415:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 405:
      return absl::StatusCode::kUnimplemented;
    case 409:
      return reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                       : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 413:
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 503:
      return absl::StatusCode::kUnavailable;
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      return http_code >= 500 ? absl::StatusCode::kInternal : absl::StatusCode::kUnknown;
  }
}

bool HasCause(const Json& status_object, absl::string_view cause) {
  const Json* causes = Find(status_object, {"details", "causes"});
  if (causes == nullptr || !causes->is_array()) return false;
  for (const Json& item : *causes) {
    if (StringAt(item, {"reason"}) == cause) return true;
  }
  return false;
}

absl::Status Make(absl::string_view what, const ApiError& error, absl::string_view message) {
  absl::Status status(
      CodeFor(error.http_code, error.reason),
      absl::StrCat(what, ": HTTP ", error.http_code, error.reason.empty() ? "" : " ", error.reason,
                   message.empty() ? "" : ": ", message));
  Json payload = {{"code", error.http_code}, {"reason", error.reason}};
  if (error.retry_after) payload["retryAfterMs"] = absl::ToInt64Milliseconds(*error.retry_after);
  if (error.resource_version_too_large) payload["resourceVersionTooLarge"] = true;
  status.SetPayload(kPayloadType, absl::Cord(DumpJson(payload)));
  return status;
}

absl::Status FromObject(absl::string_view what, int http_code, const Json& object,
                        std::optional<absl::Duration> retry_after) {
  ApiError error;
  error.http_code = http_code;
  error.reason = StringAt(object, {"reason"});
  error.retry_after = retry_after;
  const int64_t seconds = IntAt(object, {"details", "retryAfterSeconds"}, 0);
  if (!error.retry_after && seconds > 0) error.retry_after = absl::Seconds(seconds);
  error.resource_version_too_large = HasCause(object, "ResourceVersionTooLarge");
  return Make(what, error, StringAt(object, {"message"}));
}

bool HasHttpCode(const absl::Status& status, int code) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->http_code == code;
}

}  // namespace

absl::Status MakeApiStatus(absl::string_view what, int http_code, absl::string_view body,
                           std::optional<absl::Duration> retry_after) {
  absl::StatusOr<Json> object = ParseJson(body, what);
  if (object.ok() && StringAt(*object, {"kind"}) == "Status") {
    return FromObject(what, http_code, *object, retry_after);
  }
  ApiError error;
  error.http_code = http_code;
  error.retry_after = retry_after;
  return Make(what, error, body.substr(0, kMaxQuotedBytes));
}

absl::Status MakeApiStatus(absl::string_view what, const Json& status_object) {
  const int code = static_cast<int>(IntAt(status_object, {"code"}, 500));
  return FromObject(what, code, status_object, std::nullopt);
}

std::optional<ApiError> GetApiError(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadType);
  if (!payload.has_value()) return std::nullopt;
  const absl::StatusOr<Json> object = ParseJson(std::string(*payload), kPayloadType);
  if (!object.ok()) return std::nullopt;
  ApiError error;
  error.http_code = static_cast<int>(IntAt(*object, {"code"}));
  error.reason = StringAt(*object, {"reason"});
  if (Find(*object, {"retryAfterMs"}) != nullptr) {
    error.retry_after = absl::Milliseconds(IntAt(*object, {"retryAfterMs"}));
  }
  error.resource_version_too_large = Find(*object, {"resourceVersionTooLarge"}) != nullptr;
  return error;
}

bool IsNotFound(const absl::Status& status) { return HasHttpCode(status, 404); }
bool IsInvalid(const absl::Status& status) { return HasHttpCode(status, 422); }
bool IsUnauthorized(const absl::Status& status) { return HasHttpCode(status, 401); }
bool IsForbidden(const absl::Status& status) { return HasHttpCode(status, 403); }
bool IsTooManyRequests(const absl::Status& status) { return HasHttpCode(status, 429); }

bool IsAlreadyExists(const absl::Status& status) {
  return HasHttpCode(status, 409) && absl::IsAlreadyExists(status);
}

bool IsConflict(const absl::Status& status) {
  return HasHttpCode(status, 409) && absl::IsAborted(status);
}

bool IsGone(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() &&
         (error->http_code == 410 || error->reason == "Expired" || error->reason == "Gone");
}

bool IsTransportError(const absl::Status& status) {
  return !status.ok() && !GetApiError(status).has_value() &&
         (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status));
}

bool IsResourceVersionTooLarge(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->resource_version_too_large;
}

}  // namespace reclaim::kube
