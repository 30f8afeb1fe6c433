#include "scheduler/app/doors/decision_journal.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// Up to the reason: " quorum: NoFit" of " quorum: NoFit: 4 of 12 pods fit: …".
absl::string_view ReasonIn(absl::string_view rest) {
  const size_t item = rest.find(": ");
  if (item == absl::string_view::npos) return rest;
  return rest.substr(0, rest.find(": ", item + 2));
}

bool SaysTheSame(const DecisionEntry& a, const DecisionEntry& b) {
  return a.what == "park" && b.what == "park" && a.gang == b.gang &&
         ReasonIn(a.rest) == ReasonIn(b.rest);
}

// A character is not cut in two.
void CutTo(std::string& text, size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  text += "…";
}

}  // namespace

void DecisionJournal::Add(DecisionEntry entry) {
  CutTo(entry.rest, bounds_.text);
  CutTo(entry.refused, bounds_.text);
  Lane& lane = lanes_[entry.gang.namespace_name];
  const auto newest = lane.newest.find(entry.gang.name);
  if (newest != lane.newest.end()) {
    JournalEntry& last = lane.entries[newest->second - lane.first];
    if (SaysTheSame(last.decision, entry)) {
      last.decision = std::move(entry);
      ++last.times;
      return;
    }
  }
  lane.newest.insert_or_assign(entry.gang.name, lane.first + lane.entries.size());
  const absl::Time since = entry.at;
  lane.entries.push_back({.decision = std::move(entry), .since = since});
  if (++size_ > bounds_.entries) MakeRoom();
}

// An eighth of the largest lane at once, so that it is not looked for each time.
void DecisionJournal::MakeRoom() {
  const auto largest = std::ranges::max_element(
      lanes_, {}, [](const auto& entry) { return entry.second.entries.size(); });
  Lane& lane = largest->second;
  for (size_t i = 0, most = lane.entries.size() / 8 + 1; i < most; ++i) {
    const std::string& name = lane.entries.front().decision.gang.name;
    const auto newest = lane.newest.find(name);
    if (newest != lane.newest.end() && newest->second == lane.first) lane.newest.erase(newest);
    lane.entries.pop_front();
    ++lane.first;
    --size_;
  }
  if (lane.entries.empty()) lanes_.erase(largest);
}

std::vector<JournalEntry> DecisionJournal::Of(const std::string& namespace_name,
                                              const std::string& name, size_t most) const {
  std::vector<JournalEntry> found;
  for (const auto& [space, lane] : lanes_) {
    if (!namespace_name.empty() && space != namespace_name) continue;
    const size_t before = found.size();  // from behind, since the newest count
    for (auto it = lane.entries.rbegin(); it != lane.entries.rend(); ++it) {
      if (!name.empty() && it->decision.gang.name != name) continue;
      found.push_back(*it);
      if (found.size() - before == most) break;
    }
    std::reverse(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
  }
  std::ranges::stable_sort(found, {}, [](const JournalEntry& entry) { return entry.decision.at; });
  if (found.size() > most) {
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(most));
  }
  return found;
}

}  // namespace maniple
