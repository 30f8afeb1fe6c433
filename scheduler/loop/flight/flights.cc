#include "scheduler/loop/flight/flights.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "queue/assembly.h"
#include "scheduler/loop/desk/standing_of.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// A surplus member that was refused is not tried again for so long.
constexpr absl::Duration kRefusedFor = absl::Minutes(1);

bool Stands(const Member& member) { return member.state == MemberState::kBound; }
bool IsPlaced(const Member& member) {
  return Stands(member) || member.state == MemberState::kSucceeded;
}

// An earlier leader has seen it run, and then lack members of its next stage.
bool StageWasLate(const Case& c) {
  return c.gang.status.quorum_reached_at.has_value() && Desk::StageOf(c).total > 0;
}

void ForgetQuorum(GangRecord& record) {
  record.quorum_reached_at.reset();
  record.awaits_ready = false;
}

// A single pod has no status of ours that remembers it: its kubelet does.
absl::Time StartOf(const Case& c) {
  if (c.gang.key.dialect != GangDialect::kSingleton) return c.now;
  const Member& member = c.gang.members.front();
  return member.started >= member.created && member.started <= c.now ? member.started : c.now;
}

// Pods that ran by themselves before a restart, and whose owner made others then: nothing stands
// for them, and they had started before the others came. A start begins when all members are there.
int32_t RanAloneBefore(const Gang& gang) {
  if (gang.foreign == nullptr || gang.stand_in.has_value()) return 0;
  const auto is_bound = [](const Member& member) { return member.state == MemberState::kBound; };
  const auto first = std::ranges::find_if(gang.members, is_bound);
  if (std::ranges::count_if(gang.members, is_bound) != 1 || first->started_elsewhere) return 0;
  const bool all_came_later = std::ranges::all_of(gang.members, [&](const Member& member) {
    return member.pod == first->pod || member.created > first->started;
  });
  return all_came_later && first->started > absl::InfinitePast() ? 1 : 0;
}

PodReference ReferenceTo(const PodFacts& pod) {
  return {.namespace_name = pod.namespace_name, .name = pod.name, .uid = pod.uid};
}

}  // namespace

void Flights::BeginBinding(GangRecord& record, BindPhase phase, absl::Time since) {
  record.binding.emplace(desk_.options.bind_backoff, phase, since);
  ++desk_.counters.gangs_binding;
}

void Flights::EndBinding(GangRecord& record) {
  record.binding.reset();
  DropHolds(record);
  record.yielded.clear();
  --desk_.counters.gangs_binding;
}

// They were whole by themselves: whoever their owner makes beside them comes late.
void Flights::MeetThoseWhoRanAlone(Case& c) {
  const bool is_met = c.record.quorum_reached_at.has_value() || c.record.quorum_met > 0;
  if (is_met) return;
  const int32_t alone = std::max(c.gang.ran_alone, RanAloneBefore(c.gang));
  if (alone == 0) return;
  c.record.quorum_reached_at = std::max(c.now, c.gang.created);
  c.record.quorum_met = alone;
}

// An earlier leader held the room of members that have failed. Their pods are there still: the
// youngest of them are those whom nobody has replaced.
void Flights::RememberTheFailed(Case& c) {
  if (!c.record.quorum_reached_at.has_value()) return;
  std::vector<const Member*> failed;
  for (const Member& member : c.gang.members) {
    if (member.state == MemberState::kFailed && member.node.valid()) failed.push_back(&member);
  }
  std::ranges::sort(failed, std::greater(), &Member::created);
  const auto lacking = static_cast<size_t>(c.assembly.need.total);
  failed.resize(std::min(failed.size(), lacking));
  for (const Member* member : failed) {
    c.record.binding->Remember({member->pod, member->node, member->shape, member->rank.sub_group});
  }
}

