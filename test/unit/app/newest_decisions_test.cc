// Which decisions are the newest. Fears: a refusal that has just been repeated counts as old as its
// first time, and is not among the newest; the order is not that of time; a count is lost.
#include "scheduler/app/doors/decision_journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::app_newest_decisions_test {
namespace {

DecisionEntry Entry(int second, absl::string_view what, const std::string& space,
                    const std::string& name) {
  return {.at = absl::FromUnixSeconds(second),
          .what = what,
          .gang = {.namespace_name = space, .name = name},
          .rest = " quorum: NoFit"};
}

std::string Told(const JournalEntry& entry) {
  return absl::StrCat(absl::ToUnixSeconds(entry.since), "-", absl::ToUnixSeconds(entry.decision.at),
                      " x", entry.times, " ", entry.decision.gang.namespace_name, "/",
                      entry.decision.gang.name);
}

std::vector<std::string> Told(const std::vector<JournalEntry>& entries) {
  std::vector<std::string> told;
  for (const JournalEntry& entry : entries) told.push_back(Told(entry));
  return told;
}

// Every entry, whatever it costs; each second has one decision.
class NaiveJournal final {
 public:
  void Add(const DecisionEntry& entry) {
    const auto same = [&entry](const JournalEntry& other) {
      return other.decision.gang == entry.gang;
    };
    const auto last = std::find_if(entries_.rbegin(), entries_.rend(), same);
    if (last != entries_.rend() && last->decision.what == "park" && entry.what == "park") {
      last->decision = entry;
      ++last->times;
    } else {
      entries_.push_back({.decision = entry, .since = entry.at});
    }
  }

  [[nodiscard]] std::vector<std::string> Of(const std::string& space, const std::string& name,
                                            size_t most) const {
    std::map<absl::Time, std::string> found;
    for (const JournalEntry& entry : entries_) {
      const bool wanted = (space.empty() || entry.decision.gang.namespace_name == space) &&
                          (name.empty() || entry.decision.gang.name == name);
      if (wanted) found[entry.decision.at] = Told(entry);
    }
    while (found.size() > most) found.erase(found.begin());
    std::vector<std::string> told;
    for (const auto& [at, text] : found) told.push_back(text);
    return told;
  }

 private:
  std::vector<JournalEntry> entries_;
};

TEST(NewestDecisions, ARefusalThatHasJustBeenRepeatedIsAmongThem) {
  DecisionJournal journal({});
  journal.Add(Entry(1, "park", "n", "a"));
  journal.Add(Entry(2, "bound", "n", "b"));
  journal.Add(Entry(3, "bound", "n", "c"));
  journal.Add(Entry(4, "park", "n", "a"));
  EXPECT_EQ(Told(journal.Of("n", "", 1)), std::vector<std::string>{"1-4 x2 n/a"});
}

TEST(NewestDecisions, AreThoseOfANaiveJournal) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    DecisionJournal journal({});
    NaiveJournal naive;
    for (int second = 1; second <= 40; ++second) {
      const DecisionEntry entry = Entry(second, random.OneIn(3) ? "bound" : "park",
                                        random.OneIn(2) ? "n" : "m", absl::StrCat(random.Below(4)));
      journal.Add(entry);
      naive.Add(entry);
    }
    for (const std::string space : {"", "n", "m"}) {
      for (const std::string name : {"", "0"}) {
        for (size_t most = 1; most <= 12; ++most) {
          EXPECT_EQ(Told(journal.Of(space, name, most)), naive.Of(space, name, most))
              << "seed " << seed << ", " << most << " of " << space << "/" << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace maniple::app_newest_decisions_test
