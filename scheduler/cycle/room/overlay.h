// Speculation: a journal of placements over an immutable snapshot, with checkpoints.
//
// Copies only the blocks that it touches; the snapshot below never changes. One thread, for the
// length of a decision.
//
//   Overlay overlay(snapshot, Overlay::View::kNow);
//   const Overlay::Checkpoint before = overlay.Mark();
//   overlay.Place(node, shape);
//   overlay.Rollback(before);          // the fingerprint is again what it was
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/framework/filter.h"
#include "plugins/framework/partial_plan.h"
#include "plugins/framework/snapshot.h"
#include "scheduler/cycle/room/search_work.h"

namespace maniple {

// The occupant of freed room. A hold, of ours or as another scheduler's nomination, is for a pod
// that is yet to come, so no pod leaves. Of nobody the amounts alone are freed: whoever they are
// measured by keeps its ports and volumes.
enum class Occupant : uint8_t { kPod, kHold, kNobody };

class Overlay final {
 public:
  enum class View : uint8_t {
    kNow,
    kEmptied,  // the same nodes without any pod, hold or cool-down
  };
  // Borrows the snapshot for its life, and `work`, to which looks at it are charged;
  // null: to nothing.
  Overlay(const Snapshot& base, View view, SearchWork* work = nullptr);

  [[nodiscard]] const Snapshot& base() const { return base_; }
  [[nodiscard]] View view() const { return emptied_.empty() ? View::kNow : View::kEmptied; }
  [[nodiscard]] uint32_t block_count() const { return static_cast<uint32_t>(blocks_.size()); }
  [[nodiscard]] const NodeBlock& Block(uint32_t block) const { return *blocks_[block]; }
  // Every block as it stands now; changes with the edition.
  [[nodiscard]] BlockSpan blocks() const { return blocks_; }
  // Changes with every change of a block.
  [[nodiscard]] uint64_t edition() const { return edition_; }
  [[nodiscard]] NodeView At(NodeId node) const {
    return {.block = *blocks_[BlockOf(node)], .row = RowOf(node)};
  }
  [[nodiscard]] PartialPlan placed() const { return {.placed = placed_}; }

  [[nodiscard]] SearchWork* work() const { return work_; }
  void Spend(int64_t steps) const {
    if (work_ != nullptr) work_->Spend(steps);
  }
  [[nodiscard]] bool spent() const { return work_ != nullptr && work_->spent(); }

  // REQUIRES: the snapshot has the node and the shape.
  void Place(NodeId node, ShapeId shape);
  // Takes room that is promised to a pod of the shape: no pod stands there yet.
  void Promise(NodeId node, ShapeId shape);
  // Frees the room charged for a pod of the shape.
  void Free(NodeId node, ShapeId shape, Occupant of = Occupant::kPod);

  using Checkpoint = size_t;
  [[nodiscard]] Checkpoint Mark() const { return journal_.size(); }
  // REQUIRES: `to` was marked on this overlay and no earlier mark was rolled back to since.
  void Rollback(Checkpoint to);

  [[nodiscard]] uint64_t Fingerprint() const;

 private:
  struct Step {
    NodeId node;
    ShapeId shape;
    NodeBlock::Change change;
  };
  void Apply(const Step& step);

  const Snapshot& base_;
  SearchWork* work_;
  std::vector<const NodeBlock*> blocks_;            // as they stand now
  std::vector<const NodeBlock*> untouched_;         // as they stood first
  std::vector<std::unique_ptr<NodeBlock>> copies_;  // of touched blocks
  std::vector<NodeBlock> emptied_;
  uint64_t edition_ = 0;
  std::vector<Step> journal_;
  std::vector<PlacedMember> placed_;
};

}  // namespace maniple
