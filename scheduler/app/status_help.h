// Asks what would help the gangs that wait, one after the other, and has the loop say it in their
// statuses. It rests four thousand times as long as an answer took, a minute at most: a cluster in
// which nothing changes costs next to nothing, however many gangs wait there (bench/README.md).
//
// The scheduling thread's.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "queue/gang.h"
#include "scheduler/app/doors/help_door.h"
#include "scheduler/loop/scheduling_loop.h"

namespace maniple {

class StatusHelp final {
 public:
  StatusHelp(SchedulingLoop& loop, HelpDoor& door) : loop_(loop), door_(door) {}

  // After each turn; whether the loop has been told something that the next turn reports.
  [[nodiscard]] bool Step(absl::Time now);
  // When Step has something to do, unless an answer comes before.
  [[nodiscard]] absl::Time Next() const;

 private:
  SchedulingLoop& loop_;
  HelpDoor& door_;
  struct Asked {
    GangKey gang;
    absl::Time at;
  };
  std::optional<Asked> asked_;
  absl::Time again_at_ = absl::InfinitePast();
};

}  // namespace maniple
