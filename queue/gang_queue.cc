#include "queue/gang_queue.h"

#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/node_hash_map.h"
#include "api/base/check.h"
#include "api/base/due_times.h"
#include "queue/lanes.h"
#include "queue/parked_classes.h"
#include "queue/standing.h"

namespace maniple {
namespace {

std::vector<QueueItem> ItemsOf(const OrderedStandings& standings) {
  std::vector<QueueItem> out;
  out.reserve(standings.size());
  for (const ItemStanding* standing : standings) out.push_back(standing->item);
  return out;
}

}  // namespace

struct GangQueue::Impl {
  absl::node_hash_map<QueueItem, ItemStanding> standings;
  OrderedStandings repairs;  // the ready ones
  Lanes quorums;
  Lanes surpluses;  // its blockers are those of `quorums`
  absl::btree_map<QuotaNodeId, OrderedStandings> parked_surplus;
  ParkedClasses classes;
  DueTimes<QueueItem> times;  // of parked ones
  size_t parked = 0;
  uint64_t touched = 0;

  ItemStanding& Popped(QueueItem item) {
    const auto it = standings.find(item);
    CHECK(it != standings.end() && it->second.where == Whereabouts::kPopped);
    return it->second;
  }

  void MakeReady(ItemStanding& standing) {
    ++touched;
    standing.where = Whereabouts::kReady;
    switch (standing.item.kind) {
      case ItemKind::kRepair:
        repairs.insert(&standing);
        return;
      case ItemKind::kQuorum:
        quorums.Insert(standing);
        return;
      case ItemKind::kSurplus:
        surpluses.Insert(standing);
        return;
    }
  }

  void TakeReady(ItemStanding& standing) {
    switch (standing.item.kind) {
      case ItemKind::kRepair:
        repairs.erase(&standing);
        return;
      case ItemKind::kQuorum:
        quorums.Erase(standing);
        return;
      case ItemKind::kSurplus:
        surpluses.Erase(standing);
        return;
    }
  }

  // REQUIRES: a quorum or surplus.
  Lanes& LanesOf(const ItemStanding& standing) {
    return standing.item.kind == ItemKind::kSurplus ? surpluses : quorums;
  }

  void PutToSleep(ItemStanding& standing, absl::Time until) {
    classes.At(standing.parked_class).asleep.insert(&standing);
    IfFirstForgetShortage(standing);
    times.Set(standing.item, until);
    ++parked;
    if (standing.item.kind == ItemKind::kSurplus) {
      parked_surplus[standing.order.queue].insert(&standing);
    }
    if (!standing.blocks) return;
    quorums.Block(standing);
    surpluses.Block(standing);
  }

  // The shortage known of a class is that of its first item, which is now, or was, this one.
  void IfFirstForgetShortage(const ItemStanding& standing) {
    if (*classes.At(standing.parked_class).asleep.begin() != &standing) return;
    classes.WatchRoot(standing.parked_class);
  }

  // Takes a parked item out of its class and out of the timetable, and ends its hold.
  void Unpark(ItemStanding& standing) {
    ++touched;
    IfFirstForgetShortage(standing);
    classes.At(standing.parked_class).asleep.erase(&standing);
    times.Erase(standing.item);
    --parked;
    if (standing.item.kind == ItemKind::kSurplus) {
      parked_surplus[standing.order.queue].erase(&standing);
    }
    if (!std::exchange(standing.blocks, false)) return;
    quorums.Unblock(standing);
    surpluses.Unblock(standing);
  }

  // Takes the item from its place.
  void TakeOut(ItemStanding& standing) {
    switch (std::exchange(standing.where, Whereabouts::kPopped)) {
      case Whereabouts::kReady:
        TakeReady(standing);
        return;
      case Whereabouts::kPopped:
        return;
      case Whereabouts::kParked: {
        const bool waited_for_a_time = times.Has(standing.item);
        Unpark(standing);
        const ParkedClassId id = std::exchange(standing.parked_class, 0);
        // What that time brings may help the others, who do not know of it.
        if (waited_for_a_time) WakeFirstOf(id);
        classes.DropIfEmpty(id);
        return;
      }
    }
  }

  void WakeUp(ItemStanding& standing) {
    Unpark(standing);
    ++classes.At(standing.parked_class).awake;
    MakeReady(standing);
  }

  // Wakes the first of the class to ask for all, unless its question is out already. A speaker that
  // is held up asks once the hold ends; another that can be asked now takes over from it.
  void WakeFirstOf(ParkedClassId id) {
    ParkedClass& parked_class = classes.At(id);
    if (parked_class.asleep.empty()) return;
    ItemStanding& first = **parked_class.asleep.begin();
    if (parked_class.speaker != nullptr) {
      if (!quorums.Held(*parked_class.speaker) || quorums.Held(first)) return;
      LanesOf(*parked_class.speaker).Silence(*parked_class.speaker);
    }
    parked_class.speaker = &first;
    first.speaks = true;
    WakeUp(first);
  }

