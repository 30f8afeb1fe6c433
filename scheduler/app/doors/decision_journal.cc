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

// A refusal stands where it was first said, and may be among the newest all the same.
std::vector<JournalEntry> DecisionJournal::Of(const std::string& namespace_name,
                                              const std::string& name, size_t most) const {
  std::vector<const JournalEntry*> found;
  for (const auto& [space, lane] : lanes_) {
    if (!namespace_name.empty() && space != namespace_name) continue;
    for (const JournalEntry& entry : lane.entries) {
      if (name.empty() || entry.decision.gang.name == name) found.push_back(&entry);
    }
  }
  std::ranges::stable_sort(found, {}, [](const JournalEntry* entry) { return entry->decision.at; });
  std::vector<JournalEntry> newest;
  for (size_t i = found.size() - std::min(found.size(), most); i < found.size(); ++i) {
    newest.push_back(*found[i]);
  }
  return newest;
}

}  // namespace maniple
