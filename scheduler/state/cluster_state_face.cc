// The public face of ClusterState.
#include <utility>

#include "scheduler/state/cluster_state_impl.h"

namespace maniple {

ClusterState::ClusterState(ClusterStateOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ClusterState::~ClusterState() = default;

void ClusterState::Apply(const ObjectEvent& event, absl::Time now, Delta& delta) {
  impl_->mix().NoteTime(now);
  std::visit([&](const auto& what) { impl_->Apply(what, delta); }, event);
}
SnapshotPtr ClusterState::Publish() { return impl_->Publish(); }
bool ClusterState::WantsSweep() const { return impl_->WantsSweep(); }
void ClusterState::Sweep(std::span<const ShapeId> kept) { impl_->Sweep(kept); }
void ClusterState::Reserve(PodId pod, NodeId node) {
  impl_->pods().Reserve(pod, node);
  Delta nobody_waits_for_less_room;
  impl_->FollowLimits(nobody_waits_for_less_room);
}
void ClusterState::Release(PodId pod, Delta& delta) {
  impl_->pods().Release(pod, delta);
  impl_->FollowLimits(delta);
}
void ClusterState::FileMoved(Delta& delta) { impl_->pods().FileMoved(delta); }
bool ClusterState::IsOfOthers(GangId gang) const {
  const Gang& known = *impl_->gangs().Find(gang);
  return known.members.empty() && impl_->pods().HasStrangers(known.key);
}
bool ClusterState::HasMoved() const { return impl_->pods().HasMoved(); }
void ClusterState::NoteBound(PodId pod, absl::string_view node_name, Delta& delta) {
  impl_->pods().NoteBound(pod, node_name, delta);
  impl_->FollowLimits(delta);
}
HoldId ClusterState::Hold(NodeId node, ShapeId shape) { return impl_->Hold(node, shape); }
void ClusterState::ReleaseHold(HoldId hold, Delta& delta) { impl_->ReleaseHold(hold, delta); }
void ClusterState::CoolDown(NodeId node, absl::Time until) {
  if (impl_->nodes().Has(node)) impl_->nodes().SetCoolDown(node, until);
}

std::vector<PodCountId> ClusterState::TakeChangedCounts() {
  return impl_->nodes().TakeChangedCounts();
}

const Gang* ClusterState::FindGang(GangId gang) const { return impl_->gangs().Find(gang); }
void ClusterState::SetAdmitted(GangId gang, const std::optional<std::string>& queue, Delta& delta) {
  impl_->gangs().SetAdmitted(gang, queue, delta);
}

void ClusterState::RecallSucceeded(GangId gang) { impl_->gangs().RecallSucceeded(gang); }
std::optional<GangId> ClusterState::GangNamed(const GangKey& key) const {
  return impl_->gangs().Named(key);
}
std::vector<GangId> ClusterState::Gangs() const { return impl_->gangs().All(); }
const PodFacts* ClusterState::FindPod(PodId pod) const { return impl_->pods().Find(pod); }
void ClusterState::ForEachPodOn(NodeId node, absl::FunctionRef<void(const PodFacts&)> visit) const {
  impl_->pods().ForEachOn(node, visit);
}
std::optional<PodId> ClusterState::PodWithUid(absl::string_view uid) const {
  return impl_->pods().WithUid(uid);
}
const GpuFacts& ClusterState::GpusOf(NodeId node) const { return impl_->nodes().GpusOf(node); }
StringMap ClusterState::LabelsOf(NodeId node) const { return impl_->nodes().LabelsOf(node); }
absl::string_view ClusterState::NodeName(NodeId node) const { return impl_->nodes().NameOf(node); }
std::optional<NodeId> ClusterState::NodeNamed(absl::string_view name) const {
  return impl_->nodes().Find(name);
}
bool ClusterState::Synced(ResourceKind kind) const { return impl_->Synced(kind); }
void ClusterState::KeepRunners(bool keep) { impl_->KeepRunners(keep); }
bool ClusterState::AllSynced() const { return impl_->AllSynced(); }
const std::vector<BudgetFacts>& ClusterState::Budgets() const { return impl_->budgets().all(); }
std::vector<uint32_t> ClusterState::BudgetsOf(PodId pod) const {
  const PodFacts* facts = FindPod(pod);
  if (facts == nullptr || !facts->gang.valid()) return {};
  return impl_->budgets().Covering(facts->namespace_name, pod);
}
bool ClusterState::AnyBudgetIn(absl::string_view namespace_name) const {
  return impl_->budgets().AnyIn(namespace_name);
}
std::vector<ClaimToBind> ClusterState::ClaimsToBind(PodId pod) const {
  return impl_->volumes().ToBind(pod);
}
ClaimSight ClusterState::SightOf(const ClaimGoal& goal) const {
  return impl_->volumes().SightOf(goal);
}
void ClusterState::AssumeVolume(PodId pod, const std::string& volume) {
  impl_->volumes().Assume(pod, volume);
}
bool ClusterState::ReachesVolumes(PodId pod, NodeId node) const {
  const NodeTable& nodes = impl_->nodes();
  return nodes.Has(node) && impl_->volumes().Reached(pod, nodes.NameOf(node), nodes.LabelsOf(node));
}
std::string ClusterState::VolumeTroubleOf(PodId pod) const {
  return impl_->volumes().TroubleOf(pod);
}
bool ClusterState::LetsIn(ShapeId shape, NodeId node) const {
  return impl_->nodes().Has(node) && impl_->nodes().LetsIn(node, impl_->shapes().Of(shape));
}
bool ClusterState::MayFit(ShapeId shape, NodeId node) const {
  // Whether the pod may outrank those to whom room is promised is not asked here.
  if (impl_->pods().AnyNominatedTo(node)) return impl_->nodes().Has(node);
  return impl_->nodes().MayFit(node, impl_->shapes().Of(shape));
}
int64_t ClusterState::UnusedAttachments(ShapeId shape, NodeId node) const {
  if (impl_->shapes().Of(shape).volume_uses.empty()) return 0;
  return impl_->nodes().UnusedAttachments(node);
}
bool ClusterState::LooksAt(ShapeId shape, std::span<const PodCountId> counts) const {
  const ShapeTerms* terms = impl_->shapes().Of(shape).terms.get();
  return terms != nullptr && std::ranges::any_of(counts, [terms](PodCountId count) {
           return LooksAtCount(*terms, count);
         });
}
const ResourceAmounts& ClusterState::RequestsOf(ShapeId shape) const {
  return impl_->shapes().Of(shape).constraints.requests;
}
ShapeId ClusterState::RoomShapeOf(ShapeId shape) const {
  return impl_->shapes().Of(shape).room_shape;
}
bool ClusterState::AsksOfPods(ShapeId shape) const {
  return impl_->shapes().Of(shape).terms != nullptr;
}
std::vector<PromisedRoom> ClusterState::PromisedBelow(int32_t priority) const {
  return impl_->pods().PromisedBelow(priority);
}
bool ClusterState::StillFits(ShapeId shape, NodeId node, int32_t priority) const {
  std::vector<const PodShape*> yielding = impl_->HeldOn(node);
  for (const PromisedRoom& room : PromisedBelow(priority)) {
    if (room.node == node) yielding.push_back(&impl_->shapes().Of(room.shape));
  }
  return impl_->nodes().StillFits(node, impl_->shapes().Of(shape), yielding);
}
const StateCounters& ClusterState::counters() const { return impl_->counters(); }
absl::Status ClusterState::CheckInvariants() const { return impl_->CheckInvariants(); }

}  // namespace maniple
