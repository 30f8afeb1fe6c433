#include "scheduler/loop/serve/reporter.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"
#include "scheduler/loop/desk/standing_of.h"
#include "scheduler/report/events.h"
#include "scheduler/report/message.h"

namespace maniple {
namespace {

// Pods of a gang are created one after the other, and most bindings end at once.
// A status that would be overtaken within this time is not worth a write.
constexpr absl::Duration kSettlingTime = absl::Seconds(1);

// The pause between statuses of one gang, however often it changes; the newest is written.
constexpr absl::Duration kBetweenStatuses = absl::Seconds(1);

// A pod's condition shows in the watch by then, unless another has taken its place.
constexpr absl::Duration kToldShowsWithin = absl::Seconds(10);

bool WaitsForItsOwner(WaitReason reason) {
  return reason == WaitReason::kWaitingForMembers || reason == WaitReason::kSchedulingGated;
}

bool Waits(absl::string_view phase) {
  return phase == GangPhaseName(GangPhase::kWaiting) || phase == GangPhaseName(GangPhase::kPending);
}

// Teams take turns, so that no team's first word waits behind thousands of another's.
std::string LaneOf(const Gang& gang) {
  return gang.queue.empty() ? absl::StrCat("namespace/", gang.key.namespace_name)
                            : absl::StrCat("queue/", gang.queue);
}

// Only the gang's owner or an administrator can mend it.
bool CannotStart(WaitReason reason) {
  return reason == WaitReason::kNeverFits || reason == WaitReason::kInvalidSpec ||
         reason == WaitReason::kQueueNotFound || reason == WaitReason::kQueueInactive ||
         reason == WaitReason::kQueueStopped || reason == WaitReason::kNamespaceNotAllowed ||
         reason == WaitReason::kExceedsMaxQuota;
}

// For a pod without a PodGroup. A condition says the same of several reasons.
bool ItsPodSays(const Gang& gang, WaitReason reason) {
  return std::ranges::any_of(gang.members, [reason](const Member& member) {
    return member.waiting_reason == PodReasonName(reason);
  });
}

// The sum of the requests of so many pods of each shape.
ResourceAmounts AskedBy(const absl::btree_map<ShapeId, int64_t>& pods, const ClusterState& state) {
  std::map<std::string, Amount> sums;
  for (const auto& [shape, count] : pods) {
    for (const ResourceAmount& request : state.RequestsOf(shape)) {
      sums[request.resource] += request.amount * count;
    }
  }
  ResourceAmounts out;
  for (const auto& [resource, amount] : sums) out.push_back({resource, amount});
  return out;
}

// A PodGroup that stands for a gang which nobody has declared yet keeps what an earlier leader
// wrote: the kind of its source may be heard of later.
bool HasStatus(const Gang& gang) {
  if (gang.key.dialect != GangDialect::kManiple || !gang.group_exists) return false;
  if (gang.foreign != nullptr) return gang.stand_in.has_value();
  return gang.spec.source.empty() || gang.source_is == SourceIs::kGone || !gang.members.empty();
}

}  // namespace

void Reporter::Report(absl::Time now) {
  for (const GangId id : std::exchange(desk_.to_report, {})) {
    if (std::optional<Case> c = desk_.Open(id, now)) ReportOn(*c);
  }
  // Usage of one Queue may be lent by another.
  if (parts_.charges.TakeUsageChanged()) desk_.directory.AllChanged();
  for (QueueDirectory::DueStatus& due : desk_.directory.TakeDue(now, desk_.ledger.book())) {
    ++desk_.counters.statuses_written;
    desk_.Send({.kind = ErrandKind::kQueueStatus, .name = due.queue.name},
               QueueStatusRequest(due.queue, due.status));
  }
  for (const auto& due : desk_.directory.cohorts().TakeDue(now, desk_.ledger.book())) {
    ++desk_.counters.statuses_written;
    desk_.Send({.kind = ErrandKind::kCohortStatus, .name = due.cohort.name},
               CohortStatusRequest(due.cohort, due.status));
  }
}

void Reporter::ReportOn(Case& c) {
  // Another scheduler reports on the gang: two writers of one status would never come to rest.
  const bool others = desk_.state.IsOfOthers(c.gang.id);
  const std::optional<Standing> standing = others ? std::nullopt : parts_.standings.StandingOf(c);
  if (others) {
    desk_.directory.Count(c.gang.id, c.record.queue, {});  // nor does it wait for us
  } else {
    CountInQueue(c, standing);
  }
  c.record.status_due = absl::InfiniteFuture();
  if (standing.has_value()) {
    if (c.gang.foreign != nullptr) {
      parts_.stand_ins.KeepStandIn(c, *standing);
      parts_.stand_ins.TellProducer(c, *standing);
    }
    parts_.node_asks.AskForNodes(c, *standing);
    if (HasStatus(c.gang)) WriteStatus(c, parts_.help_notes.WithNote(c, *standing));
    parts_.stand_ins.DropStandIn(c);
    TellPods(c, *standing);
    ComplainOnce(c, *standing);
    if (!c.gang.passed_over.empty() && !std::exchange(c.record.told_passed_over, true)) {
      desk_.SendEvent(MarksPassedOverEvent(c.gang), c.now);
    }
    if (std::string trouble = c.record.told_priority ? "" : PriorityTrouble(c.gang);
        !trouble.empty()) {
      c.record.told_priority = true;
      desk_.SendEvent(PriorityUnclearEvent(c.gang, std::move(trouble)), c.now);
    }
  }
  absl::Time next = c.record.status_due;
  if (c.record.binding.has_value()) next = std::min(next, c.record.binding->NextDeadline());
  if (c.record.volumes.has_value()) next = std::min(next, c.record.volumes->NextDeadline());
  if (c.record.volumes_again_at.has_value()) next = std::min(next, *c.record.volumes_again_at);
  if (c.record.claim.has_value()) next = std::min(next, c.record.claim->until);
  if (c.record.departure.has_value()) next = std::min(next, c.record.departure->NextLook());
  for (const auto& [pod, until] : c.record.refused_until) next = std::min(next, until);
  desk_.timers.Set(c.gang.id, next);
}

void Reporter::WriteStatus(Case& c, const Standing& standing) {
  GangRecord& record = c.record;
  if (record.sent.has_value() && record.sent->under_way) return;  // its reply brings us back
  const bool ahead =
      record.sent.has_value() && record.sent->over_version == c.gang.group_resource_version;
  if (!ahead) record.sent.reset();
  const PodGroupStatus& before = ahead ? record.sent->status : c.gang.status;
  const Assembly known = KnownAssembly(c);
  const bool lost = record.binding.has_value() && record.binding->HasLostQuorum();
  std::vector<std::string> nodes = NodesOf(c, desk_.state);
  std::vector<std::string> domains;
  if (!nodes.empty()) domains.assign(record.domains.begin(), record.domains.end());
  PodGroupStatus status = MakeGroupStatus(
      {.gang = c.gang,
       .assembly = known,
       .standing = standing,
       .nodes = std::move(nodes),
       .domains = std::move(domains),
       .quorum_reached_at = record.quorum_reached_at,
       .last_undone_at = record.last_undone_at,
       .quorum_met = record.quorum_met,
       .quorum_lost = lost,
       .preempted_by = record.left_for.has_value() ? LeftForText(*record.left_for) : "",
       .admitted_queue = c.gang.admitted_queue.value_or(""),
       .initial_share_used = record.initial_share_used},
      before, c.now);
  const StatusChange change = CompareStatus(before, status);
  // Who has made it leave is on record before anything else happens to it.
  absl::Time due =
      status.preempted_by != before.preempted_by ? c.now : record.status_written + kBetweenStatuses;
  if (record.status_failure.has_value() &&
      record.status_failure->over_version == c.gang.group_resource_version) {
    due = std::max(due, record.status_failure->until);
  }
  switch (change) {
    case StatusChange::kNone:
      return;
    case StatusChange::kNumbers: {
      // The next leader must know of succeeded members after their pods are gone, and the owner of
      // a gang looks for late members that are bound.
      const bool soon = status.members.succeeded > before.members.succeeded ||
                        status.members.bound > before.members.bound;
      due = std::max(due, record.status_written +
                              (soon ? std::min(kSettlingTime, desk_.options.status_interval)
                                    : desk_.options.status_interval));
      break;
    }
    case StatusChange::kNews:
      if (standing.reason == WaitReason::kBinding && record.binding.has_value()) {
        due = std::max(due, record.binding->since() + kSettlingTime);
      } else if (WaitsForItsOwner(standing.reason) && before.phase.empty()) {
        due = std::max(due, record.first_seen + kSettlingTime);
      }
      break;
  }
  if (due > c.now) {
    record.status_due = due;
  } else {
    SendStatus(c, std::move(status), change);
  }
}

void Reporter::SendStatus(Case& c, PodGroupStatus status, StatusChange change) {
  GangRecord& record = c.record;
  const std::string& shown = c.gang.group_resource_version;
  const bool ahead = record.sent.has_value() && record.sent->over_version == shown &&
                     !record.sent->made_version.empty();
  const std::string version = ahead ? record.sent->made_version : shown;
  ++desk_.counters.statuses_written;
  desk_.Send({.kind = ErrandKind::kGroupStatus,
              .gang = c.gang.id,
              .news = change == StatusChange::kNews && Waits(status.phase),
              .lane = LaneOf(c.gang)},
             PodGroupStatusRequest(c.gang.key.namespace_name, c.gang.key.name, version, status));
  record.sent = SentStatus{.status = std::move(status), .over_version = shown, .under_way = true};
  record.wrote_status = true;
  record.status_written = c.now;
}

void Reporter::OnStatusReply(GangId id, const WriteResult& result, absl::Time now) {
  const auto it = desk_.records.find(id);
  if (it == desk_.records.end() || !it->second->sent.has_value()) return;
  GangRecord& record = *it->second;
  record.sent->under_way = false;
  desk_.to_report.insert(id);
  if (result.outcome == WriteOutcome::kAnswered && result.http_status / 100 == 2) {
    record.status_failure.reset();
    record.status_taken = true;
    record.sent->made_version = MadeVersion(result);
    return;
  }
  // The watch will show the present status; until then nothing counts as written.
  // After a 409 there is no use in an early retry.
  if (!record.status_failure.has_value()) record.status_failure.emplace();
  StatusFailure& failure = *record.status_failure;
  failure.over_version = record.sent->over_version;
  failure.until = now + failure.backoff.Next(desk_.random);
  record.sent.reset();
  record.wrote_status = false;
}

void Reporter::TellPods(Case& c, const Standing& standing) {
  GangRecord& record = c.record;
  if (record.told.size() > c.gang.members.size()) {
    absl::erase_if(record.told, [&c](const auto& told) {
      return std::ranges::find(c.gang.members, told.first, &Member::pod) == c.gang.members.end();
    });
  }
  WaitingFor of_standing{.reason = standing.reason, .message = standing.message};
  const WaitingFor* waits = &of_standing;
  if (standing.phase == GangPhase::kRunning || !c.gang.problem.empty()) {
    const std::optional<Standing> surplus = parts_.standings.StandingOfSurplus(c);
    if (!surplus.has_value()) return;
    of_standing = {.reason = surplus->reason, .message = surplus->message};
  } else if (record.binding.has_value()) {
    if (record.waiting == nullptr) return;
    waits = record.waiting.get();
  }
  if (WaitsForItsOwner(waits->reason) && c.now < record.first_seen + kSettlingTime) {
    record.status_due = std::min(record.status_due, record.first_seen + kSettlingTime);
    return;
  }
  for (const Member& member : c.gang.members) {
    if (member.state != MemberState::kPending) continue;
    if (record.binding.has_value() && record.binding->StateOf(member.pod).has_value()) continue;
    TellPod(c, member, *waits);
  }
}

void Reporter::TellPod(Case& c, const Member& member, const WaitingFor& waits) {
  const absl::string_view reason =
      parts_.node_asks.AwaitsNodes(c, waits) ? kPodAwaitsNodes : PodReasonName(waits.reason);
  const auto told = c.record.told.find(member.pod);
  const bool new_to_us = told == c.record.told.end();
  PodWaits condition{.reason = std::string(reason), .message = PodWaitText(c.gang, waits.reason)};
  absl::StrAppend(&condition.message, StandIns::TroubleOf(c));
  condition.nominated = NominationOf(c, member);
  const bool shows_all = member.waiting_reason == reason &&
                         !(member.nominated && condition.nominated == std::string());
  if (new_to_us && shows_all) return;
  const uint64_t words =
      FingerprintOf(absl::StrCat(condition.message, "\n", condition.nominated.value_or("")));
  const bool is_news = new_to_us || told->second.words != words;
  if (!is_news && told->second.reason == reason) {
    // A write of an earlier leader may arrive late and replace ours.
    if (member.waiting_reason.empty() || shows_all) return;
    const absl::Time again = told->second.at + kToldShowsWithin;
    if (c.now < again) {
      c.record.status_due = std::min(c.record.status_due, again);
      return;
    }
  }
  const PodFacts* pod = desk_.state.FindPod(member.pod);
  if (pod == nullptr) return;
  if (!pod_budget_.Spend(member.pod, c.now)) {
    c.record.status_due = std::min(c.record.status_due, pod_budget_.MayAt(member.pod));
    return;
  }
  if (is_news && !c.gang.group_exists) desk_.SendEvent(GroupMissingEvent(c.gang, member), c.now);
  if (c.gang.key.dialect == GangDialect::kSingleton) condition.message = waits.message;
  if (new_to_us && member.waiting_reason.empty()) condition.since = c.now;
  ++desk_.counters.statuses_written;
  desk_.Send(
      {.kind = ErrandKind::kPodWaits, .gang = c.gang.id, .pod = member.pod, .lane = LaneOf(c.gang)},
      PodWaitsRequest({.namespace_name = pod->namespace_name, .name = pod->name, .uid = pod->uid},
                      condition));
  c.record.told[member.pod] = {.reason = reason,
                               .words = words,
                               .at = c.now,
                               .nominated = !condition.nominated.value_or("").empty()};
}

// The node where room is being made for the pod; "" takes an earlier one back; none says nothing.
std::optional<std::string> Reporter::NominationOf(const Case& c, const Member& member) const {
  if (c.record.claim.has_value()) {
    for (const Claim::Room& room : c.record.claim->rooms) {
      if (room.pod == member.pod && room.node.valid()) {
        return std::string(desk_.state.NodeName(room.node));
      }
    }
  }
  // By us, whether the watch shows it yet or not, or by an earlier leader. The reason for waiting
  // does not tell: the Queue may have been stopped since.
  const auto told = c.record.told.find(member.pod);
  const bool nominated =
      member.nominated || (told != c.record.told.end() && told->second.nominated);
  return nominated ? std::optional<std::string>("") : std::nullopt;
}

void Reporter::ComplainOnce(Case& c, const Standing& standing) {
  const std::optional<WaitReason> before = std::exchange(c.record.last_reason, standing.reason);
  if (!CannotStart(standing.reason) || before == standing.reason) return;
  // An earlier leader has said it.
  if (c.gang.status.reason == WaitReasonName(standing.reason) && !c.record.wrote_status) return;
  const bool single = c.gang.key.dialect == GangDialect::kSingleton;
  if (single && !before.has_value() && ItsPodSays(c.gang, standing.reason)) return;
  desk_.SendEvent(GangCannotStartEvent(c.gang, standing), c.now);
}

void Reporter::CountInQueue(const Case& c, const std::optional<Standing>& standing) {
  QueueCount count;
  const GangPhase phase = standing.has_value() ? standing->phase : GangPhase::kPending;
  const bool ended = phase == GangPhase::kCompleted || phase == GangPhase::kFailed;
  // What is left of a gang that has lost members holds nodes.
  const bool is_left = c.record.quorum_reached_at.has_value() && c.assembly.counts.bound > 0;
  if (phase == GangPhase::kRunning || is_left) {
    count.running = 1;
  } else if (!ended) {
    count.pending = 1;
    count.since = std::max(QueuedAt(c.gang, c.record), c.record.left_at);
    count.reason = standing.has_value() ? WaitReasonName(standing->reason) : "Undecided";
  }
  absl::btree_map<ShapeId, int64_t> waiting;
  for (const Member& member : c.gang.members) {
    const PodFacts* pod = desk_.state.FindPod(member.pod);
    if (pod == nullptr || pod->terminal) continue;
    if (!pod->node_name.empty()) {
      ++count.running_pods;
    } else if (!pod->terminating) {
      ++count.pending_pods;
      if (member.shape.valid()) ++waiting[member.shape];
    }
  }
  count.asked = AskedBy(waiting, desk_.state);
  desk_.directory.Count(c.gang.id, c.record.queue, count);
}

}  // namespace maniple
