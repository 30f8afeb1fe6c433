#include "scheduler/loop/desk/parking.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/report/message.h"

namespace maniple {

void Parking::Note(Case& c, QueueItem item, WaitingFor waits) {
  std::weak_ptr<const WaitingFor>& last = last_noted_[c.gang.queue];
  WaitingForPtr noted = last.lock();
  if (noted == nullptr || *noted != waits) {
    noted = std::make_shared<const WaitingFor>(std::move(waits));
    last = noted;
  }
  (item.kind == ItemKind::kSurplus ? c.record.surplus_waiting : c.record.waiting) =
      std::move(noted);
}

void Parking::Park(Case& c, QueueItem item, ParkFacts facts) {
  const OrderKey order = charges_.OrderOf(c, item.kind);
  // A failure of one kind is no answer for another: surplus makes nobody leave, and a repair may
  // use room that is kept from others.
  absl::StrAppend(&facts.class_key, " ", ItemName(item.kind));
  desk_.queue.Park(item, order, std::move(facts));
  // Surplus that was asked tells a reason of its own, and must hear anew of a head that comes back.
  if (item.kind == ItemKind::kSurplus) told_head_.erase(order.queue);
  // Gangs behind this one will not be asked before it, and should say so; once is enough.
  const std::vector<QueueItem> held = desk_.queue.HeldUp(order.queue);
  if (held.empty() || std::exchange(told_head_[order.queue], c.gang.id) == c.gang.id) return;
  for (const QueueItem& behind : held) desk_.to_report.insert(behind.gang);
}

}  // namespace maniple
