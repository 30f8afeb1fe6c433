#include "test/sim/charges.h"

#include <algorithm>

namespace maniple::sim {
namespace {

// Others have bound it when the last of its gang had just ended: whoever had not heard of that
// charges it where that one was admitted.
bool IsChargedWithWhoHasEnded(const Truth& truth, const PodFacts& pod) {
  return !pod.ours && std::ranges::any_of(truth.pods(), [&](const auto& entry) {
    const PodFacts& other = entry.second;
    return other.gang == pod.gang && other.ended() && other.admitted != pod.admitted &&
           other.bound_at < pod.bound_at && other.ended_at >= pod.bound_at - truth.blind_for();
  });
}

}  // namespace

bool MayBeKnown(const Truth& truth, const PodFacts& pod, const Since& since) {
  if (!pod.ours && pod.bound_at >= since.others_bound) return false;
  // Of what is gone only who knew it then knows the flavor, and the Queue; and what has just come
  // back may not have been heard of.
  const auto node = truth.nodes().find(pod.node);
  const bool there = node != truth.nodes().end() && node->second.since < since.others_bound;
  const std::optional<absl::Time> lost = truth.node_truth().LostAt(pod.node);
  if (!there && (!lost.has_value() || *lost < since.leads)) return false;
  if (pod.ours || IsOfTenant(pod.key)) return true;
  // What others have bound no Queue is charged for that keeps its namespace out.
  if (!truth.selections().SelectsSince(pod.admitted, NamespaceOf(pod.key),
                                       pod.bound_at - truth.blind_for()))
    return false;
  if (IsChargedWithWhoHasEnded(truth, pod)) return false;
  const GangFacts& gang = truth.gangs().at(pod.gang);
  // Since others have bound it another Queue is named, or none: who came later knows of that alone.
  const bool renamed = gang.queue != pod.admitted && gang.queue_since < since.leads;
  if (renamed && truth.IsOnlyBoundByOthers(pod.gang)) return false;
  if (truth.groups().contains(pod.gang)) return true;
  // A PodGroup that came and went while nobody looked has named its Queue to nobody.
  return gang.group_gone_at >= since.leads &&
         gang.group_gone_at - gang.group_since >= truth.blind_for();
}

QuotaTruth::Usage UsageKnown(const Truth& truth, const Since& since, Doubt doubt,
                             const std::set<std::string>& without) {
  QuotaTruth::Usage usage;
  for (const auto& [key, pod] : truth.pods()) {
    if (pod.node.empty() || pod.ended() || without.contains(pod.gang)) continue;
    // What may be charged, though it is not certain, speaks against.
    if (doubt == Doubt::kInFavour && !MayBeKnown(truth, pod, since)) continue;
    // Also where its node is gone.
    const Json* labels = truth.node_truth().LabelsOf(pod.node);
    if (labels == nullptr) continue;
    const std::string flavor = truth.quotas().FlavorOf(*labels);
    for (const std::string& queue : QueuesOf(truth, pod, since, doubt)) {
      usage[{queue, flavor}] += pod.gpus;
    }
  }
  return usage;
}

bool IsChargedForCertain(const Truth& truth, const PodFacts& pod, const Since& since) {
  if (!pod.ours || pod.admitted.empty()) return false;
  if (pod.bound_at >= since.leads) return true;
  return truth.has_tenant_policy() &&
         truth.selections().SelectsSince(pod.admitted, kTenantNamespace,
                                         pod.bound_at - truth.blind_for());
}

std::vector<std::string> QueuesOf(const Truth& truth, const PodFacts& pod, const Since& since,
                                  Doubt doubt) {
  if (!IsOfTenant(pod.key)) {
    // Bound under no Queue: to a leader that comes later it looks as if bound by hand, and is
    // charged to the Queue that its PodGroup names then. So is what others have bound.
    const std::string& named = truth.gangs().at(pod.gang).queue;
    const bool perhaps = doubt == Doubt::kAgainst && !named.empty() && named != pod.admitted;
    if (perhaps && pod.admitted.empty()) return {named};
    if (perhaps && !pod.ours && truth.IsOnlyBoundByOthers(pod.gang)) return {pod.admitted, named};
    return {pod.admitted};
  }
  std::vector<std::string> queues;
  for (const auto& [queue, rules] : truth.quotas().queues()) {
    const bool charged = pod.admitted == queue &&
                         (doubt == Doubt::kAgainst || IsChargedForCertain(truth, pod, since));
    const bool perhaps =
        doubt == Doubt::kAgainst && truth.selections().MaySelectSince(
                                        queue, kTenantNamespace, pod.bound_at - truth.blind_for());
    if (charged || perhaps) queues.push_back(queue);
  }
  return queues;
}

}  // namespace maniple::sim