  // The outcome of an item that was woken from a class. The next of the class is also asked if this
  // outcome is no answer for the items that sleep on.
  enum class Fate : uint8_t { kFailedAgain, kStarted, kLeft };
  void Answer(ParkedClassId woken_from, bool spoke, Fate fate) {
    if (woken_from == 0) return;
    ParkedClass& parked_class = classes.At(woken_from);
    --parked_class.awake;
    if (spoke) parked_class.speaker = nullptr;
    if (fate == Fate::kStarted || (spoke && fate == Fate::kLeft)) WakeFirstOf(woken_from);
    classes.DropIfEmpty(woken_from);
  }

  // The Queue's first blocker, or what stands behind it, has changed, perhaps by an item that just
  // failed into `failed_class`. What was parked behind that blocker stands ready, to be asked in
  // its turn. Speakers that it holds up pass the question on, unless that failure answers it.
  void HoldUp(QuotaNodeId queue, ParkedClassId failed_class) {
    if (quorums.BlockerOf(queue) == nullptr) return;
    for (ItemStanding* later : quorums.LaterBlockers(queue)) WakeUp(*later);
    for (ItemStanding* surplus : OrderedStandings(parked_surplus[queue])) WakeUp(*surplus);
    for (Lanes* lanes : {&quorums, &surpluses}) {
      for (ItemStanding* speaker : lanes->HeldSpeakers(queue)) {
        const ParkedClassId id = speaker->parked_class;
        if (id != failed_class) {
          WakeFirstOf(id);
          continue;
        }
        lanes->Silence(*speaker);
        classes.At(id).speaker = nullptr;
      }
    }
  }

  // Who wakes by a time speaks for its class, if nobody does.
  void WakeDue(absl::Time now) {
    while (times.Next() <= now) {
      ItemStanding& due = standings.at(times.First());
      ParkedClass& parked_class = classes.At(due.parked_class);
      if (parked_class.speaker == nullptr) {
        parked_class.speaker = &due;
        due.speaks = true;
      }
      WakeUp(due);
    }
  }

  ItemStanding* Best() {
    ItemStanding* best = quorums.Best();
    if (!repairs.empty()) {
      ItemStanding* repair = *repairs.begin();
      if (best == nullptr || repair->order.priority >= best->order.priority) best = repair;
    }
    return best == nullptr ? surpluses.Best() : best;
  }

  bool BringBack() {
    const bool quorums_back = quorums.BringBack();
    return surpluses.BringBack() || quorums_back;
  }

