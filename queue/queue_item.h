// An entry of the queue of gangs (gang_queue.h): an item, its order,
// and the facts that could help it while it is parked. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "api/model/ids.h"
#include "queue/gang.h"
#include "queue/quota_tree.h"

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
  QuotaNodeId queue = {};  // invalid: no Queue, no quota
  Demand demand = {};      // its charge there, in the first flavors that cover it; empty without a
                           // Cohort
};

// Changes that could make a parked item start. Bits, because an item may wait for several at once.
enum ReliefBit : uint32_t {
  kReliefRoom = 1u << 0,   // room grew on a node: a pod ended, a hold or reservation was released,
                           // allocatable rose
  kReliefNodes = 1u << 1,  // a node appeared or its labels, taints or schedulability changed
  kReliefQueue = 1u << 3,  // Queue, Cohort, flavor, namespace label or priority class changed
  kReliefVictims = 1u << 6,  // another gang may now be evicted: for instance, a budget allows more
  kReliefLoose = 1u << 9,    // … among the gangs without a Queue
  kReliefHolds = 1u << 10,   // a gang that held room for a later start holds none any more
  kReliefCapacity = 1u << 11,  // a node may hold more than before if it were empty
  kReliefLoss = 1u << 12,    // of nodes or labels: what waited may never fit now, and block nobody
  kReliefVolumes = 1u << 8,  // a volume may be had that could not be before
  kReliefQuota = 1u << 5,    // usage changed in the tree of Cohorts that the item's Queue is in
  kReliefPods = 1u << 7,     // pods that its terms look at came, left or changed; or domains did
};

struct ParkFacts {
  // Items with the same key failed for the same reason with the same request: one of them speaks
  // for all.
  std::string class_key;
  uint32_t relief = 0;                        // ReliefBits
  absl::Time until = absl::InfiniteFuture();  // backoff, cool-down, hold
  // Whether it holds up the items after it in a StrictFIFO Queue; not so where it can never start.
  bool blocks = true;
  // The room that some changed node must have before this class is worth a try:
  // that of its smallest member's shape.
  ShapeId smallest_shape;
};

// The rules of one Queue.
struct QueueRules {
  QueueOrdering ordering = QueueOrdering::kBestEffortFifo;
};

// The Queue of the item, or an ancestor of it, within which usage must fall: until then the item
// and its class can only be refused. None: it may help to ask now.
using ShortAt = absl::FunctionRef<std::optional<QuotaNodeId>(QueueItem)>;

}  // namespace maniple
