#include "scheduler/cycle/room/room_cache.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// A number is used again only when no shape and no block uses it, and plugins do not look at
// topologies.
bool SameFacts(const Tables& a, const Tables& b) {
  return a.resources == b.resources && a.taint_keys.size() == b.taint_keys.size() &&
         a.host_ports.size() == b.host_ports.size() && a.classes == b.classes &&
         a.label_columns == b.label_columns && a.free_volumes == b.free_volumes;
}

}  // namespace

BlockRoom* RoomCache::Shape::Find(uint32_t block, const std::shared_ptr<const NodeBlock>& of) {
  if (block >= blocks_.size()) return nullptr;
  const std::weak_ptr<const NodeBlock>& known = blocks_[block].of;
  return known.owner_before(of) || of.owner_before(known) ? nullptr : &blocks_[block].room;
}

BlockRoom& RoomCache::Shape::Renew(uint32_t block, const std::shared_ptr<const NodeBlock>& of) {
  Block& renewed = blocks_[block];
  renewed.of = of;
  renewed.room.room.nodes.clear();
  renewed.room.room.total = 0;
  renewed.room.ranked.clear();
  renewed.room.in_order = 0;
  return renewed.room;
}

void RoomCache::Begin(const Snapshot& snapshot) {
  if (order_ != snapshot.order || mix_ != snapshot.mix ||
      (tables_ != snapshot.tables && !SameFacts(*tables_, *snapshot.tables))) {
    shapes_.clear();
  }
  if (images_ != snapshot.images) {
    std::erase_if(shapes_, [&](const std::unique_ptr<Shape>& known) {
      const std::vector<ImageId>& images = known->shape_->images;
      return !std::ranges::all_of(images, [&](ImageId image) {
        return FactsOf(*images_, image) == FactsOf(*snapshot.images, image);
      });
    });
  }
  tables_ = snapshot.tables;
  images_ = snapshot.images;
  order_ = snapshot.order;
  mix_ = snapshot.mix;
  if (shapes_.size() > kMostShapes) shapes_.resize(kMostShapes);
}

RoomCache::Shape& RoomCache::Of(const Snapshot& snapshot, ShapeId shape, const NodeSet* allowed) {
  const std::shared_ptr<const PodShape>& asked = snapshot.tables->shapes[shape.index()];
  const auto at = std::ranges::find_if(shapes_, [&](const std::unique_ptr<Shape>& known) {
    return known->shape_ == asked && known->allowed_.has_value() == (allowed != nullptr) &&
           (allowed == nullptr || *known->allowed_ == *allowed);
  });
  if (at != shapes_.end()) {
    std::rotate(shapes_.begin(), at, at + 1);
    return *shapes_.front();
  }
  auto fresh = std::make_unique<Shape>();
  fresh->shape_ = asked;
  if (allowed != nullptr) fresh->allowed_ = *allowed;
  fresh->blocks_.resize(snapshot.blocks.size());
  shapes_.insert(shapes_.begin(), std::move(fresh));
  return *shapes_.front();
}

}  // namespace maniple
