#include "queue/parked_classes.h"

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
  WatchRoots();
}

void ParkedClasses::WatchRoots() {
  by_watched_.clear();
  for (auto& [id, parked_class] : classes_) {
    parked_class.watched = RootOf(parked_class.name);
    if (parked_class.watched.valid()) by_watched_[parked_class.watched].insert(id);
  }
}

void ParkedClasses::WatchRoot(ParkedClassId id) { Watch(id, RootOf(At(id).name)); }

void ParkedClasses::Watch(ParkedClassId id, QuotaNodeId node) {
  QuotaNodeId& watched = At(id).watched;
  if (watched == node) return;
  Drop(by_watched_, watched, id);
  watched = node;
  if (node.valid()) by_watched_[node].insert(id);
}

ParkedClassId ParkedClasses::IdOf(ParkedClassName name) {
  const auto [it, fresh] = ids_.try_emplace(name, last_ + 1);
  if (!fresh) return it->second;
  ++last_;
  by_needs_[{name.smallest_shape, name.relief}].insert(last_);
  classes_.emplace(last_, ParkedClass{.name = std::move(name), .asleep = {}});
  WatchRoot(last_);
  return last_;
}

void ParkedClasses::DropIfEmpty(ParkedClassId id) {
  const auto it = classes_.find(id);
  if (it == classes_.end() || it->second.awake > 0 || !it->second.asleep.empty()) return;
  const ParkedClassName& name = it->second.name;
  Drop(by_needs_, {name.smallest_shape, name.relief}, id);
  Drop(by_watched_, it->second.watched, id);
  ids_.erase(name);
  classes_.erase(it);
}

std::vector<ParkedClassId> ParkedClasses::Hit(uint32_t relief, const Questions& ask) {
  constexpr uint32_t kNeedsRoom = kReliefRoom | kReliefNodes | kReliefPods;
  std::vector<ParkedClassId> hit_classes;
  std::map<ShapeId, bool> room;
  for (const auto& [needs, ids] : by_needs_) {
    const auto [shape, of_class] = needs;
    const uint32_t hit = of_class & relief;
    if (hit == 0) continue;
    const bool for_room = (hit & ~kNeedsRoom) == 0 && shape.valid();
    for (const ParkedClassId id : ids) {
      const ParkedClass& parked_class = classes_.at(id);
      if (ask.asking(parked_class)) continue;
      ++looked_at_;
      if (for_room) {
        const auto [known, fresh] = room.try_emplace(shape);
        if (fresh) known->second = ask.fits(shape);
        if (!known->second || !ask.has_quota(parked_class)) continue;
      }
      hit_classes.push_back(id);
    }
  }
  return hit_classes;
}

std::vector<ParkedClassId> ParkedClasses::Watching(
    QuotaNodeId node, absl::FunctionRef<bool(const ParkedClass&)> asking) {
  std::vector<ParkedClassId> watching;
  const auto ids = by_watched_.find(node);
  if (ids == by_watched_.end()) return watching;
  for (const ParkedClassId id : ids->second) {
    if (asking(classes_.at(id))) continue;
    ++looked_at_;
    watching.push_back(id);
  }
  return watching;
}

}  // namespace maniple
