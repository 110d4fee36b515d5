// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_REASONS_H_
#define RECLAIM_COMMON_REASONS_H_

// The closed set of reasons and condition types. A reason is one CamelCase word; the numbers stand
// in the message beside it. Admins write alerts on these words: never rename one.
namespace reclaim::reason {

// A setting or target.
inline constexpr char kApplied[] = "Applied";
inline constexpr char kUnsupported[] = "Unsupported";  // the kernel does not have the file
inline constexpr char kNotImplemented[] =
    "NotImplemented";                                // this version does not apply the field
inline constexpr char kClamped[] = "Clamped";        // the kernel took another value
inline constexpr char kOverridden[] = "Overridden";  // someone else wrote it since
inline constexpr char kRefused[] = "Refused";        // errno, in the message
inline constexpr char kObserved[] = "Observed";      // mode Observe: computed, not written
inline constexpr char kRestored[] = "Restored";
inline constexpr char kKept[] = "Kept";  // left the spec, but not ours to restore
inline constexpr char kUnreadable[] = "Unreadable";
inline constexpr char kInvalid[] = "Invalid";
inline constexpr char kReclaiming[] = "Reclaiming";
inline constexpr char kPaused[] = "Paused";
inline constexpr char kNoCgroupsMatched[] = "NoCgroupsMatched";

// Conditions.
inline constexpr char kAllSettingsApplied[] = "AllSettingsApplied";
inline constexpr char kSettingsPending[] = "SettingsPending";
inline constexpr char kNoPolicy[] = "NoPolicy";
inline constexpr char kAllSupported[] = "AllSupported";
inline constexpr char kAgentConnected[] = "AgentConnected";
inline constexpr char kAgentDisconnected[] = "AgentDisconnected";
inline constexpr char kNoGates[] = "NoGates";
inline constexpr char kAsExpected[] = "AsExpected";
inline constexpr char kNodesProgressing[] = "NodesProgressing";
inline constexpr char kAllNodesApplied[] = "AllNodesApplied";
inline constexpr char kNoNodesMatched[] = "NoNodesMatched";
inline constexpr char kPrioritiesTie[] = "PrioritiesTie";
inline constexpr char kNoConflict[] = "NoConflict";
inline constexpr char kInvalidSpec[] = "InvalidSpec";
inline constexpr char kRolloutPending[] = "RolloutPending";  // the release is being written

// Why a policy is in force on a node.
inline constexpr char kOnlyMatch[] = "OnlyMatch";
inline constexpr char kHighestPriority[] = "HighestPriority";
inline constexpr char kOlderWinsTie[] = "OlderWinsTie";

}  // namespace reclaim::reason

namespace reclaim::condition {

// NodeReclaim.
inline constexpr char kApplied[] = "Applied";
inline constexpr char kHealthy[] = "Healthy";
inline constexpr char kDegraded[] = "Degraded";
inline constexpr char kSupported[] = "Supported";
inline constexpr char kConnected[] = "Connected";

// ReclaimPolicy.
inline constexpr char kReady[] = "Ready";
inline constexpr char kProgressing[] = "Progressing";
inline constexpr char kStalled[] = "Stalled";
inline constexpr char kConflicted[] = "Conflicted";

}  // namespace reclaim::condition

#endif  // RECLAIM_COMMON_REASONS_H_
