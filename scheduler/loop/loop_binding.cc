#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/topology.h"
#include "scheduler/loop/leadership.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// A surplus member that was refused is left alone for so long.
constexpr absl::Duration kRefusedFor = absl::Minutes(1);

bool IsPlaced(const Member& member) {
  return member.state == MemberState::kBound || member.state == MemberState::kSucceeded;
}

PodReference ReferenceTo(const PodFacts& pod) {
  return {.namespace_name = pod.namespace_name, .name = pod.name, .uid = pod.uid};
}

// Of the status of a Queue or Cohort.
template <typename Status>
void HearPaced(PacedStatuses<Status>& statuses, const std::string& name, const WriteResult& result,
               absl::Time now) {
  if (result.outcome == WriteOutcome::kSuperseded) return statuses.Superseded(name);
  if (result.http_status / 100 != 2) return statuses.Lost(name, now);
  statuses.Made(name, MadeVersion(result));
}

}  // namespace

void Leadership::BeginBinding(GangRecord& record, BindPhase phase, absl::Time since) {
  record.binding.emplace(options_.bind_backoff, phase, since);
  ++counters_.gangs_binding;
}

void Leadership::EndBinding(GangRecord& record) {
  record.binding.reset();
  DropHolds(record);
  --counters_.gangs_binding;
}

// A gang that is partly bound, or has lost a bound member, is in flight, whoever bound it: an
// earlier leader, somebody else, or we.
void Leadership::EnsureBinding(Case& c) {
  GangRecord& record = c.record;
  if (!record.binding.has_value() && c.gang.group_exists && c.gang.problem.empty()) {
    const bool lost = std::ranges::any_of(record.bound, [&c](const auto& known) {
      const auto member = std::ranges::find(c.gang.members, known.pod, &Member::pod);
      return member == c.gang.members.end() || !IsPlaced(*member);
    });
    const bool partly = !c.assembly.need.Met() && c.assembly.counts.bound > 0;
    if (lost || partly) {
      const auto since_of = [&](absl::string_view type, absl::string_view status,
                                WaitReason reason) {
        const Condition* condition = FindCondition(c.gang.status.conditions, type);
        const bool told = condition != nullptr && condition->status == status &&
                          condition->reason == WaitReasonName(reason);
        return told ? std::optional(condition->last_transition) : std::nullopt;
      };
      if (!record.quorum_reached_at.has_value()) {
        // Written True when a binding outlasts its first second, and not before.
        const auto since = since_of(kConditionQuotaReserved, "True", WaitReason::kBinding);
        BeginBinding(record, BindPhase::kBinding, std::min(since.value_or(c.now), c.now));
      } else if (const auto since =
                     since_of(kConditionDisrupted, "True", WaitReason::kQuorumLost)) {
        BeginBinding(record, BindPhase::kRepairing, std::min(*since, c.now));
      } else {
        BeginBinding(record, BindPhase::kBound, c.now);
      }
      for (const GangBinding::Known& known : record.bound) record.binding->Remember(known);
    }
  }
  record.bound.clear();
  for (const Member& member : c.gang.members) {
    // Also on a node that is gone: its loss, which comes next, leaves a vacancy like any other.
    if (member.state != MemberState::kBound) continue;
    record.bound.push_back({member.pod, member.node, member.shape, member.rank.sub_group});
  }
}

