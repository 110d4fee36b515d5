// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_OPERATOR_POLICY_EMPTY_MESSAGES_H_
#define RECLAIM_OPERATOR_POLICY_EMPTY_MESSAGES_H_

#include <google/protobuf/message.h>

namespace reclaim::op {

// Clears every singular message field below `message` in which nothing is set. Pure.
//
// For statuses, where an empty object says no more than its absence. It must not be sent: when
// server-side apply takes the last field out of an object that is still in the intent, the API
// server stores null for it, and the schema then refuses the whole status. Elements of lists stay.
void ClearEmptyMessages(google::protobuf::Message& message);

}  // namespace reclaim::op

#endif  // RECLAIM_OPERATOR_POLICY_EMPTY_MESSAGES_H_
