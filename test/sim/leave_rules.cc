#include "test/sim/leave_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace maniple::sim {
namespace {

// A gang may go on asking others to leave for so long, and was not blind for longer before.
constexpr absl::Duration kAsksFor = absl::Minutes(9);

}  // namespace

bool MayMakeLeave(const Truth& truth, const GangFacts& gang, const GangFacts& victim) {
  const bool higher = gang.priority() > victim.priority();
  if (!gang.MayPreempt()) return false;
  // As elsewhere in Kubernetes.
  if (!truth.quotas().queues().contains(victim.queue)) return higher;
  if (truth.quotas().RootOf(gang.queue) != truth.quotas().RootOf(victim.queue)) return false;
  const auto queue = truth.quotas().queues().find(gang.queue);
  if (queue == truth.quotas().queues().end()) return false;
  const bool own = gang.queue == victim.queue;
  const std::string& policy = own ? queue->second.within : queue->second.reclaim;
  if (policy == "LowerPriority") return higher;
  if (policy == "LowerOrNewerEqualPriority") return gang.priority() >= victim.priority();
  return policy == "Any";
}

GangFacts AsCharged(const Truth& truth, const std::string& gang) {
  GangFacts facts = truth.gangs().at(gang);
  facts.queue = truth.AdmittedQueueOf(gang);
  return facts;
}

bool MayBeMadeToLeave(const Truth& truth, const std::string& preemptor, const std::string& victim,
                      absl::Time now) {
  // Under which Queue a gang stands that only somebody else has bound, nobody has written down.
  const bool admitted = std::ranges::any_of(truth.pods(), [&preemptor](const auto& entry) {
    const PodFacts& pod = entry.second;
    return pod.gang == preemptor && pod.ours && !pod.node.empty() && !pod.ended();
  });
  const GangFacts gang = admitted ? AsCharged(truth, preemptor) : truth.gangs().at(preemptor);
  const GangFacts facts = AsCharged(truth, victim);
  const bool by_priority = gang.MayPreempt() && gang.priority() > facts.priority();
  const auto group = truth.groups().find(victim);
  const bool known =
      group != truth.groups().end() && group->second.since <= now - truth.blind_for();
  if (MayMakeLeave(truth, gang, facts) || known) return MayMakeLeave(truth, gang, facts);
  return by_priority && std::ranges::none_of(truth.pods(), [&victim](const auto& entry) {
           const PodFacts& pod = entry.second;
           return pod.gang == victim && pod.ours && !pod.node.empty() && !pod.ended();
         });
}

void CheckEviction(Truth& truth, const std::string& gang, const std::string& what, absl::Time now) {
  const auto victim = truth.gangs().find(gang);
  if (now < truth.rules_changed() + kAsksFor || victim == truth.gangs().end() || IsOfTenant(gang))
    return;
  const std::string& queue = victim->second.queue;
  const auto stopped = truth.quotas().queues().find(queue);
  if (stopped != truth.quotas().queues().end() && stopped->second.stop == "HoldAndDrain") return;
  if (truth.BudgetsOver(gang, now - truth.blind_for()) > 1) {
    truth.Violated(now, absl::StrCat("EvictionsFollowPolicy: ", what,
                                     ", which two budgets cover: the API refuses that for ever"));
  }
  const bool any = std::ranges::any_of(truth.gangs(), [&](const auto& other) {
    const bool there = truth.groups().contains(other.first) || other.second.seen >= now - kAsksFor;
    return other.first != gang && there && MayBeMadeToLeave(truth, other.first, gang, now);
  });
  if (any) return;
  truth.Violated(now, absl::StrCat("EvictionsFollowPolicy: ", what, " of queue ", queue,
                                   ", which nobody may make leave"));
}

}  // namespace maniple::sim
