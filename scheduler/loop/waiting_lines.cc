#include "scheduler/loop/waiting_lines.h"

#include <algorithm>

namespace maniple {

void WaitingLines::FindHead(const std::string& queue, absl::Time now, Since since) {
  Line& line = lines_.at(queue);
  const GangId head = line.waiting.empty() ? GangId() : (*line.waiting.begin())->gang;
  if (head == line.head) return;
  // While all are barred the turn stays open for whoever comes next.
  if (since == Since::kNow) line.since = now;
  line.head = head;
  changed_.insert(queue);
}

void WaitingLines::DropIfEmpty(const std::string& queue) {
  const auto it = lines_.find(queue);
  if (it->second.waiting.empty() && it->second.barred == 0) lines_.erase(it);
}

void WaitingLines::Join(const Place& place, absl::Time now) {
  if (const auto it = places_.find(place.gang); it != places_.end()) {
    if (it->second == place) return;
    Leave(place.gang, now);
  }
  const Place& kept = places_.emplace(place.gang, place).first->second;
  lines_[kept.queue].waiting.insert(&kept);
  FindHead(kept.queue, now, Since::kNow);
}

void WaitingLines::Leave(GangId gang, absl::Time now) {
  const auto it = places_.find(gang);
  if (it == places_.end()) return;
  const Place& place = it->second;
  Line& line = lines_.at(place.queue);
  if (const auto bar = barred_.find(gang); bar != barred_.end()) {
    bar_ends_.erase({bar->second, gang});
    barred_.erase(bar);
    --line.barred;
  } else {
    line.waiting.erase(&place);
    FindHead(place.queue, now, Since::kNow);
  }
  DropIfEmpty(place.queue);
  places_.erase(it);
}

void WaitingLines::Bar(GangId gang, absl::Time until) {
  const auto it = places_.find(gang);
  if (it == places_.end()) return;
  Line& line = lines_.at(it->second.queue);
  const auto [bar, fresh] = barred_.try_emplace(gang, until);
  if (fresh) ++line.barred;
  bar_ends_.erase({bar->second, gang});
  bar->second = until;
  bar_ends_.emplace(until, gang);
  line.waiting.erase(&it->second);
  FindHead(it->second.queue, until, Since::kKept);
}

void WaitingLines::EndBars(absl::Time now) {
  while (!bar_ends_.empty() && bar_ends_.begin()->first <= now) {
    const GangId gang = bar_ends_.begin()->second;
    bar_ends_.erase(bar_ends_.begin());
    barred_.erase(gang);
    const Place& place = places_.at(gang);
    Line& line = lines_.at(place.queue);
    --line.barred;
    line.waiting.insert(&place);
    FindHead(place.queue, now, Since::kKept);
  }
}

absl::Time WaitingLines::NextEnd() const {
  return bar_ends_.empty() ? absl::InfiniteFuture() : bar_ends_.begin()->first;
}

bool WaitingLines::IsFirst(GangId gang) const {
  const auto it = places_.find(gang);
  return it != places_.end() && lines_.at(it->second.queue).head == gang;
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
