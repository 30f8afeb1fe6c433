// Small clusters with one gang that waits, for the oracle of "what would help": plain data that can
// be changed, and the real loop that says what comes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "scheduler/advice/help.h"
#include "scheduler/loop/scheduling_loop.h"

namespace maniple {

struct HelpWorld {
  struct NodeLine {
    std::string name;
    int64_t gpu = 8, cpu = 64;
    std::string rack, product;  // of block "b"; product "" = no label
    bool cordoned = false;
    std::string taint;
  };
  struct QueueLine {
    std::string name;
    int64_t nominal = 0;  // nvidia.com/gpu
    bool in_cohort = false;
    bool preempts_lower = false;
  };
  struct RunningLine {
    std::string name, queue;
    int32_t priority = 0;
    int64_t gpu = 1;
    std::vector<std::string> nodes;  // one pod on each
  };

  std::vector<NodeLine> nodes;
  std::vector<QueueLine> queues;
  int64_t cohort_nominal = 0;
  std::vector<RunningLine> running;
  // The gang "w".
  int pods = 1, min_member = 1;
  int64_t gpu = 1, cpu = 0;
  std::string queue, required;  // level "rack" or "block"
  int32_t priority = 5;
};

[[nodiscard]] HelpWorld RandomHelpWorld(Random& random);

enum class Outcome : uint8_t { kWaits, kStarts, kEvicts };
[[nodiscard]] Outcome WhatBecomesOf(const HelpWorld& world);
[[nodiscard]] inline bool Starts(const HelpWorld& world) {
  return WhatBecomesOf(world) == Outcome::kStarts;
}
// With the gang waiting; owns the loop that the question borrows from.
struct AskedHelp {
  std::shared_ptr<SchedulingLoop> loop;
  std::shared_ptr<const HelpQuestion> question;  // null: there is nothing to ask
};
[[nodiscard]] AskedHelp AskForHelp(const HelpWorld& world);

// What a failing case prints.
[[nodiscard]] std::string TextOf(const HelpWorld& world);

}  // namespace maniple
