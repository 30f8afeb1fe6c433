// How an embedded API server behaves. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace maniple::devcluster {

struct ApiServerOptions {
  absl::Duration kubelet_start_delay = absl::ZeroDuration();
  absl::Duration delete_delay = absl::ZeroDuration();
  absl::Duration volume_delay = absl::ZeroDuration();  // that claims and volumes take
  // Off: no simulated kubelet and no controllers, as with a bare kube-apiserver.
  enum class Controllers { kSimulated, kNone } controllers = Controllers::kSimulated;
  size_t watch_history =
      20'000;  // events kept per resource type; older resource versions answer 410
  absl::Duration bookmark_period = absl::Seconds(30);
  uint64_t first_version = 100;  // resource versions count from here
  uint64_t seed = 1;             // uids and generated names
};

}  // namespace maniple::devcluster
