#include "scheduler/loop/room/claims.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

// The pause after a claim that came to nothing.
constexpr absl::Duration kPauseAfterClaim = absl::Seconds(30);

}  // namespace

Claim Claims::Begin(Case& c, const LeavingPods& awaited) {
  const bool was_first = parts_.charges.IsFirstInLine(c);
  parts_.charges.LeaveLine(c);
  std::optional<absl::Time>& since = c.record.leaving_awaited_since;
  if (awaited.pods.empty()) since.reset();
  if (!awaited.pods.empty() && !since.has_value()) since = c.now;
  Claim claim{.was_first = was_first,
              .since = c.now,
              .until = c.now + std::max(kClaimFor, awaited.Patience())};
  for (const LeavingPods::Pod& pod : awaited.pods) claim.awaited.push_back(pod.pod);
  return claim;
}

void Claims::Hold(Case& c, const GangRequest& request, const std::vector<Placement>& places,
                  Claim claim) {
  for (const Placement& place : places) {
    const auto want = std::ranges::find(request.wants, place.pod, &Want::pod);
    claim.rooms.push_back({desk_.state.Hold(place.node, want->shape), place.node, want->shape,
                           place.pod, desk_.state.UnusedAttachments(want->shape, place.node)});
  }
  desk_.Log(c, "claim", absl::StrCat(": ", desk_.PlacesText(places)));
  c.record.claim = std::move(claim);
  claimants_.insert(c.gang.id);
  parts_.charges.NamePayers(c);
  // The room that a repair claims replaces what was held for it.
  if (c.record.binding.has_value()) parts_.flights.ReconcileHolds(c);
  parts_.charges.ChargeQuota(c);
}

void Claims::Drop(GangRecord& record) {
  if (!record.claim.has_value()) return;
  for (const Claim::Room& room : record.claim->rooms)
    desk_.state.ReleaseHold(room.hold, desk_.news);
  desk_.touched.insert(record.claim->victims.begin(), record.claim->victims.end());
  if (!record.claim->paid.empty()) desk_.ledger.NotePromiseEnded(record.queue);
  record.claim.reset();
}

void Claims::GiveUp(Case& c) {
  desk_.Log(c, "give up the room of");
  if (c.record.claim->was_first) c.record.was_head += c.now - c.record.claim->since;
  Drop(c.record);
  if (c.record.waiting != nullptr &&
      c.record.waiting->reason == WaitReason::kWaitingForPreemption) {
    c.record.waiting.reset();  // it spoke of the claim
  }
  parts_.charges.ChargeQuota(c);
}

void Claims::Spend(Case& c, const std::vector<Placement>& places) {
  spent_.erase(c.gang.id);
  if (!c.record.claim.has_value()) return;
  const Claim& claim = *c.record.claim;
  // Whoever starts elsewhere does not need the room any more.
  const bool in_its_room = std::ranges::all_of(places, [&claim](const Placement& place) {
    return std::ranges::find(claim.rooms, place.node, &Claim::Room::node) != claim.rooms.end();
  });
  if (in_its_room) {
    spent_[c.gang.id] = {.places = places,
                         .claim = {.was_first = claim.was_first,
                                   .text = claim.text,
                                   .since = claim.since,
                                   .until = claim.until}};
  }
  Drop(c.record);
}

void Claims::SeeStart(Case& c) {
  const auto found = spent_.find(c.gang.id);
  if (found == spent_.end()) return;
  const std::optional<ItemKind> item = desk_.ItemOf(c);
  const bool starts = c.record.volumes.has_value() || c.record.binding.has_value();
  if (!item.has_value() && starts) return;
  Spent spent = std::move(found->second);
  spent_.erase(found);
  if (item != ItemKind::kQuorum && item != ItemKind::kRepair) return;
  if (c.record.claim.has_value() || c.now >= spent.claim.until) return;
  const GangRequest request = desk_.RequestOf(c, *item);
  std::erase_if(spent.places, [&request](const Placement& place) {
    return std::ranges::find(request.wants, place.pod, &Want::pod) == request.wants.end();
  });
  if (!MayHoldAgain(request, spent.places)) return;
  Hold(c, request, spent.places, std::move(spent.claim));
}

bool Claims::MayHoldAgain(const GangRequest& request, const std::vector<Placement>& places) const {
  return !places.empty() && std::cmp_greater_equal(places.size(), request.need.total) &&
         std::ranges::all_of(places, [&](const Placement& place) {
           const auto want = std::ranges::find(request.wants, place.pod, &Want::pod);
           return desk_.state.MayFit(want->shape, place.node);
         });
}

void Claims::ForgetNodes(const absl::btree_set<NodeId>& gone) {
  absl::erase_if(spent_, [&gone](const auto& spent) {
    return std::ranges::any_of(
        spent.second.places, [&gone](const Placement& place) { return gone.contains(place.node); });
  });
}

