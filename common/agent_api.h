// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_AGENT_API_H_
#define RECLAIM_COMMON_AGENT_API_H_

// What both ends of the agent stream must agree on, beside proto/kswapd/v1alpha1/agent.proto.
namespace reclaim {

// Audience of the agent's projected service-account token: a token for the API server opens nothing
// here, and this one opens nothing there.
inline constexpr char kAgentTokenAudience[] = "reclaim-operator.kswapd.dev";

// Largest message on the stream, in bytes, in either direction.
inline constexpr int kMaxAgentMessageBytes = 256 * 1024;

// Period of the agent's HTTP/2 keepalive pings; the operator allows one each half of it.
inline constexpr int kAgentKeepaliveSeconds = 60;

}  // namespace reclaim

#endif  // RECLAIM_COMMON_AGENT_API_H_
