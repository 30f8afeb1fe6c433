// One entry of the decision log: a decision of the scheduler, or the fate of one that it observed.
// A value.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "queue/gang.h"

namespace maniple {

struct DecisionEntry {
  absl::Time at;
  // "place", "park", "bound", "lost", "restored", "undone", "preempt", "claim", "left", "reserve"
  // …: a literal, so that a log of thousands costs little.
  absl::string_view what;
  GangKey gang;         // name "" = the entry is about no gang
  std::string queue;    // of the gang, "" = none
  std::string subject;  // a node or pod, where the entry is about no gang
  std::string rest;     // " quorum: a-0=n1 a-1=n2", begins with its own separator
  std::string refused;  // what was tried before it: "a100: no quota; h100: no room", "" = nothing
  int64_t steps = 0;    // spent by the decision on its searches; 0 = there was none
};

// "place default/a quorum: a-0=n1 a-1=n2"
[[nodiscard]] std::string LineOf(const DecisionEntry& entry);
// `rest` without its separator: "quorum: a-0=n1 a-1=n2".
[[nodiscard]] absl::string_view TextOf(const DecisionEntry& entry);
[[nodiscard]] std::string JsonLineOf(const DecisionEntry& entry);

}  // namespace maniple
