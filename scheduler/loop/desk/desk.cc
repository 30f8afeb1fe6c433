#include "scheduler/loop/desk/desk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/fingerprint.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"
#include "scheduler/report/reason.h"
#include "scheduler/report/status.h"

namespace maniple {
namespace {

// Of the PodGroup whose status the gang has; "": there is none yet.
absl::string_view StatusUid(const Gang& gang) {
  if (gang.foreign == nullptr) return gang.group_uid;
  const bool stands =
      gang.stand_in.has_value() && gang.stand_in->spec.source == gang.foreign->spec.source;
  return stands ? absl::string_view(gang.stand_in->uid) : "";
}

// By when it was evicted for the loss of its quorum; the infinite future: nobody has told.
absl::Time EvictedBy(const PodGroupStatus& status) {
  const Condition* disrupted = FindCondition(status.conditions, kConditionDisrupted);
  const bool over = disrupted != nullptr && disrupted->status == "False" &&
                    disrupted->last_transition != absl::InfinitePast();
  return over ? disrupted->last_transition : absl::InfiniteFuture();
}

// Producers that make members in stages raise the quorum themselves.
bool IsInStages(const Gang& gang) {
  return gang.foreign != nullptr && !gang.foreign->starts.empty();
}

// By how much the quorum has been raised since it stood last.
QuorumNeed RaisedBy(const Case& c) {
  const std::vector<SubGroup>& parts = c.gang.spec.sub_groups;
  QuorumNeed raised{.sub_groups = std::vector<int32_t>(parts.size())};
  if (c.record.quorum_met == 0) return raised;
  raised.total = std::max(0, QuorumOf(c.gang.spec) - c.record.quorum_met);
  // An earlier leader has left the size of the whole alone.
  const bool known = !c.record.parts_met.empty();
  for (size_t i = 0; i < parts.size(); ++i) {
    const int32_t met = i < c.record.parts_met.size() ? c.record.parts_met.begin()[i] : 0;
    raised.sub_groups[i] = known ? std::max(0, parts[i].min_member - met) : raised.total;
  }
  return raised;
}

}  // namespace

Desk::Desk(WarmState& given)
    : warm(given),
      options(given.options),
      random(given.random),
      state(given.state),
      directory(given.directory),
      ledger(given.ledger),
      errands(given.errands),
      news(given.news),
      counters(given.counters) {}

std::unique_ptr<GangRecord> Desk::FirstRecord(const Gang& gang, absl::Time now) {
  auto record = std::make_unique<GangRecord>(now);
  record->group = FingerprintOf(gang.group_uid);
  record->recalled = FingerprintOf(StatusUid(gang));
  if (gang.group_exists) record->queue = gang.queue;
  Recall(*record, gang, now);
  return record;
}

// What an earlier leader has written of the gang.
void Desk::Recall(GangRecord& record, const Gang& gang, absl::Time now) {
  // A user may have written them, or a leader whose clock was wrong.
  const auto may_be = [&](const std::optional<absl::Time>& time) {
    return time.has_value() && *time >= gang.created && *time <= now;
  };
  if (may_be(gang.status.quorum_reached_at)) {
    record.quorum_reached_at = gang.status.quorum_reached_at;
  }
  if (may_be(gang.status.last_undone_at)) record.last_undone_at = gang.status.last_undone_at;
  if (gang.status.quorum_met > 0) record.quorum_met = gang.status.quorum_met;
  if (gang.status.initial_share_preemption_used) record.initial_share_used = true;
  record.domains = gang.status.placement_domains;
  // Who has reported on it has told this, too.
  if (!gang.status.phase.empty()) {
    if (!gang.passed_over.empty()) record.told_passed_over = true;
    if (!PriorityTrouble(gang).empty()) record.told_priority = true;
  }
  std::vector<LeftFor> left_for = ParseLeftFor(gang.status.preempted_by);
  if (!left_for.empty()) record.left_for = std::move(left_for);
  const bool preempted = gang.status.reason == WaitReasonName(WaitReason::kPreempted);
  if (preempted || gang.status.reason == WaitReasonName(WaitReason::kQuorumLost)) {
    const bool named = record.left_for.has_value();
    NoteEvicted(record, gang, preempted ? WaitReason::kPreempted : WaitReason::kQuorumLost,
                !preempted ? std::string(kQuorumWasLost)
                           : absl::StrCat("preempted by ",
                                          named ? record.left_for->back().name : "another gang"));
    // Some may have come while nobody looked.
    const absl::Time evicted_by = preempted ? absl::InfiniteFuture() : EvictedBy(gang.status);
    for (const Member& member : gang.members) {
      if (member.created > evicted_by) record.evicted->members.erase(member.pod);
    }
  }
}

GangRecord* Desk::FindRecord(GangId gang) const {
  const auto it = records.find(gang);
  return it == records.end() ? nullptr : it->second.get();
}

std::optional<Case> Desk::Open(GangId id, absl::Time now) {
  const Gang* gang = state.FindGang(id);
  if (gang == nullptr) return std::nullopt;
  std::unique_ptr<GangRecord>& record = records[id];
  if (record == nullptr) {
    record = FirstRecord(*gang, now);
    if (record->left_for.has_value()) ++bans;
  }
  MeetGroup(*record, *gang, now);
  return Case{.gang = *gang, .record = *record, .assembly = Assemble(*gang), .now = now};
}

// A new PodGroup of the same name does not answer for what the old one did or suffered.
void Desk::MeetGroup(GangRecord& record, const Gang& gang, absl::Time now) {
  if (!gang.group_exists) return;
  const uint64_t group = FingerprintOf(gang.group_uid);
  if (std::exchange(record.group, group) != group) {
    record.recalled = 0;
    record.initial_share_used = false;
    record.was_head = absl::ZeroDuration();
    record.last_undone_at.reset();
    record.undo_backoff.reset();
    record.backoff_until = absl::InfinitePast();
    record.undone_because.reset();
    ForgetLeaving(record);
    // A later leader believes no time from before the PodGroup.
    if (record.quorum_reached_at.has_value()) {
      record.quorum_reached_at = std::max(*record.quorum_reached_at, gang.created);
    }
  }
  // Its pods may have been heard of before it.
  const absl::string_view uid = StatusUid(gang);
  if (uid.empty()) return;
  const bool read = std::exchange(record.recalled, FingerprintOf(uid)) == FingerprintOf(uid);
  if (read || gang.status.phase.empty()) return;
  const bool banned = record.left_for.has_value();
  Recall(record, gang, now);
  if (record.left_for.has_value() && !banned) ++bans;
}

void Desk::NoteMet(GangRecord& record, const PodGroupSpec& spec) {
  record.quorum_met = QuorumOf(spec);
  record.parts_met.clear();
  for (const SubGroup& part : spec.sub_groups) record.parts_met.push_back(part.min_member);
}

QuorumNeed Desk::GrowthOf(const Case& c) { return IsInStages(c.gang) ? QuorumNeed() : RaisedBy(c); }

QuorumNeed Desk::StageOf(const Case& c) { return IsInStages(c.gang) ? RaisedBy(c) : QuorumNeed(); }

bool Desk::QuorumWasRaised(const Case& c) { return GrowthOf(c).total > 0; }

void Desk::NoteStartInVain(GangRecord& record, absl::Time now) {
  record.no_preemption_until =
      std::max(record.no_preemption_until, now + PauseAfter(++record.starts_in_vain));
}

std::optional<ItemKind> Desk::ItemOf(const Case& c) const {
  if (!c.gang.group_exists || !c.gang.problem.empty()) return std::nullopt;
  if (c.record.LeavesWhole()) return std::nullopt;
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

absl::Time CreatedAt(const Gang& gang) {
  if (gang.created != absl::InfinitePast() || gang.members.empty()) return gang.created;
  return std::ranges::min_element(gang.members, {}, &Member::created)->created;
}

absl::Time QueuedAt(const Gang& gang, const GangRecord& record) {
  return std::max(CreatedAt(gang), record.last_undone_at.value_or(absl::InfinitePast()));
}

void Desk::TouchThoseDue(absl::Time now) {
  while (const std::optional<GangId> id = timers.PopDue(now)) touched.insert(*id);
}

void Desk::Log(const Case& c, absl::string_view what, std::string rest, LogMore more) {
  warm.Log({.at = c.now,
            .what = what,
            .gang = c.gang.key,
            .queue = c.gang.queue,
            .rest = std::move(rest),
            .refused = std::move(more.refused),
            .steps = more.steps});
}

void Desk::LogPlan(const Case& c, ItemKind kind, const Plan& plan, int64_t steps) {
  Log(c, "place", absl::StrCat(" ", ItemName(kind), ": ", PlacesText(plan.placements)),
      {.refused = RefusedText(plan.refused), .steps = steps});
}

void Desk::LogOf(absl::string_view what, absl::string_view subject, std::string rest,
                 absl::Time now) {
  warm.Log({.at = now, .what = what, .subject = std::string(subject), .rest = std::move(rest)});
}

std::string Desk::PlacesText(const std::vector<Placement>& placements) const {
  std::vector<std::string> places;
  for (const Placement& placement : placements) {
    places.push_back(
        absl::StrCat(state.FindPod(placement.pod)->name, "=", state.NodeName(placement.node)));
  }
  return absl::StrJoin(places, " ");
}

GangRequest Desk::RequestOf(const Case& c, ItemKind kind) const {
  RequestInput input{.gang = c.gang, .kind = kind};
  if (c.record.binding.has_value()) input.binding = &*c.record.binding;
  for (const HeldVacancy& held : c.record.holds) {
    if (held.hold.valid()) input.holds.push_back(held.hold);
  }
  if (c.record.claim.has_value()) {
    for (const Claim::Room& room : c.record.claim->rooms) input.holds.push_back(room.hold);
  }
  if (c.record.reservation.has_value()) {
    for (const Reservation::Room& room : c.record.reservation->rooms) {
      input.holds.push_back(room.hold);
    }
  }
  input.outranked = state.PromisedBelow(c.gang.priority);
  const auto may_plan = [this, &c](PodId pod) {
    // A lagging or repeated watch line calls the pod pending,
    // but the server says that it has a node.
    const PodFacts* facts = state.FindPod(pod);
    if (facts != nullptr && facts->is_awaited) return false;
    return !c.record.volumes_are_surplus || !c.record.PlaceWhileVolumesAreBound(pod).has_value();
  };
  const auto is_welcome = [&](PodId pod) {
    const auto refused = c.record.refused_until.find(pod);
    const bool set_aside = refused != c.record.refused_until.end() && refused->second > c.now;
    return !set_aside && may_plan(pod);
  };
  const bool all = kind == ItemKind::kQuorum || c.record.refused_until.empty();
  GangRequest request = all ? RequestFor(input, may_plan) : RequestFor(input, is_welcome);
  // Whoever was set aside replaces a lost member where nobody else does.
  if (!all && kind == ItemKind::kRepair && request.need.Met()) {
    request = RequestFor(input, may_plan);
  }
  // Gangs that differ in their images alone are equally hard to place.
  for (std::vector<Want>* wants : {&request.wants, &request.followers}) {
    for (Want& want : *wants) {
      const ShapeId room_shape = state.RoomShapeOf(want.shape);
      if (room_shape != want.shape) want.scored_as = std::exchange(want.shape, room_shape);
    }
  }
  return request;
}

void NoteEvicted(GangRecord& record, const Gang& gang, WaitReason reason, std::string why) {
  record.evicted = Evicted{.members = {}, .reason = reason, .why = std::move(why)};
  for (const Member& member : gang.members) record.evicted->members.insert(member.pod);
}

void Desk::ForgetLeaving(GangRecord& record) {
  if (!record.left_for.has_value()) return;
  record.left_for.reset();
  --bans;
}

void Desk::SendEvent(const EventNote& note, absl::Time now) {
  if (options.per_pod_events == PerPodEvents::kNever && note.reason == "Scheduled") return;
  const std::string object =
      absl::StrCat(note.namespace_name, "/", note.uid.empty() ? note.name : note.uid);
  if (!event_budget_.Spend(object, now)) {
    ++counters.events_over_budget;
    return;
  }
  ++counters.events_written;
  writes.push_back(errands.Send({.kind = ErrandKind::kEvent},
                                EventRequest(note, options.identity, now, ++warm.event_serial)));
}

}  // namespace maniple
