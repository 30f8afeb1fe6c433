// The place of one item in the GangQueue, and the order among items. Of this room only.
#pragma once

#include <cstdint>
#include <tuple>

#include "absl/container/btree_set.h"
#include "queue/queue_item.h"

namespace maniple {

using ParkedClassId = uint64_t;  // 0 = none

enum class Whereabouts : uint8_t { kReady, kPopped, kParked };

struct ItemStanding {
  QueueItem item;
  OrderKey order;
  Whereabouts where = Whereabouts::kReady;
  ParkedClassId parked_class = 0;  // parked: its class; otherwise the class it was woken from
  bool speaks = false;             // awake on behalf of that class
  bool blocks = false;             // parked: holds up the items after it in a StrictFIFO Queue
};

// The order of service as far as Queues have no say in it.
struct ServedBefore {
  static auto Key(const ItemStanding& s) {
    return std::make_tuple(s.item.kind == ItemKind::kSurplus, -int64_t{s.order.priority},
                           s.item.kind, s.order.queued);
  }
  bool operator()(const ItemStanding* a, const ItemStanding* b) const {
    if (const auto ka = Key(*a), kb = Key(*b); ka != kb) return ka < kb;
    return std::tie(a->order.namespace_name, a->order.name, a->item) <
           std::tie(b->order.namespace_name, b->order.name, b->item);
  }
};
using OrderedStandings = absl::btree_set<ItemStanding*, ServedBefore>;

}  // namespace maniple
