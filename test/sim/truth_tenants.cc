// What a hostile tenant cannot take from others: the promises of Truth that are about it.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/state/pod_caps.h"
#include "test/sim/truth.h"

namespace maniple::sim {
namespace {

// It was so at some time since then.
bool WasSoSince(const std::vector<Truth::Version>& versions, size_t number, absl::Time then) {
  return number + 1 == versions.size() || versions[number + 1].since >= then;
}

}  // namespace

std::string NamespaceOf(const std::string& key) { return key.substr(0, key.find('/')); }

bool IsOfTenant(absl::string_view key) {
  return absl::StartsWith(key, absl::StrCat(kTenantNamespace, "/"));
}

void Truth::NoteSelector(const std::string& queue, absl::Time now) {
  selectors_[queue].push_back({.since = now, .value = quotas_.SelectorOf(queue)});
}

bool Truth::AnySelection(const std::string& queue, const std::string& namespace_name,
                         absl::Time then, Selection of_what) const {
  const auto selectors = selectors_.find(queue);
  const auto labels = namespaces_.find(namespace_name);
  if (selectors == selectors_.end() || labels == namespaces_.end()) return of_what == kNone;
  // Queues and namespaces are watched by streams of their own: whoever has heard of one change may
  // not have heard of an earlier one of the other.
  for (size_t i = 0; i < selectors->second.size(); ++i) {
    if (!WasSoSince(selectors->second, i, then)) continue;
    for (size_t k = 0; k < labels->second.size(); ++k) {
      if (!WasSoSince(labels->second, k, then)) continue;
      const Json& selector = selectors->second[i].value;
      const bool selects = QuotaTruth::Selects(selector, labels->second[k].value);
      if (selects == (of_what == kSome)) return true;
    }
  }
  return false;
}

bool Truth::MaySelectSince(const std::string& queue, const std::string& namespace_name,
                           absl::Time then) const {
  return AnySelection(queue, namespace_name, then, kSome);
}

bool Truth::SelectsSince(const std::string& queue, const std::string& namespace_name,
                         absl::Time then) const {
  return !AnySelection(queue, namespace_name, then, kNone);
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
    // charged to the Queue that its PodGroup names then. So is what others have bound.
    const std::string& named = gangs_.at(pod.gang).queue;
    const bool perhaps = doubt == Doubt::kAgainst && !named.empty() && named != pod.admitted;
    if (perhaps && pod.admitted.empty()) return {named};
    if (perhaps && !pod.ours && IsOnlyBoundByOthers(pod.gang)) return {pod.admitted, named};
    return {pod.admitted};
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
  GangFacts& gang = gangs_.at(pod.gang);
  const int64_t standing = std::ranges::count_if(pods_, [&](const auto& other) {
    return other.second.gang == pod.gang && other.second.stands();
  });
  if (MaySelectSince(expected_.queue, NamespaceOf(pod.key), known)) {
    gang.most_let_in = std::max(gang.most_let_in, standing);
    return;
  }
  // Whoever is lost of a gang that the Queue has let in may be replaced.
  const bool is_replaced =
      standing <= gang.most_let_in && std::ranges::any_of(pods_, [&](const auto& other) {
        return other.first != pod.key && other.second.gang == pod.gang &&
               other.second.admitted == expected_.queue && !other.second.node.empty() &&
               !other.second.ended();
      });
  if (is_replaced) return;
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
