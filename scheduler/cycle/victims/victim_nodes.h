// The node to free next, where several gangs share nodes: the one whose occupants cost least for
// the room that the preemptor then gets. A gang that goes whole leaves all its other nodes as well.
// One thread, for the length of a search.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/victims/victim_trial.h"

namespace maniple {

class VictimNodes final {
 public:
  // `gain` by node index: members that the node takes more once all units are gone. Nodes outside
  // `domain` are left out.
  VictimNodes(const VictimTrial& trial, std::span<const size_t> units,
              std::span<const int64_t> gain, std::optional<uint32_t> domain);

  // One gang on one node, and how it can be made to leave that.
  struct Occupant {
    size_t running = 0;           // index into the input's
    std::vector<size_t> members;  // units of surplus; empty: the gang has more there than those
    int64_t spared = 0;           // pods there of those units
    std::optional<size_t> whole;  // the unit of the whole gang
    bool gone = false;
  };
  // The occupants that must leave to free the best node, as it is now; empty: no node is left.
  [[nodiscard]] std::vector<Occupant> Next();
  // The occupants of the last answer cannot leave: its node is left out from now on.
  void Refuse();
  // The occupants of the last answer are taken.
  void NoteFreed();

 private:
  struct Target {
    uint32_t node = 0;
    std::vector<Occupant> occupants;
    int64_t left = 0;      // of the occupants
    int32_t priority = 0;  // the highest of theirs
    bool refused = false;
  };
  void AddUnit(size_t unit, Target& target);
  [[nodiscard]] bool HasLeft(const Occupant& occupant) const;
  void NoteLeft(size_t running, Target& target);
  // Of its members, evictable or not.
  [[nodiscard]] int64_t PodsOn(size_t running, uint32_t node) const;

  const VictimTrial& trial_;
  std::span<const int64_t> gain_;
  std::vector<Target> targets_;
  std::vector<std::vector<uint32_t>> targets_of_;  // by running gang
  std::optional<size_t> last_;
  std::optional<int32_t> highest_;  // the highest priority among taken units
};

}  // namespace maniple
