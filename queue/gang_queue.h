// The order in which gangs are served, and the gangs that are parked until a change
// could help them.
//
// Holds ids and order keys only, never members. Owned by the scheduling thread. Nothing is polled:
// a parked gang costs nothing until an event or a time that it names.
//
//   queue.SetTree(&tree, rules, sharing);  // again whenever limits, parents or orderings change
//   queue.Offer(item, order);              // new or changed: ready to be decided
//   while (auto item = queue.Pop(now)) …   // best first; all quorums before any surplus
//   queue.Park(item, order, {.class_key = …, .relief = …});
//   queue.Wake(relief, fits, short_at);    // an event that could help: one of each class is woken
//   queue.WakeQuota(node, short_at);       // usage fell within this node of the tree of Cohorts
//   queue.Started(item);                   // … and the next of its class when that one could start
//
// The woken item speaks for its class. If it is parked in the same class again, the others sleep
// on; if it is started, removed or parked for another reason, the next one of the class is asked.
// A class spans all Queues, except that items which wait for quota, or which do not block,
// are of one class only within one Queue.
//
// Order. Within a Queue: priority, then time queued, then name. Between Queues a tournament from
// the root (queue/tournament.h). Gangs without a Queue, and the winners of different trees, compare
// by priority, time queued and name. Repairs go before every item of the same or lower priority,
// surplus members after every quorum. Items that stand aside come after all others.
//
// StrictFIFO. A quorum that is parked and blocks holds up the quorums after it in its Queue until
// it is woken, removed or started, and all surplus of that Queue. A blocking quorum parked behind
// it stands ready again, and so does surplus: each is asked when its turn comes. So at most one
// quorum blocks a Queue. Repairs are not held up.
//
// Invariants:
//   1. An item is in at most one place: ready, popped, parked, or absent (being bound, or nothing
//      to do).
//   2. Order is total, and independent of the order of offers.
//   3. After Wake every parked item whose facts name the event, and which it may help, is ready, or
//      sleeps behind a ready or popped item of its own class. That item is not held up, unless all
//      that sleep behind it are.
//   4. No quorum or surplus of a StrictFIFO Queue is popped that comes after a parked item which
//      blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "api/model/ids.h"
#include "queue/queue_item.h"
#include "queue/quota_tree.h"
#include "queue/tournament.h"

namespace maniple {

class GangQueue final {
 public:
  GangQueue();
  ~GangQueue();

  // Borrows the tree until the next SetTree; null: no item has a Queue.
  // The caller changes the tree's usage and tells of it by UsageChanged. `rules` is by QuotaNodeId.
  // Ids keep their meaning from one tree to the next; an item whose Queue the tree does not
  // know counts as one without. REQUIRES: items name leaves of the tree.
  void SetTree(const QuotaTree* tree, std::vector<QueueRules> rules, FairSharing fair_sharing);
  // Usage of the Queue changed in the tree: the next winner must be found anew. Cheap.
  void UsageChanged(QuotaNodeId queue);

  // Puts the item among the ready ones, from wherever it is; a repeated offer only updates the
  // order.
  void Offer(QueueItem item, const OrderKey& order);
  // REQUIRES: popped before, not offered since.
  void Park(QueueItem item, const OrderKey& order, ParkFacts facts);
  // Forgets the item wherever it is.
  void Remove(QueueItem item);
  void RemoveGang(GangId gang);

  // The best ready item at `now`, or none. Items whose time has come are ready.
  [[nodiscard]] std::optional<QueueItem> Pop(absl::Time now);
  // The lane of this order has had its share for now: it lets all others go first, until no other
  // is ready. An order without a Queue has the lane of its namespace. Repairs are not put off.
  void StandAside(const OrderKey& order);

  // `fits(shape)`: could one pod of the shape now start on one of the changed nodes,
  // or on any because of the changed pods? Asked once per shape.
  // Room, nodes and pods wake no item whose class is short of quota.
  void Wake(uint32_t relief, absl::FunctionRef<bool(ShapeId)> fits, ShortAt short_at);
  // Usage fell within this node: wakes one item of each class that waits for that. A class that
  // is still short waits for the node that `short_at` gives; one without known shortage waits for
  // the root of its tree. REQUIRES: called for the Queue and every ancestor of it.
  void WakeQuota(QuotaNodeId node, ShortAt short_at);
  // The answers of `short_at` no longer hold, though no usage fell.
  void ForgetShortages();
  // The item just popped was started, so the next of its class may fit as well.
  void Started(QueueItem item);

  // The number of ready items, without those of Queues in which nothing can be popped:
  // 0 if and only if Pop has nothing to give.
  [[nodiscard]] size_t ready() const;
  [[nodiscard]] size_t parked() const;
  [[nodiscard]] absl::Time NextDeadline() const;
  // In a StrictFIFO Queue: the parked item that holds the ready one up; none: nothing does.
  [[nodiscard]] std::optional<QueueItem> BlockerOf(QueueItem item) const;
  // Would it hold up a quorum of this order, too, if that were offered now?
  [[nodiscard]] bool HoldsUp(const OrderKey& order) const;
  // Ready items that a parked one of their Queue holds up.
  [[nodiscard]] std::vector<QueueItem> HeldUp(QuotaNodeId queue) const;
  // In the order of service within a Queue, as if all items were of one. For ParkedCannotStart:
  // without items that a parked one before them holds up, since they wait for that one.
  [[nodiscard]] std::vector<QueueItem> ParkedItems() const;
  [[nodiscard]] std::vector<QueueItem> WaitingItems() const;  // ready and parked, likewise
  // Shapes of parked items, known by their ids alone.
  void ForEachShape(absl::FunctionRef<void(ShapeId)> visit) const;
  // Items and classes looked at since the start: the measure of "blocked work costs nothing".
  [[nodiscard]] uint64_t touched() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
