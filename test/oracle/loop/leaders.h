// Scheduling loops that lead, one after the other, on the objects of one scripted API server.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/scripted_api.h"

namespace maniple::loop_new_leader_test {

// By "queue team: running", what a leader says of it.
using Words = std::map<std::string, std::string>;

struct Leader {
  std::unique_ptr<SchedulingLoop> loop;
  absl::Time next = absl::InfiniteFuture();
  std::vector<WriteCommand> writes;  // of a leader to whom nobody answers
};
[[nodiscard]] Leader NewLeader();
// Turns until nothing is left to do without an answer.
void TurnOut(Leader& leader, absl::Time now);
// What may differ between a leader and the next, as a whole.
struct Memory {
  bool counts = false;          // of Queues
  bool usage = false;           // of Queues and Cohorts
  bool waits = false;           // why gangs wait, and for whom
  std::set<std::string> gangs;  // "namespace/name" of those whose PodGroup is gone
};
// All that the rules want remembered.
[[nodiscard]] Words WordsOf(Leader& leader, absl::Time now, const Memory& leave_out);

}  // namespace maniple::loop_new_leader_test
