// One entry of the decision log: what the scheduler decided, or saw of what it had decided. A
// value.
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
  GangKey gang;         // name "" = it is about no gang
  std::string queue;    // of the gang, "" = none
  std::string subject;  // a node or pod, where it is about no gang
  std::string rest;     // " quorum: a-0=n1 a-1=n2", begins with what separates it from the subject
  int64_t steps = 0;    // that the decision spent on its searches; 0 = it was none
};

// "place default/a quorum: a-0=n1 a-1=n2"
[[nodiscard]] std::string LineOf(const DecisionEntry& entry);
// Without what separates it from the subject: "quorum: a-0=n1 a-1=n2".
[[nodiscard]] absl::string_view TextOf(const DecisionEntry& entry);
// For programs and for keeping, on one line; fields that say nothing are left out:
// {"at":"2026-01-01T12:00:00.5Z","what":"place","namespace":"default","name":"a","queue":"q","text":
// "quorum: a-0=n1 a-1=n2","steps":1234}
[[nodiscard]] std::string JsonLineOf(const DecisionEntry& entry);

}  // namespace maniple
