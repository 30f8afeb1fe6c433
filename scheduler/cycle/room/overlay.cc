#include "scheduler/cycle/room/overlay.h"

#include <utility>

#include "api/base/check.h"

namespace maniple {
namespace {

NodeBlock::Change ChangeFor(Occupant of) {
  switch (of) {
    case Occupant::kPod:
      return NodeBlock::Change::kGive;
    case Occupant::kHold:
      return NodeBlock::Change::kGivePromised;
    case Occupant::kNobody:
      break;
  }
  return NodeBlock::Change::kGiveAmounts;
}

NodeBlock::Change OppositeOf(NodeBlock::Change change) {
  using Change = NodeBlock::Change;
  constexpr std::pair<Change, Change> kOpposites[] = {
      {Change::kTake, Change::kGive},
      {Change::kTakePromised, Change::kGivePromised},
      {Change::kTakeAmounts, Change::kGiveAmounts}};
  for (const auto& [take, give] : kOpposites) {
    if (change == take) return give;
    if (change == give) return take;
  }
  CHECK(false) << "a change without an opposite";
  return change;
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
  journal_.push_back({.node = node, .shape = shape, .change = NodeBlock::Change::kTakePromised});
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
    if (step.change == NodeBlock::Change::kTake) placed_.pop_back();
    step.change = OppositeOf(step.change);
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
