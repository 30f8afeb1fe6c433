#include "scheduler/cycle/search/node_patterns.h"

#include <algorithm>

namespace maniple {
namespace {

// Steps of search_work.h for asking a shape about a node, and placing it there.
constexpr int64_t kStepsPerPatternLook = 64;

}  // namespace

NodePatterns::NodePatterns(const MemberClasses& classes, std::vector<Kind>& kinds, Overlay& overlay,
                           SearchWork& work)
    : classes_(classes), kinds_(kinds), overlay_(overlay), work_(work) {}

std::span<const NodePattern> NodePatterns::Of(NodeId node, Likeness likeness, ClassMask mask) {
  const auto [it, is_new] = known_.try_emplace({likeness, mask});
  if (is_new) {
    found_.clear();
    Place(node, mask, 0, 0);
    it->second = KeepLargest();
  }
  return it->second;
}

// Members of each other class in turn, from none to all that fit.
void NodePatterns::Place(NodeId node, ClassMask mask, size_t other, PackingState placed) {
  const bool is_last = other == classes_.others().size();
  const uint32_t cls = is_last ? classes_.last() : classes_.others()[other];
  const Kind& kind = kinds_[classes_.all()[cls].kind];
  int64_t most = 0;
  if ((mask >> cls & 1) != 0 && !work_.spent()) {
    work_.Spend(kStepsPerPatternLook);
    most = std::min<int64_t>(kind.bound->RoomAt(overlay_, node), classes_.all()[cls].members);
  }
  if (is_last) {
    found_.push_back({.others = placed, .last = most});
    return;
  }
  const Overlay::Checkpoint before = overlay_.Mark();
  for (int64_t members = 0;; ++members) {
    Place(node, mask, other + 1, placed);
    if (members == most) break;
    overlay_.Place(node, kind.shape);
    placed += classes_.StepOf(cls);
  }
  overlay_.Rollback(before);
}

// Any pattern below another is below one that differs from it in one member.
std::vector<NodePattern> NodePatterns::KeepLargest() const {
  absl::flat_hash_map<PackingState, int64_t> last_beside;
  for (const NodePattern& pattern : found_) last_beside[pattern.others] = pattern.last;
  std::vector<NodePattern> largest;
  for (const NodePattern& pattern : found_) {
    const bool less = std::ranges::any_of(classes_.others(), [&](uint32_t cls) {
      if (classes_.CountIn(pattern.others, cls) == classes_.all()[cls].members) return false;
      const auto more = last_beside.find(pattern.others + classes_.StepOf(cls));
      return more != last_beside.end() && more->second >= pattern.last;
    });
    if (!less && (pattern.others > 0 || pattern.last > 0)) largest.push_back(pattern);
  }
  return largest;
}

}  // namespace maniple
