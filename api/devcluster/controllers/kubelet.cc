#include "api/devcluster/controllers/kubelet.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/log.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/object_facts.h"

namespace maniple::devcluster {
namespace {

bool IsRunning(const Json& pod) { return pod["status"]["phase"].AsString() == "Running"; }

struct Shortage {
  std::string resource;
  Amount requested, used, capacity;
};

// The first resource by name of which the node has not enough.
std::optional<Shortage> ShortageOf(const ResourceAmounts& requests, const ResourceAmounts& used,
                                   const ResourceAmounts& allocatable) {
  const auto amount = [](const ResourceAmounts& amounts, const std::string& resource) {
    const auto found = amounts.find(resource);
    return found == amounts.end() ? Amount(0) : found->second;
  };
  for (const auto& [resource, requested] : requests) {
    const Amount taken = amount(used, resource);
    const Amount capacity = amount(allocatable, resource);
    if (requested > Amount(0) && taken + requested > capacity) {
      return Shortage{resource, requested, taken, capacity};
    }
  }
  return std::nullopt;
}

// How long the pod is to run, or infinitely.
absl::Duration RunForOf(const Json& pod) {
  const Json& text = pod["metadata"]["annotations"][kRunForAnnotation];
  absl::Duration run_for;
  if (!text.is_string() || !absl::ParseDuration(text.AsString(), &run_for)) {
    return absl::InfiniteDuration();
  }
  return std::max(run_for, absl::ZeroDuration());
}

absl::Time StartTimeOf(const Json& pod, absl::Time otherwise) {
  return ParseKubernetesTime(pod["status"]["startTime"].AsString()).value_or(otherwise);
}

}  // namespace

Kubelet::Kubelet(const KubeletOptions& options, const TypeRegistry& types)
    : options_(options),
      pods_storage_(types.Storage("", "pods")),
      nodes_storage_(types.Storage("", "nodes")) {}

void Kubelet::OnChange(const Change& change) {
  if (change.storage == nodes_storage_) return ObserveNode(change);
  if (change.storage != pods_storage_) return;
  // Pods that nobody has bound are no business of a kubelet; there may be very many.
  const bool bound = !(*change.object)["spec"]["nodeName"].AsString().empty();
  if (bound || pods_.contains(change.name)) Note(change.name);
}

void Kubelet::Note(const ObjectName& pod) {
  if (is_noted_.insert(pod).second) noted_.push_back(pod);
}

void Kubelet::ObserveNode(const Change& change) {
  Node& node = nodes_[change.name.name];
  const bool existed = node.exists;
  node.exists = change.kind != ChangeKind::kDeleted;
  if (node.exists) node.allocatable = AmountsOf((*change.object)["status"]["allocatable"]);
  if (existed == node.exists) return;
  for (const ObjectName& pod : node.pods) Note(pod);
  if (!node.exists && node.pods.empty()) nodes_.erase(change.name.name);
}

absl::Time Kubelet::NextDeadline() const {
  return noted_.empty() ? due_.Next() : absl::InfinitePast();
}

void Kubelet::OnTime(const Cluster& cluster) {
  const std::vector<ObjectName> noted = std::exchange(noted_, {});
  is_noted_.clear();
  for (const ObjectName& name : noted) Look(cluster, name);
  while (const std::optional<ObjectName> name = due_.PopDue(cluster.now)) Look(cluster, *name);
}

// Compares the pod as it is with what has been done for it, and does the next thing.
void Kubelet::Look(const Cluster& cluster, const ObjectName& name) {
  const ObjectPtr object = cluster.store.Get(pods_storage_, name);
  const auto found = pods_.find(name);
  if (found != pods_.end() && (object == nullptr || found->second.uid != UidOf(*object))) {
    Forget(name);
  }
  if (object == nullptr || (*object)["spec"]["nodeName"].AsString().empty()) return;
  Pod& pod = Track(name, *object);
  if (HasEnded(*object)) Release(pod);
  if (!nodes_[pod.node].exists) {
    if (!pod.leaves_at.has_value()) pod.leaves_at = cluster.now + options_.gone_node_grace;
  } else if (IsLeaving(*object)) {
    const absl::Time leaves = cluster.now + LeavesAfter(*object);
    pod.leaves_at = std::min(pod.leaves_at.value_or(leaves), leaves);
  } else {
    pod.leaves_at.reset();  // its node came back
  }
  if (pod.leaves_at.has_value()) {
    if (*pod.leaves_at > cluster.now) return due_.Set(name, *pod.leaves_at);
    return Remove(cluster, name, *object);
  }
  if (HasEnded(*object)) return due_.Erase(name);
  LookAtLive(cluster, name, *object);
}

// Containers stop at once, except in a pod that somebody holds with a finalizer: there they take
// the grace period that the pod asks for, so that a terminating pod can be looked at.
absl::Duration Kubelet::LeavesAfter(const Json& object) const {
  const auto& finalizers = object["metadata"]["finalizers"].items();
  const bool held = std::ranges::any_of(finalizers, [](const Json& finalizer) {
    // The garbage collector's own bear no slash, and wait for the pod.
    return absl::StrContains(finalizer.AsString(), '/');
  });
  if (!held) return options_.delete_delay;
  const absl::Duration grace =
      absl::Seconds(object["spec"]["terminationGracePeriodSeconds"].AsInt());
  return std::max(options_.delete_delay, grace);
}

void Kubelet::LookAtLive(const Cluster& cluster, const ObjectName& name, const Json& object) {
  Pod& pod = pods_.at(name);
  if (IsRunning(object) && pod.stage != Stage::kRunning) {
    // Started by us just now, or found running: somebody wrote its status, or a snapshot was
    // loaded.
    if (pod.stage == Stage::kWaitingForNode) Hold(pod, object);
    pod.stage = Stage::kRunning;
    pod.running_since = StartTimeOf(object, cluster.now);
  }
  switch (pod.stage) {
    case Stage::kWaitingForNode:
      return Admit(cluster, name, object);
    case Stage::kStarting:
      if (!due_.Has(name)) Start(cluster, name, object);
      return;
    case Stage::kRunning: {
      const absl::Time ends_at = pod.running_since + RunForOf(object);
      if (ends_at == absl::InfiniteFuture()) return due_.Erase(name);
      if (ends_at > cluster.now) return due_.Set(name, ends_at);
      const bool failed = object["metadata"]["annotations"][kExitAnnotation].AsString() == "failed";
      Release(pod);
      cluster.store.Put(
          pods_storage_,
          EndedPod(object, failed ? PodEnd::kFailed : PodEnd::kSucceeded, cluster.now));
      return;
    }
  }
}

void Kubelet::Admit(const Cluster& cluster, const ObjectName& name, const Json& object) {
  Pod& pod = pods_.at(name);
  const Node& node = nodes_.at(pod.node);
  if (const std::optional<Shortage> shortage =
          ShortageOf(PodRequests(object), node.used, node.allocatable)) {
    VLOG(1) << "kubelet: rejected " << name.namespace_name << "/" << name.name << " on " << pod.node
            << ": " << shortage->resource;
    cluster.store.Put(
        pods_storage_,
        RejectedPod(object, absl::StrCat("OutOf", shortage->resource),
                    absl::StrCat("Node didn't have enough resource: ", shortage->resource,
                                 ", requested: ", shortage->requested.units(),
                                 ", used: ", shortage->used.units(),
                                 ", capacity: ", shortage->capacity.units()),
                    cluster.now));
    return;
  }
  Hold(pod, object);
  pod.stage = Stage::kStarting;
  if (options_.start_delay == absl::ZeroDuration()) return Start(cluster, name, object);
  due_.Set(name, cluster.now + options_.start_delay);
}

void Kubelet::Start(const Cluster& cluster, const ObjectName& name, const Json& object) {
  Pod& pod = pods_.at(name);
  pod.stage = Stage::kRunning;
  pod.running_since = cluster.now;
  cluster.store.Put(pods_storage_, RunningPod(object, cluster.now));
}

void Kubelet::Remove(const Cluster& cluster, const ObjectName& name, const Json& object) {
  const ResourceType* type = cluster.types.Find("", "v1", "pods");
  // What finalizers hold has stopped running all the same, and its room is free.
  if (object["metadata"]["finalizers"].size() > 0) {
    Release(pods_.at(name));
    if (!HasEnded(object)) {
      cluster.store.Put(pods_storage_, EndedPod(object, PodEnd::kFailed, cluster.now));
    }
    if (object["metadata"]["deletionGracePeriodSeconds"].AsInt() == 0 && IsLeaving(object)) {
      return;
    }
  }
  const DeleteOptions options{.grace_seconds = 0, .uid_precondition = UidOf(object)};
  const ApiOr<Deleted> deleted = DeleteObject(cluster, *type, name, options);
  if (!deleted.ok()) {
    LOG(WARNING) << "kubelet: cannot remove pod " << name.namespace_name << "/" << name.name << ": "
                 << deleted.error().message;
  } else if (deleted->outcome == Deleted::Outcome::kRemoved) {
    Forget(name);  // at once: the next pod of this turn may need its room
  }
}

Kubelet::Pod& Kubelet::Track(const ObjectName& name, const Json& object) {
  Pod& pod = pods_[name];
  if (pod.uid.empty()) {
    pod.uid = UidOf(object);
    pod.node = object["spec"]["nodeName"].AsString();
    nodes_[pod.node].pods.insert(name);
  }
  return pod;
}

void Kubelet::Hold(Pod& pod, const Json& object) {
  pod.requests = PodRequests(object);
  ResourceAmounts& used = nodes_[pod.node].used;
  for (const auto& [resource, amount] : pod.requests) used[resource] += amount;
}

void Kubelet::Release(Pod& pod) {
  ResourceAmounts& used = nodes_[pod.node].used;
  for (const auto& [resource, amount] : pod.requests) used[resource] -= amount;
  pod.requests.clear();
}

void Kubelet::Forget(const ObjectName& name) {
  const auto found = pods_.find(name);
  Release(found->second);
  const auto node = nodes_.find(found->second.node);
  node->second.pods.erase(name);
  if (!node->second.exists && node->second.pods.empty()) nodes_.erase(node);
  pods_.erase(found);
  due_.Erase(name);
}

}  // namespace maniple::devcluster
