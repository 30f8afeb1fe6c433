#include "test/sim/at_rest.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/sim/charges.h"

namespace maniple::sim {
namespace {

// On a node that is there, whose flavor the Queue has quota for.
bool IsCounted(const Truth& truth, const PodFacts& pod, const std::string& queue) {
  const auto node = truth.nodes().find(pod.node);
  if (node == truth.nodes().end() || pod.ended()) return false;
  const QuotaTruth::Cell cell =
      truth.quotas().CellOf(queue, truth.quotas().FlavorOf(node->second.labels));
  return cell.rule == QuotaTruth::Cell::Rule::kCounted;
}

}  // namespace

void CheckAdmittedStaysCharged(Truth& truth, absl::Time leads_since, absl::Time now) {
  const Since since{.others_bound = now, .leads = leads_since + kListsWithin};
  for (const auto& [queue, rules] : truth.quotas().queues()) {
    int64_t least = 0;
    std::string who;
    for (const auto& [key, pod] : truth.pods()) {
      const bool charged = IsOfTenant(key) && pod.admitted == queue && IsCounted(truth, pod, queue);
      if (!charged || !IsChargedForCertain(truth, pod, since)) continue;
      least += pod.gpus;
      absl::StrAppend(&who, " ", key, "@", pod.node);
    }
    if (rules.told >= least) continue;
    truth.Violated(now,
                   absl::StrCat("AdmittedStaysCharged: queue ", queue, " says that ", rules.told,
                                " GPUs are used, and it has admitted those of", who, ": ", least));
  }
}

// Of our other users who names it, or may have been admitted to it, and of the tenant's pods those
// that it may have let in.
void CheckNobodyElsesQuotaIsUsed(Truth& truth, absl::Time leads_since, absl::Time now) {
  const Since since{.others_bound = now, .leads = leads_since + kListsWithin};
  for (const auto& [queue, rules] : truth.quotas().queues()) {
    int64_t most = 0;
    for (const auto& [key, pod] : truth.pods()) {
      if (pod.node.empty() || pod.ended()) continue;
      const std::vector<std::string> queues = QueuesOf(truth, pod, since, Doubt::kAgainst);
      const GangFacts& gang = truth.gangs().at(pod.gang);
      const bool ours = !IsOfTenant(key) && (gang.moved || gang.queue == queue);
      if (ours || std::ranges::find(queues, queue) != queues.end()) most += pod.gpus;
    }
    if (rules.told <= most) continue;
    truth.Violated(now, absl::StrCat("NobodyElsesQuota: queue ", queue, " says that ", rules.told,
                                     " GPUs are used, and those that it may pay for have ", most));
  }
}

void CheckGangAllOrNothing(Truth& truth, absl::Time leads_since, absl::Time now) {
  for (const auto& [key, group] : truth.groups()) {
    int64_t held = 0;
    std::string members;
    for (const auto& [pod_key, pod] : truth.pods()) {
      if (pod.gang != key) continue;
      absl::StrAppend(&members, " ", pod_key, "=", pod.phase, "@", pod.node,
                      pod.deleting ? " deleting" : "");
      const bool lingers = pod.slow && pod.deleting;  // for minutes, as it was told
      if (!pod.node.empty() && !pod.ended() && !lingers) ++held;
    }
    const GangFacts& facts = truth.gangs().at(key);
    const auto seen = static_cast<int64_t>(facts.succeeded.size());
    const bool by_number = truth.missed_some() || facts.some_came_again;
    const int64_t told = std::max(facts.succeeded_told, group.says_succeeded);
    const int64_t succeeded = by_number ? std::max(seen, told) : seen;
    // Whoever overwrites a status may tell of members that have succeeded.
    if (group.kept || group.keeps_for > kAtRest || held == 0 || truth.gangs().at(key).forged)
      continue;
    if (IsOfTenant(key)) continue;
    // Nobody has to leave because the quorum was raised since it stood, or while it was being
    // bound: then its leader alone has seen it whole. Or the truth alone has, if a member was gone
    // again before the leader had heard of the last one.
    const auto [least, most] = std::minmax(facts.quorum_met, group.says_met);
    const int64_t met = least > 0 ? least : most;
    if (met > 0 && held + succeeded >= met) continue;
    if (held + succeeded >= group.min_member) continue;
    truth.Violated(now, absl::StrCat("GangAllOrNothing: ", key, " holds ", held,
                                     " pods, quorum is ", group.min_member, ", phase ", group.phase,
                                     ", reason ", group.reason, ";", members));
  }
  for (const auto& [key, pod] : truth.pods()) {
    const absl::Time half_since = truth.gangs().at(pod.gang).half_since;
    const bool seen = half_since >= leads_since + kListsWithin;
    if (!pod.stands() || half_since == absl::InfiniteFuture() || !seen || IsOfTenant(key)) continue;
    truth.Violated(now, absl::StrCat("GangAllOrNothing: ", key,
                                     " stands, and its PodGroup was deleted "
                                     "before all of its quorum was bound"));
  }
}

void CheckNobodyIsNominated(Truth& truth, absl::Time now) {
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.nominated.empty() || !pod.node.empty() || pod.ended() || pod.deleting) continue;
    truth.Violated(now, absl::StrCat("NothingLeaks: ", key, " is nominated for ", pod.nominated,
                                     " though nobody makes room for it"));
  }
}

}  // namespace maniple::sim
