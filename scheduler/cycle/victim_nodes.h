// Which node to free next, where several gangs share nodes: the one whose units cost least for what
// it then takes of the preemptor. What is taken for one node counts for all its other nodes.
// One thread, for the length of a search.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/victim_trial.h"

namespace maniple {

class VictimNodes final {
 public:
  // `gain` by node index: members that the node takes more once all units are gone. Nodes outside
  // `domain` are left out.
  VictimNodes(const VictimTrial& trial, std::span<const size_t> units,
              std::span<const int64_t> gain, std::optional<uint32_t> domain);

  // Units to take, in order, so that the best node is free; none: no node is left.
  [[nodiscard]] std::optional<std::vector<size_t>> Next();
  // The units of the last answer cannot be taken: its node is left out from now on.
  void Refuse();
  void NoteTaken(size_t unit);

 private:
  struct Target {
    uint32_t node = 0;
    std::vector<size_t> units;
    int64_t left = 0;      // of the units
    int32_t priority = 0;  // the highest of all its units
    bool refused = false;
  };
  const VictimTrial& trial_;
  std::span<const int64_t> gain_;
  std::vector<Target> targets_;
  std::vector<std::vector<uint32_t>> targets_of_;  // by unit
  std::optional<size_t> last_;
  std::optional<int32_t> highest_;  // priority of what is taken
};

}  // namespace maniple