// A gang that is partly bound, or has lost a bound member, is in flight,
// also if an earlier leader or another scheduler bound it.
void Flights::EnsureBinding(Case& c) {
  GangRecord& record = c.record;
  MeetThoseWhoRanAlone(c);
  if (!record.binding.has_value() && c.gang.group_exists) {
    const bool lost = std::ranges::any_of(record.bound, [&c](const auto& known) {
      const auto member = std::ranges::find(c.gang.members, known.pod, &Member::pod);
      return member == c.gang.members.end() || !IsPlaced(*member);
    });
    const bool partly = !c.assembly.need.Met() && c.assembly.counts.bound > 0;
    if (lost || partly) {
      // The reason changes while it lasts; the one named here is that of another state.
      const auto since_of = [&](absl::string_view type, WaitReason other,
                                absl::string_view status = "True") {
        const Condition* condition = FindCondition(c.gang.status.conditions, type);
        const bool told = condition != nullptr && condition->status == status &&
                          condition->reason != WaitReasonName(other);
        return told ? std::optional(condition->last_transition) : std::nullopt;
      };
      if (!record.quorum_reached_at.has_value()) {
        // The condition becomes True when a binding outlasts its first second, and not before.
        const auto since = since_of(kConditionQuotaReserved, WaitReason::kBound);
        BeginBinding(record, BindPhase::kBinding, std::min(since.value_or(c.now), c.now));
      } else if (const auto since = since_of(kConditionDisrupted, WaitReason::kPreempted)) {
        BeginBinding(record, BindPhase::kRepairing, std::min(*since, c.now));
      } else if (const auto short_since =
                     since_of(kConditionScheduled, WaitReason::kInvalidSpec, "False");
                 short_since.has_value() && StageWasLate(c)) {
        // The condition may be older than its start, if nobody wrote that it ran.
        const absl::Time late = std::max(*short_since, *record.quorum_reached_at);
        BeginBinding(record, BindPhase::kRepairing, std::min(late, c.now));
      } else {
        BeginBinding(record, BindPhase::kBound, c.now);
      }
      if (record.bound.empty()) RememberTheFailed(c);
      for (const GangBinding::Known& known : record.bound) record.binding->Remember(known);
    }
  }
  record.bound.clear();
  for (const Member& member : c.gang.members) {
    // A member on a node that is gone counts: its loss, which comes next, leaves a vacancy.
    if (member.state != MemberState::kBound) continue;
    record.bound.push_back({member.pod, member.node, member.shape, member.rank.sub_group});
  }
}

void Flights::SettleBinding(Case& c) {
  if (!c.record.binding.has_value()) return;
  c.record.binding->KnowGrowth(Desk::GrowthOf(c), Desk::StageOf(c));
  Step(c, [&c](BindStep& step) { c.record.binding->Settle(c.gang, step); });
  if (c.record.binding->done()) {
    EndBinding(c.record);
  } else {
    ReconcileHolds(c);
  }
  // Its volumes are looked at again, unless they are being given up already.
  if (SurplusGivesWay(c) && c.record.volumes->phase() == VolumePhase::kBinding) {
    desk_.touched.insert(c.gang.id);
  }
}

// A quorum that others have bound counts as reached. With no bound member left none stands, unless
// all of it has succeeded.
void Flights::NoteQuorum(Case& c) {
  if (c.record.binding.has_value()) return;
  const bool stands = std::ranges::any_of(c.gang.members, Stands) || c.assembly.need.Met();
  if (!stands || std::ranges::none_of(c.gang.members, IsPlaced)) {
    ForgetQuorum(c.record);
  } else if (c.gang.group_exists && c.gang.problem.empty() && c.assembly.need.Met() &&
             !c.record.quorum_reached_at.has_value()) {
    c.record.quorum_reached_at = std::max(StartOf(c), c.gang.created);
  }
  if (c.assembly.need.Met()) Desk::NoteMet(c.record, c.gang.spec);
}

// A member that has succeeded may have been Ready between two events.
void Flights::NoteReady(const Case& c) {
  GangRecord& record = c.record;
  if (!record.awaits_ready) return;
  const QuorumNeed need = NeedWith(c.gang, [](const Member& member) {
    return member.state == MemberState::kSucceeded ||
           (member.state == MemberState::kBound && member.was_ready);
  });
  if (!need.Met()) return;
  record.awaits_ready = false;
  desk_.directory.HistoryOf(record.queue).ready.Note(c.now - *record.quorum_reached_at);
}

void Flights::Start(Case& c, ItemKind kind, const std::vector<Placement>& placements) {
  if (!StartVolumes(c, kind, placements)) StartBinding(c, placements);
}

void Flights::StartBinding(Case& c, const std::vector<Placement>& placements) {
  if (!c.record.binding.has_value()) {
    BeginBinding(c.record, c.assembly.need.Met() ? BindPhase::kBound : BindPhase::kBinding, c.now);
  }
  for (const Placement& placement : placements) desk_.state.Reserve(placement.pod, placement.node);
  Step(c, [&](BindStep& step) { c.record.binding->Start(placements, c.gang, step); });
  SettleBinding(c);
  charges_.ChargeQuota(c);
}

void Flights::Step(Case& c, absl::FunctionRef<void(BindStep&)> input) {
  std::vector<BindAction> actions;
  const auto still_reserved = [this, &c](PodId pod, NodeId node) {
    return PlaceIsStillGood(c, pod, node);
  };
  const auto misplaced_on = [this, &c](PodId pod, NodeId node) { return Misplaced(c, pod, node); };
  BindStep step{c.now, desk_.random, still_reserved, misplaced_on, actions};
  const bool undone_already = c.record.binding->phase() == BindPhase::kUndoing;
  input(step);
  if (!undone_already && c.record.binding->phase() == BindPhase::kUndoing) uses_.CountAllLost(c);
  for (const BindAction& action : actions) CarryOut(c, action);
}

