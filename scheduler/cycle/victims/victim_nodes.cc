#include "scheduler/cycle/victims/victim_nodes.h"

#include <algorithm>
#include <tuple>

namespace maniple {

VictimNodes::VictimNodes(const VictimTrial& trial, std::span<const size_t> units,
                         std::span<const int64_t> gain, std::optional<uint32_t> domain)
    : trial_(trial), gain_(gain), targets_of_(trial.input().running.size()) {
  std::vector<int64_t> target_of(gain.size(), -1);
  for (const size_t unit : units) {
    for (const FreedRoom& pod : trial.units()[unit].room) {
      const uint32_t node = pod.node.index();
      if (gain[node] <= 0) continue;
      if (domain.has_value() && trial.room().DomainOf(pod.node) != *domain) continue;
      if (target_of[node] < 0) {
        target_of[node] = static_cast<int64_t>(targets_.size());
        targets_.push_back({.node = node, .occupants = {}});
      }
      AddUnit(unit, targets_[static_cast<size_t>(target_of[node])]);
    }
  }
  for (uint32_t i = 0; i < targets_.size(); ++i) {
    for (Occupant& occupant : targets_[i].occupants) {
      targets_of_[occupant.running].push_back(i);
      // Without a unit of the whole gang nobody has looked yet whether others of it are there.
      if (!occupant.whole.has_value() &&
          occupant.spared < PodsOn(occupant.running, targets_[i].node)) {
        occupant.members.clear();
      }
      occupant.gone = HasLeft(occupant);
      targets_[i].left += !occupant.gone;
    }
  }
}

int64_t VictimNodes::PodsOn(size_t running, uint32_t node) const {
  return std::ranges::count(trial_.input().running[running].members, NodeId(node),
                            &VictimPod::node);
}

bool VictimNodes::HasLeft(const Occupant& occupant) const {
  const auto taken = [this](size_t unit) { return trial_.IsTaken(unit); };
  if (occupant.whole.has_value() && taken(*occupant.whole)) return true;
  return !occupant.members.empty() && std::ranges::all_of(occupant.members, taken);
}

// The units of a gang come one after the other, the whole gang last.
void VictimNodes::AddUnit(size_t unit, Target& target) {
  const VictimUnit& it = trial_.units()[unit];
  const int32_t priority = trial_.input().running[it.running].priority;
  target.priority = target.occupants.empty() ? priority : std::max(target.priority, priority);
  if (target.occupants.empty() || target.occupants.back().running != it.running) {
    target.occupants.push_back({.running = it.running, .members = {}, .spared = 0, .whole = {}});
  }
  Occupant& occupant = target.occupants.back();
  switch (it.part) {
    case UnitPart::kSurplusMember:
      ++occupant.spared;
      if (occupant.members.empty() || occupant.members.back() != unit) {
        occupant.members.push_back(unit);
      }
      break;
    case UnitPart::kWholeGang: {
      if (occupant.whole.has_value()) break;
      occupant.whole = unit;
      const auto there = std::ranges::count_if(
          it.room, [&](const FreedRoom& pod) { return pod.node.index() == target.node; });
      if (occupant.spared < there) occupant.members.clear();
      break;
    }
  }
}

std::vector<VictimNodes::Occupant> VictimNodes::Next() {
  constexpr int64_t kPart = 1024;
  last_.reset();
  std::tuple<int32_t, int64_t, uint32_t> least;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    if (target.refused || target.left == 0) continue;
    const auto key = std::make_tuple(std::max(target.priority, highest_.value_or(target.priority)),
                                     target.left * kPart / gain_[target.node], target.node);
    if (last_.has_value() && least <= key) continue;
    last_ = i;
    least = key;
  }
  std::vector<Occupant> occupants;
  if (!last_.has_value()) return occupants;
  for (const Occupant& occupant : targets_[*last_].occupants) {
    if (!occupant.gone) occupants.push_back(occupant);
  }
  return occupants;
}

void VictimNodes::Refuse() { targets_[*last_].refused = true; }

void VictimNodes::NoteFreed() {
  Target& freed = targets_[*last_];
  highest_ = std::max(highest_.value_or(freed.priority), freed.priority);
  for (Occupant& occupant : freed.occupants) {
    occupant.gone = true;
    for (const uint32_t target : targets_of_[occupant.running]) {
      NoteLeft(occupant.running, targets_[target]);
    }
  }
  freed.left = 0;
}

// A gang that went whole, or a replica with pods on several nodes, is gone from others as well.
void VictimNodes::NoteLeft(size_t running, Target& target) {
  for (Occupant& occupant : target.occupants) {
    if (occupant.running != running || occupant.gone || !HasLeft(occupant)) continue;
    occupant.gone = true;
    --target.left;
  }
}

}  // namespace maniple
