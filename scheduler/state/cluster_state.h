// The single mutable truth: nodes, pods, gangs, reservations and holds, folded from watch events.
//
// Owned by the scheduling thread. Publish() hands out an immutable Snapshot that shares all blocks
// that did not change.
//
//   Delta delta;
//   for (const ObjectEvent& event : events) state.Apply(event, now, delta);
//   SnapshotPtr snapshot = state.Publish();
//
// Invariants:
//   1. Every pod is charged to at most one node: where it is bound, else where it is reserved, else
//      where a reply or another scheduler's nomination puts it.
//   2. free(node, r) = allocatable(node, r) - sum over charged pods and holds,
//      for every resource r; it may be negative.
//   3. A pod that ended (Succeeded, Failed, gone) is charged nowhere; a terminating one still is.
//   4. A published snapshot never changes.
//   5. The mix of requests counts every charged pod that asks for GPUs (observed_mix.h).
//   6. count(node, c) = the sum over charged pods, without holds: nobody stands there yet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/gpu/gpu_facts.h"
#include "api/model/claim_binding.h"
#include "api/model/object.h"
#include "api/producers/gang_directory.h"
#include "queue/gang.h"
#include "scheduler/state/budget_table.h"
#include "scheduler/state/delta.h"
#include "scheduler/state/pod_facts.h"
#include "scheduler/state/snapshot.h"
#include "scheduler/state/state_counters.h"

namespace maniple {

struct ClusterStateOptions {
  std::vector<std::string> scheduler_names = {"maniple"};
  std::string default_queue;
  // Node labels that name a domain of multi-node NVLink; the first that a node has counts.
  std::vector<std::string> nvlink_domain_labels = {"nvidia.com/gpu.clique"};
  GpuRules gpus;                   // where facts about the nodes' GPUs are read from
  ProducerOptions producers = {};  // whose gangs are known, and to which Queues theirs are mapped
  // A sweep is due when so many shapes, counts and labels have come beyond twice those in use after
  // the last one. 0: on every call of WantsSweep, for tests.
  size_t sweep_slack = 2048;
};

class ClusterState final {
 public:
  explicit ClusterState(ClusterStateOptions options);
  ~ClusterState();
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  void Apply(const ObjectEvent& event, absl::Time now, Delta& delta);
  // O(blocks changed since the last call).
  [[nodiscard]] SnapshotPtr Publish();

  // Charges the pod to the node before the API server knows. REQUIRES: the pod exists and is
  // unbound; node exists.
  void Reserve(PodId pod, NodeId node);
  // A reply says, ahead of the watch, that the pod is bound there: it is charged there,
  // also when the node comes only later. Does nothing if the watch has shown it already.
  void NoteBound(PodId pod, absl::string_view node_name, Delta& delta);
  // Idempotent; a pod that is bound by now stays charged where it is bound.
  void Release(PodId pod, Delta& delta);
  // Pods that were relabelled, or moved by their producer, while a bind of them was under way stay
  // with their gang. Files those anew whose bind came to nothing; a bound pod stays for good.
  // REQUIRES: called before events are applied.
  void FileMoved(Delta& delta);
  [[nodiscard]] bool HasMoved() const;
  // Whether running pods stay with their gang when objects of its producer say otherwise,
  // as they do at first. A standby does not know in which gang they were bound:
  // late news would keep them in the wrong one for ever.
  void KeepRunners(bool keep);
  // Room for a pod of the shape that is yet to come. REQUIRES: node exists.
  [[nodiscard]] HoldId Hold(NodeId node, ShapeId shape);
  void ReleaseHold(HoldId hold, Delta& delta);  // idempotent
  // The node takes no new pod of ours until then (it rejected one). Part of the published snapshot.
  void CoolDown(NodeId node, absl::Time until);

  // Shapes and their parts stay known until a sweep. True: so many have come since the last
  // sweep that another pays. Amortised, a sweep costs nothing.
  [[nodiscard]] bool WantsSweep() const;
  // Gives back every shape that no pod has, no room is held for, and is not among `kept`, which the
  // caller knows by id; and the parts of such shapes. Decides nothing.
  void Sweep(std::span<const ShapeId> kept);

  // Counts of pods (plugins/framework/pod_counts.h) that changed somewhere since the last call.
  [[nodiscard]] std::vector<PodCountId> TakeChangedCounts();

