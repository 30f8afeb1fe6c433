// What a hostile tenant cannot take from others: the promises of Truth that are about it.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/state/pod_caps.h"
#include "test/sim/truth.h"

namespace maniple::sim {
namespace {

std::string NamespaceOf(const std::string& key) { return key.substr(0, key.find('/')); }

}  // namespace

bool IsOfTenant(absl::string_view key) {
  return absl::StartsWith(key, absl::StrCat(kTenantNamespace, "/"));
}

void Truth::NoteSelections(absl::Time now) {
  for (const auto& [space, labels] : namespaces_) {
    for (const auto& [queue, rules] : quotas_.queues()) selections_[{queue, space}];
  }
  for (auto& [pair, selection] : selections_) {
    const bool holds = quotas_.Selects(pair.first, namespaces_.at(pair.second));
    if (holds == selection.holds) continue;
    selection = {.holds = holds, .changed = now};
  }
}

bool Truth::MaySelectSince(const std::string& queue, const std::string& namespace_name,
                           absl::Time then) const {
  const auto it = selections_.find({queue, namespace_name});
  return it != selections_.end() && (it->second.holds || it->second.changed >= then);
}

bool Truth::SelectsSince(const std::string& queue, const std::string& namespace_name,
                         absl::Time then) const {
  const auto it = selections_.find({queue, namespace_name});
  return it != selections_.end() && it->second.holds && it->second.changed < then;
}

// By who has bound it itself; by a new leader only what no tenant can have written, and where
// nothing has said otherwise since.
bool Truth::IsChargedForCertain(const PodFacts& pod, const Since& since) const {
  if (!pod.ours || pod.admitted.empty()) return false;
  if (pod.bound_at >= since.leads) return true;
  return tenant_policy_ && SelectsSince(pod.admitted, kTenantNamespace, pod.bound_at - blind_for_);
}

std::vector<std::string> Truth::QueuesOf(const PodFacts& pod, const Since& since,
                                         Doubt doubt) const {
  if (!IsOfTenant(pod.key)) {
    // Bound under no Queue: to a leader that comes later it looks as if bound by hand, and is
    // charged to the Queue that its PodGroup names then.
    const std::string& named = gangs_.at(pod.gang).queue;
    const bool perhaps = doubt == Doubt::kAgainst && pod.admitted.empty() && !named.empty();
    return {perhaps ? named : pod.admitted};
  }
  std::vector<std::string> queues;
  for (const auto& [queue, rules] : quotas_.queues()) {
    const bool charged =
        pod.admitted == queue && (doubt == Doubt::kAgainst || IsChargedForCertain(pod, since));
    const bool perhaps = doubt == Doubt::kAgainst &&
                         MaySelectSince(queue, kTenantNamespace, pod.bound_at - blind_for_);
    if (charged || perhaps) queues.push_back(queue);
  }
  return queues;
}

// Whoever binds now has decided before, and may have known less than is known now.
void Truth::CheckNobodyElsesQuota(const PodFacts& pod, absl::Time now) {
  const bool told = expected_.pod == pod.key && !expected_.queue.empty();
  if (!told || !quotas_.queues().contains(expected_.queue)) return;
  const absl::Time known = std::min(expected_.decided, now) - blind_for_;
  if (MaySelectSince(expected_.queue, NamespaceOf(pod.key), known)) return;
  Violated(now, absl::StrCat("NobodyElsesQuota: ", pod.key, " is bound under queue ",
                             expected_.queue, ", which does not select its namespace"));
}

// On a node that is there, whose flavor the Queue has quota for.
bool Truth::IsCounted(const PodFacts& pod, const std::string& queue) const {
  const auto node = nodes_.find(pod.node);
  if (node == nodes_.end() || pod.ended()) return false;
  const QuotaTruth::Cell cell = quotas_.CellOf(queue, quotas_.FlavorOf(node->second.labels));
  return cell.rule == QuotaTruth::Cell::Rule::kCounted;
}

void Truth::CheckAdmittedStaysCharged(absl::Time leads_since, absl::Time now) {
  const Since since{.others_bound = now, .leads = leads_since + kListsWithin};
  for (const auto& [queue, rules] : quotas_.queues()) {
    int64_t least = 0;
    std::string who;
    for (const auto& [key, pod] : pods_) {
      const bool charged = IsOfTenant(key) && pod.admitted == queue && IsCounted(pod, queue);
      if (!charged || !IsChargedForCertain(pod, since)) continue;
      least += pod.gpus;
      absl::StrAppend(&who, " ", key, "@", pod.node);
    }
    if (rules.told >= least) continue;
    Violated(now, absl::StrCat("AdmittedStaysCharged: queue ", queue, " says that ", rules.told,
                               " GPUs are used, and it has admitted those of", who, ": ", least));
  }
}

// Of our other users who names it, or may have been admitted to it, and of the tenant's pods those
// that it may have let in.
void Truth::CheckNobodyElsesQuotaIsUsed(absl::Time leads_since, absl::Time now) {
  const Since since{.others_bound = now, .leads = leads_since + kListsWithin};
  for (const auto& [queue, rules] : quotas_.queues()) {
    int64_t most = 0;
    for (const auto& [key, pod] : pods_) {
      if (pod.node.empty() || pod.ended()) continue;
      const std::vector<std::string> queues = QueuesOf(pod, since, Doubt::kAgainst);
      const GangFacts& gang = gangs_.at(pod.gang);
      const bool ours = !IsOfTenant(key) && (gang.moved || gang.queue == queue);
      if (ours || std::ranges::find(queues, queue) != queues.end()) most += pod.gpus;
    }
    if (rules.told <= most) continue;
    Violated(now, absl::StrCat("NobodyElsesQuota: queue ", queue, " says that ", rules.told,
                               " GPUs are used, and those that it may pay for have ", most));
  }
}

// What is refused as beyond a limit is never started, for it was never looked at in full.
void Truth::CheckCapsHold(const PodFacts& pod, const Json& object, absl::Time now) {
  if (!IsOfTenant(pod.key)) return;
  const Json& terms = object["spec"]["affinity"]["podAntiAffinity"]
                            ["requiredDuringSchedulingIgnoredDuringExecution"];
  const size_t resources = object["spec"]["containers"].items()[0]["resources"]["requests"].size();
  if (terms.size() <= kMostPodTerms && resources <= kMostResourcesOfPod) return;
  Violated(now, absl::StrCat("CapsHold: ", pod.key, " is bound with ", terms.size(),
                             " terms on other pods and ", resources, " resources"));
}

}  // namespace maniple::sim
