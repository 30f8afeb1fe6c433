#include "scheduler/cycle/search/shape_packing.h"

#include <algorithm>
#include <numeric>

namespace maniple {

void ShapePacking::LearnBeside(PackingState others) {
  std::vector<PackingState>& left = beside_[others];
  if (!left.empty()) return;
  work_.Spend(int64_t{4} * classes_.states());
  for (PackingState state = 0; state < classes_.states(); ++state) {
    left.push_back(classes_.Less(state, others));
  }
}

// From the highest state down, so that the states that it is reached from do not have the node yet.
void ShapePacking::AddNode(std::span<const NodePattern> patterns, std::span<uint16_t> chosen) {
  const int64_t most = classes_.all()[classes_.last()].members;
  for (const NodePattern& pattern : patterns) LearnBeside(pattern.others);
  for (PackingState state = classes_.states(); state-- > 0;) {
    int64_t best = last_beside_[state];
    uint16_t which = 0;
    for (size_t p = 0; p < patterns.size(); ++p) {
      const int64_t before = last_beside_[beside_[patterns[p].others][state]];
      if (before == kNot) continue;
      const int64_t with = std::min(most, before + patterns[p].last);
      if (with <= best) continue;
      best = with;
      which = static_cast<uint16_t>(p + 1);
    }
    last_beside_[state] = best;
    if (!chosen.empty()) chosen[state] = which;
  }
}

bool ShapePacking::Pack(std::span<const PackedNode> nodes, const QuorumTarget& target, Keep keep) {
  const PackingState states = classes_.states();
  last_beside_.assign(states, kNot);
  last_beside_[0] = 0;
  chosen_.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const PackedNode& node = nodes[i];
    const std::span<const NodePattern> patterns =
        patterns_.Of(node.node, node.likeness, node.classes);
    work_.Spend(static_cast<int64_t>(states) * static_cast<int64_t>(patterns.size()) + 8);
    if (work_.spent()) return false;
    std::span<uint16_t> chosen;
    if (keep == Keep::kNodes) {
      chosen_.resize((i + 1) * states, 0);
      chosen = std::span(chosen_).subspan(i * states);
    }
    AddNode(patterns, chosen);
    if (MeetsAll(target).value_or(false)) break;
  }
  return true;
}

std::optional<bool> ShapePacking::MeetsAll(const QuorumTarget& target) const {
  if (std::accumulate(target.most.begin(), target.most.end(), int64_t{0}) > target.total) {
    return std::nullopt;
  }
  PackingState state = 0;
  for (const uint32_t cls : classes_.others()) {
    state += static_cast<PackingState>(target.most[cls]) * classes_.StepOf(cls);
  }
  return last_beside_[state] >= target.most[classes_.last()];
}

bool ShapePacking::Meets(const QuorumTarget& target) const {
  if (const std::optional<bool> all = MeetsAll(target)) return *all;
  for (PackingState state = classes_.states(); state-- > 0;) {
    if (last_beside_[state] != kNot && classes_.Meets(target, state, last_beside_[state])) {
      return true;
    }
  }
  return false;
}

PackingState ShapePacking::Closest(const QuorumTarget& target) const {
  PackingState closest = 0;
  int64_t most = kNot;
  for (PackingState state = 0; state < classes_.states(); ++state) {
    if (last_beside_[state] == kNot) continue;
    int64_t members = std::min(last_beside_[state], target.most[classes_.last()]);
    for (const uint32_t cls : classes_.others()) {
      members += std::min(classes_.CountIn(state, cls), target.most[cls]);
    }
    if (members <= most) continue;
    most = members;
    closest = state;
  }
  return closest;
}

std::vector<std::vector<NodeId>> ShapePacking::NodesOf(std::span<const PackedNode> nodes,
                                                       PackingState state, int64_t last) {
  std::vector<std::vector<NodeId>> by_class(classes_.all().size());
  const PackingState states = classes_.states();
  for (size_t i = chosen_.size() / states; i-- > 0;) {
    const uint16_t which = chosen_[i * states + state];
    if (which == 0) continue;
    const PackedNode& node = nodes[i];
    const NodePattern pattern =
        patterns_.Of(node.node, node.likeness, node.classes)[size_t{which} - 1];
    const PackingState left = classes_.Less(state, pattern.others);
    for (const uint32_t cls : classes_.others()) {
      const int64_t taken = classes_.CountIn(state, cls) - classes_.CountIn(left, cls);
      by_class[cls].insert(by_class[cls].end(), static_cast<size_t>(taken), node.node);
    }
    const int64_t taken = std::min(last, pattern.last);
    std::vector<NodeId>& of_last = by_class[classes_.last()];
    of_last.insert(of_last.end(), static_cast<size_t>(taken), node.node);
    last -= taken;
    state = left;
  }
  return by_class;
}

}  // namespace maniple