  [[nodiscard]] const Gang* FindGang(GangId gang) const;
  // All its pods are of other schedulers: one of these answers for it. REQUIRES: the gang exists.
  [[nodiscard]] bool IsOfOthers(GangId gang) const;
  // Sets the Queue of its admission; none: no member is placed. REQUIRES: the gang exists.
  void SetAdmitted(GangId gang, const std::optional<std::string>& queue, Delta& delta);
  // Takes over from its PodGroup's status the members that were cleaned away after their success.
  // REQUIRES: all pods are known.
  void RecallSucceeded(GangId gang);
  [[nodiscard]] std::optional<GangId> GangNamed(const GangKey& key) const;
  [[nodiscard]] std::vector<GangId> Gangs() const;  // in id order
  [[nodiscard]] const PodFacts* FindPod(PodId pod) const;
  // Pods of all schedulers that are charged to the node, and ended ones; in no order.
  // REQUIRES: the node exists.
  void ForEachPodOn(NodeId node, absl::FunctionRef<void(const PodFacts&)> visit) const;
  [[nodiscard]] std::optional<PodId> PodWithUid(absl::string_view uid) const;
  [[nodiscard]] absl::string_view NodeName(NodeId node) const;  // "" when gone
  [[nodiscard]] std::optional<NodeId> NodeNamed(absl::string_view name) const;
  [[nodiscard]] StringMap LabelsOf(NodeId node) const;      // empty when gone
  [[nodiscard]] const GpuFacts& GpusOf(NodeId node) const;  // none when gone
  [[nodiscard]] bool Synced(ResourceKind kind) const;
  // Every kind has been listed, or is of producers and not there: the picture is whole.
  [[nodiscard]] bool AllSynced() const;
  // Every PodDisruptionBudget, by namespace and name; until the next Apply.
  [[nodiscard]] const std::vector<BudgetFacts>& Budgets() const;
  // The budgets that cover a pod of our schedulers: indices into Budgets(). None for a pod of
  // another scheduler. The eviction API refuses a pod with more than one, whatever they allow;
  // of several, the first two are told.
  [[nodiscard]] std::vector<uint32_t> BudgetsOf(PodId pod) const;
  // A cheap check before BudgetsOf of many pods in a namespace, which mostly has none.
  [[nodiscard]] bool AnyBudgetIn(absl::string_view namespace_name) const;
  // Claims of the pod that are bound once its node is known.
  [[nodiscard]] std::vector<ClaimToBind> ClaimsToBind(PodId pod) const;
  [[nodiscard]] ClaimSight SightOf(const ClaimGoal& goal) const;
  // The volume is offered to no other pod until this one is released. REQUIRES: it is reserved.
  void AssumeVolume(PodId pod, const std::string& volume);
  // Every claim of the pod is bound, and the node reaches the volumes.
  [[nodiscard]] bool ReachesVolumes(PodId pod, NodeId node) const;
  // Volumes that are attached to the node though no pod uses them there, and that take from what
  // pods of the shape can attach; 0 where the shape attaches none.
  [[nodiscard]] int64_t UnusedAttachments(ShapeId shape, NodeId node) const;
  // Why the pod's volumes rule out every node, for people: `claim "data" does not exist`;
  // "" = they do not.
  [[nodiscard]] std::string VolumeTroubleOf(PodId pod) const;
  // Could one pod of the shape start on the node as it is now? For waking; never an answer to a
  // user.
  [[nodiscard]] bool MayFit(ShapeId shape, NodeId node) const;
  // The same without asking for room: the node is there, and its taints, cordon and GPUs let one
  // in.
  [[nodiscard]] bool LetsIn(ShapeId shape, NodeId node) const;
  // True if pods counted by one of these decide where a pod of the shape may stand, …
  [[nodiscard]] bool LooksAt(ShapeId shape, std::span<const PodCountId> counts) const;
  // … or if nodes do, as the shape has terms that look at the pods around it.
  [[nodiscard]] bool AsksOfPods(ShapeId shape) const;
  // The requests of one pod of the shape.
  [[nodiscard]] const ResourceAmounts& RequestsOf(ShapeId shape) const;
  // The same without images (PodShape::room_shape).
  [[nodiscard]] ShapeId RoomShapeOf(ShapeId shape) const;
  // Is a place reserved for one pod of the shape still good? Others may have come meanwhile,
  // and the node may have changed. Holds are for later and do not count,
  // nor does room promised to pods of lower priority.
  [[nodiscard]] bool StillFits(ShapeId shape, NodeId node, int32_t priority) const;
  // Room charged for pods of other schedulers that these have nominated, if of lower priority:
  // by node and shape. Those of equal or higher priority are not listed: their room is taken.
  [[nodiscard]] std::vector<PromisedRoom> PromisedBelow(int32_t priority) const;

  [[nodiscard]] const StateCounters& counters() const;

  // Invariants 1-3, 5 and 6 recomputed from scratch; the first violation found. For tests and
  // simulation.
  [[nodiscard]] absl::Status CheckInvariants() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
