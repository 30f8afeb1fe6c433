// How much of which GPU resource the gangs of each Queue and namespace have used, by time: what
// GPU-hours are told from.
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
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/model/ids.h"
#include "api/model/maniple_types.h"

namespace maniple {

// Slurm's PriorityDecayHalfLife is as long where nobody sets it.
inline constexpr absl::Duration kUsageHalfLife = absl::Hours(24 * 7);

class UsageMeter final {
 public:
  // A record has so many rows of namespaces at the most, and one for each flavor and resource of
  // all others together.
  static constexpr size_t kMostRows = 96;

  // Who is charged; queue "" = nobody.
  struct Payer {
    std::string queue, namespace_name;
  };
  struct Use {
    std::string flavor, resource;
    int64_t amount = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };

  // Replaces what the gang uses from now on.
  void Set(GangId gang, const Payer& payer, const std::vector<Use>& uses, absl::Time now);
  // It was used before anybody looked, for so long.
  void Credit(const Payer& payer, const Use& use, absl::Duration age, absl::Time now);
  void Recall(const std::string& queue, const UsageRecord& told);
  // Totals begin anew; what is used goes on being counted.
  void Restart(const std::string& queue);
  void Clear() { *this = UsageMeter(); }

  // Up to now.
  [[nodiscard]] UsageRecord RecordOf(const std::string& queue, absl::Time now) const;
  // The same as it is to be written: made anew at most once in `interval`, and only if more has
  // been used since.
  [[nodiscard]] const UsageRecord& ToTell(const std::string& queue, absl::Duration interval,
                                          absl::Time now);
  // How many gangs use something of each now; by name.
  [[nodiscard]] const absl::btree_map<std::string, int64_t>& QueuesInUse() const { return in_use_; }

 private:
  struct Key {
    std::string queue, namespace_name, flavor, resource;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Cell {
    int64_t amount = 0;
    absl::Time since = absl::InfinitePast();  // as of then
    double total = 0, recent = 0;             // in amount x seconds
    void Settle(absl::Time now);
  };
  using Cells = std::map<Key, Cell>;  // gangs point into it
  struct GangUse {
    std::string queue;
    std::vector<std::pair<Cell*, int64_t>> cells;
    friend bool operator==(const GangUse&, const GangUse&) = default;
  };

  Cell& CellOf(const Payer& payer, const Use& use);
  // Of all of it, or less all of it.
  void Add(const GangUse& use, int64_t sign, absl::Time now);

  Cells cells_;
  absl::btree_map<GangId, GangUse> gangs_;          // that use something
  absl::btree_map<std::string, int64_t> in_use_;    // gangs_ with a Queue
  absl::btree_map<std::string, UsageRecord> told_;  // by Queue
};

}  // namespace maniple