void Claims::AskAnew(GangId claimant, absl::Time now) {
  std::optional<Case> c = desk_.Open(claimant, now);
  if (!c.has_value() || !c->record.claim.has_value()) return;
  GiveUp(*c);
  OfferAgain(*c);
}

void Claims::LookAtNodesAgain(const Delta& news, absl::Time now) {
  if (news.nodes_changed.empty() && !news.nodes_lost) return;
  std::vector<GangId> in_vain;
  absl::erase_if(claimants_, [&](GangId id) {
    const Claim* const claim = Find(id);
    if (claim != nullptr && AsksInVain(id, *claim)) in_vain.push_back(id);
    return claim == nullptr;
  });
  for (const GangId id : in_vain) AskAnew(id, now);
}

bool Claims::AsksInVain(GangId claimant, const Claim& claim) const {
  const bool asks = std::ranges::any_of(claim.victims, [&](GangId victim) {
    const Departure* departure = DepartureFor(claimant, victim);
    return departure != nullptr && !departure->begun;
  });
  return asks && std::ranges::any_of(claim.rooms, [this](const Claim::Room& room) {
           return !room.node.valid() || !desk_.state.LetsIn(room.shape, room.node);
         });
}

void Claims::OfferAgain(Case& c) {
  if (!c.record.queued.has_value()) return;
  desk_.queue.Offer({c.gang.id, *c.record.queued}, parts_.charges.OrderOf(c, *c.record.queued));
}

// A claim is seen even when the queue does not ask for its gang any more.
void Claims::See(Case& c) {
  if (!c.record.claim.has_value()) return;
  if (c.now < c.record.claim->until) {
    if (!RoomIsToCome(c)) OfferAgain(c);
    return;
  }
  c.record.no_preemption_until = c.now + kPauseAfterClaim;
  Desk::NoteStartInVain(c.record, c.now);
  GiveUp(c);
}

bool Claims::Wait(Case& c, QueueItem item) {
  GangRecord& record = c.record;
  if (item.kind == ItemKind::kSurplus || !record.claim.has_value()) return false;
  if (!RoomIsToCome(c)) {
    Desk::NoteStartInVain(record, c.now);
    GiveUp(c);
    return false;
  }
  parts_.parking.Note(c, item,
                      {.reason = WaitReason::kWaitingForPreemption, .message = record.claim->text});
  parts_.parking.Park(
      c, item,
      {.class_key = absl::StrCat("claim ", c.gang.id.index()),
       .relief = kReliefRoom | kReliefNodes | kReliefQuota | kReliefQueue | kReliefLoss,
       .until = record.claim->until});
  return true;
}

// Some room of the claim is still to come.
bool Claims::RoomIsToCome(const Case& c) const {
  return std::ranges::any_of(
             c.record.claim->victims,
             [&](GangId victim) { return DepartureFor(c.gang.id, victim) != nullptr; }) ||
         std::ranges::any_of(c.record.claim->awaited,
                             [&](PodId id) {
                               const PodFacts* pod = desk_.state.FindPod(id);
                               if (pod == nullptr || !TakesRoom(*pod)) return false;
                               const GangRecord* record = desk_.FindRecord(pod->gang);
                               return pod->terminating ||
                                      (record != nullptr && record->LeavesWhole());
                             }) ||
         std::ranges::any_of(c.record.claim->rooms, [this](const Claim::Room& room) {
           return room.node.valid() &&
                  desk_.state.UnusedAttachments(room.shape, room.node) > room.unused_attachments;
         });
}

const Departure* Claims::DepartureFor(GangId claimant, GangId victim) const {
  const GangRecord* record = desk_.FindRecord(victim);
  if (record == nullptr || !record->departure.has_value()) return nullptr;
  return record->departure->for_gang == claimant ? &*record->departure : nullptr;
}

Claim* Claims::Find(GangId claimant) const {
  GangRecord* const record = desk_.FindRecord(claimant);
  return record != nullptr && record->claim.has_value() ? &*record->claim : nullptr;
}

bool Claims::Needs(GangId claimant, GangId victim) const {
  const Claim* const claim = Find(claimant);
  return claim != nullptr && std::ranges::find(claim->victims, victim) != claim->victims.end();
}

void Claims::Await(GangId claimant, const std::vector<PodId>& pods) {
  Claim* const claim = Find(claimant);
  if (claim != nullptr) claim->awaited.insert(claim->awaited.end(), pods.begin(), pods.end());
}

const Claim* Claims::KeepUntil(GangId claimant, absl::Time until) {
  Claim* const claim = Find(claimant);
  if (claim == nullptr) return nullptr;
  claim->until = std::max(claim->until, until);
  desk_.touched.insert(claimant);
  return claim;
}

}  // namespace maniple
