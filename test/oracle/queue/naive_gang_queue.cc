#include "test/oracle/queue/naive_gang_queue.h"

#include <algorithm>
#include <utility>

#include "test/oracle/queue/naive_tournament.h"

namespace maniple {

void NaiveGangQueue::SetTree(const QuotaTree* new_tree, std::vector<QueueRules> new_rules,
                             FairSharing new_fair_sharing) {
  tree = new_tree;
  rules = std::move(new_rules);
  fair_sharing = new_fair_sharing;
  for (uint32_t i = 0; i < tree->node_count(); ++i) HoldUp(QuotaNodeId(i), std::nullopt);
}

void NaiveGangQueue::Offer(QueueItem item, const OrderKey& order) {
  One* one = Find(item);
  if (one == nullptr) one = &all.emplace_back(One{.item = item});
  std::optional<Class> knew_a_time;
  if (one->where == Where::kParked) {
    one->woken_from.reset();
    if (one->facts.until < absl::InfiniteFuture()) knew_a_time = ClassOf(*one);
  }
  one->where = Where::kReady;
  if (knew_a_time.has_value()) WakeFirst(*knew_a_time);
  one->order = order;
  if (one->speaks && Held(*one)) WakeFirst(*one->woken_from);
  Prune();
}

void NaiveGangQueue::Park(QueueItem item, const OrderKey& order, const ParkFacts& facts) {
  One& one = *Find(item);
  const std::optional<Class> from = one.woken_from;
  const bool spoke = one.speaks;
  one = {.item = item, .where = Where::kParked, .order = order, .facts = facts};
  const Class now = ClassOf(one);
  ids.try_emplace(now, ++last_id);
  Answer(from, spoke, /*passes_on=*/spoke && from != now);
  if ((Blocks(*Find(item)) || item.kind == ItemKind::kSurplus) && order.queue.valid()) {
    HoldUp(order.queue, now);
  }
  Prune();
}

void NaiveGangQueue::Remove(QueueItem item) {
  const One* found = Find(item);
  if (found == nullptr) return;
  const One gone = *found;
  std::erase_if(all, [&](const One& one) { return one.item == item; });
  if (gone.where != Where::kParked) Answer(gone.woken_from, gone.speaks, gone.speaks);
  if (gone.where == Where::kParked && gone.facts.until < absl::InfiniteFuture()) {
    WakeFirst(ClassOf(gone));
  }
  Prune();
}

void NaiveGangQueue::Started(QueueItem item) {
  const One gone = *Find(item);
  std::erase_if(all, [&](const One& one) { return one.item == item; });
  Answer(gone.woken_from, gone.speaks, /*passes_on=*/true);
  Prune();
}

std::optional<QueueItem> NaiveGangQueue::Pop(absl::Time now) {
  std::vector<std::pair<absl::Time, QueueItem>> due;
  for (const One& one : all) {
    if (one.where == Where::kParked && one.facts.until <= now) {
      due.emplace_back(one.facts.until, one.item);
    }
  }
  std::ranges::sort(due);
  for (const auto& [time, item] : due) {
    One& one = *Find(item);
    one.speaks = SpeakerOf(ClassOf(one)) == nullptr;
    Wake(one);
  }
  const One* best = BestOf(ItemKind::kQuorum);
  for (const One& one : all) {
    if (one.where != Where::kReady || one.item.kind != ItemKind::kRepair) continue;
    if (best == nullptr || one.order.priority > best->order.priority || Before(one, *best) ||
        (best->item.kind == ItemKind::kQuorum && one.order.priority == best->order.priority)) {
      best = &one;
    }
  }
  if (best == nullptr) best = BestOf(ItemKind::kSurplus);
  if (best == nullptr) return std::nullopt;
  Find(best->item)->where = Where::kPopped;
  return best->item;
}

void NaiveGangQueue::WakeQuota(QuotaNodeId root) {
  const auto watches = [&](const Class& c) {
    const QuotaNodeId queue = std::get<3>(c);
    return (std::get<2>(c) & kReliefQuota) != 0 && Known(queue) && tree->Root(queue) == root;
  };
  WakeClasses(watches, [](const SeenClass& seen) { return seen.id; });
}

size_t NaiveGangQueue::parked() const {
  return static_cast<size_t>(
      std::ranges::count(all, Where::kParked, [](const One& one) { return one.where; }));
}

size_t NaiveGangQueue::ready() const {
  return static_cast<size_t>(std::ranges::count_if(all, [this](const One& one) {
    if (one.where != Where::kReady) return false;
    if (one.item.kind == ItemKind::kRepair || !Known(one.order.queue)) return true;
    return HeadOf(one.order.queue, one.item.kind) != nullptr;
  }));
}

bool NaiveGangQueue::Before(const One& a, const One& b) {
  const auto key = [](const One& one) {
    return std::make_tuple(one.item.kind == ItemKind::kSurplus, -int64_t{one.order.priority},
                           one.item.kind, one.order.queued, one.order.namespace_name,
                           one.order.name, one.item);
  };
  return key(a) < key(b);
}

NaiveGangQueue::Class NaiveGangQueue::ClassOf(const One& one) {
  const bool alone = (one.facts.relief & kReliefQuota) != 0 || !one.facts.blocks;
  return {one.facts.smallest_shape, one.facts.class_key, one.facts.relief,
          alone ? one.order.queue : QuotaNodeId()};
}

bool NaiveGangQueue::Blocks(const One& one) {
  return one.where == Where::kParked && one.facts.blocks && one.item.kind == ItemKind::kQuorum;
}

bool NaiveGangQueue::Known(QuotaNodeId queue) const {
  return tree != nullptr && queue.valid() && queue.index() < tree->node_count();
}

bool NaiveGangQueue::Strict(QuotaNodeId queue) const {
  return Known(queue) && rules[queue.index()].ordering == QueueOrdering::kStrictFifo;
}

bool NaiveGangQueue::Held(const One& one) const {
  if (one.where == Where::kPopped || one.item.kind == ItemKind::kRepair) return false;
  return Strict(one.order.queue) && std::ranges::any_of(all, [&](const One& other) {
           return Blocks(other) && other.order.queue == one.order.queue && Before(other, one);
         });
}

NaiveGangQueue::One* NaiveGangQueue::Find(QueueItem item) {
  const auto it = std::ranges::find(all, item, [](const One& one) { return one.item; });
  return it == all.end() ? nullptr : &*it;
}

const NaiveGangQueue::One* NaiveGangQueue::HeadOf(QuotaNodeId queue, ItemKind kind) const {
  const One* head = nullptr;
  for (const One& one : all) {
    if (one.where != Where::kReady || one.item.kind != kind) continue;
    if (Known(one.order.queue) ? one.order.queue != queue : queue.valid()) continue;
    if (head == nullptr || Before(one, *head)) head = &one;
  }
  return head != nullptr && Held(*head) ? nullptr : head;
}

const NaiveGangQueue::One* NaiveGangQueue::BestOf(ItemKind kind) const {
  const One* best = HeadOf(QuotaNodeId(), kind);
  QueueHeads heads;
  for (uint32_t i = 0; tree != nullptr && i < tree->node_count(); ++i) {
    const One* head = HeadOf(QuotaNodeId(i), kind);
    if (head == nullptr) continue;
    const OrderKey& order = head->order;
    heads[QuotaNodeId(i)] = {order.priority, order.queued, order.namespace_name, order.name,
                             order.demand};
  }
  if (heads.empty()) return best;
  const One* winner = HeadOf(*NaiveWinner(*tree, fair_sharing, heads), kind);
  return best == nullptr || Before(*winner, *best) ? winner : best;
}

void NaiveGangQueue::Wake(One& one) {
  one.woken_from = ClassOf(one);
  one.where = Where::kReady;
}

NaiveGangQueue::One* NaiveGangQueue::SpeakerOf(const Class& c) {
  const auto it =
      std::ranges::find_if(all, [&](const One& one) { return one.speaks && one.woken_from == c; });
  return it == all.end() ? nullptr : &*it;
}

void NaiveGangQueue::WakeFirst(const Class& c) {
  One* first = nullptr;
  for (One& one : all) {
    if (one.where != Where::kParked || ClassOf(one) != c) continue;
    if (first == nullptr || Before(one, *first)) first = &one;
  }
  if (first == nullptr) return;
  if (One* speaker = SpeakerOf(c)) {
    if (!Held(*speaker) || Held(*first)) return;
    speaker->speaks = false;
  }
  first->speaks = true;
  Wake(*first);
}

void NaiveGangQueue::Answer(const std::optional<Class>& from, bool spoke, bool passes_on) {
  if (!from.has_value()) return;
  if (spoke) {
    if (One* speaker = SpeakerOf(*from)) speaker->speaks = false;
  }
  if (passes_on) WakeFirst(*from);
}

void NaiveGangQueue::HoldUp(QuotaNodeId queue, const std::optional<Class>& failed) {
  if (!Strict(queue)) return;
  std::vector<QueueItem> later, speakers;
  for (const One& one : all) {
    const bool awaits_turn =
        Blocks(one) || (one.where == Where::kParked && one.item.kind == ItemKind::kSurplus);
    if (one.order.queue == queue && awaits_turn && Held(one)) later.push_back(one.item);
  }
  for (const QueueItem item : later) Wake(*Find(item));
  std::vector<One> sorted = all;
  std::ranges::sort(sorted, Before);
  for (const One& one : sorted) {
    if (one.order.queue == queue && one.where == Where::kReady && one.speaks && Held(one)) {
      speakers.push_back(one.item);
    }
  }
  for (const QueueItem item : speakers) {
    One& speaker = *Find(item);
    if (speaker.woken_from == failed) {
      speaker.speaks = false;
    } else {
      WakeFirst(*speaker.woken_from);
    }
  }
}

void NaiveGangQueue::Prune() {
  std::erase_if(ids, [this](const auto& entry) {
    return std::ranges::none_of(all, [&](const One& one) {
      return one.where == Where::kParked ? ClassOf(one) == entry.first
                                         : one.woken_from == entry.first;
    });
  });
}

}  // namespace maniple
