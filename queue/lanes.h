// The ready items of one kind, in one lane per Queue, and per namespace for items without a Queue.
// The Tournament decides between the heads of lanes. Of this room only; owned by GangQueue.
//
// Borrows every ItemStanding from Insert until Erase and from Block until Unblock; its item and
// order stay as they are meanwhile.
//
// A lane whose Queue is StrictFIFO is held up behind its first blocker: nothing after that is
// popped. A blocker may be of another kind than the lane's items.
//
// Invariants:
//   1. counted = the items of the lane, or 0 if none of them can be popped; ready() is their sum.
//   2. A lane that is not in `stale_` has shown its head to the tournament.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "queue/loose_lanes.h"
#include "queue/standing.h"
#include "queue/tournament.h"

namespace maniple {

class Lanes final {
 public:
  // As GangQueue::SetTree; without rules every Queue is BestEffortFIFO.
  void SetTree(const QuotaTree* tree, const std::vector<QueueRules>& rules,
               FairSharing fair_sharing);
  void UsageChanged(QuotaNodeId queue);

  void Insert(ItemStanding& standing);
  void Erase(ItemStanding& standing);
  // A parked item holds up the items after it, if its Queue is (or becomes) StrictFIFO.
  void Block(ItemStanding& standing);
  void Unblock(ItemStanding& standing);

  // The next item to serve, of lanes that do not stand aside. It stays here.
  [[nodiscard]] ItemStanding* Best();
  // The lane of an item with this order lets all others go first.
  void StandAside(const OrderKey& order);
  // False: no lane stood aside.
  bool BringBack();
  // For an item that is ready, or parked and to be woken:
  // does a parked item of its Queue hold it up? Never a repair.
  [[nodiscard]] bool Held(const ItemStanding& standing) const;
  // The item that holds up others of the Queue; null: none does.
  [[nodiscard]] const ItemStanding* BlockerOf(QuotaNodeId queue) const;
  [[nodiscard]] std::vector<const ItemStanding*> HeldReady(QuotaNodeId queue) const;
  // For a StrictFIFO Queue, in order: the blockers after the first one, and the ready items that
  // speak for a class and are held up.
  [[nodiscard]] std::vector<ItemStanding*> LaterBlockers(QuotaNodeId queue) const;
  [[nodiscard]] std::vector<ItemStanding*> HeldSpeakers(QuotaNodeId queue) const;
  // A ready item no longer speaks for its class.
  void Silence(ItemStanding& standing);

  // The number of ready items, without those of Queues in which nothing can be popped.
  [[nodiscard]] size_t ready() const { return ready_; }
  [[nodiscard]] size_t queues() const { return lanes_.size(); }

 private:
  struct Lane {
    OrderedStandings ready;
    OrderedStandings blockers;
    OrderedStandings speakers;  // the ready items that speak for a class
    size_t counted = 0;
    bool strict = false;
    bool stale = false;
    bool aside = false;
  };

  [[nodiscard]] bool Known(QuotaNodeId queue) const {
    return tree_ != nullptr && queue.valid() && queue.index() < tree_->node_count();
  }
  [[nodiscard]] Lane* LaneOf(const ItemStanding& standing);
  [[nodiscard]] static ItemStanding* HeadOf(const Lane& lane);
  void Recount(Lane& lane, QuotaNodeId queue);
  void ShowHeads();

  const QuotaTree* tree_ = nullptr;
  std::optional<Tournament> tournament_;
  std::vector<Lane> lanes_;         // by QuotaNodeId
  LooseLanes loose_;                // ready and of no Queue that the tree knows
  std::vector<QuotaNodeId> stale_;  // lanes whose head the tournament has not seen, each once
  std::vector<QuotaNodeId> aside_;
  size_t ready_ = 0;
};

}  // namespace maniple
