// Which gang is served next, and which are parked until something changes that could help them.
//
// Holds ids and order keys only, never members. Owned by the scheduling thread. Nothing is polled:
// a parked gang costs nothing until an event or a time that it names.
//
//   queue.Offer(id, key, now);              // new or changed: ready to be decided
//   while (auto item = queue.Pop(now)) …    // best first; quorums of all gangs before any surplus
//   queue.Park(item, {.class_key = …, .relief = …});
//   queue.Wake(relief, now);                // an event that could help: at most one gang per class
//   is woken … queue.ClassAdvance(class_key)           // … and the next of its class when that one
//   fits
//
// Invariants:
//   1. A gang is in at most one place: ready, parked, or absent (being bound, or nothing to do).
//   2. Order is total: (kind quorum < repair first, priority desc, queued time, namespace, name);
//   equal keys never swap.
//   3. After Wake no parked gang's recorded facts contain an event that has happened since it was
//   parked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
  kReliefMembers =
      1u
      << 2,  // the gang's own pods or spec changed (always wakes by Offer, listed for explanation)
  kReliefQueue = 1u << 3,  // Queue, Cohort, flavor, namespace label or priority class changed
  kReliefTime = 1u << 4,   // `until` has come
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
  // 1-based position among items of its queue order, for explanation; 0 when absent.
  [[nodiscard]] std::vector<QueueItem> ParkedItems()
      const;  // in service order; for the invariant ParkedCannotStart

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
