// What the loop remembers of its writes about a gang that somebody else declares. Owned by the
// scheduling loop.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "api/base/backoff.h"
#include "api/model/maniple_types.h"
#include "scheduler/report/reason.h"

namespace maniple {

// Work under way for the PodGroup that stands for a gang which somebody else declares.
struct StandInWork {
  bool under_way = false;
  bool goes = false;                           // no pod is left: it is to be deleted
  PodGroupSpec sent;                           // the last one, until the watch shows it
  absl::Time again_at = absl::InfinitePast();  // nothing is sent before
  Backoff backoff{{.first = absl::Milliseconds(500), .most = absl::Seconds(30)}};
  std::string trouble;  // why there is none, for people; "" = nothing is known
  int refusals = 0;     // since the last that arrived: answers that no mere retry would change
  bool told = false;    // an event has said that there is none, and why
};

// Work under way for the status of the foreign group itself.
struct PhaseWork {
  bool under_way = false;
  absl::Time again_at = absl::InfinitePast();
  Backoff backoff{{.first = absl::Milliseconds(500), .most = absl::Seconds(30)}};
  std::string sent;        // until the watch shows it
  bool no_status = false;  // its status subresource was not found, or the object itself
};

// What a condition of the foreign group itself has said last.
struct ToldCondition {
  WaitReason reason = WaitReason::kWaitingForMembers;
  uint64_t words = 0;  // a fingerprint of its message; 0: it has not arrived
  absl::Time at = absl::InfinitePast();
};

}  // namespace maniple
