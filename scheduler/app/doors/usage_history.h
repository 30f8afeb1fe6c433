// What Queues had used by when: totals of about every hour, for a week at the most, so that a
// question about the last day can be answered by a difference.
//
// A value; whoever shares it between threads locks. It is kept in memory only: another leader
// begins anew, and the answer says since when it counts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "scheduler/report/figures.h"

namespace maniple {

// Of one Queue by a certain time.
struct QueueTotals {
  std::vector<ResourceSeconds> used;
  int64_t started = 0;  // gangs whose quorum was bound
  double waited_seconds = 0;
  std::array<int64_t, kLeavingCauses.size()> left = {};  // gangs, by LeavingCause
};
[[nodiscard]] QueueTotals TotalsOf(const QueueView& queue);

struct UsagePoint {
  absl::Time at;
  absl::flat_hash_map<std::string, QueueTotals> queues;  // by name; "" = gangs without a Queue
};
using UsagePointPtr = std::shared_ptr<const UsagePoint>;

class UsageHistory final {
 public:
  struct Bounds {
    absl::Duration interval = absl::Hours(1);
    absl::Duration span = absl::Hours(24 * 7);
    // Rows of all points together; the oldest points go beyond it. About 150 bytes each.
    size_t most_rows = 100'000;
  };
  explicit UsageHistory(Bounds bounds) : bounds_(bounds) {}

  // As of now. Null: this process does not lead, and knows nothing any more.
  void Note(const ClusterFiguresPtr& figures, absl::Time now);
  // The newest point that is no later than `then`; else the oldest. Null: there is none.
  [[nodiscard]] UsagePointPtr At(absl::Time then) const;

 private:
  const Bounds bounds_;
  std::deque<UsagePointPtr> points_;  // in order of time
  size_t rows_ = 0;                   // of all of them
};

}  // namespace maniple
