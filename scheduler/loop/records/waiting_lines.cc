#include "scheduler/loop/records/waiting_lines.h"

#include <algorithm>

namespace maniple {

void WaitingLines::FindHead(Lines::value_type& entry, absl::Time now, Since since) {
  Line& line = entry.second;
  const GangId head = line.waiting.empty() ? GangId() : (*line.waiting.begin())->gang;
  if (head == line.head) return;
  // While all gangs are barred, the turn stays open for the next that comes.
  if (since == Since::kNow) {
    // Else whoever is first for a moment would take all the time from who was it before.
    if (const auto before = places_.find(line.head); before != places_.end()) {
      before->second.was_head = now - line.since;
    }
    const auto next = places_.find(head);
    line.since = next == places_.end() ? now : now - next->second.was_head;
  }
  line.head = head;
  changed_.insert(entry.first);
}

void WaitingLines::DropIfEmpty(const Lines::value_type& line) {
  if (line.second.waiting.empty() && line.second.barred == 0) lines_.erase(line.first);
}

void WaitingLines::Join(Place place, absl::Time now) {
  Lines::value_type& line = *lines_.try_emplace(std::move(place.queue)).first;
  Waiting waiting{.line = &line,
                  .priority = place.priority,
                  .gang = place.gang,
                  .queued = place.queued,
                  .namespace_name = std::move(place.namespace_name),
                  .name = std::move(place.name),
                  .was_head = place.was_head};
  if (const auto it = places_.find(place.gang); it != places_.end()) {
    waiting.was_head = it->second.was_head;
    if (it->second == waiting) return;
    TakeOut(it->second, now);
    waiting.was_head = it->second.was_head;
    if (it->second.line != &line) DropIfEmpty(*it->second.line);
    places_.erase(it);
  }
  line.second.waiting.insert(&places_.emplace(place.gang, std::move(waiting)).first->second);
  FindHead(line, now, Since::kNow);
}

void WaitingLines::TakeOut(const Waiting& waiting, absl::Time now) {
  if (barred_.Has(waiting.gang)) {
    barred_.Erase(waiting.gang);
    --waiting.line->second.barred;
  } else {
    waiting.line->second.waiting.erase(&waiting);
    FindHead(*waiting.line, now, Since::kNow);
  }
}

absl::Duration WaitingLines::Leave(GangId gang, absl::Time now) {
  const auto it = places_.find(gang);
  if (it == places_.end()) return absl::ZeroDuration();
  TakeOut(it->second, now);
  const absl::Duration was_head = it->second.was_head;
  DropIfEmpty(*it->second.line);
  places_.erase(it);
  return was_head;
}

void WaitingLines::Bar(GangId gang, absl::Time until) {
  const auto it = places_.find(gang);
  if (it == places_.end()) return;
  Lines::value_type& line = *it->second.line;
  if (!barred_.Has(gang)) ++line.second.barred;
  barred_.Set(gang, until);
  line.second.waiting.erase(&it->second);
  FindHead(line, until, Since::kKept);
}

void WaitingLines::EndBars(absl::Time now) {
  while (const std::optional<GangId> gang = barred_.PopDue(now)) {
    const Waiting& waiting = places_.at(*gang);
    Lines::value_type& line = *waiting.line;
    --line.second.barred;
    line.second.waiting.insert(&waiting);
    FindHead(line, now, Since::kKept);
  }
}

absl::Time WaitingLines::NextEnd() const { return barred_.Next(); }

bool WaitingLines::IsFirst(GangId gang) const {
  const auto it = places_.find(gang);
  return it != places_.end() && it->second.line->second.head == gang;
}

std::optional<WaitingLines::Head> WaitingLines::HeadOf(const std::string& queue) const {
  const auto it = lines_.find(queue);
  if (it == lines_.end() || !it->second.head.valid()) return std::nullopt;
  return Head{.queue = queue, .gang = it->second.head, .since = it->second.since};
}

std::vector<WaitingLines::Head> WaitingLines::Heads() const {
  std::vector<Head> heads;
  for (const auto& [queue, line] : lines_) {
    if (line.head.valid())
      heads.push_back({.queue = queue, .gang = line.head, .since = line.since});
  }
  return heads;
}

}  // namespace maniple
