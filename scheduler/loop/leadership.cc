#include "scheduler/loop/leadership.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"

namespace maniple {
namespace {

constexpr ItemKind kItemKinds[] = {ItemKind::kRepair, ItemKind::kQuorum, ItemKind::kSurplus};

}  // namespace

Leadership::Leadership(WarmState& warm)
    : warm_(warm),
      options_(warm.options),
      random_(warm.random),
      state_(warm.state),
      directory_(warm.directory),
      ledger_(warm.ledger),
      mig_fleet_(warm.mig_fleet),
      errands_(warm.errands),
      news_(warm.news),
      counters_(warm.counters),
      shares_(options_.search.harm) {
  state_.KeepRunners(true);
  directory_.BeginLeading();
  GiveTreeToQueue();
  Touch(state_.Gangs());
}

void Leadership::Resign() {
  state_.KeepRunners(false);
  for (auto& [id, record] : records_) {
    DropHolds(*record);
    DropClaim(*record);
    DropReservation(id, *record);
    if (!record->binding.has_value() && !record->volumes.has_value()) continue;
    const Gang* gang = state_.FindGang(id);
    if (gang == nullptr) continue;
    for (const Member& member : gang->members) state_.Release(member.pod, news_);
  }
}

TurnOutput Leadership::Turn(std::vector<WriteResult> results, absl::Time now) {
  ListenToReplies(std::move(results), now);  // what became of our writes
  LookAtGangs(now);                          // gangs that changed, and those whose time has come
  KeepReservations(now);                     // room held for who has waited long
  WakeParked(now);                           // wake whom this could help
  DecideReady(now);                          // snapshot, decide, reserve, bind; or park
  PlanMigNodes(now);                         // idle nodes for the slices that wait
  Report(now);                               // say what changed
  return Finish(now);
}

std::unique_ptr<GangRecord> Leadership::FirstRecord(const Gang& gang, absl::Time now) {
  auto record = std::make_unique<GangRecord>(now);
  record->group = FingerprintOf(gang.group_uid);
  record->quorum_reached_at = gang.status.quorum_reached_at;
  record->last_undone_at = gang.status.last_undone_at;
  record->domains = gang.status.placement_domains;
  if (gang.group_exists) record->queue = gang.queue;
  std::vector<LeftFor> left_for = ParseLeftFor(gang.status.preempted_by);
  if (!left_for.empty()) record->left_for = std::move(left_for);
  const bool preempted = gang.status.reason == WaitReasonName(WaitReason::kPreempted);
  if (preempted || gang.status.reason == WaitReasonName(WaitReason::kQuorumLost)) {
    const bool named = record->left_for.has_value();
    NoteEvicted(*record, gang,
                !preempted ? ""
                           : absl::StrCat("preempted by ",
                                          named ? record->left_for->back().name : "another gang"));
  }
  return record;
}

GangRecord* Leadership::FindRecord(GangId gang) const {
  const auto it = records_.find(gang);
  return it == records_.end() ? nullptr : it->second.get();
}

std::optional<Case> Leadership::Open(GangId id, absl::Time now) {
  const Gang* gang = state_.FindGang(id);
  if (gang == nullptr) return std::nullopt;
  std::unique_ptr<GangRecord>& record = records_[id];
  if (record == nullptr) {
    record = FirstRecord(*gang, now);
    if (record->left_for.has_value()) ++bans_;
  }
  MeetGroup(*record, *gang);
  return Case{.gang = *gang, .record = *record, .assembly = Assemble(*gang), .now = now};
}

// Of the same name, but another: what one did or suffered is not for the next to answer for.
void Leadership::MeetGroup(GangRecord& record, const Gang& gang) {
  if (!gang.group_exists) return;
  const uint64_t group = FingerprintOf(gang.group_uid);
  if (std::exchange(record.group, group) == group) return;
  record.initial_share_used = false;
  ForgetLeaving(record);
}

void Leadership::Forget(GangId id, absl::Time now) {
  const auto it = records_.find(id);
  if (it == records_.end()) return;
  // Who left for it is free to do what it must not do while that one was there.
  ForgetLeaving(*it->second);
  if (bans_ > 0) more_victims_ = more_loose_ = true;
  departing_.erase(id);
  unadmitted_.erase(id);
  DropHolds(*it->second);
  DropClaim(*it->second);
  DropReservation(id, *it->second);
  lines_.Leave(id, now);
  timetable_.erase({it->second->timer, id});
  CountLoose(*it->second, std::nullopt);
  waits_for_leaving_.erase(id);
  queue_->RemoveGang(id);
  directory_.Count(id, "", {});
  directory_.meter().Set(id, {}, {}, now);
  (void)ledger_.Charge(id, "", {});
  records_.erase(it);
}

void Leadership::ListenToReplies(std::vector<WriteResult> results, absl::Time now) {
  for (WriteResult& result : results) {
    const std::optional<Errand> errand = errands_.Take(result.id);
    if (!errand.has_value()) continue;
    NoteRefusal(*errand, result, now);
    Hear(*errand, result, now);
  }
}

void Leadership::LookAtGangs(absl::Time now) {
  while (!timetable_.empty() && timetable_.begin()->first <= now) {
    const GangId id = timetable_.begin()->second;
    timetable_.erase(timetable_.begin());
    records_.at(id)->timer = absl::InfiniteFuture();
    touched_.insert(id);
  }
  if (news_.budgets_changed) HurryEvictions(now);
  if (news_.queues_changed) touched_.insert(unadmitted_.begin(), unadmitted_.end());
  for (const GangId id : std::exchange(touched_, {})) LookAt(id, now);
  first_look_ = false;
}

void Leadership::LookAt(GangId id, absl::Time now) {
  // What its status tells is an earlier leader's word until ours has taken its place. Only here:
  // whoever opens it later in the turn finds what lines and queues know of it.
  const auto known = records_.find(id);
  const bool ours =
      known != records_.end() && (known->second->wrote_status || known->second->status_taken);
  if (!ours) state_.RecallSucceeded(id);
  std::optional<Case> c = Open(id, now);
  if (!c.has_value()) {
    Forget(id, now);
    return;
  }
  absl::erase_if(c->record.refused_until,
                 [now](const auto& refused) { return refused.second <= now; });
  if (c->record.volumes_again_at.value_or(absl::InfiniteFuture()) <= now) {
    c->record.volumes_again_at.reset();
  }
  SeeDeparture(*c);
  SeeClaim(*c);
  // Who leaves as a whole is not repaired.
  if (!c->record.departure.has_value() || !c->record.departure->whole) {
    EnsureBinding(*c);
    SettleVolumes(*c);
    SettleBinding(*c);
    DrainQueue(*c);
  } else {
    SettleVolumes(*c);
    SettleBinding(*c);
  }
  NoteQuorum(*c);
  ChargeQuota(*c);
  MeterUse(*c);
  NoteEvictable(*c);
  Requeue(*c);
  to_report_.insert(id);
}

std::optional<ItemKind> Leadership::ItemOf(const Case& c) const {
  if (!c.gang.group_exists || !c.gang.problem.empty()) return std::nullopt;
  if (c.record.departure.has_value() && c.record.departure->whole) return std::nullopt;
  if (c.record.volumes.has_value()) return std::nullopt;
  if (c.record.binding.has_value()) {
    if (!c.record.binding->wants_repair()) return std::nullopt;
    return RequestOf(c, ItemKind::kRepair).need.Met() ? std::nullopt
                                                      : std::optional(ItemKind::kRepair);
  }
  if (!c.assembly.members_ready || c.assembly.completed) return std::nullopt;
  if (!c.assembly.need.Met()) return ItemKind::kQuorum;
  if (c.gang.on_hold) return std::nullopt;
  return RequestOf(c, ItemKind::kSurplus).wants.empty() ? std::nullopt
                                                        : std::optional(ItemKind::kSurplus);
}

absl::Time Leadership::QueuedAt(const Gang& gang, const GangRecord& record) {
  return std::max(gang.created, record.last_undone_at.value_or(absl::InfinitePast()));
}

OrderKey Leadership::OrderOf(Case& c, ItemKind kind) {
  const QuotaNodeId queue =
      c.gang.queue.empty() ? QuotaNodeId() : ledger_.book().QueueNamed(c.gang.queue);
  Price price = PriceOf(c, kind, queue);
  const bool same = queue == c.record.order_queue && price.demand == c.record.order_demand;
  if (!same && lines_.IsFirst(c.gang.id)) openings_changed_ = true;
  c.record.order_epoch = charge_epoch_;
  c.record.order_queue = queue;
  c.record.order_demand = std::move(price.demand);
  c.record.order_is_only = price.is_only;
  c.record.waits_for_demand = false;
  return {.priority = c.gang.priority,
          .queued = QueuedAt(c.gang, c.record),
          .namespace_name = c.gang.key.namespace_name,
          .name = c.gang.key.name,
          .queue = queue,
          .demand = c.record.order_demand};
}

bool Leadership::OrderIsStale(Case& c, ItemKind kind) {
  if (c.record.order_epoch == charge_epoch_) return false;
  const QuotaNodeId queue = c.record.order_queue;
  const Demand demand = c.record.order_demand;
  const OrderKey now = OrderOf(c, kind);
  return now.queue != queue || now.demand != demand;
}

// Offers the gang's item, unless it stands in the queue already and nothing has changed that a
// decision looks at: our own status writes come back as changes, too.
void Leadership::Requeue(Case& c) {
  const std::optional<ItemKind> kind = ItemOf(c);
  for (const ItemKind other : kItemKinds) {
    if (other != kind) queue_->Remove({c.gang.id, other});
  }
  if (!c.assembly.members_ready) c.record.waiting.reset();
  if (kind != ItemKind::kSurplus) c.record.surplus_waiting.reset();
  const bool may_claim = kind == ItemKind::kQuorum || kind == ItemKind::kRepair;
  if (!may_claim && c.record.claim.has_value()) GiveUpClaim(c);
  if (kind != ItemKind::kQuorum) LeaveLine(c);
  const uint64_t fingerprint =
      FingerprintOf(c.gang) + c.record.holds.size() + 31 * c.record.refused_until.size();
  if (c.record.fingerprint != fingerprint) {
    ForgetSearch(c.record);
  }
  if (kind.has_value() &&
      (c.record.queued != kind || c.record.fingerprint != fingerprint || OrderIsStale(c, *kind))) {
    queue_->Offer({c.gang.id, *kind}, OrderOf(c, *kind));
    // What was planned may be for other members.
    if (c.record.reservation.has_value() && c.record.fingerprint != fingerprint) {
      c.record.reservation->lost = true;
    }
  }
  c.record.queued = kind;
  c.record.fingerprint = fingerprint;
}

void Leadership::WakeParked(absl::Time now) {
  if (ledger_.HasChanged() || news_.queues_changed) GatherHeldQuota(now);
  absl::btree_set<NodeId> nodes = news_.room_grew;
  nodes.insert(news_.nodes_changed.begin(), news_.nodes_changed.end());
  uint32_t relief = 0;
  if (!news_.room_grew.empty()) relief |= kReliefRoom;
  if (!news_.nodes_changed.empty()) relief |= kReliefNodes;
  if (news_.queues_changed) relief |= kReliefQueue;
  if (news_.volumes_changed) relief |= kReliefVolumes;
  if (std::exchange(more_victims_, false) || news_.budgets_changed) relief |= kReliefVictims;
  if (std::exchange(more_loose_, false) || news_.budgets_changed) relief |= kReliefLoose;
  // Domains are made of nodes: with one of them, who is near and what is even changes elsewhere.
  const bool domains_changed = std::exchange(domains_lost_, false) || !news_.nodes_changed.empty();
  const std::vector<PodCountId> counts = state_.TakeChangedCounts();
  if (domains_changed || !counts.empty()) relief |= kReliefPods;
  news_ = {};
  const size_t before = queue_->ready();
  const HeldQuota held_quota = AllHeldQuota();
  const auto short_at = [&](QueueItem item) { return ShortOfQuotaAt(item, held_quota); };
  WakeForQuota(short_at);
  if (relief != 0) {
    absl::btree_set<NodeId> held;  // there more may fit than is free
    for (const GangId holder : holders_) {
      Reservation& reservation = *records_.at(holder)->reservation;
      reservation.stale = true;
      for (const Reservation::Room& room : reservation.rooms) held.insert(room.node);
    }
    const auto fits = [&](ShapeId shape) {
      if (domains_changed ? state_.AsksOfPods(shape) : state_.LooksAt(shape, counts)) return true;
      return std::ranges::any_of(nodes, [&](NodeId node) {
        if (state_.NodeName(node).empty()) return false;
        return held.contains(node) || state_.MayFit(shape, node);
      });
    };
    queue_->Wake(relief, fits, short_at);
    OfferRepairsHeldOn(nodes, now);
  }
  counters_.wakes += static_cast<int64_t>(queue_->ready() - before);
}

void Leadership::OfferRepairsHeldOn(const absl::btree_set<NodeId>& nodes, absl::Time now) {
  erase_if(mending_, [this](GangId id) {
    const auto it = records_.find(id);
    return it == records_.end() || it->second->holds.empty();
  });
  for (const GangId id : mending_) {
    const GangRecord& record = *records_.at(id);
    const bool there = std::ranges::any_of(
        record.holds, [&](const HeldVacancy& held) { return nodes.contains(held.node); });
    if (!there || record.queued != ItemKind::kRepair) continue;
    std::optional<Case> c = Open(id, now);
    if (!c.has_value()) continue;
    queue_->Offer({id, ItemKind::kRepair}, OrderOf(*c, ItemKind::kRepair));
  }
}

const Snapshot& Leadership::Picture() { return warm_.Picture(); }

void Leadership::ArmTimer(GangId id, GangRecord& record) {
  absl::Time next = std::min(record.status_due, NextEviction(record));
  if (record.binding.has_value()) next = std::min(next, record.binding->NextDeadline());
  if (record.volumes.has_value()) next = std::min(next, record.volumes->NextDeadline());
  if (record.volumes_again_at.has_value()) next = std::min(next, *record.volumes_again_at);
  if (record.claim.has_value()) next = std::min(next, record.claim->until);
  for (const auto& [pod, until] : record.refused_until) next = std::min(next, until);
  if (next == record.timer) return;
  timetable_.erase({record.timer, id});
  record.timer = next;
  if (next != absl::InfiniteFuture()) timetable_.insert({next, id});
}

TurnOutput Leadership::Finish(absl::Time now) {
  counters_.gangs = static_cast<int64_t>(records_.size());
  counters_.gangs_parked = static_cast<int64_t>(queue_->parked());
  counters_.gangs_ready = static_cast<int64_t>(queue_->ready());
  counters_.binds_under_way = errands_.binds();

  TurnOutput out{.writes = std::exchange(writes_, {})};
  // Binds before undos before reasons before statuses before events, each in the order of the
  // decisions.
  std::ranges::stable_sort(out.writes, {}, &WriteCommand::priority);
  const bool may_decide = !warm_.draining && errands_.binds() < options_.max_binds_under_way;
  out.next = directory_.NextDeadline();
  if (!timetable_.empty()) out.next = std::min(out.next, timetable_.begin()->first);
  if (may_decide) out.next = std::min(out.next, queue_->NextDeadline());
  if (!warm_.draining) out.next = std::min(out.next, NextReservation());
  if (!warm_.draining && mig_due_ > now) out.next = std::min(out.next, mig_due_);
  out.more = state_.HasMoved() || !touched_.empty() || (may_decide && queue_->ready() > 0) ||
             out.next <= now;
  return out;
}

bool Leadership::Binds() const {
  return std::ranges::any_of(records_, [](const auto& entry) {
    return entry.second->binding.has_value() && entry.second->binding->Coming();
  });
}

void Leadership::Log(const Case& c, absl::string_view what, std::string rest, int64_t steps) {
  warm_.Log({.at = c.now,
             .what = what,
             .gang = c.gang.key,
             .queue = c.gang.queue,
             .rest = std::move(rest),
             .steps = steps});
}

void Leadership::LogOf(absl::string_view what, absl::string_view subject, std::string rest,
                       absl::Time now) {
  warm_.Log({.at = now, .what = what, .subject = std::string(subject), .rest = std::move(rest)});
}

}  // namespace maniple
