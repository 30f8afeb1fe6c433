// The use of each GPU resource by the gangs of each Queue and namespace, by time:
// the source of GPU-hours.
//
// Owned by the scheduling loop. Times do not go back; an earlier one counts as the latest.
//
//   meter.Recall("team", queue.used);              // what an earlier leader told
//   meter.Set(gang, {"team", "research"}, {{"h100", "nvidia.com/gpu", 8}}, now);  // from now on
//   meter.Credit({"team", "research"}, {"h100", "nvidia.com/gpu", 8}, age);       // … and before
//   meter.RecordOf("team", now);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "api/model/ids.h"
#include "api/model/maniple_types.h"

namespace maniple {

// As long as Slurm's PriorityDecayHalfLife is by default.
inline constexpr absl::Duration kUsageHalfLife = absl::Hours(24 * 7);

class UsageMeter final {
 public:
  // A record has at most so many rows of namespaces, and one for each flavor and resource
  // of all other namespaces together.
  static constexpr size_t kMostRows = 96;

  // The account that is charged; queue "" = none.
  struct Payer {
    std::string queue, namespace_name;
  };
  struct Use {
    std::string flavor, resource;
    int64_t amount = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };

  // Replaces the gang's uses from now on.
  void Set(GangId gang, const Payer& payer, const std::vector<Use>& uses, absl::Time now);
  // Adds use for a time before the meter looked.
  void Credit(const Payer& payer, const Use& use, absl::Duration age, absl::Time now);
  // Adds what an earlier leader told to what has been used since. REQUIRES: it is told once.
  void Recall(const std::string& queue, const UsageRecord& told);
  // What has been used in this name counts as used without a Queue. REQUIRES: a name.
  void GiveToNone(const std::string& queue, absl::Time now);
  // Totals begin anew; running use goes on being counted.
  void Restart(const std::string& queue, absl::Time now);
  void Clear() { *this = UsageMeter(); }

  // The record up to `now`.
  [[nodiscard]] UsageRecord RecordOf(const std::string& queue, absl::Time now) const;
  // The record of whatever is charged to none of these Queues.
  [[nodiscard]] UsageRecord RecordBeside(absl::FunctionRef<bool(const std::string&)> is_queue,
                                         absl::Time now) const;
  // The record of one Queue as it is to be written: made anew at most once in `interval`, and only
  // if more has been used since.
  [[nodiscard]] const UsageRecord& ToTell(const std::string& queue, absl::Duration interval,
                                          absl::Time now);
  // The number of gangs of each Queue that use something now; by name.
  [[nodiscard]] const absl::btree_map<std::string, int64_t>& QueuesInUse() const { return in_use_; }

 private:
  struct Key {
    std::string queue, namespace_name, flavor, resource;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Cell {
    int64_t amount = 0;
    absl::Time since = absl::InfinitePast();  // the time of the totals
    double total = 0, recent = 0;             // in amount x seconds
    void Settle(absl::Time now);
    void AddTotals(const Cell& past);  // REQUIRES: both are settled
  };
  using Cells = std::map<Key, Cell>;  // gangs point into it
  struct GangUse {
    std::string queue;
    std::vector<std::pair<Cell*, int64_t>> cells;
    friend bool operator==(const GangUse&, const GangUse&) = default;
  };

  Cell& CellOf(const Payer& payer, const Use& use);
  // Adds all of the use, or takes it away.
  void Add(const GangUse& use, int64_t sign, absl::Time now);

  Cells cells_;
  absl::btree_map<GangId, GangUse> gangs_;          // gangs that use something
  absl::btree_map<std::string, int64_t> in_use_;    // gangs_ with a Queue
  absl::btree_map<std::string, UsageRecord> told_;  // by Queue
};

}  // namespace maniple
