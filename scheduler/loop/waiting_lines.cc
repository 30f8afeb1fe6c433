#include "scheduler/loop/waiting_lines.h"

#include <algorithm>

namespace maniple {

void WaitingLines::FindHead(Line& line, absl::Time now, Since since) {
  const GangId head = line.waiting.empty() ? GangId() : std::get<GangId>(*line.waiting.begin());
  if (head == line.head) return;
  // While all are barred the turn stays open for whoever comes next.
  if (since == Since::kNow) line.since = now;
  line.head = head;
}

void WaitingLines::DropIfEmpty(const std::string& queue) {
  const auto it = lines_.find(queue);
  if (it->second.waiting.empty() && it->second.barred == 0) lines_.erase(it);
}

void WaitingLines::Join(Place place, absl::Time now) {
  if (const auto it = places_.find(place.gang); it != places_.end()) {
    if (it->second == place) return;
    Leave(place.gang, now);
  }
  Line& line = lines_[place.queue];
  line.waiting.insert(KeyOf(place));
  FindHead(line, now, Since::kNow);
  const GangId gang = place.gang;
  places_.emplace(gang, std::move(place));
}

void WaitingLines::Leave(GangId gang, absl::Time now) {
  const auto it = places_.find(gang);
  if (it == places_.end()) return;
  const Place place = std::move(it->second);
  places_.erase(it);
  Line& line = lines_.at(place.queue);
  if (barred_.erase(gang) > 0) {
    --line.barred;
  } else {
    line.waiting.erase(KeyOf(place));
    FindHead(line, now, Since::kNow);
  }
  DropIfEmpty(place.queue);
}

void WaitingLines::Bar(GangId gang, absl::Time until) {
  const auto it = places_.find(gang);
  if (it == places_.end()) return;
  Line& line = lines_.at(it->second.queue);
  if (barred_.insert_or_assign(gang, until).second) ++line.barred;
  line.waiting.erase(KeyOf(it->second));
  FindHead(line, until, Since::kKept);
}

void WaitingLines::EndBars(absl::Time now) {
  for (auto it = barred_.begin(); it != barred_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    const Place& place = places_.at(it->first);
    Line& line = lines_.at(place.queue);
    --line.barred;
    line.waiting.insert(KeyOf(place));
    FindHead(line, now, Since::kKept);
    it = barred_.erase(it);
  }
}

absl::Time WaitingLines::NextEnd() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [gang, until] : barred_) next = std::min(next, until);
  return next;
}

bool WaitingLines::IsFirst(GangId gang) const {
  const auto it = places_.find(gang);
  return it != places_.end() && lines_.at(it->second.queue).head == gang;
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
