// Which gang is served next, and which are parked until something changes that could help them.
//
// Holds ids and order keys only, never members. Owned by the scheduling thread. Nothing is polled:
// a parked gang costs nothing until an event or a time that it names.
//
//   queue.Offer(item, order);              // new or changed: ready to be decided
//   while (auto item = queue.Pop(now)) …   // best first; all quorums before any surplus
//   queue.Park(item, order, {.class_key = …, .relief = …});
//   queue.Wake(relief, fits);              // an event that could help: one of each class is woken
//   queue.Started(item);                   // … and the next of its class when that one could start
//
// The woken item speaks for its class: if it is parked in the same class again, the others sleep
// on; whatever else becomes of it (started, removed, parked for another reason), the next one of
// the class is asked.
//
// Invariants:
//   1. An item is in at most one place: ready, popped, parked, or absent (being bound, or nothing
//      to do).
//   2. Order is total: surplus last; then priority desc, repair before quorum, queued time,
//      namespace, name.
//   3. After Wake every parked item whose facts name the event sleeps behind a ready or popped item
//      of its own class, or is ready.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "api/model/ids.h"
#include "queue/gang.h"

namespace maniple {

enum class ItemKind : uint8_t {
  kRepair,
  kQuorum,
  kSurplus
};  // in order of service at equal priority

struct QueueItem {
  GangId gang;
  ItemKind kind = ItemKind::kQuorum;
  friend auto operator<=>(const QueueItem&, const QueueItem&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const QueueItem& item) {
    return H::combine(std::move(h), item.gang, item.kind);
  }
};

struct OrderKey {
  int32_t priority = 0;
  absl::Time queued = absl::InfinitePast();  // creation, or last undo
  std::string namespace_name, name;
};

// What could make a parked item start. Bits, because an item may wait for several things at once.
enum ReliefBit : uint32_t {
  kReliefRoom = 1u << 0,   // room grew on a node: a pod ended, a hold or reservation was released,
                           // allocatable rose
  kReliefNodes = 1u << 1,  // a node appeared or its labels, taints or schedulability changed
  kReliefMembers = 1u << 2,  // the gang's own pods or spec changed (always wakes by Offer)
  kReliefQueue = 1u << 3,    // Queue, Cohort, flavor, namespace label or priority class changed
  kReliefTime = 1u << 4,     // `until` has come
};

struct ParkFacts {
  // Items with the same key failed for the same reason with the same request: one of them speaks
  // for all.
  std::string class_key;
  uint32_t relief = 0;                        // ReliefBits
  absl::Time until = absl::InfiniteFuture();  // backoff, cool-down, hold
  // Room that must exist on some single changed node before this class is worth a try: its smallest
  // member's shape.
  ShapeId smallest_shape;
};

class GangQueue final {
 public:
  GangQueue();
  ~GangQueue();

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

  // `fits(shape)`: could one pod of the shape now start on one of the nodes that changed? Asked
  // once per class.
  void Wake(uint32_t relief, absl::FunctionRef<bool(ShapeId)> fits);
  // The item just popped was started, so the next of its class may fit as well.
  void Started(QueueItem item);

  [[nodiscard]] size_t ready() const;
  [[nodiscard]] size_t parked() const;
  [[nodiscard]] absl::Time NextDeadline() const;
  [[nodiscard]] std::vector<QueueItem> ParkedItems()
      const;  // in service order; for ParkedCannotStart
  [[nodiscard]] std::vector<QueueItem> WaitingItems() const;  // ready and parked, in service order
  // Items and classes looked at since the start: the measure of "blocked work costs nothing".
  [[nodiscard]] uint64_t touched() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
