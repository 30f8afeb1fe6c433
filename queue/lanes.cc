#include "queue/lanes.h"

#include <algorithm>
#include <utility>

namespace maniple {

void Lanes::SetTree(const QuotaTree* tree, const std::vector<QueueRules>& rules,
                    FairSharing fair_sharing) {
  BringBack();
  tree_ = tree;
  const size_t known = tree == nullptr ? 0 : tree->node_count();
  lanes_.resize(std::max(lanes_.size(), known));
  tournament_.reset();
  if (tree != nullptr) tournament_.emplace(*tree, fair_sharing);

  // Items whose Queue has become known, or is no longer known, change lanes.
  OrderedStandings moved =
      loose_.Take([this](const ItemStanding& standing) { return Known(standing.order.queue); });
  for (size_t i = known; i < lanes_.size(); ++i) {
    moved.merge(lanes_[i].ready);
    lanes_[i].speakers.clear();
  }
  ready_ = loose_.size();
  stale_.clear();
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    lane.strict = i < known && i < rules.size() && rules[i].ordering == QueueOrdering::kStrictFifo;
    lane.stale = false;
    lane.counted = 0;
    if (!lane.ready.empty()) Recount(lane, QuotaNodeId(i));
  }
  for (ItemStanding* standing : moved) Insert(*standing);
}

void Lanes::UsageChanged(QuotaNodeId queue) {
  if (Known(queue)) tournament_->Touch(queue);
}

Lanes::Lane* Lanes::LaneOf(const ItemStanding& standing) {
  const QuotaNodeId queue = standing.order.queue;
  return Known(queue) ? &lanes_[queue.index()] : nullptr;
}

ItemStanding* Lanes::HeadOf(const Lane& lane) {
  if (lane.ready.empty()) return nullptr;
  ItemStanding* first = *lane.ready.begin();
  const bool held =
      lane.strict && !lane.blockers.empty() && ServedBefore()(*lane.blockers.begin(), first);
  return held ? nullptr : first;
}

void Lanes::Recount(Lane& lane, QuotaNodeId queue) {
  ready_ -= lane.counted;
  lane.counted = HeadOf(lane) == nullptr ? 0 : lane.ready.size();
  ready_ += lane.counted;
  if (lane.stale || !Known(queue)) return;
  lane.stale = true;
  stale_.push_back(queue);
}

void Lanes::Insert(ItemStanding& standing) {
  Lane* lane = LaneOf(standing);
  if (lane == nullptr) {
    loose_.Insert(standing);
    ++ready_;
    return;
  }
  lane->ready.insert(&standing);
  if (standing.speaks) lane->speakers.insert(&standing);
  Recount(*lane, standing.order.queue);
}

void Lanes::Erase(ItemStanding& standing) {
  Lane* lane = LaneOf(standing);
  if (lane == nullptr) {
    loose_.Erase(standing);
    --ready_;
    return;
  }
  lane->ready.erase(&standing);
  lane->speakers.erase(&standing);
  Recount(*lane, standing.order.queue);
}

void Lanes::Block(ItemStanding& standing) {
  const QuotaNodeId queue = standing.order.queue;
  if (!queue.valid()) return;
  if (queue.index() >= lanes_.size()) lanes_.resize(queue.index() + 1);
  Lane& lane = lanes_[queue.index()];
  lane.blockers.insert(&standing);
  if (lane.strict) Recount(lane, queue);
}

void Lanes::Unblock(ItemStanding& standing) {
  const QuotaNodeId queue = standing.order.queue;
  if (!queue.valid()) return;
  Lane& lane = lanes_[queue.index()];
  lane.blockers.erase(&standing);
  if (lane.strict) Recount(lane, queue);
}

void Lanes::ShowHeads() {
  for (const QuotaNodeId queue : stale_) {
    Lane& lane = lanes_[queue.index()];
    lane.stale = false;
    const ItemStanding* head = lane.aside ? nullptr : HeadOf(lane);
    if (head == nullptr) {
      tournament_->SetHead(queue, std::nullopt);
      continue;
    }
    const OrderKey& order = head->order;
    tournament_->SetHead(queue, QueueHead{.priority = order.priority,
                                          .queued = order.queued,
                                          .namespace_name = order.namespace_name,
                                          .name = order.name,
                                          .demand = order.demand});
  }
  stale_.clear();
}

ItemStanding* Lanes::Best() {
  ItemStanding* best = loose_.Best();
  if (!tournament_.has_value()) return best;
  ShowHeads();
  const std::optional<QuotaNodeId> winner = tournament_->Winner();
  if (!winner.has_value()) return best;
  ItemStanding* head = HeadOf(lanes_[winner->index()]);
  return best == nullptr || ServedBefore()(head, best) ? head : best;
}

void Lanes::StandAside(const OrderKey& order) {
  if (!Known(order.queue)) {
    loose_.StandAside(order.namespace_name);
    return;
  }
  Lane& lane = lanes_[order.queue.index()];
  if (std::exchange(lane.aside, true)) return;
  aside_.push_back(order.queue);
  Recount(lane, order.queue);
}

bool Lanes::BringBack() {
  const bool some = loose_.BringBack() || !aside_.empty();
  for (const QuotaNodeId queue : std::exchange(aside_, {})) {
    lanes_[queue.index()].aside = false;
    Recount(lanes_[queue.index()], queue);
  }
  return some;
}

bool Lanes::Held(const ItemStanding& standing) const {
  if (standing.where == Whereabouts::kPopped || standing.item.kind == ItemKind::kRepair) {
    return false;
  }
  const ItemStanding* blocker = BlockerOf(standing.order.queue);
  return blocker != nullptr && ServedBefore()(blocker, &standing);
}

const ItemStanding* Lanes::BlockerOf(QuotaNodeId queue) const {
  if (!Known(queue)) return nullptr;
  const Lane& lane = lanes_[queue.index()];
  return lane.strict && !lane.blockers.empty() ? *lane.blockers.begin() : nullptr;
}

std::vector<const ItemStanding*> Lanes::HeldReady(QuotaNodeId queue) const {
  std::vector<const ItemStanding*> held;
  if (BlockerOf(queue) == nullptr) return held;
  for (const ItemStanding* standing : lanes_[queue.index()].ready) {
    if (Held(*standing)) held.push_back(standing);
  }
  return held;
}

std::vector<ItemStanding*> Lanes::LaterBlockers(QuotaNodeId queue) const {
  if (!Known(queue) || !lanes_[queue.index()].strict) return {};
  const OrderedStandings& blockers = lanes_[queue.index()].blockers;
  return blockers.empty() ? std::vector<ItemStanding*>()
                          : std::vector<ItemStanding*>(std::next(blockers.begin()), blockers.end());
}

std::vector<ItemStanding*> Lanes::HeldSpeakers(QuotaNodeId queue) const {
  std::vector<ItemStanding*> held;
  if (!Known(queue)) return held;
  const Lane& lane = lanes_[queue.index()];
  if (!lane.strict || lane.blockers.empty()) return held;
  held.assign(lane.speakers.upper_bound(*lane.blockers.begin()), lane.speakers.end());
  return held;
}

void Lanes::Silence(ItemStanding& standing) {
  standing.speaks = false;
  if (Lane* lane = LaneOf(standing)) lane->speakers.erase(&standing);
}

}  // namespace maniple