void Leadership::NodesGone(const absl::btree_set<NodeId>& gone) {
  domains_lost_ = true;
  for (const auto& [id, record] : records_) {
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

void Leadership::SettleBinding(Case& c) {
  if (!c.record.binding.has_value()) return;
  Step(c, [&c](BindStep& step) { c.record.binding->Settle(c.gang, step); });
  if (c.record.binding->done()) {
    EndBinding(c.record);
  } else {
    ReconcileHolds(c);
  }
}

// A quorum that stands without our doing counts as reached; with no member left, none stands.
void Leadership::NoteQuorum(Case& c) {
  if (c.record.binding.has_value()) return;
  if (std::ranges::none_of(c.gang.members, IsPlaced)) {
    c.record.quorum_reached_at.reset();
  } else if (c.gang.group_exists && c.gang.problem.empty() && c.assembly.need.Met() &&
             !c.record.quorum_reached_at.has_value()) {
    c.record.quorum_reached_at = c.now;
  }
}

void Leadership::StartBinding(Case& c, const std::vector<Placement>& placements) {
  if (!c.record.binding.has_value()) {
    BeginBinding(c.record, c.assembly.need.Met() ? BindPhase::kBound : BindPhase::kBinding, c.now);
  }
  for (const Placement& placement : placements) state_.Reserve(placement.pod, placement.node);
  Step(c, [&](BindStep& step) { c.record.binding->Start(placements, c.gang, step); });
  SettleBinding(c);
  ChargeQuota(c);
}

void Leadership::Step(Case& c, absl::FunctionRef<void(BindStep&)> input) {
  std::vector<BindAction> actions;
  const auto still_reserved = [this, &c](PodId pod, NodeId node) {
    return PlaceIsStillGood(c, pod, node);
  };
  const auto misplaced_on = [this, &c](PodId pod, NodeId node) { return Misplaced(c, pod, node); };
  BindStep step{c.now, random_, still_reserved, misplaced_on, actions};
  const bool undone_already = c.record.binding->phase() == BindPhase::kUndoing;
  input(step);
  if (!undone_already && c.record.binding->phase() == BindPhase::kUndoing) CountAllLost(c);
  for (const BindAction& action : actions) CarryOut(c, action);
}

void Leadership::CarryOut(Case& c, const BindAction& action) {
  if (const auto* bind = std::get_if<SendBind>(&action)) {
    SendBindOf(c, *bind);
  } else if (const auto* read = std::get_if<ReadPod>(&action)) {
    SendTo(read->pod, ErrandKind::kRead, ReadPodRequest);
  } else if (const auto* gone = std::get_if<DeletePod>(&action)) {
    SendTo(gone->pod, ErrandKind::kDelete, DeletePodRequest);
  } else if (const auto* release = std::get_if<ReleaseReservation>(&action)) {
    state_.Release(release->pod, news_);
  } else if (const auto* cool = std::get_if<CoolNode>(&action)) {
    ++counters_.kubelet_rejections;
    CoolDown(cool->node, c.now);
  } else if (const auto* refused = std::get_if<MemberRefused>(&action)) {
    c.record.refused_until[refused->pod] = c.now + kRefusedFor;
  } else if (std::holds_alternative<QuorumBound>(action)) {
    OnQuorumBound(c);
  } else if (std::holds_alternative<QuorumLost>(action)) {
    Log(c, "lost");
    SendEvent(QuorumLostEvent(c.gang, StandingInFlight(c).message), c.now);
  } else if (const auto* undone = std::get_if<Undone>(&action)) {
    OnUndone(c, *undone);
  }
}

void Leadership::CoolDown(NodeId node, absl::Time now) {
  state_.CoolDown(node, warm_.cool_downs.Rejected(node, now));
  LogOf("cool", state_.NodeName(node), "", now);
}

void Leadership::SendBindOf(const Case& c, const SendBind& bind) {
  const PodFacts* pod = state_.FindPod(bind.pod);
  const std::string node(state_.NodeName(bind.node));
  if (pod == nullptr || node.empty()) return;  // the next look at the gang finds out
  ++counters_.binds_sent;
  HttpRequest request =
      BindRequest(ReferenceTo(*pod), node, c.gang.queue, options_.binding_annotations);
  request.fresh_connection = bind.again;
  writes_.push_back(errands_.Send({.kind = ErrandKind::kBind,
                                   .gang = pod->gang,
                                   .pod = bind.pod,
                                   .name = node,
                                   .begun = c.record.binding->begun()},
                                  std::move(request)));
}

void Leadership::SendTo(PodId id, ErrandKind kind,
                        absl::FunctionRef<HttpRequest(const PodReference&)> request) {
  const PodFacts* pod = state_.FindPod(id);
  if (pod == nullptr) return;
  writes_.push_back(errands_.Send({.kind = kind, .gang = pod->gang, .pod = id, .name = pod->uid},
                                  request(ReferenceTo(*pod))));
}

void Leadership::CountReply(BindReplyKind kind) {
  switch (kind) {
    case BindReplyKind::kBound:
      ++counters_.binds_succeeded;
      break;
    case BindReplyKind::kUnclear:
      ++counters_.binds_unknown;
      break;
    case BindReplyKind::kRetry:
      ++counters_.binds_retried;
      break;
    case BindReplyKind::kRefused:
      ++counters_.binds_refused;
      break;
    case BindReplyKind::kBoundElsewhere:
    case BindReplyKind::kGone:
    case BindReplyKind::kGated:
      ++counters_.binds_gone;
      break;
  }
}

void Leadership::Hear(const Errand& errand, const WriteResult& result, absl::Time now) {
  switch (errand.kind) {
    case ErrandKind::kGroupStatus:
      OnStatusReply(errand.gang, result, now);
      return;
    case ErrandKind::kQueueStatus:
      HearPaced(directory_.statuses(), errand.name, result, now);
      return;
    case ErrandKind::kCohortStatus:
      HearPaced(directory_.cohorts().statuses(), errand.name, result, now);
      return;
    case ErrandKind::kEvict:
      HearEviction(errand, result, now);
      return;
    case ErrandKind::kNodeConfig:
      HearNodeConfig(errand.name, result, now);
      return;
    case ErrandKind::kVolume:
      HearVolume(errand, result, now);
      return;
    case ErrandKind::kStandIn:
      HearStandIn(errand.gang, result, now);
      return;
    case ErrandKind::kForeignPhase:
      HearPhase(errand, result, now);
      return;
    case ErrandKind::kNodeRequest:
      HearNodeRequest(errand, result, now);
      return;
    case ErrandKind::kPodWaits:
    case ErrandKind::kEvent:
      return;
    case ErrandKind::kBind:
    case ErrandKind::kRead:
    case ErrandKind::kDelete:
      break;
  }
  touched_.insert(errand.gang);
  std::optional<Case> c = Open(errand.gang, now);
  const bool in_flight = c.has_value() && c->record.binding.has_value();
  if (errand.kind == ErrandKind::kBind) {
    const BindReply reply = ReadBindReply(result, errand.name);
    CountReply(reply.kind);
    if (reply.kind != BindReplyKind::kBound) {
      const PodFacts* pod = state_.FindPod(errand.pod);
      LogOf("bind", pod == nullptr ? "?" : pod->name, absl::StrCat(": ", reply.detail), now);
    }
    if (!in_flight) return;
    Step(*c, [&](BindStep& step) {
      c->record.binding->OnBindReply(errand.pod, reply, state_.NodeNamed(reply.node_name), step);
    });
    if (reply.kind == BindReplyKind::kBoundElsewhere) {
      state_.NoteBound(errand.pod, reply.node_name, news_);
    }
    if (reply.kind == BindReplyKind::kBound && options_.per_pod_events == PerPodEvents::kAlways) {
      const auto member = std::ranges::find(c->gang.members, errand.pod, &Member::pod);
      if (member != c->gang.members.end()) {
        SendEvent(PodScheduledEvent(c->gang, *member, errand.name), now);
      }
    }
  } else if (!in_flight) {
    return;
  } else if (errand.kind == ErrandKind::kRead) {
    const PodReading reading = ReadPodReply(result, errand.name);
    Step(*c, [&](BindStep& step) {
      c->record.binding->OnReading(errand.pod, reading, state_.NodeNamed(reading.node_name), step);
    });
    // A pod that is leaving takes its room along only when it is gone.
    if (!reading.node_name.empty()) {
      state_.NoteBound(errand.pod, reading.node_name, news_);
    }
  } else {
    const DeleteReply reply = ReadDeleteReply(result);
    Step(*c, [&](BindStep& step) { c->record.binding->OnDeleteReply(errand.pod, reply, step); });
  }
}

void Leadership::OnQuorumBound(Case& c) {
  GangRecord& record = c.record;
  record.undo_backoff.reset();
  record.undone_because.reset();
  record.evicted.reset();
  record.backoff_until = absl::InfinitePast();
  if (record.quorum_reached_at.has_value()) {
    Log(c, "restored");
    return;
  }
  record.quorum_reached_at = c.now;
  ++counters_.gangs_bound;
  QueueHistory& history = directory_.HistoryOf(record.queue);
  history.waited.Note(c.now - std::max(c.gang.created, record.left_at));
  if (record.decided_at != absl::InfinitePast()) history.bound.Note(c.now - record.decided_at);
  absl::Time youngest = absl::InfinitePast();
  int64_t pods = 0;
  for (const Member& member : c.gang.members) {
    if (NodeOf(c, member, state_).empty()) continue;
    ++pods;
    youngest = std::max(youngest, member.created);
  }
  if (youngest != absl::InfinitePast()) {
    counters_.scheduling_seconds += std::max(0.0, absl::ToDoubleSeconds(c.now - youngest));
  }
  Log(c, "bound");
  if (c.gang.key.dialect != GangDialect::kSingleton) {
    std::vector<std::string> nodes = NodesOf(c, state_);
    SendEvent(GangBoundEvent(c.gang, pods, static_cast<int64_t>(nodes.size())), c.now);
  } else if (options_.per_pod_events == PerPodEvents::kAuto) {
    const Member& member = c.gang.members.front();
    SendEvent(PodScheduledEvent(c.gang, member, NodeOf(c, member, state_)), c.now);
  }
}

void Leadership::NoteEvicted(GangRecord& record, const Gang& gang, std::string why) {
  record.evicted = Evicted{.members = {}, .why = std::move(why)};
  for (const Member& member : gang.members) record.evicted->members.insert(member.pod);
}

void Leadership::CountLeaving(Case& c, LeavingCause cause) {
  ++directory_.HistoryOf(c.record.queue).left[static_cast<size_t>(cause)];
  c.record.left_at = c.now;
}

void Leadership::OnUndone(Case& c, const Undone& undone) {
  GangRecord& record = c.record;
  record.quorum_reached_at.reset();
  record.decided_at = absl::InfinitePast();
  record.refused_until.clear();
  if (undone.cause == UndoCause::kQuorumLost) {
    ++counters_.gangs_evicted;
    NoteEvicted(record, c.gang, "");
    CountLeaving(c, LeavingCause::kQuorumLost);
  } else {
    ++counters_.gangs_undone;
    record.last_undone_at = c.now;
    record.undone_because.reset();
    if (!undone.detail.empty()) record.undone_because = undone.detail;
    if (!record.undo_backoff.has_value()) record.undo_backoff = Backoff(options_.undo_backoff);
    record.backoff_until = c.now + record.undo_backoff->Next(random_);
  }
  Log(c, "undone", absl::StrCat(": ", UndoneText(c.gang, undone)));
  SendEvent(GangUndoneEvent(c.gang, undone), c.now);
}

// Vacancies that nobody is claiming room for already.
std::vector<Vacancy> Leadership::VacanciesToHold(const Case& c) const {
  std::vector<Vacancy> lacking;
  for (const Vacancy& vacancy : c.record.binding->vacancies()) {
    if (!vacancy.occupied) lacking.push_back(vacancy);
  }
  if (!c.record.claim.has_value()) return lacking;
  for (const Claim::Room& room : c.record.claim->rooms) {
    if (lacking.empty()) break;
    const auto same = std::ranges::find(lacking, room.shape, &Vacancy::shape);
    lacking.erase(same != lacking.end() ? same : lacking.begin());
  }
  return lacking;
}

// Holds exactly what the vacancies need: the quota always, the room as far as there is some.
void Leadership::ReconcileHolds(Case& c) {
  std::vector<Vacancy> lacking = VacanciesToHold(c);
  c.record.holds.EraseIf([&](const HeldVacancy& held) {
    const auto same = std::ranges::find(lacking, held.vacancy);
    if (same != lacking.end() && held.hold.valid()) {
      lacking.erase(same);
      return false;
    }
    state_.ReleaseHold(held.hold, news_);
    return true;
  });
  for (const Vacancy& vacancy : lacking) {
    const auto* charged = std::ranges::find(c.record.charged_as, vacancy.pod, &ChargedAs::pod);
    HeldVacancy held{.kind = ledger_.KindOf(vacancy.node), .vacancy = vacancy};
    if (charged != c.record.charged_as.end()) held.kind = charged->kind;
    if (const std::optional<NodeId> node = PlaceForHold(c, vacancy)) {
      held.hold = state_.Hold(*node, vacancy.shape);
      held.node = *node;
    }
    c.record.holds.push_back(held);
  }
  if (!c.record.holds.empty()) mending_.insert(c.gang.id);
}

// The lost member's own node, or another of its domain if that one is unfit.
std::optional<NodeId> Leadership::PlaceForHold(Case& c, const Vacancy& vacancy) {
  if (!vacancy.unfit && vacancy.node.valid() && !state_.NodeName(vacancy.node).empty() &&
      state_.MayFit(vacancy.shape, vacancy.node)) {
    return vacancy.node;
  }
  GangRequest request = RequestOf(c, ItemKind::kRepair);
  // Whoever will replace it, as if in a slice and in the sub-group with the one that was lost.
  const RankPlace rank{.group = std::numeric_limits<int32_t>::max(), .index = 0};
  const auto part = static_cast<size_t>(vacancy.sub_group);
  const bool of_part = vacancy.sub_group >= 0 && part < request.sub_group_topologies.size();
  const int32_t sub_group = of_part ? vacancy.sub_group : -1;
  const bool part_binds = of_part && request.sub_group_topologies[part] != TopologyRequest{};
  request.wants = {{.pod = PodId(), .shape = vacancy.shape, .sub_group = sub_group, .rank = rank}};
  if ((request.topology.slice_size > 0 || part_binds) && vacancy.node.valid()) {
    request.pinned.push_back(
        {.node = vacancy.node, .shape = vacancy.shape, .sub_group = sub_group, .rank = rank});
  }
  request.own_holds.clear();
  request.need = {.total = 1, .sub_groups = std::vector<int32_t>(c.gang.spec.sub_groups.size(), 0)};
  const Decision decision =
      Decide({.snapshot = Picture(), .request = request, .now = c.now, .seed = options_.seed},
             options_.profile);
  const auto* plan = std::get_if<Plan>(&decision);
  return plan == nullptr ? std::nullopt : std::optional(plan->placements.front().node);
}

void Leadership::DropHolds(GangRecord& record) {
  for (const HeldVacancy& held : record.holds) state_.ReleaseHold(held.hold, news_);
  record.holds.clear();
}

bool Leadership::Misplaced(const Case& c, PodId pod, NodeId node) {
  const auto anybody = [](const Member&) { return true; };
  if (ApartFromOthers(c, node, c.gang.spec.topology, anybody)) return true;
  const auto member = std::ranges::find(c.gang.members, pod, &Member::pod);
  if (member == c.gang.members.end()) return false;
  const int32_t part = member->rank.sub_group;
  if (part < 0 || static_cast<size_t>(part) >= c.gang.spec.sub_groups.size()) return false;
  return ApartFromOthers(c, node, c.gang.spec.sub_groups[static_cast<size_t>(part)].topology,
                         [part](const Member& other) { return other.rank.sub_group == part; });
}

bool Leadership::ApartFromOthers(const Case& c, NodeId node, const TopologyRequest& asked,
                                 absl::FunctionRef<bool(const Member&)> among) {
  if (asked.required.empty()) return false;
  LevelStore levels;
  const auto choice = ResolveTopology(Picture(), {.topology = asked}, levels);
  if (!choice.ok()) return false;
  const DomainLevel& level = *choice->gang.required_level();
  // A node outside the level says nothing.
  const auto apart = [&level](NodeId a, NodeId b) {
    const uint32_t in_a = level.DomainOf(a), in_b = level.DomainOf(b);
    return in_a != in_b && in_a != DomainLevel::kOutside && in_b != DomainLevel::kOutside;
  };
  // What is on its way may never land, where somebody else binds the whole gang.
  return std::ranges::any_of(c.gang.members, [&](const Member& member) {
    const std::optional<NodeId> other = c.record.binding->LandedOn(member.pod);
    return other.has_value() && among(member) && apart(node, *other);
  });
}

}  // namespace maniple
