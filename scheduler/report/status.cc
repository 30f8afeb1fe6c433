#include "scheduler/report/status.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/base/sort_unique.h"

namespace maniple {
namespace {

struct ConditionText {
  absl::string_view type;
  bool is_true;
  absl::string_view reason;
  absl::string_view message;
};

// What is left of a quorum that has lost members is charged, too.
bool ReservesQuota(const StatusFacts& facts) {
  const GangPhase phase = facts.standing.phase;
  const bool is_left = facts.quorum_reached_at.has_value() && facts.assembly.counts.bound > 0;
  return phase == GangPhase::kRunning || phase == GangPhase::kBinding || is_left;
}

// Whether two lists of conditions differ in numbers at most.
bool SameNews(const std::vector<Condition>& a, const std::vector<Condition>& b) {
  return std::ranges::equal(a, b, [](const Condition& x, const Condition& y) {
    return std::tie(x.type, x.status, x.reason) == std::tie(y.type, y.status, y.reason);
  });
}

}  // namespace

absl::Time WholeSeconds(absl::Time time) {
  return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
}

const Condition* FindCondition(const std::vector<Condition>& conditions, absl::string_view type) {
  const auto it = std::ranges::find(conditions, type, &Condition::type);
  return it == conditions.end() ? nullptr : &*it;
}

void SetCondition(std::vector<Condition>& conditions, Condition condition, absl::Time now) {
  const auto at = std::ranges::lower_bound(conditions, condition.type, {}, &Condition::type);
  condition.last_transition = WholeSeconds(now);
  if (at == conditions.end() || at->type != condition.type) {
    conditions.insert(at, std::move(condition));
    return;
  }
  if (at->status == condition.status) condition.last_transition = at->last_transition;
  *at = std::move(condition);
}

PodGroupStatus MakeGroupStatus(const StatusFacts& facts, const PodGroupStatus& before,
                               absl::Time now) {
  const Standing& standing = facts.standing;
  const absl::string_view reason = WaitReasonName(standing.reason);
  const bool ended =
      standing.phase == GangPhase::kCompleted || standing.phase == GangPhase::kFailed;

  PodGroupStatus status = before;
  status.phase = std::string(GangPhaseName(standing.phase));
  status.members = facts.assembly.counts;
  status.reason = std::string(reason);
  status.message = standing.message;
  status.placement_nodes = facts.nodes;
  SortUnique(status.placement_nodes);
  status.placement_domains = facts.domains;
  const auto whole = [](std::optional<absl::Time> time) {
    if (time.has_value()) time = WholeSeconds(*time);
    return time;
  };
  status.quorum_reached_at = whole(facts.quorum_reached_at);
  status.quorum_met = facts.quorum_met;
  status.last_undone_at = whole(facts.last_undone_at);
  if (!facts.preempted_by.empty()) status.preempted_by = facts.preempted_by;
  status.admitted_queue = facts.admitted_queue;
  if (facts.initial_share_used) status.initial_share_preemption_used = true;

  const bool bound = standing.phase == GangPhase::kRunning;
  const bool ready = facts.assembly.members_ready;
  // A later leader takes the time of the condition for the beginning of a first binding.
  if (before.quorum_reached_at.has_value() && !facts.quorum_reached_at.has_value()) {
    std::erase_if(status.conditions, [](const Condition& condition) {
      return condition.type == kConditionQuotaReserved;
    });
  }
  std::vector<ConditionText> texts = {
      {kConditionMembersReady, ready, ready ? "QuorumExists" : reason, facts.assembly.lacking},
      {kConditionQuotaReserved, ReservesQuota(facts),
       ended ? absl::string_view(GangPhaseName(standing.phase)) : reason, ""},
      {kConditionScheduled, bound || standing.phase == GangPhase::kCompleted, reason,
       standing.message}};
  if (facts.quorum_lost || standing.reason == WaitReason::kPreempted) {
    texts.push_back({kConditionDisrupted, true, reason, standing.message});
  } else if (FindCondition(status.conditions, kConditionDisrupted) != nullptr) {
    texts.push_back({kConditionDisrupted, false, reason, ""});
  }
  for (const ConditionText& text : texts) {
    // A gang that has ended is history: only whether it was scheduled is still told.
    if (ended && text.type == kConditionMembersReady) continue;
    SetCondition(status.conditions,
                 {.type = std::string(text.type),
                  .status = text.is_true ? "True" : "False",
                  .reason = std::string(text.reason),
                  .message = std::string(text.message),
                  .observed_generation = facts.gang.group_generation},
                 now);
  }
  return status;
}

StatusChange CompareStatus(const PodGroupStatus& before, const PodGroupStatus& after) {
  if (before == after) return StatusChange::kNone;
  const auto news = [](const PodGroupStatus& s) {
    return std::tie(s.phase, s.reason, s.quorum_reached_at, s.last_undone_at,
                    s.initial_share_preemption_used, s.preempted_by, s.admitted_queue);
  };
  if (news(before) != news(after) || !SameNews(before.conditions, after.conditions)) {
    return StatusChange::kNews;
  }
  return StatusChange::kNumbers;
}

}  // namespace maniple
