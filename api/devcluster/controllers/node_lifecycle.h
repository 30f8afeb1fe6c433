// What the kubelet and the node lifecycle controller keep on a Node: readiness, its taint, and the
// facts of the machine.
#pragma once

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

inline constexpr absl::string_view kReadyAnnotation = "devcluster.maniple.dev/ready";
inline constexpr absl::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";

// The node as it should be, or nullopt when it is so already. Pure.
// - The annotation "false" makes it NotReady; without it a node becomes Ready, unless somebody else
// said otherwise.
// - The taint not-ready:NoSchedule follows the condition.
// - Allocatable is the capacity when not given, and 110 pods when they are not.
[[nodiscard]] std::optional<Json> KeptNode(const Json& node, absl::Time now);

// Applies KeptNode to every node that changed. Part of Controllers.
class NodeLifecycle final {
 public:
  explicit NodeLifecycle(const TypeRegistry& types);

  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  const StorageId nodes_storage_;
  std::vector<ObjectName> noted_;
};

}  // namespace maniple::devcluster
