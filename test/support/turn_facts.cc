#include "test/support/turn_facts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/framework/snapshot.h"

namespace maniple {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string NameOf(const ObjectMeta& meta) {
  return absl::StrCat(meta.namespace_name, "/", meta.name);
}

}  // namespace

bool Ended(const Pod& pod) {
  return pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
}

std::string GangName(const GangView& gang) {
  return absl::StrCat(gang.namespace_name, "/", gang.name);
}

void Told::Hear(const ObjectEvent& event) {
  std::visit(
      Overloaded{[this](const ObjectUpserted& upserted) {
                   std::visit(
                       Overloaded{[this](const Node& node) {
                                    nodes[node.meta.name] = node;
                                    lost_nodes.erase(node.meta.name);
                                  },
                                  [this](const Pod& pod) { pods[NameOf(pod.meta)] = pod; },
                                  [this](const PodGroup& g) { groups[NameOf(g.meta)] = g; },
                                  [this](const Queue& queue) { queues[queue.meta.name] = queue; },
                                  [this](const Cohort& c) { cohorts[c.meta.name] = c; },
                                  [this](const ResourceFlavor& f) { flavors[f.meta.name] = f; },
                                  [this](const Topology& t) { topologies[t.meta.name] = t; },
                                  [this](const Namespace& n) { namespaces[n.meta.name] = n; },
                                  [](const auto&) {}},
                       upserted.object);
                 },
                 [this](const ObjectDeleted& deleted) { Forget(deleted.key); },
                 [this](const ObjectInvalid& invalid) { Forget(invalid.key); },
                 [](const KindSynced&) {}, [](const KindServed&) {}},
      event);
}

void Told::Forget(const ObjectKey& key) {
  const std::string full = absl::StrCat(key.namespace_name, "/", key.name);
  switch (key.kind) {
    case ResourceKind::kNode:
      if (auto lost = nodes.extract(key.name)) lost_nodes.insert(std::move(lost));
      return;
    case ResourceKind::kPod:
      if (const auto pod = pods.find(full); pod != pods.end()) {
        const absl::string_view gang = pod->second.meta.labels.Get(kPodGroupLabel);
        if (pod->second.phase == PodPhase::kSucceeded && !gang.empty()) {
          ++cleaned_away[absl::StrCat(key.namespace_name, "/", gang)];
        }
        pods.erase(pod);
      }
      return;
    case ResourceKind::kPodGroup:
      groups.erase(full);
      cleaned_away.erase(full);
      return;
    case ResourceKind::kQueue:
      queues.erase(key.name);
      return;
    case ResourceKind::kCohort:
      cohorts.erase(key.name);
      return;
    case ResourceKind::kResourceFlavor:
      flavors.erase(key.name);
      return;
    case ResourceKind::kTopology:
      topologies.erase(key.name);
      return;
    case ResourceKind::kNamespace:
      namespaces.erase(key.name);
      return;
    case ResourceKind::kPriorityClass:
    case ResourceKind::kPodDisruptionBudget:
    case ResourceKind::kPersistentVolumeClaim:
    case ResourceKind::kPersistentVolume:
    case ResourceKind::kStorageClass:
    case ResourceKind::kCsiNode:
    case ResourceKind::kCsiDriver:
    case ResourceKind::kCsiStorageCapacity:
    case ResourceKind::kVolumeAttachment:
      return;
  }
}

std::vector<PodOnNode> PodsOnNodes(const TurnFacts& facts) {
  std::map<std::string, std::pair<std::string, std::string>> shown;  // pod → its gang and its node
  for (const GangView& gang : facts.view.gangs) {
    for (const GangMemberView& pod : gang.pods) {
      shown[absl::StrCat(gang.namespace_name, "/", pod.pod)] = {GangName(gang), pod.node};
    }
  }
  std::vector<PodOnNode> found;
  for (const auto& [key, pod] : facts.told.pods) {
    if (Ended(pod)) continue;
    const auto it = shown.find(key);
    PodOnNode entry{.key = key, .gang = "", .node = pod.node_name, .pod = &pod};
    if (it != shown.end()) entry.gang = it->second.first;
    if (it != shown.end() && entry.node.empty()) entry.node = it->second.second;
    if (!entry.node.empty()) found.push_back(std::move(entry));
  }
  return found;
}

std::map<std::string, int64_t> RequestsOf(const Pod& pod) {
  std::map<std::string, int64_t> requests = {{"pods", 1}};
  for (const ResourceAmount& request : pod.constraints.requests) {
    requests[request.resource] = request.amount.units();
  }
  return requests;
}

std::map<std::string, int64_t> RoomOf(const Pod& pod) {
  std::map<std::string, int64_t> room = RequestsOf(pod);
  for (auto& [resource, amount] : room) amount = std::min(amount, kMostAmount);
  return room;
}

int64_t OfferOf(const Node& node, absl::string_view resource) {
  const auto it = std::ranges::find(node.allocatable, resource, &ResourceAmount::resource);
  return it == node.allocatable.end() ? 0 : std::min(it->amount.units(), kMostAmount);
}

bool SomebodyMayHold(const TurnFacts& facts) {
  const auto may = [](const GangView& gang) {
    return gang.phase.empty() || gang.phase == "Binding" || gang.reason == "QuorumLost" ||
           gang.reason == "WaitingForPreemption" || gang.planned_start.has_value() ||
           // A start that came to nothing keeps the room that others have left for it.
           gang.reason == "BackingOff" || gang.reason == "VolumesNotReady" ||
           gang.reason == "QueueStopped" ||  // perhaps in the midst of making room
           // Its PodGroup has gone: a bind may have taken effect that the watch does not show yet.
           gang.reason == "WaitingForMembers" ||
           std::ranges::find(gang.pods, "binding", &GangMemberView::state) != gang.pods.end();
  };
  return std::ranges::any_of(facts.view.gangs, may);
}

}  // namespace maniple
