// What was decided of late, for people. Bounded, and fair: a namespace with many decisions pushes
// out its own first.
//
// A gang that is refused again for the same reason is one entry with a count. Owned by whoever
// serializes its callers (Bulletin).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "scheduler/report/decision_entry.h"

namespace maniple {

struct JournalEntry {
  DecisionEntry decision;  // the newest of them
  absl::Time since;        // of the first of them
  int64_t times = 1;
};

class DecisionJournal final {
 public:
  struct Bounds {
    size_t entries = 20'000;
    size_t text = 1000;  // bytes of each; the rest is cut off
  };

  explicit DecisionJournal(const Bounds& bounds) : bounds_(bounds) {}

  void Add(DecisionEntry entry);
  // The newest so many of a gang, of a namespace (no name), or of all and of no gang (neither), in
  // order of time.
  [[nodiscard]] std::vector<JournalEntry> Of(const std::string& namespace_name,
                                             const std::string& name, size_t most) const;
  [[nodiscard]] size_t size() const { return size_; }

 private:
  struct Lane {
    std::deque<JournalEntry> entries;
    uint64_t first = 0;  // number of the front one
    // By name of the gang.
    absl::flat_hash_map<std::string, uint64_t> newest;
  };

  void MakeRoom();

  const Bounds bounds_;
  std::map<std::string, Lane> lanes_;  // by namespace; "" = of no gang
  size_t size_ = 0;
};

}  // namespace maniple