  auto Asking() {
    return [this](const ParkedClass& parked_class) {
      return parked_class.speaker != nullptr && !quorums.Held(*parked_class.speaker);
    };
  }
};

GangQueue::GangQueue() : impl_(std::make_unique<Impl>()) {}
GangQueue::~GangQueue() = default;

void GangQueue::SetTree(const QuotaTree* tree, std::vector<QueueRules> rules,
                        FairSharing fair_sharing) {
  impl_->quorums.SetTree(tree, rules, fair_sharing);
  impl_->surpluses.SetTree(tree, rules, fair_sharing);
  impl_->classes.SetTree(tree);
  for (uint32_t i = 0; i < impl_->quorums.queues(); ++i) impl_->HoldUp(QuotaNodeId(i), 0);
}

void GangQueue::UsageChanged(QuotaNodeId queue) {
  impl_->quorums.UsageChanged(queue);
  impl_->surpluses.UsageChanged(queue);
}

void GangQueue::Offer(QueueItem item, const OrderKey& order) {
  ItemStanding& standing =
      impl_->standings.try_emplace(item, ItemStanding{.item = item, .where = Whereabouts::kPopped})
          .first->second;
  impl_->TakeOut(standing);
  standing.order = order;
  impl_->MakeReady(standing);
  // It may stand behind a blocker now.
  if (standing.speaks && impl_->quorums.Held(standing)) impl_->WakeFirstOf(standing.parked_class);
}

void GangQueue::Park(QueueItem item, const OrderKey& order, ParkFacts facts) {
  ItemStanding& standing = impl_->Popped(item);
  ++impl_->touched;
  const bool alone = (facts.relief & kReliefQuota) != 0 || !facts.blocks;
  const ParkedClassId id = impl_->classes.IdOf({.key = std::move(facts.class_key),
                                                .relief = facts.relief,
                                                .smallest_shape = facts.smallest_shape,
                                                .queue = alone ? order.queue : QuotaNodeId()});
  const ParkedClassId woken_from = standing.parked_class;
  const bool spoke = standing.speaks;
  standing = {.item = item,
              .order = order,
              .where = Whereabouts::kParked,
              .parked_class = id,
              .blocks = facts.blocks && item.kind == ItemKind::kQuorum};
  impl_->PutToSleep(standing, facts.until);
  impl_->Answer(woken_from, spoke, woken_from == id ? Impl::Fate::kFailedAgain : Impl::Fate::kLeft);
  if (standing.blocks || item.kind == ItemKind::kSurplus) impl_->HoldUp(order.queue, id);
}

void GangQueue::Remove(QueueItem item) {
  const auto it = impl_->standings.find(item);
  if (it == impl_->standings.end()) return;
  impl_->TakeOut(it->second);
  const ParkedClassId woken_from = it->second.parked_class;
  const bool spoke = it->second.speaks;
  impl_->standings.erase(it);
  impl_->Answer(woken_from, spoke, Impl::Fate::kLeft);
}

void GangQueue::RemoveGang(GangId gang) {
  for (const ItemKind kind : {ItemKind::kRepair, ItemKind::kQuorum, ItemKind::kSurplus}) {
    Remove({gang, kind});
  }
}

std::optional<QueueItem> GangQueue::Pop(absl::Time now) {
  impl_->WakeDue(now);
  ItemStanding* best = impl_->Best();
  if (best == nullptr && impl_->BringBack()) best = impl_->Best();
  if (best == nullptr) return std::nullopt;
  ++impl_->touched;
  impl_->TakeOut(*best);
  return best->item;
}

void GangQueue::StandAside(const OrderKey& order) {
  impl_->quorums.StandAside(order);
  impl_->surpluses.StandAside(order);
}

void GangQueue::Wake(uint32_t relief, absl::FunctionRef<bool(ShapeId)> fits, ShortAt short_at) {
  const auto asking = impl_->Asking();
  const auto has_quota = [&](const ParkedClass& parked_class) {
    return !parked_class.asleep.empty() &&
           !short_at((*parked_class.asleep.begin())->item).has_value();
  };
  const ParkedClasses::Questions ask{.fits = fits, .asking = asking, .has_quota = has_quota};
  for (const ParkedClassId id : impl_->classes.Hit(relief, ask)) impl_->WakeFirstOf(id);
}

void GangQueue::WakeQuota(QuotaNodeId node, ShortAt short_at) {
  for (const ParkedClassId id : impl_->classes.Watching(node, impl_->Asking())) {
    const OrderedStandings& asleep = impl_->classes.At(id).asleep;
    if (asleep.empty()) continue;
    if (const std::optional<QuotaNodeId> still = short_at((*asleep.begin())->item)) {
      impl_->classes.Watch(id, *still);
    } else {
      impl_->WakeFirstOf(id);
    }
  }
}

void GangQueue::ForgetShortages() { impl_->classes.WatchRoots(); }

void GangQueue::Started(QueueItem item) {
  const ItemStanding& standing = impl_->Popped(item);
  const ParkedClassId woken_from = standing.parked_class;
  const bool spoke = standing.speaks;
  impl_->standings.erase(item);
  impl_->Answer(woken_from, spoke, Impl::Fate::kStarted);
}

size_t GangQueue::ready() const {
  return impl_->repairs.size() + impl_->quorums.ready() + impl_->surpluses.ready();
}
size_t GangQueue::parked() const { return impl_->parked; }

void GangQueue::ForEachShape(absl::FunctionRef<void(ShapeId)> visit) const {
  impl_->classes.ForEachShape(visit);
}

uint64_t GangQueue::touched() const { return impl_->touched + impl_->classes.looked_at(); }

absl::Time GangQueue::NextDeadline() const { return impl_->times.Next(); }

std::optional<QueueItem> GangQueue::BlockerOf(QueueItem item) const {
  const auto it = impl_->standings.find(item);
  if (it == impl_->standings.end() || !impl_->quorums.Held(it->second)) return std::nullopt;
  return impl_->quorums.BlockerOf(it->second.order.queue)->item;
}

bool GangQueue::HoldsUp(const OrderKey& order) const {
  return impl_->quorums.Held({.item = {GangId(), ItemKind::kQuorum}, .order = order});
}

std::vector<QueueItem> GangQueue::HeldUp(QuotaNodeId queue) const {
  std::vector<QueueItem> items;
  for (const Lanes* lanes : {&impl_->quorums, &impl_->surpluses}) {
    for (const ItemStanding* standing : lanes->HeldReady(queue)) items.push_back(standing->item);
  }
  return items;
}

std::vector<QueueItem> GangQueue::ParkedItems() const {
  OrderedStandings all;
  for (auto& [item, standing] : impl_->standings) {
    if (standing.where != Whereabouts::kParked || impl_->quorums.Held(standing)) continue;
    all.insert(&standing);
  }
  return ItemsOf(all);
}

std::vector<QueueItem> GangQueue::WaitingItems() const {
  OrderedStandings all;
  for (auto& [item, standing] : impl_->standings) {
    if (standing.where != Whereabouts::kPopped) all.insert(&standing);
  }
  return ItemsOf(all);
}

}  // namespace maniple
