#include "scheduler/loop/leadership.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/fingerprint.h"

namespace maniple {
namespace {

constexpr ItemKind kItemKinds[] = {ItemKind::kRepair, ItemKind::kQuorum, ItemKind::kSurplus};

}  // namespace

Leadership::Leadership(WarmState& warm) : desk_(warm) {
  desk_.state.KeepRunners(true);
  desk_.directory.BeginLeading();
  charges_.GiveTreeToQueue();
  Touch(desk_.state.Gangs());
}

void Leadership::Resign() {
  desk_.state.KeepRunners(false);
  for (auto& [id, record] : desk_.records) {
    flights_.DropHolds(*record);
    claims_.Drop(*record);
    room_holders_.Drop(id, *record);
    if (!record->binding.has_value() && !record->volumes.has_value()) continue;
    const Gang* gang = desk_.state.FindGang(id);
    if (gang == nullptr) continue;
    for (const Member& member : gang->members) desk_.state.Release(member.pod, desk_.news);
  }
}

TurnOutput Leadership::Turn(std::vector<WriteResult> results, absl::Time now) {
  ListenToReplies(std::move(results), now);   // the outcomes of our writes
  LookAtGangs(now);                           // gangs that have changed, and those that are due
  reservations_.KeepReservations(now);        // room held for gangs that have waited long
  claims_.LookAtNodesAgain(desk_.news, now);  // plans whose nodes have changed
  wakes_.WakeParked(now);                     // gangs that the news could help
  serving_.DecideReady(now);                  // snapshot, decide, reserve, bind; or park
  mig_.PlanMigNodes(now);                     // idle nodes for the slices that wait
  help_questions_.may_end().NoteTurn();       // gangs that are not what a question says
  reporter_.Report(now);                      // say what changed
  return Finish(now);
}

void Leadership::Forget(GangId id, absl::Time now) {
  const auto it = desk_.records.find(id);
  if (it == desk_.records.end()) return;
  // A gang that left for this one may now do what it must not do while this one was there.
  desk_.ForgetLeaving(*it->second);
  if (desk_.bans > 0) preemptions_.BanEnded();
  evictions_.Forget(id);
  charges_.Forget(id, now);
  if (it->second->binding.has_value()) flights_.EndBinding(*it->second);
  flights_.DropHolds(*it->second);
  claims_.Drop(*it->second);
  claims_.ForgetStart(id);
  room_holders_.Drop(id, *it->second);
  room_holders_.lines().Leave(id, now);
  desk_.timers.Erase(id);
  help_notes_.Forget(id);
  help_questions_.may_end().NoteGone(id);
  preemptions_.CountLoose(*it->second, std::nullopt);
  desk_.queue.RemoveGang(id);
  desk_.directory.Count(id, "", {});
  desk_.directory.meter().Set(id, {}, {}, now);
  desk_.records.erase(it);
}

void Leadership::ListenToReplies(std::vector<WriteResult> results, absl::Time now) {
  for (WriteResult& result : results) {
    const std::optional<Errand> errand = desk_.errands.Take(result.id);
    if (!errand.has_value()) continue;
    NoteRefusal(*errand, result, now);
    Hear(*errand, result, now);
  }
}

void Leadership::LookAtGangs(absl::Time now) {
  desk_.TouchThoseDue(now);
  if (desk_.news.budgets_changed) evictions_.HurryEvictions(now);
  if (desk_.news.queues_changed) Touch(charges_.unadmitted());
  if (desk_.news.budgets_changed || desk_.news.queues_changed) {
    help_questions_.may_end().BeginsAnew();
  }
  for (const GangId id : TakeTouched()) LookAt(id, now);
  uses_.FirstLookEnds();
}

std::vector<GangId> Leadership::TakeTouched() {
  std::vector<GangId> standing, others;
  for (const GangId id : std::exchange(desk_.touched, {})) {
    const auto record = desk_.records.find(id);
    const bool stood = record != desk_.records.end() && !record->second->bound.empty();
    (stood && desk_.state.FindGang(id) != nullptr ? standing : others).push_back(id);
  }
  std::ranges::sort(standing, {}, [this](GangId id) {
    const Gang& gang = *desk_.state.FindGang(id);
    return std::make_tuple(-int64_t{gang.priority}, absl::string_view(gang.key.namespace_name),
                           absl::string_view(gang.key.name));
  });
  standing.insert(standing.end(), others.begin(), others.end());
  return standing;
}

void Leadership::LookAt(GangId id, absl::Time now) {
  // Until our own status has been written, the gang's status is an earlier leader's word. It is
  // recalled only here: later in the turn, lines and queues already know the gang.
  const auto known = desk_.records.find(id);
  const bool ours =
      known != desk_.records.end() && (known->second->wrote_status || known->second->status_taken);
  if (!ours) desk_.state.RecallSucceeded(id);
  std::optional<Case> c = desk_.Open(id, now);
  if (!c.has_value()) {
    Forget(id, now);
    return;
  }
  absl::erase_if(c->record.refused_until,
                 [now](const auto& refused) { return refused.second <= now; });
  if (c->record.volumes_again_at.value_or(absl::InfiniteFuture()) <= now) {
    c->record.volumes_again_at.reset();
  }
  // A gang that leaves as a whole is not repaired. It has left when its binding is at rest.
  if (c->record.LeavesWhole()) {
    flights_.SettleVolumes(*c);
    flights_.SettleBinding(*c);
  }
  evictions_.SeeDeparture(*c);
  claims_.See(*c);
  if (!c->record.LeavesWhole()) {
    flights_.EnsureBinding(*c);
    flights_.SettleVolumes(*c);
    flights_.SettleBinding(*c);
    evictions_.DrainQueue(*c);
  }
  claims_.SeeStart(*c);
  flights_.NoteQuorum(*c);
  flights_.NoteReady(*c);
  charges_.ChargeQuota(*c);
  uses_.MeterUse(*c);
  preemptions_.NoteEvictable(*c);
  Requeue(*c);
  desk_.to_report.insert(id);
}

// Offers the gang's item, unless it is queued and nothing that a decision looks at has changed.
// Our own status writes also come back as changes.
void Leadership::Requeue(Case& c) {
  const std::optional<ItemKind> kind = desk_.ItemOf(c);
  for (const ItemKind other : kItemKinds) {
    if (other != kind) desk_.queue.Remove({c.gang.id, other});
  }
  if (!c.assembly.members_ready) c.record.waiting.reset();
  if (kind != ItemKind::kSurplus) c.record.surplus_waiting.reset();
  const bool may_claim = kind == ItemKind::kQuorum || kind == ItemKind::kRepair;
  if (!may_claim && c.record.claim.has_value()) claims_.GiveUp(c);
  if (kind != ItemKind::kQuorum) charges_.LeaveLine(c);
  uint64_t fingerprint =
      FingerprintOf(c.gang) + c.record.holds.size() + 31 * c.record.refused_until.size();
  // The rest keeps to the flavor of those that stand, which the labels of their nodes decide.
  const bool is_rest = kind == ItemKind::kSurplus || kind == ItemKind::kRepair;
  if (is_rest) fingerprint += 961 * charges_.KindsUnder(c.gang);
  if (c.record.fingerprint != fingerprint) {
    Searches::ForgetSearch(c.record);
  }
  if (kind.has_value() && (c.record.queued != kind || c.record.fingerprint != fingerprint ||
                           charges_.OrderIsStale(c, *kind))) {
    desk_.queue.Offer({c.gang.id, *kind}, charges_.OrderOf(c, *kind));
    // The plan may be for other members.
    if (c.record.reservation.has_value() && c.record.fingerprint != fingerprint) {
      c.record.reservation->lost = true;
    }
  }
  c.record.queued = kind;
  c.record.fingerprint = fingerprint;
}

TurnOutput Leadership::Finish(absl::Time now) {
  desk_.counters.gangs = static_cast<int64_t>(desk_.records.size());
  desk_.counters.gangs_parked = static_cast<int64_t>(desk_.queue.parked());
  desk_.counters.gangs_ready = static_cast<int64_t>(desk_.queue.ready());
  desk_.counters.binds_under_way = desk_.errands.binds();

  TurnOutput out{.writes = std::exchange(desk_.writes, {})};
  // Binds, then undos, reasons, statuses and events; those of one kind in the order of the
  // decisions.
  std::ranges::stable_sort(out.writes, {}, &WriteCommand::priority);
  const bool may_decide =
      !desk_.warm.draining && desk_.errands.binds() < desk_.options.max_binds_under_way;
  out.next = desk_.directory.NextDeadline();
  out.next = std::min(out.next, desk_.timers.Next());
  if (may_decide) out.next = std::min(out.next, desk_.queue.NextDeadline());
  if (!desk_.warm.draining) out.next = std::min(out.next, reservations_.NextReservation());
  if (!desk_.warm.draining && mig_.due() > now) out.next = std::min(out.next, mig_.due());
  out.more = desk_.state.HasMoved() || !desk_.touched.empty() ||
             (may_decide && desk_.queue.ready() > 0) || out.next <= now;
  return out;
}

bool Leadership::Binds() const {
  return std::ranges::any_of(desk_.records, [](const auto& entry) {
    return entry.second->binding.has_value() && entry.second->binding->Coming();
  });
}

void Leadership::NodesGone(const absl::btree_set<NodeId>& gone) {
  wakes_.NodesLost();
  help_questions_.may_end().BeginsAnew();
  claims_.ForgetNodes(gone);
  for (const auto& [id, record] : desk_.records) {
    for (HeldVacancy& held : record->holds) {
      if (gone.contains(held.node)) held.node = NodeId();
    }
    if (record->claim.has_value()) {
      for (Claim::Room& room : record->claim->rooms) {
        if (gone.contains(room.node)) room.node = NodeId();
      }
    }
    if (record->reservation.has_value()) {
      for (Reservation::Room& room : record->reservation->rooms) {
        if (!gone.contains(room.node)) continue;
        room.node = NodeId();
        record->reservation->lost = true;
      }
    }
    for (GangBinding::Known& known : record->bound) {
      if (gone.contains(known.node)) known.node = NodeId();
    }
    if (record->binding.has_value()) record->binding->ForgetNodes(gone);
  }
}

std::vector<ShapeId> Leadership::ShapesKept() const {
  std::vector<ShapeId> kept;
  const auto keep = [&kept](ShapeId shape) {
    if (shape.valid()) kept.push_back(shape);
  };
  desk_.queue.ForEachShape(keep);
  for (const auto& [id, record] : desk_.records) {
    if (record->binding.has_value()) record->binding->ForEachShape(keep);
    for (const HeldVacancy& held : record->holds) keep(held.vacancy.shape);
    for (const GangBinding::Known& known : record->bound) keep(known.shape);
    if (record->claim.has_value()) {
      for (const Claim::Room& room : record->claim->rooms) keep(room.shape);
    }
    if (record->reservation.has_value()) {
      for (const Reservation::Room& room : record->reservation->rooms) keep(room.shape);
    }
  }
  return kept;
}

void Leadership::QuotaChanged(WarmState::QuotaChange change) {
  if (change.tree) parking_.ForgetNotes();  // some are of Queues that are gone
  charges_.QuotaChanged(change);
  if (change.tree || change.costs) help_questions_.may_end().BeginsAnew();
}

}  // namespace maniple
