// The states of a gang in flight and of its members in the bind protocol.
//
// Plain values; README.md of this folder says how each input changes them.
#pragma once

#include <cstdint>

#include "api/model/ids.h"

namespace maniple {

// Room that a lost or refused member leaves for its replacement.
struct Vacancy {
  PodId pod;  // the lost member's
  NodeId node;
  ShapeId shape;
  int32_t sub_group = -1;  // -1: none
  bool occupied = false;   // its pod is still leaving: nothing to hold yet
  bool unfit = false;      // its node rejected it or is gone
  friend bool operator==(const Vacancy&, const Vacancy&) = default;
};

enum class BindPhase : uint8_t {
  kBinding,    // quorum never reached; until schedule_timeout after the first bind
  kBound,      // quorum stands
  kGrowing,    // … and has been raised since: those who are lacking were never there
  kRepairing,  // quorum stood and is lost; until the grace period ends
  kKept,       // … which has ended, and the rest is to be left alone
  kUndoing,    // members are being released
  kLeaving,    // the gang has been asked to leave: requests under way come to rest
  kEnded,      // no member is left in our hands
};

enum class BindState : uint8_t {
  kInFlight,  // a bind is under way
  kReading,   // its outcome is unknown: the pod is being read, or will be at retry_at
  kWaiting,   // to be bound again at retry_at
  kBound,
  kConfirming,  // bound, says its reply, but not the watch: the pod is being read
  kMisplaced,   // bound by somebody else where `required` forbids it
  kRefused,     // exists and can never be bound
  kGone,        // deleted, failed, or its node is gone
  kOut,         // not live any more: a gate appeared
  kDeleting,    // a delete is under way, or will be sent at retry_at
};
inline constexpr int kBindStates = 10;
[[nodiscard]] inline bool IsComing(BindState state) {
  return state == BindState::kInFlight || state == BindState::kReading ||
         state == BindState::kWaiting;
}
// Bound where it may be, so that it counts towards the quorum.
[[nodiscard]] inline bool CountsAsBound(BindState state) {
  return state == BindState::kBound || state == BindState::kConfirming;
}
[[nodiscard]] inline bool IsBound(BindState state) {
  return CountsAsBound(state) || state == BindState::kMisplaced;
}

}  // namespace maniple
