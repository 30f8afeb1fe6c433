#include "scheduler/state/image_table.h"

#include <algorithm>

namespace maniple {

void ImageTable::Count(ImageId image, int64_t bytes) {
  ImageFacts& facts = facts_[image.index()];
  ++facts.nodes;
  facts.bytes = std::max(facts.bytes, bytes);
  changed_ = true;
}

std::vector<ImageId> ImageTable::SetHeld(NodeId node, const std::vector<NodeImage>& images) {
  std::vector<Held> now;
  now.reserve(images.size());
  for (const NodeImage& image : images) {
    now.push_back({.name = names_.Intern(image.name).id, .bytes = image.bytes});
  }
  std::sort(now.begin(), now.end());
  if (node.index() >= by_node_.size()) by_node_.resize(node.index() + 1);
  std::vector<Held>& had = by_node_[node.index()];
  const bool same = had == now;
  std::vector<ImageId> of_shapes;
  for (const Held& held : now) {
    const auto it = followed_.find(held.name);
    if (it == followed_.end()) continue;
    of_shapes.push_back(it->second);
    if (!same) Count(it->second, held.bytes);
  }
  std::sort(of_shapes.begin(), of_shapes.end());
  if (same) return of_shapes;
  for (const Held& held : had) {
    const auto it = followed_.find(held.name);
    if (it == followed_.end()) continue;
    ImageFacts& facts = facts_[it->second.index()];
    if (--facts.nodes == 0) facts.bytes = 0;
    changed_ = true;
  }
  had = std::move(now);
  return of_shapes;
}

std::vector<NodeId> ImageTable::Follow(ImageId image, absl::string_view name) {
  const NameId id = names_.Intern(std::string(name)).id;
  if (!followed_.emplace(id, image).second) return {};
  if (image.index() >= facts_.size()) facts_.resize(image.index() + 1);
  facts_[image.index()] = {};
  std::vector<NodeId> holders;
  for (uint32_t i = 0; i < by_node_.size(); ++i) {
    const auto at = std::ranges::lower_bound(by_node_[i], id, {}, &Held::name);
    if (at == by_node_[i].end() || at->name != id) continue;
    Count(image, at->bytes);
    holders.emplace_back(i);
  }
  return holders;
}

void ImageTable::KeepOnly(const UsedIds& images) {
  UsedIds names;
  for (const std::vector<Held>& held : by_node_) {
    for (const Held& image : held) names.Note(image.name);
  }
  for (auto at = followed_.begin(); at != followed_.end();) {
    const auto [name, image] = *at;
    if (images.Has(image)) {
      names.Note(name);
      ++at;
      continue;
    }
    facts_[image.index()] = {};
    changed_ = true;
    followed_.erase(at++);
  }
  names_.KeepOnly(names);
}

std::shared_ptr<const NodeImages> ImageTable::Publish() {
  if (!changed_ || *published_ == facts_) {
    changed_ = false;
    return published_;
  }
  changed_ = false;
  published_ = std::make_shared<const NodeImages>(facts_);
  return published_;
}

}  // namespace maniple
