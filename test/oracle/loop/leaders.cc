#include "test/oracle/loop/leaders.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugins/builtin.h"
#include "scheduler/advice/help_question.h"

namespace maniple::loop_new_leader_test {
namespace {

// A gang is asked again when something may help it, and not in order to say why anew.
absl::string_view Coarse(absl::string_view reason) {
  if (reason == "NeverFits" || reason == "TopologyNoFit") return "NoFit";
  if (reason == "ExceedsMaxQuota") return "QuotaExceeded";
  const bool refused = absl::StartsWith(reason, "Queue") && reason != "QuotaExceeded";
  return (refused && reason != "QuorumLost") || reason == "NamespaceNotAllowed" ? "Refused"
                                                                                : reason;
}

std::string Text(const std::optional<Amount>& amount) {
  return amount.has_value() ? absl::StrCat(amount->units()) : "none";
}

std::string UsageText(const std::vector<QuotaUsageView>& usage) {
  std::string out;
  for (const QuotaUsageView& row : usage) {
    absl::StrAppend(&out, "\n    ", row.flavor, "/", row.resource, " nominal ", row.nominal.units(),
                    " used ", row.used.units(), " borrowed ", row.borrowed.units(), " lent ",
                    row.lent.units(), " limits ", Text(row.borrowing_limit), " ",
                    Text(row.lending_limit));
  }
  return out;
}

std::string QueueText(const QueueView& queue, const Memory& leave_out) {
  std::string out = absl::StrCat("cohort ", queue.cohort, " stop ", queue.stop_policy, " problem '",
                                 queue.problem, "'");
  if (!leave_out.usage) absl::StrAppend(&out, " share ", queue.fair_share, UsageText(queue.usage));
  if (leave_out.counts) return out;
  absl::StrAppend(&out, "\n    pending ", queue.pending, "/", queue.pending_pods, " running ",
                  queue.running, "/", queue.running_pods, " uncharged ", queue.uncharged,
                  " oldest ", absl::FormatTime(queue.oldest_pending, absl::UTCTimeZone()),
                  " asked ");
  for (const ResourceAmount& asked : queue.asked) {
    absl::StrAppend(&out, asked.resource, " ", asked.amount.units(), ", ");
  }
  return out;
}

std::string GangText(const GangView& gang) {
  std::string out = absl::StrCat(
      "queue ", gang.queue, " ", gang.phase, " ", Coarse(gang.reason), " priority ", gang.priority,
      " min ", gang.min_member, " counts ", gang.members.total, " ", gang.members.pending, " ",
      gang.members.bound, " ", gang.members.running, " ", gang.members.succeeded, " ",
      gang.members.failed, " on ", absl::StrJoin(gang.nodes, ","), " pods ");
  for (const GangMemberView& pod : gang.pods) {
    absl::StrAppend(&out, pod.pod, "=", pod.node, ":", pod.state, " ");
  }
  if (gang.expected_end.has_value() && !gang.singleton) {
    absl::StrAppend(&out, " end ", absl::FormatTime(gang.expected_end->at, absl::UTCTimeZone()));
  }
  return out;
}

std::string RunningText(const RunningGang& gang) {
  // A single pod has no PodGroup whose status could tell since when it runs.
  const bool single = absl::StrContains(gang.name, "/s-");
  return absl::StrCat(
      gang.name, " in ",
      single               ? "some"
      : gang.queue.valid() ? "a"
                           : "no",
      " Queue", " priority ", gang.priority, " queued ",
      absl::FormatTime(gang.queued, absl::UTCTimeZone()), " started ",
      single ? "some time" : absl::FormatTime(gang.started, absl::UTCTimeZone()), " protected ",
      single ? "for some" : absl::FormatTime(gang.protected_until, absl::UTCTimeZone()),
      " members ", gang.members.size());
}

}  // namespace

Leader NewLeader() {
  LoopOptions options;
  options.profile = BuiltinProfile();
  // The next leader holds room for whom it has seen waiting for so long itself.
  options.reservation_after = absl::Hours(10'000);
  Leader leader{.loop = std::make_unique<SchedulingLoop>(std::move(options)), .writes = {}};
  leader.loop->SetRole(SchedulingLoop::Role::kLeader);
  return leader;
}

void TurnOut(Leader& leader, absl::Time now) {
  for (int turns = 0; turns < 1000; ++turns) {
    TurnOutput out = leader.loop->Turn(now);
    leader.next = out.next;
    for (WriteCommand& write : out.writes) leader.writes.push_back(std::move(write));
    if (!out.more) return;
  }
}

Words WordsOf(Leader& leader, absl::Time now, const Memory& leave_out) {
  Words words;
  const ClusterViewPtr view = leader.loop->View(now);
  for (const QueueView& queue : view->queues) {
    words[absl::StrCat("queue ", queue.name)] = QueueText(queue, leave_out);
  }
  for (const CohortView& cohort : view->cohorts) {
    words[absl::StrCat("cohort ", cohort.name)] = absl::StrCat(
        "parent ", cohort.parent, " problem '", cohort.problem, "' share ",
        leave_out.usage ? 0 : cohort.fair_share, " of ", absl::StrJoin(cohort.queues, ","),
        leave_out.usage ? "" : UsageText(cohort.usage));
  }
  for (const GangView& gang : view->gangs) {
    if (leave_out.gangs.contains(absl::StrCat(gang.namespace_name, "/", gang.name))) continue;
    if (leave_out.waits && gang.phase != "Running") continue;
    words[absl::StrCat("gang ", gang.name)] = GangText(gang);
    const HelpQuestionPtr question = leader.loop->HelpFor(
        {.dialect = gang.singleton ? GangDialect::kSingleton : GangDialect::kManiple,
         .namespace_name = gang.namespace_name,
         .name = gang.name},
        now);
    if (question == nullptr || leave_out.waits) continue;
    std::vector<std::string> running;
    for (const RunningGang& one : question->running) {
      if (!leave_out.gangs.contains(one.name)) running.push_back(RunningText(one));
    }
    std::ranges::sort(running);
    words[absl::StrCat("victims of ", gang.name)] = absl::StrJoin(running, "\n    ");
  }
  return words;
}

}  // namespace maniple::loop_new_leader_test
