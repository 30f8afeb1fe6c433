#include "queue/parked_classes.h"

#include <optional>
#include <utility>

namespace maniple {
namespace {

template <typename Key>
void Drop(std::map<Key, std::set<ParkedClassId>>& index, const Key& key, ParkedClassId id) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  it->second.erase(id);
  if (it->second.empty()) index.erase(it);
}

}  // namespace

QuotaNodeId ParkedClasses::RootOf(const ParkedClassName& name) const {
  const bool waits = (name.relief & kReliefQuota) != 0 && name.queue.valid();
  if (!waits || tree_ == nullptr || name.queue.index() >= tree_->node_count()) return {};
  return tree_->Root(name.queue);
}

void ParkedClasses::SetTree(const QuotaTree* tree) {
  tree_ = tree;
  by_root_.clear();
  for (const auto& [id, parked_class] : classes_) {
    const QuotaNodeId root = RootOf(parked_class.name);
    if (root.valid()) by_root_[root].insert(id);
  }
}

ParkedClassId ParkedClasses::IdOf(ParkedClassName name) {
  const auto [it, fresh] = ids_.try_emplace(name, last_ + 1);
  if (!fresh) return it->second;
  ++last_;
  by_shape_[name.smallest_shape].insert(last_);
  const QuotaNodeId root = RootOf(name);
  if (root.valid()) by_root_[root].insert(last_);
  classes_.emplace(last_, ParkedClass{.name = std::move(name), .asleep = {}});
  return last_;
}

void ParkedClasses::DropIfEmpty(ParkedClassId id) {
  const auto it = classes_.find(id);
  if (it == classes_.end() || it->second.awake > 0 || !it->second.asleep.empty()) return;
  const ParkedClassName& name = it->second.name;
  Drop(by_shape_, name.smallest_shape, id);
  Drop(by_root_, RootOf(name), id);
  ids_.erase(name);
  classes_.erase(it);
}

std::vector<ParkedClassId> ParkedClasses::Hit(uint32_t relief, const Questions& ask) {
  constexpr uint32_t kNeedsRoom = kReliefRoom | kReliefNodes;
  std::vector<ParkedClassId> hit_classes;
  for (const auto& [shape, ids] : by_shape_) {
    std::optional<bool> room;
    for (const ParkedClassId id : ids) {
      const ParkedClass& parked_class = classes_.at(id);
      const uint32_t hit = parked_class.name.relief & relief;
      if (hit == 0 || ask.asking(parked_class)) continue;
      ++looked_at_;
      if ((hit & ~kNeedsRoom) == 0 && shape.valid()) {
        if (!room.has_value()) room = ask.fits(shape);
        if (!*room || !ask.has_quota(parked_class)) continue;
      }
      hit_classes.push_back(id);
    }
  }
  return hit_classes;
}

std::vector<ParkedClassId> ParkedClasses::WaitingForQuotaOf(
    QuotaNodeId root, absl::FunctionRef<bool(const ParkedClass&)> asking) {
  std::vector<ParkedClassId> waiting;
  const auto ids = by_root_.find(root);
  if (ids == by_root_.end()) return waiting;
  for (const ParkedClassId id : ids->second) {
    if (asking(classes_.at(id))) continue;
    ++looked_at_;
    waiting.push_back(id);
  }
  return waiting;
}

}  // namespace maniple
