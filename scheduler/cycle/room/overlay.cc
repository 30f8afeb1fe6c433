#include "scheduler/cycle/room/overlay.h"

#include "api/base/check.h"

namespace maniple {
namespace {

NodeBlock::Change ChangeFor(Occupant of) {
  switch (of) {
    case Occupant::kPod:
      return NodeBlock::Change::kGive;
    case Occupant::kHold:
      return NodeBlock::Change::kGiveRoom;
    case Occupant::kNobody:
      break;
  }
  return NodeBlock::Change::kGiveAmounts;
}

}  // namespace

Overlay::Overlay(const Snapshot& base, View view, SearchWork* work)
    : base_(base), work_(work), copies_(base.blocks.size()) {
  blocks_.reserve(base.blocks.size());
  if (view == View::kEmptied) emptied_.reserve(base.blocks.size());
  for (const auto& block : base.blocks) {
    switch (view) {
      case View::kNow:
        blocks_.push_back(block.get());
        break;
      case View::kEmptied:
        blocks_.push_back(&emptied_.emplace_back(block->Emptied()));
        break;
    }
  }
  untouched_ = blocks_;
}

void Overlay::Apply(const Step& step) {
  constexpr int64_t kStepsPerChange = 200, kStepsPerCount = 20;
  const PodShape& shape = base_.tables->ShapeOf(step.shape);
  Spend(kStepsPerChange + kStepsPerCount * static_cast<int64_t>(shape.counts.size()));
  ++edition_;
  const uint32_t b = BlockOf(step.node);
  if (copies_[b] == nullptr) copies_[b] = std::make_unique<NodeBlock>(*blocks_[b]);
  blocks_[b] = copies_[b].get();
  copies_[b]->Charge(RowOf(step.node), shape, step.change);
}

void Overlay::Place(NodeId node, ShapeId shape) {
  journal_.push_back({.node = node, .shape = shape, .change = NodeBlock::Change::kTake});
  placed_.push_back({.shape = shape, .node = node});
  Apply(journal_.back());
}

void Overlay::Promise(NodeId node, ShapeId shape) {
  journal_.push_back({.node = node, .shape = shape, .change = NodeBlock::Change::kTakeRoom});
  Apply(journal_.back());
}

void Overlay::Free(NodeId node, ShapeId shape, Occupant of) {
  journal_.push_back({.node = node, .shape = shape, .change = ChangeFor(of)});
  Apply(journal_.back());
}

void Overlay::Rollback(Checkpoint to) {
  CHECK_LE(to, journal_.size());
  while (journal_.size() > to) {
    Step step = journal_.back();
    journal_.pop_back();
    switch (step.change) {
      case NodeBlock::Change::kTake:
        step.change = NodeBlock::Change::kGive;
        placed_.pop_back();
        break;
      case NodeBlock::Change::kGive:
        step.change = NodeBlock::Change::kTake;
        break;
      case NodeBlock::Change::kGiveRoom:
        step.change = NodeBlock::Change::kTakeRoom;
        break;
      case NodeBlock::Change::kTakeRoom:
        step.change = NodeBlock::Change::kGiveRoom;
        break;
      case NodeBlock::Change::kGiveAmounts:
        step.change = NodeBlock::Change::kTakeAmounts;
        break;
      case NodeBlock::Change::kTakeAmounts:
        step.change = NodeBlock::Change::kGiveAmounts;
        break;
    }
    Apply(step);
  }
  // The copies stay, since they equal their originals again:
  // the next speculation on their blocks copies nothing.
  if (journal_.empty()) blocks_ = untouched_;
}

uint64_t Overlay::Fingerprint() const {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const NodeBlock* block : blocks_) hash = (hash ^ block->Fingerprint()) * 0x100000001b3ULL;
  return hash;
}

}  // namespace maniple
