// Checks for tests and the simulation: whether a loop keeps its own promises.
#include "absl/strings/str_cat.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// How long a claim may outlast its time before that is an error.
constexpr absl::Duration kClaimMayLinger = absl::Minutes(1);

// The pod's reservation belongs to a binding, of the pod itself or first of its volumes.
bool InHand(const GangRecord& record, PodId pod) {
  if (record.binding.has_value() && record.binding->StateOf(pod).has_value()) return true;
  return record.PlaceWhileVolumesAreBound(pod).has_value();
}

}  // namespace

absl::Status Leadership::CheckInvariants() const {
  if (absl::Status status = reservations_.CheckTurns(); !status.ok()) return status;
  for (const GangId id : desk_.state.Gangs()) {
    const Gang& gang = *desk_.state.FindGang(id);
    const auto record = desk_.records.find(id);
    for (const Member& member : gang.members) {
      const bool in_hand = record != desk_.records.end() && InHand(*record->second, member.pod);
      const PodFacts* pod = desk_.state.FindPod(member.pod);
      if (pod == nullptr || !pod->reserved.valid() || pod->node.valid() || in_hand) continue;
      // Only a reply has told that the pod is bound: it takes its room along when it is gone.
      if (pod->terminating) continue;
      return absl::InternalError(absl::StrCat("pod ", gang.key.namespace_name, "/", member.name,
                                              " holds a reservation that no binding knows"));
    }
  }
  return absl::OkStatus();
}

absl::Status Leadership::CheckNothingHeld() const {
  for (const auto& [id, record] : desk_.records) {
    const Gang* gang = desk_.state.FindGang(id);
    const std::string name = gang == nullptr ? "a gang that is gone" : GangText(gang->key);
    if (record->binding.has_value()) return absl::InternalError(name + " is still being bound");
    if (record->volumes.has_value()) return absl::InternalError(name + " still binds volumes");
    if (record->claim.has_value()) return absl::InternalError(name + " still has a claim");
    if (record->departure.has_value()) return absl::InternalError(name + " is still leaving");
  }
  if (!room_holders_.holders().empty()) return absl::InternalError("room is still reserved");
  return absl::OkStatus();
}

std::array<int32_t, kBindStates> Leadership::MemberStates() const {
  std::array<int32_t, kBindStates> count{};
  for (const auto& [id, record] : desk_.records) {
    if (record->binding.has_value()) record->binding->AddStates(count);
  }
  return count;
}

absl::Status Leadership::CheckParkedCannotStart(absl::Time now) {
  if (desk_.warm.draining) return absl::OkStatus();
  // Nothing that is asked here changes their list.
  const std::vector<GangId> stand = preemptions_.GangsThatStand();
  for (const QueueItem item : desk_.queue.ParkedItems()) {
    std::optional<Case> c = desk_.Open(item.gang, now);
    if (!c.has_value() || desk_.ItemOf(*c) != item.kind) continue;
    const bool later = now < c->record.backoff_until || searches_.MustWaitToSearch(*c) ||
                       now < c->record.volumes_again_at.value_or(absl::InfinitePast());
    if (later || desk_.directory.RefusalOf(c->gang, desk_.ledger.book()).has_value()) continue;
    const GangRequest request = desk_.RequestOf(*c, item.kind);
    const Decision decision = serving_.Ask(*c, request).decision;
    if (std::holds_alternative<Plan>(decision)) {
      return absl::InternalError(absl::StrCat(GangText(c->gang.key), " is parked (",
                                              ItemName(item.kind), ") though it could start"));
    }
    const auto& rejection = std::get<Rejection>(decision);
    if (item.kind == ItemKind::kSurplus) continue;
    if (c->record.claim.has_value()) {
      if (now < c->record.claim->until + kClaimMayLinger) continue;
      return absl::InternalError(absl::StrCat(GangText(c->gang.key), " holds room for ever"));
    }
    if (preemptions_.MayPreempt(*c, rejection) &&
        std::holds_alternative<PreemptionPlan>(preemptions_.PlanRoom(
            *c, request, preemptions_.RunningGangs(*c, stand), preemptions_.LeavingToAwait(*c)))) {
      return absl::InternalError(
          absl::StrCat(GangText(c->gang.key), " is parked though others could make room for it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace maniple
