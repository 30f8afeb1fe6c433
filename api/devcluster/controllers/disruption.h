// The status of PodDisruptionBudgets: how many pods they cover, how many are healthy, how many may
// be evicted.
//
// A state machine, part of Controllers. One thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

// The budget with its status as the pods of its namespace give it; equal to `budget` when nothing
// changes. Pure.
[[nodiscard]] Json CountedBudget(const Json& budget, const std::vector<ObjectPtr>& pods,
                                 absl::Time now);

class DisruptionController final {
 public:
  explicit DisruptionController(const TypeRegistry& types);

  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  const StorageId pods_storage_;
  const StorageId budgets_storage_;
  absl::flat_hash_map<std::string, std::set<ObjectName>> budgets_;  // by namespace
  std::set<ObjectName> noted_;
  absl::Time not_before_ = absl::InfinitePast();
};

}  // namespace maniple::devcluster
