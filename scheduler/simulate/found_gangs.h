// Gangs that wait in the cluster with which a simulation begins: when each of them starts. A value.
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
  // The gangs of `view` that `cluster`, as it was before anything was decided, shows without their
  // quorum.
  FoundGangs(const std::vector<Json>& cluster, const ClusterView& view);

  // Of "namespace/name". A pod of none of them: nothing.
  void NoteBound(const std::string& pod, absl::Duration at);

  // That have not started.
  [[nodiscard]] int64_t waiting() const { return waiting_; }
  [[nodiscard]] const std::vector<FoundGang>& gangs() const { return gangs_; }

 private:
  std::vector<FoundGang> gangs_;
  std::vector<int64_t> lacking_;                     // of each one's quorum
  absl::flat_hash_map<std::string, size_t> of_pod_;  // that waits
  int64_t waiting_ = 0;
};

}  // namespace maniple
