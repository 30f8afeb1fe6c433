// One gang makes room for another: the claim of the preemptor, and the departure of each victim.
// Plain values in the records of the two gangs, kept by Claims and Evictions. Nothing of them has
// to survive a restart: a new leader decides afresh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/model/ids.h"
#include "queue/quota_tree.h"
#include "scheduler/loop/records/left_for.h"

namespace maniple {

// Room that victims are leaving. It is held for the gang until it binds,
// no longer needs it, or a time.
struct Claim {
  struct Room {
    HoldId hold;
    NodeId node;  // invalid: it is gone, and the hold with it
    ShapeId shape;
    PodId pod;  // the pod that is to have the room, for its nominatedNodeName
    // Of the node when the plan counted its room. A volume of a pod that has left is one more until
    // it is detached.
    int64_t unused_attachments = 0;
  };
  std::vector<Room> rooms;
  std::vector<GangId> victims;
  std::vector<PodId> awaited;  // pods that were on their way out already, and may be needed too
  bool was_first = false;      // the gang was the first of its line, and would be so still
  std::string text;            // "its room is being freed: default/a, default/b leave"
  absl::Time since;
  absl::Time until;
  // Written by Charges. Pods of the gang's Queue that leave for it. What the Queue is charged for
  // them passes to the claim as they go; a pod pays for one claim at most.
  struct Payer {
    PodId pod;
    GangId gang;
  };
  std::vector<Payer> payers;
  Demand paid;  // the part of its rooms' charge that they pay still, as of the last charge
};

// The GPUs that a pod has, by resource, and since when.
struct GpusSince {
  absl::Time since;
  std::vector<std::pair<std::string, int64_t>> amounts;
};

// Members that are being evicted: one request each, tried again until they leave.
struct Departure {
  // A pod that may pass its budgets is asked to leave even after they refuse: it is marked as a
  // target of disruption, then deleted.
  enum class Way : uint8_t { kEvict, kMark, kDelete };
  struct Pod {
    absl::Time next_try;
    absl::Time not_before = absl::InfinitePast();  // as the server has asked for
    bool asked = false;                            // once at least
    bool under_way = false;
    // The server has said that it leaves, or may have: the watch shows that by then.
    absl::Time shows_by = absl::InfinitePast();
    bool seen_leaving = false;
    Backoff backoff;  // between requests that are refused
    Way way = Way::kEvict;
    GpusSince had = {};
  };
  std::map<PodId, Pod> pods;
  GangId for_gang;    // invalid: the queue is being drained
  std::string why;    // "preempted by default/b", or that its queue is being drained, and why
  absl::Time until;   // pods that have not left by then stay
  bool whole = true;  // not only surplus members
  bool past_budgets = false;
  // What is remembered once it has begun: for whom the gang leaves, and that this one has used up
  // its right to evict by initial share.
  std::optional<LeftFor> makes_way_for = {};
  bool by_initial_share = false;
  std::string forbidden;  // the server's words on a right that is lacking; "" = nothing
  // One of the pods leaves or has left: the rest of a whole gang that makes room follows, whatever
  // happens.
  bool begun = false;
  // The quorum needs the surplus by now: only pods that may have left already are awaited.
  bool is_needed = false;

  // When it is to be looked at next: to ask again, or because its time is over.
  [[nodiscard]] absl::Time NextLook() const {
    absl::Time next = until;
    for (const auto& [pod, leaving] : pods) {
      if (!leaving.under_way) next = std::min(next, leaving.next_try);
    }
    return next;
  }

  // Only time is left to pass, and the rest of the gang is free to go elsewhere.
  [[nodiscard]] bool SurplusIsOnItsWayOut() const {
    return !whole && std::ranges::all_of(
                         pods, [](const auto& leaving) { return leaving.second.seen_leaving; });
  }
};

enum class DepartureEnd : uint8_t { kLeft, kStays };

// The facts of a gang that decide whether others may evict it, and how much that helps.
struct Evictable {
  int64_t pods = 0;
  int64_t leaving = 0;  // whose room returns without that
  int32_t priority = 0;
  int64_t generation = 0;  // of its PodGroup: quorum, protection
  absl::Time queued;       // later when it was created anew

  // May its eviction help a gang that was not helped by `before`?
  [[nodiscard]] bool MayHelpMoreThan(const Evictable& before) const {
    if (pods == 0) return false;
    return pods > before.pods || priority != before.priority || queued != before.queued ||
           generation != before.generation;
  }
};

// How long a gang evicts nobody after so many starts in a row that came to nothing. The first may
// have been bad luck; but whoever comes back meanwhile must not be evicted over and over.
[[nodiscard]] inline absl::Duration PauseAfter(int starts_in_vain) {
  constexpr absl::Duration kFirst = absl::Seconds(15), kMost = absl::Minutes(30);
  constexpr int kMostDoublings = 7;
  if (starts_in_vain <= 1) return absl::ZeroDuration();
  return std::min(kMost, kFirst * (1 << std::min(starts_in_vain - 2, kMostDoublings)));
}

}  // namespace maniple
