// Gangs that wait in the cluster at the beginning of a simulation, and their starts. A value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "scheduler/report/view.h"

namespace maniple {

struct FoundGang {
  std::string name;   // "namespace/name"
  std::string queue;  // "" = none
  int64_t pods = 0;
  absl::Duration started = absl::InfiniteDuration();  // since the beginning; infinite = not at all
};

class FoundGangs final {
 public:
  FoundGangs() = default;
  // The gangs of `view` that lack their quorum in `cluster`, which is as it was
  // before any decision.
  FoundGangs(const std::vector<Json>& cluster, const ClusterView& view);

  // `pod`: "namespace/name". Does nothing for a pod of no such gang.
  void NoteBound(const std::string& pod, absl::Duration at);

  // The number of gangs that have not started.
  [[nodiscard]] int64_t waiting() const { return waiting_; }
  [[nodiscard]] const std::vector<FoundGang>& gangs() const { return gangs_; }

 private:
  std::vector<FoundGang> gangs_;
  std::vector<int64_t> lacking_;                     // of the quorum of each
  absl::flat_hash_map<std::string, size_t> of_pod_;  // that waits
  int64_t waiting_ = 0;
};

}  // namespace maniple