void Flights::CarryOut(Case& c, const BindAction& action) {
  if (const auto* bind = std::get_if<SendBind>(&action)) {
    SendBindOf(c, *bind);
  } else if (const auto* read = std::get_if<ReadPod>(&action)) {
    SendTo(read->pod, ErrandKind::kRead, ReadPodRequest);
  } else if (const auto* gone = std::get_if<DeletePod>(&action)) {
    SendTo(gone->pod, ErrandKind::kDelete, DeletePodRequest);
  } else if (const auto* release = std::get_if<ReleaseReservation>(&action)) {
    desk_.state.Release(release->pod, desk_.news);
  } else if (const auto* cool = std::get_if<CoolNode>(&action)) {
    ++desk_.counters.kubelet_rejections;
    CoolDown(cool->node, c.now);
  } else if (const auto* refused = std::get_if<MemberRefused>(&action)) {
    c.record.refused_until[refused->pod] = c.now + kRefusedFor;
  } else if (std::holds_alternative<QuorumBound>(action)) {
    OnQuorumBound(c);
  } else if (std::holds_alternative<QuorumLost>(action)) {
    desk_.Log(c, "lost");
    desk_.SendEvent(QuorumLostEvent(c.gang, StandingInFlight(c, desk_).message), c.now);
  } else if (const auto* undone = std::get_if<Undone>(&action)) {
    OnUndone(c, *undone);
  }
}

void Flights::CoolDown(NodeId node, absl::Time now) {
  desk_.state.CoolDown(node, desk_.warm.cool_downs.Rejected(node, now));
  desk_.LogOf("cool", desk_.state.NodeName(node), "", now);
}

void Flights::SendBindOf(const Case& c, const SendBind& bind) {
  const PodFacts* pod = desk_.state.FindPod(bind.pod);
  const std::string node(desk_.state.NodeName(bind.node));
  if (pod == nullptr || node.empty()) return;  // the next look at the gang finds out
  ++desk_.counters.binds_sent;
  HttpRequest request =
      BindRequest(ReferenceTo(*pod), node, c.gang.queue, desk_.options.binding_annotations);
  request.fresh_connection = bind.again;
  desk_.Send({.kind = ErrandKind::kBind,
              .gang = pod->gang,
              .pod = bind.pod,
              .name = node,
              .begun = c.record.binding->begun()},
             std::move(request));
}

void Flights::SendTo(PodId id, ErrandKind kind,
                     absl::FunctionRef<HttpRequest(const PodReference&)> request) {
  const PodFacts* pod = desk_.state.FindPod(id);
  if (pod == nullptr) return;
  desk_.Send({.kind = kind, .gang = pod->gang, .pod = id, .name = pod->uid},
             request(ReferenceTo(*pod)));
}

void Flights::CountReply(BindReplyKind kind) {
  switch (kind) {
    case BindReplyKind::kBound:
      ++desk_.counters.binds_succeeded;
      break;
    case BindReplyKind::kUnclear:
      ++desk_.counters.binds_unknown;
      break;
    case BindReplyKind::kRetry:
      ++desk_.counters.binds_retried;
      break;
    case BindReplyKind::kRefused:
      ++desk_.counters.binds_refused;
      break;
    case BindReplyKind::kBoundElsewhere:
    case BindReplyKind::kGone:
    case BindReplyKind::kGated:
      ++desk_.counters.binds_gone;
      break;
  }
}

