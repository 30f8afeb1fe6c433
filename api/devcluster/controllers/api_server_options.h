// How an embedded API server behaves. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/gpu/mig_config.h"
#include "api/gpu/mig_tables.h"

namespace maniple::devcluster {

// The simulated mig-manager (mig_manager.h).
struct MigManagerOptions {
  MigTables tables;
  std::vector<MigConfig> configs;           // beside those that mig-manager brings along
  absl::Duration takes = absl::Seconds(5);  // a change, unless the node says otherwise
  // Finishes the changes of nodes that come to it in the middle of one, as after a restart.
  bool resumes = false;
  // The annotation with the time at which a change was asked for. A change is done `takes` after
  // that, if that is still to come.
  std::string asked_at;
};

struct ApiServerOptions {
  absl::Duration kubelet_start_delay = absl::ZeroDuration();
  absl::Duration delete_delay = absl::ZeroDuration();
  absl::Duration volume_delay = absl::ZeroDuration();  // that claims and volumes take
  MigManagerOptions mig;
  // Off: no simulated kubelet and no controllers, as with a bare kube-apiserver.
  enum class Controllers { kSimulated, kNone } controllers = Controllers::kSimulated;
  size_t watch_history =
      20'000;  // events kept per resource type; older resource versions answer 410
  absl::Duration bookmark_period = absl::Seconds(30);
  uint64_t first_version = 100;  // resource versions count from here
  uint64_t seed = 1;             // uids and generated names
};

}  // namespace maniple::devcluster
