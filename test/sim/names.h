// Names that the users of a simulated cluster share with its observers.
#pragma once

#include <cstdint>

#include "absl/strings/numbers.h"
#include "api/codec/json.h"

namespace maniple::sim {

inline constexpr char kGpu[] = "nvidia.com/gpu";
// Classes of storage: disks of a node, volumes made where the pod is, the same by a failing
// provisioner, and volumes made at once.
inline constexpr char kDiskClass[] = "disk";
inline constexpr char kMadeClass[] = "made";
inline constexpr char kBrittleClass[] = "brittle";
inline constexpr char kAtOnceClass[] = "at-once";
inline constexpr char kSimDriver[] = "csi.example.com";
inline constexpr char kLoneClaim[] = "lone";  // of one pod at a time
inline constexpr char kClaimsTarget[] = "/api/v1/namespaces/default/persistentvolumeclaims";
inline constexpr char kQueuesPath[] = "/apis/scheduling.maniple.dev/v1alpha1/queues";

// An amount of devices: a number, or a text that is one.
[[nodiscard]] inline int64_t WholeNumber(const Json& value) {
  int64_t out = 0;
  if (value.is_string() && absl::SimpleAtoi(value.AsString(), &out)) return out;
  return value.AsInt();
}

}  // namespace maniple::sim
