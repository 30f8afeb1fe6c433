// The Queue under which a gang was admitted is charged for as long as any member is placed.
#include <algorithm>
#include <utility>

#include "scheduler/loop/desk/charges.h"

namespace maniple {
namespace {

// Does the status speak of pods that still run? Then its word holds, whatever Queues say by now:
// only a leader writes it, and a PodGroup that is made anew has none. Such a pod was there when the
// quorum was bound, and stands on one of the nodes that the status names.
bool TellsOfWhatRuns(const Case& c, const ClusterState& state) {
  const PodGroupStatus& status = c.gang.status;
  if (status.admitted_queue.empty() || !status.quorum_reached_at.has_value()) return false;
  const absl::Time reached = *status.quorum_reached_at;
  if (reached < c.gang.created || reached > c.now) return false;
  return std::ranges::any_of(c.gang.members, [&](const Member& member) {
    const PodFacts* pod = state.FindPod(member.pod);
    return pod != nullptr && !pod->terminal && member.created <= reached &&
           std::ranges::binary_search(status.placement_nodes, pod->node_name);
  });
}

bool IsNoLarger(const PodShape& shape, const PodShape& than) {
  return std::ranges::all_of(shape.requests, [&than](const auto& asked) {
    return std::ranges::any_of(than.requests, [&asked](const auto& had) {
      return had.first == asked.first && had.second >= asked.second;
    });
  });
}

}  // namespace

std::optional<QueueRefusal> Charges::RefusalOf(const Case& c, ItemKind kind) {
  // A gang in flight cannot be stopped by the Queue that let it in, unless it asks for more.
  if (kind == ItemKind::kRepair && c.gang.admitted_queue.has_value()) {
    std::optional<QueueRefusal> refusal = RefusalOfMore(c);
    if (refusal.has_value() || !AsksForMore(c)) return refusal;
  }
  return desk_.directory.RefusalOf(c.gang, desk_.ledger.book());
}

// Any other word on the Queue counts only if that Queue admits the namespace, since a user may have
// written it. The same holds for the Queue that is named by a gang whose pods name their nodes.
std::optional<std::string> Charges::AdmittedBefore(const Gang& gang) const {
  for (const std::string* told : {&gang.status.admitted_queue, &gang.told_queue}) {
    if (desk_.directory.Admits(*told, gang.key.namespace_name)) return *told;
  }
  // Of a PodGroup that is gone, what it said last: a bind may be heard of after its deletion.
  if (!gang.declared) return std::nullopt;
  if (!gang.queue.empty() && !desk_.directory.Admits(gang.queue, gang.key.namespace_name)) {
    return std::nullopt;
  }
  return gang.queue;
}

// Its replacements are as many as it has lost at most, and no larger.
bool Charges::OnlyReplaces(const Case& c) const {
  const GangRequest request = desk_.RequestOf(c, ItemKind::kRepair);
  const std::vector<Vacancy>& lost = c.record.binding->vacancies();
  const Tables& tables = *desk_.Picture().tables;
  const bool no_larger = std::ranges::all_of(request.wants, [&](const Want& want) {
    return std::ranges::any_of(lost, [&](const Vacancy& vacancy) {
      return IsNoLarger(tables.ShapeOf(want.shape), tables.ShapeOf(vacancy.shape));
    });
  });
  return no_larger && request.need.total <= static_cast<int32_t>(lost.size());
}

// What was lost before this leader came is not known.
bool Charges::AsksForMore(const Case& c) const {
  return Desk::QuorumWasRaised(c) || (!c.record.binding->vacancies().empty() && !OnlyReplaces(c));
}

// Otherwise a user who keeps one member running could raise minMember,
// and get many members under a Queue that was closed long ago.
std::optional<QueueRefusal> Charges::RefusalOfMore(const Case& c) {
  if (!c.gang.admitted_queue.has_value() || c.gang.admitted_queue->empty()) return std::nullopt;
  if (desk_.directory.Admits(*c.gang.admitted_queue, c.gang.key.namespace_name))
    return std::nullopt;
  if (OnlyReplaces(c)) return std::nullopt;
  return desk_.directory.RefusalOfMore(*c.gang.admitted_queue, c.gang.key.namespace_name);
}

// An admitted gang stays in its Queue for as long as any of its members is placed,
// whatever labels, PodGroup or Queue say meanwhile.
void Charges::FollowAdmission(const Case& c) {
  bool placed = false, reserved = false;
  for (const Member& member : c.gang.members) {
    const PodFacts* pod = desk_.state.FindPod(member.pod);
    if (pod == nullptr || pod->terminal) continue;
    reserved = reserved || pod->reserved.valid();
    placed = placed || reserved || !pod->node_name.empty() || pod->is_awaited;
  }
  if (!placed) {
    desk_.state.SetAdmitted(c.gang.id, std::nullopt, desk_.news);
  } else if (!c.gang.admitted_queue.has_value()) {
    std::optional<std::string> admitted = AdmittedBefore(c.gang);
    if (TellsOfWhatRuns(c, desk_.state)) admitted = c.gang.status.admitted_queue;
    if (reserved) admitted = c.gang.queue;  // it was decided under the Queue that it names now
    desk_.state.SetAdmitted(c.gang.id, std::move(admitted), desk_.news);
  }
  std::string queue = c.gang.queue;
  unadmitted_.erase(c.gang.id);
  if (placed && !c.gang.admitted_queue.has_value()) {
    unadmitted_.insert(c.gang.id);
    queue.clear();
  } else if (!placed && !c.gang.group_exists) {
    queue = c.record.queue;
  }
  if (c.record.queue == queue) return;
  c.record.queue = std::move(queue);
  // It waits in another line from now on.
  room_holders_.lines().Leave(c.gang.id, c.now);
  c.record.was_head = absl::ZeroDuration();
  room_holders_.Drop(c.gang.id, c.record);
}

}  // namespace maniple
