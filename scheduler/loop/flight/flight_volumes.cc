// Claims that wait for their pods' nodes: they are bound before the gang is,
// or the gang is given up for a while.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/time_text.h"
#include "scheduler/bind/volume_plan.h"
#include "scheduler/loop/flight/flights.h"

namespace maniple {
namespace {

// Members that have given way to others stay behind them for so long.
constexpr absl::Duration kGivesWayFor = absl::Minutes(1);

}  // namespace

bool Flights::StartVolumes(Case& c, ItemKind kind, const std::vector<Placement>& placements) {
  std::vector<ClaimAsk> asks;
  for (const Placement& placement : placements) {
    for (ClaimToBind& claim : desk_.state.ClaimsToBind(placement.pod)) {
      asks.push_back({.pod = placement.pod, .node = placement.node, .claim = std::move(claim)});
    }
  }
  if (asks.empty()) return false;
  std::optional<std::vector<ClaimGoal>> goals = PlanVolumes(desk_.Picture(), asks);
  for (const Placement& placement : placements) desk_.state.Reserve(placement.pod, placement.node);
  c.record.volumes.emplace(desk_.options.bind_backoff, placements,
                           goals.value_or(std::vector<ClaimGoal>()),
                           c.now + desk_.options.volume_timeout);
  c.record.volumes_are_surplus = kind == ItemKind::kSurplus;
  c.record.volumes_asked = FingerprintOfAsk(c.gang.spec);
  if (!goals.has_value()) {
    GiveUpVolumes(c, "there are not volumes enough for all of it", DecidedAgain::kLater);
    return true;
  }
  for (const ClaimGoal& goal : *goals) {
    if (!goal.volume.empty()) desk_.state.AssumeVolume(goal.pod, goal.volume);
  }
  desk_.Log(c, "volumes", absl::StrCat(": ", goals->size(), " to bind"));
  SettleVolumes(c);
  charges_.ChargeQuota(c);
  return true;
}

// Why the placements are no good any more; "" = they are good.
std::string Flights::PlacementTrouble(const Case& c) {
  if (!c.gang.group_exists || !c.gang.problem.empty()) return "its PodGroup is not valid";
  for (const Placement& placement : c.record.volumes->placements()) {
    const auto member = std::ranges::find(c.gang.members, placement.pod, &Member::pod);
    if (member == c.gang.members.end() || member->state != MemberState::kPending) {
      return "one of its pods is no longer there to be bound";
    }
    if (c.record.binding.has_value() && !c.record.binding->MayPlan(placement.pod)) {
      return "the gang is being undone";
    }
    if (!RoomIsStillThere(c, placement.pod, placement.node)) {
      return absl::StrCat("the place of pod ", member->name, " is lost");
    }
  }
  return "";
}

// What was planned is not to be bound any more, though it could be; "" = it is.
std::string Flights::ChangeOfMind(const Case& c) {
  if (SurplusGivesWay(c)) return "others are to replace lost members first";
  if (c.record.volumes_are_surplus && !c.record.binding.has_value() && !c.assembly.need.Met()) {
    return "the gang has lost its quorum";
  }
  if (c.record.volumes_asked != FingerprintOfAsk(c.gang.spec)) return "the gang has been edited";
  const ItemKind kind = c.record.volumes_are_surplus   ? ItemKind::kSurplus
                        : c.record.binding.has_value() ? ItemKind::kRepair
                                                       : ItemKind::kQuorum;
  if (charges_.RefusalOf(c, kind).has_value()) return "its Queue lets it start no more";
  return "";
}

bool Flights::SurplusGivesWay(const Case& c) const {
  return c.record.volumes.has_value() && c.record.volumes_are_surplus &&
         c.record.binding.has_value() && c.record.binding->wants_repair() &&
         !desk_.RequestOf(c, ItemKind::kRepair).need.Met();
}

void Flights::SettleVolumes(Case& c) {
  if (!c.record.volumes.has_value()) return;
  GangVolumes& volumes = *c.record.volumes;
  std::vector<SendVolumeWrite> actions;
  VolumeStep step{c.now, desk_.random, actions};
  if (const std::string change = ChangeOfMind(c); !change.empty()) volumes.Withdraw(change, step);
  if (const std::string trouble = c.record.LeavesWhole() ? "it has to leave" : PlacementTrouble(c);
      !trouble.empty()) {
    volumes.Cancel(trouble, step);
  }
  std::vector<ClaimSight> sights;
  for (const ClaimGoal& goal : volumes.goals()) sights.push_back(desk_.state.SightOf(goal));
  volumes.Settle(sights, step);
  for (const SendVolumeWrite& action : actions) {
    SendVolume(c, volumes.goals()[action.goal], sights[action.goal], action.what);
  }
  switch (volumes.phase()) {
    case VolumePhase::kBinding:
    case VolumePhase::kUndoing:
      return;
    case VolumePhase::kReady:
      BindAfterVolumes(c);
      return;
    case VolumePhase::kFailed:
      GiveUpVolumes(c, volumes.trouble(),
                    volumes.withdrawn() ? DecidedAgain::kAtOnce : DecidedAgain::kLater);
      return;
  }
}

void Flights::SendVolume(const Case& c, const ClaimGoal& goal, const ClaimSight& sight,
                         VolumeWrite what) {
  const auto request = [&] {
    switch (what) {
      case VolumeWrite::kSetAside:
        return SetAsideRequest(goal, sight);
      case VolumeWrite::kSelectNode:
        return SelectNodeRequest(goal, sight.claim_version, goal.node);
      case VolumeWrite::kTakeBack:
        return SelectNodeRequest(goal, sight.claim_version, "");
    }
    return HttpRequest();
  };
  desk_.Send({.kind = ErrandKind::kVolume,
              .gang = c.gang.id,
              .pod = goal.pod,
              .name = absl::StrCat(goal.namespace_name, "/", goal.name)},
             request());
}

void Flights::HearVolume(const Errand& errand, const WriteResult& result, absl::Time now) {
  desk_.touched.insert(errand.gang);
  std::optional<Case> c = desk_.Open(errand.gang, now);
  if (!c.has_value() || !c->record.volumes.has_value()) return;
  std::vector<SendVolumeWrite> actions;
  VolumeStep step{now, desk_.random, actions};
  c->record.volumes->OnReply(errand.name, ReadVolumeReply(result), step);
}

// What is asked here is costly, and asked once: others may have changed it meanwhile.
std::string Flights::BurstTrouble(const Case& c) {
  if (PlanIsTorn(c)) return "its nodes are not in one domain any more";
  for (const Placement& placement : c.record.volumes->placements()) {
    if (TermsStillHold(c, placement.pod, placement.node)) continue;
    return absl::StrCat("pods that came meanwhile keep it from node ",
                        desk_.state.NodeName(placement.node));
  }
  return "";
}

// A claim that several members share was bound for one of them: the others must reach its volume.
void Flights::BindAfterVolumes(Case& c) {
  const std::vector<Placement> placements = c.record.volumes->placements();
  for (const Placement& placement : placements) {
    if (desk_.state.ReachesVolumes(placement.pod, placement.node)) continue;
    GiveUpVolumes(c,
                  absl::StrCat("node ", desk_.state.NodeName(placement.node),
                               " does not reach the volumes that were bound"),
                  DecidedAgain::kLater);
    return;
  }
  if (std::string trouble = BurstTrouble(c); !trouble.empty()) {
    GiveUpVolumes(c, std::move(trouble), DecidedAgain::kAtOnce);
    return;
  }
  desk_.Log(c, "volumes", ": bound");
  c.record.volumes.reset();
  StartBinding(c, placements);
}

// Everything reserved is given back; the gang is decided again, perhaps after a while.
// `why` is a copy, since it may be the volumes' own word.
void Flights::GiveUpVolumes(Case& c, std::string why, DecidedAgain again) {
  const std::vector<Placement> placements = c.record.volumes->placements();
  const bool failed_repair = again == DecidedAgain::kLater && c.record.binding.has_value();
  const bool comes_last = failed_repair || SurplusGivesWay(c);
  c.record.volumes.reset();
  for (const Placement& placement : placements) {
    desk_.state.Release(placement.pod, desk_.news);
    // Others come first: this one may be as slow, or fail, again.
    if (comes_last) c.record.refused_until[placement.pod] = c.now + kGivesWayFor;
  }
  desk_.Log(c, "volumes", absl::StrCat(": given up: ", why));
  if (again == DecidedAgain::kLater) TryVolumesLater(c, why);
  desk_.touched.insert(c.gang.id);
  desk_.to_report.insert(c.gang.id);
  charges_.ChargeQuota(c);
}

void Flights::TryVolumesLater(const Case& c, absl::string_view why) {
  GangRecord& record = c.record;
  Desk::NoteStartInVain(record, c.now);
  if (!record.undo_backoff.has_value()) record.undo_backoff = Backoff(desk_.options.undo_backoff);
  record.volumes_again_at = c.now + record.undo_backoff->Next(desk_.random);
  record.volume_trouble = absl::StrCat("its volumes could not be bound: ", why, "; tried again at ",
                                       ClockText(*record.volumes_again_at));
}

}  // namespace maniple
