#include "scheduler/state/image_table.h"

#include <algorithm>
#include <functional>

namespace maniple {

void ImageTable::Count(ImageId image, int64_t bytes) {
  ImageFacts& facts = facts_[image.index()];
  ++facts.nodes;
  facts.bytes = std::max(facts.bytes, bytes);
  changed_ = true;
}

const ImageTable::Held* ImageTable::HeldBy(const std::vector<Held>& node, NameId name) {
  const auto at = std::ranges::lower_bound(node, name, {}, &Held::name);
  return at == node.end() || at->name != name ? nullptr : &*at;
}

void ImageTable::Discount(ImageId image, const Held& gone) {
  ImageFacts& facts = facts_[image.index()];
  --facts.nodes;
  changed_ = true;
  if (gone.bytes < facts.bytes) return;
  facts.bytes = 0;
  int64_t left = facts.nodes;
  for (const std::vector<Held>& node : by_node_) {
    if (left == 0 || facts.bytes == gone.bytes) break;  // all of one size, as a rule
    const Held* held = HeldBy(node, gone.name);
    if (held == nullptr) continue;
    --left;
    facts.bytes = std::max(facts.bytes, held->bytes);
  }
}

std::vector<ImageId> ImageTable::SetHeld(NodeId node, const std::vector<NodeImage>& images) {
  std::vector<Held> now;
  now.reserve(images.size());
  for (const NodeImage& image : images) {
    now.push_back({.name = names_.Intern(image.name).id, .bytes = image.bytes});
  }
  std::ranges::sort(now, std::greater());
  // Of a name that a node reports twice the larger size counts.
  now.erase(std::unique(now.begin(), now.end(),
                        [](const Held& a, const Held& b) { return a.name == b.name; }),
            now.end());
  std::ranges::reverse(now);
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
  had.swap(now);
  for (const Held& held : now) {
    const auto it = followed_.find(held.name);
    if (it != followed_.end()) Discount(it->second, held);
  }
  return of_shapes;
}

std::vector<NodeId> ImageTable::Follow(ImageId image, absl::string_view name) {
  const NameId id = names_.Intern(std::string(name)).id;
  if (!followed_.emplace(id, image).second) return {};
  if (image.index() >= facts_.size()) facts_.resize(image.index() + 1);
  facts_[image.index()] = {};
  std::vector<NodeId> holders;
  for (uint32_t i = 0; i < by_node_.size(); ++i) {
    const Held* held = HeldBy(by_node_[i], id);
    if (held == nullptr) continue;
    Count(image, held->bytes);
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
