// The simulated kubelet of every node: starts bound pods, rejects those that do not fit, ends those
// whose time is over, lets deleted ones go; and the pods of nodes that are gone are removed.
//
// A state machine, part of Controllers. Hears pods and nodes, writes status through the store and
// deletions through writes.h. One thread.
//
// Invariants:
//   1. used(node) is the sum of the requests of the pods that were admitted there
//      and have not ended.
//   2. A pod is admitted at most once, in the order in which pods were bound.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/base/due_times.h"
#include "api/devcluster/controllers/pod_requests.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

inline constexpr absl::string_view kRunForAnnotation = "devcluster.maniple.dev/run-for";
inline constexpr absl::string_view kExitAnnotation = "devcluster.maniple.dev/exit";

struct KubeletOptions {
  absl::Duration start_delay;
  absl::Duration delete_delay;
  absl::Duration gone_node_grace = absl::Seconds(5);
};

class Kubelet final {
 public:
  Kubelet(const KubeletOptions& options, const TypeRegistry& types);

  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  enum class Stage { kWaitingForNode, kStarting, kRunning };
  struct Pod {
    std::string uid;
    std::string node;
    Stage stage = Stage::kWaitingForNode;
    ResourceAmounts requests;  // what it holds of its node; empty before it is admitted
    absl::Time running_since;
    std::optional<absl::Time> leaves_at;  // its deletion has been seen
  };
  struct Node {
    ResourceAmounts allocatable;
    bool exists = false;
    ResourceAmounts used;
    std::set<ObjectName> pods;
  };

  void Note(const ObjectName& pod);
  void ObserveNode(const Change& change);
  void Look(const Cluster& cluster, const ObjectName& name);
  [[nodiscard]] absl::Duration LeavesAfter(const Json& object) const;
  void LookAtLive(const Cluster& cluster, const ObjectName& name, const Json& object);
  void Admit(const Cluster& cluster, const ObjectName& name, const Json& object);
  void Start(const Cluster& cluster, const ObjectName& name, const Json& object);
  void Remove(const Cluster& cluster, const ObjectName& name, const Json& object);
  Pod& Track(const ObjectName& name, const Json& object);
  void Hold(Pod& pod, const Json& object);
  void Release(Pod& pod);
  void Forget(const ObjectName& name);

  const KubeletOptions options_;
  const StorageId pods_storage_;
  const StorageId nodes_storage_;
  absl::flat_hash_map<ObjectName, Pod> pods_;
  absl::flat_hash_map<std::string, Node> nodes_;
  std::vector<ObjectName> noted_;  // in the order of their changes
  absl::flat_hash_set<ObjectName> is_noted_;
  DueTimes<ObjectName> due_;
};

// The pod's status once its containers run, and once they ended. Pure.
[[nodiscard]] Json RunningPod(const Json& pod, absl::Time now);
enum class PodEnd { kSucceeded, kFailed };
[[nodiscard]] Json EndedPod(const Json& pod, PodEnd end, absl::Time now);
// Refused by its node: phase Failed with this reason and message.
[[nodiscard]] Json RejectedPod(const Json& pod, absl::string_view reason, absl::string_view message,
                               absl::Time now);

}  // namespace maniple::devcluster
