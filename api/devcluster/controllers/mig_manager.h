// The simulated mig-manager of every node that says it is capable of MIG: when the label
// nvidia.com/mig.config gets another value, the node goes through "pending" to "success" with the
// slices of that configuration as its allocatable, or to "failed" with what it had when GPU pods
// are there or the configuration is not known for its product.
//
// A state machine, part of Controllers. Meanwhile the device plugin is away, and the node has no
// GPU to give, as on a real one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/due_times.h"
#include "api/devcluster/controllers/api_server_options.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

// How long a change takes: "30s" on the node.
inline constexpr absl::string_view kMigDelayAnnotation = "devcluster.maniple.dev/mig-delay";

class MigManager final {
 public:
  MigManager(MigManagerOptions options, const TypeRegistry& types);

  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  struct Plugged {
    Json capacity, allocatable;  // as they were before the change
  };
  void Begin(const Cluster& cluster, const ObjectName& name);
  void Finish(const Cluster& cluster, const ObjectName& name);
  [[nodiscard]] bool HasGpuPods(const Cluster& cluster, const std::string& node) const;
  // The amounts of the configuration; none: nobody knows it for these GPUs.
  [[nodiscard]] std::optional<std::vector<std::pair<std::string, int32_t>>> AmountsIn(
      const Json& node) const;

  // When the change that begins now is done.
  [[nodiscard]] absl::Time EndOf(const Json& node, absl::Time now) const;

  const MigManagerOptions options_;
  const StorageId nodes_storage_;
  const StorageId pods_storage_;
  std::vector<ObjectName> begun_;  // in the order of their changes
  absl::flat_hash_map<ObjectName, Plugged> plugged_;
  DueTimes<ObjectName> due_;
};

}  // namespace maniple::devcluster