void Flights::HearOfPod(const Errand& errand, const WriteResult& result, absl::Time now) {
  desk_.touched.insert(errand.gang);
  std::optional<Case> c = desk_.Open(errand.gang, now);
  const bool in_flight = c.has_value() && c->record.binding.has_value();
  if (errand.kind == ErrandKind::kBind) {
    const BindReply reply = ReadBindReply(result, errand.name);
    CountReply(reply.kind);
    if (reply.kind != BindReplyKind::kBound) {
      const PodFacts* pod = desk_.state.FindPod(errand.pod);
      desk_.LogOf("bind", pod == nullptr ? "?" : pod->name, absl::StrCat(": ", reply.detail), now);
    }
    if (!in_flight) return;
    Step(*c, [&](BindStep& step) {
      c->record.binding->OnBindReply(errand.pod, reply, desk_.state.NodeNamed(reply.node_name),
                                     step);
    });
    if (reply.kind == BindReplyKind::kBoundElsewhere) {
      desk_.state.NoteBound(errand.pod, reply.node_name, desk_.news);
    }
    if (reply.kind == BindReplyKind::kBound &&
        desk_.options.per_pod_events == PerPodEvents::kAlways) {
      const auto member = std::ranges::find(c->gang.members, errand.pod, &Member::pod);
      if (member != c->gang.members.end()) {
        desk_.SendEvent(PodScheduledEvent(c->gang, *member, errand.name), now);
      }
    }
  } else if (!in_flight) {
    return;
  } else if (errand.kind == ErrandKind::kRead) {
    const PodReading reading = ReadPodReply(result, errand.name);
    Step(*c, [&](BindStep& step) {
      c->record.binding->OnReading(errand.pod, reading, desk_.state.NodeNamed(reading.node_name),
                                   step);
    });
    // A pod that is leaving takes its room along only when it is gone.
    if (!reading.node_name.empty()) {
      desk_.state.NoteBound(errand.pod, reading.node_name, desk_.news);
    }
  } else {
    const DeleteReply reply = ReadDeleteReply(result);
    Step(*c, [&](BindStep& step) { c->record.binding->OnDeleteReply(errand.pod, reply, step); });
  }
}

void Flights::OnQuorumBound(Case& c) {
  GangRecord& record = c.record;
  Desk::NoteMet(record, c.gang.spec);
  record.starts_in_vain = 0;
  record.was_head = absl::ZeroDuration();
  record.undo_backoff.reset();
  record.undone_because.reset();
  record.evicted.reset();
  record.backoff_until = absl::InfinitePast();
  if (record.quorum_reached_at.has_value()) {
    desk_.Log(c, "restored");
    return;
  }
  // By the server's clock, where ours is behind it: a later leader believes no earlier time.
  record.quorum_reached_at = std::max(c.now, c.gang.created);
  record.awaits_ready = true;
  ++desk_.counters.gangs_bound;
  QueueHistory& history = desk_.directory.HistoryOf(record.queue);
  history.waited.Note(c.now - std::max(CreatedAt(c.gang), record.left_at));
  if (record.decided_at != absl::InfinitePast()) history.bound.Note(c.now - record.decided_at);
  absl::Time youngest = absl::InfinitePast();
  int64_t pods = 0;
  for (const Member& member : c.gang.members) {
    if (NodeOf(c, member, desk_.state).empty()) continue;
    ++pods;
    youngest = std::max(youngest, member.created);
  }
  if (youngest != absl::InfinitePast()) {
    desk_.counters.scheduling_seconds += std::max(0.0, absl::ToDoubleSeconds(c.now - youngest));
  }
  desk_.Log(c, "bound");
  if (c.gang.key.dialect != GangDialect::kSingleton) {
    std::vector<std::string> nodes = NodesOf(c, desk_.state);
    desk_.SendEvent(GangBoundEvent(c.gang, pods, static_cast<int64_t>(nodes.size())), c.now);
  } else if (desk_.options.per_pod_events == PerPodEvents::kAuto) {
    const Member& member = c.gang.members.front();
    desk_.SendEvent(PodScheduledEvent(c.gang, member, NodeOf(c, member, desk_.state)), c.now);
  }
}

void Flights::CountLeaving(Case& c, LeavingCause cause) {
  ++desk_.directory.HistoryOf(c.record.queue).left[static_cast<size_t>(cause)];
  c.record.left_at = c.now;
}

void Flights::OnUndone(Case& c, const Undone& undone) {
  GangRecord& record = c.record;
  ForgetQuorum(record);
  record.decided_at = absl::InfinitePast();
  record.refused_until.clear();
  const bool late = undone.cause == UndoCause::kStageLate;
  if (late || undone.cause == UndoCause::kQuorumLost) {
    ++desk_.counters.gangs_evicted;
    NoteEvicted(record, c.gang, late ? WaitReason::kWaitingForMembers : WaitReason::kQuorumLost,
                std::string(late ? kStageWasLate : kQuorumWasLost));
    CountLeaving(c, LeavingCause::kQuorumLost);
  } else {
    ++desk_.counters.gangs_undone;
    Desk::NoteStartInVain(record, c.now);
    record.last_undone_at = c.now;
    record.undone_because.reset();
    if (!undone.detail.empty()) record.undone_because = undone.detail;
    if (!record.undo_backoff.has_value()) record.undo_backoff = Backoff(desk_.options.undo_backoff);
    record.backoff_until = c.now + record.undo_backoff->Next(desk_.random);
  }
  desk_.Log(c, "undone", absl::StrCat(": ", UndoneText(c.gang, undone)));
  desk_.SendEvent(GangUndoneEvent(c.gang, undone), c.now);
}

}  // namespace maniple
