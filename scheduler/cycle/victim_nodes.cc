#include "scheduler/cycle/victim_nodes.h"

#include <algorithm>
#include <tuple>

namespace maniple {

VictimNodes::VictimNodes(const VictimTrial& trial, std::span<const size_t> units,
                         std::span<const int64_t> gain, std::optional<uint32_t> domain)
    : trial_(trial), gain_(gain), targets_of_(trial.units().size()) {
  std::vector<int64_t> target_of(gain.size(), -1);
  for (const size_t unit : units) {
    for (const FreedRoom& pod : trial.units()[unit].room) {
      const uint32_t node = pod.node.index();
      if (gain[node] <= 0) continue;
      if (domain.has_value() && trial.room().DomainOf(pod.node) != *domain) continue;
      if (target_of[node] < 0) {
        target_of[node] = static_cast<int64_t>(targets_.size());
        targets_.push_back({.node = node});
      }
      Target& target = targets_[static_cast<size_t>(target_of[node])];
      if (!target.units.empty() && target.units.back() == unit) continue;
      const int32_t priority = trial.input().running[trial.units()[unit].running].priority;
      target.priority = target.units.empty() ? priority : std::max(target.priority, priority);
      target.units.push_back(unit);
      target.left += !trial.IsTaken(unit);
      targets_of_[unit].push_back(static_cast<uint32_t>(target_of[node]));
    }
  }
}

std::optional<std::vector<size_t>> VictimNodes::Next() {
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
  if (!last_.has_value()) return std::nullopt;
  std::vector<size_t> bundle;
  for (const size_t unit : targets_[*last_].units) {
    // Whatever is before it in its chain goes first.
    std::vector<size_t> chain;
    for (std::optional<size_t> at = unit; at.has_value() && !trial_.IsTaken(*at);
         at = trial_.units()[*at].after) {
      if (std::find(bundle.begin(), bundle.end(), *at) == bundle.end()) chain.push_back(*at);
    }
    bundle.insert(bundle.end(), chain.rbegin(), chain.rend());
  }
  return bundle;
}

void VictimNodes::Refuse() { targets_[*last_].refused = true; }

void VictimNodes::NoteTaken(size_t unit) {
  for (const uint32_t target : targets_of_[unit]) --targets_[target].left;
  const int32_t priority = trial_.input().running[trial_.units()[unit].running].priority;
  highest_ = std::max(highest_.value_or(priority), priority);
}

}  // namespace maniple
