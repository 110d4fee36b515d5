// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_KUBE_STATUS_H_
#define RECLAIM_KUBE_STATUS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/json.h"

namespace reclaim::kube {

// What the API server said about a refused request; travels as a payload of the absl::Status that
// every function of kube/ returns.
struct ApiError {
  int http_code = 0;   // 4xx or 5xx
  std::string reason;  // metav1.Status.reason, for example "Conflict"; may be empty
  std::optional<absl::Duration> retry_after;  // details.retryAfterSeconds or the Retry-After header
  bool resource_version_too_large = false;  // the server's cache lags behind the version asked for
};

// Turns an answer with an error code into a status.
//   what         the request in words, "PATCH nodereclaims/node1"; starts the message
//   http_code    of the answer, or the code inside an ERROR watch event
//   body         a metav1.Status, or anything else (a proxy's page); its message ends the text
//   retry_after  the Retry-After header, if any; details.retryAfterSeconds is used otherwise
//
// Codes: 400, 415, 422 kInvalidArgument; 401 kUnauthenticated; 403 kPermissionDenied; 404
// kNotFound; 405 kUnimplemented; 409 kAlreadyExists or kAborted (conflict); 410 kOutOfRange; 413
// and 429 kResourceExhausted; 503 kUnavailable; 504 kDeadlineExceeded; other 5xx kInternal; else
// kUnknown.
absl::Status MakeApiStatus(absl::string_view what, int http_code, absl::string_view body,
                           std::optional<absl::Duration> retry_after = std::nullopt);

// The same from a metav1.Status object, as an ERROR watch event carries it.
absl::Status MakeApiStatus(absl::string_view what, const Json& status_object);

// The payload, or nullopt when the server never answered (a transport error) or the status is OK.
std::optional<ApiError> GetApiError(const absl::Status& status);

// Write kube::IsNotFound(status): absl has functions of the same names, which look at the code
// only.
bool IsNotFound(const absl::Status& status);         // 404
bool IsAlreadyExists(const absl::Status& status);    // 409, reason AlreadyExists
bool IsConflict(const absl::Status& status);         // 409 otherwise: re-read and try again
bool IsGone(const absl::Status& status);             // 410, or reason Expired or Gone: list again
bool IsInvalid(const absl::Status& status);          // 422: the object breaks a rule of its schema
bool IsUnauthorized(const absl::Status& status);     // 401
bool IsForbidden(const absl::Status& status);        // 403
bool IsTooManyRequests(const absl::Status& status);  // 429
bool IsTransportError(const absl::Status& status);   // no answer: refused, reset, timed out
bool IsResourceVersionTooLarge(const absl::Status& status);  // 504: the server's cache lags

}  // namespace reclaim::kube

#endif  // RECLAIM_KUBE_STATUS_H_
