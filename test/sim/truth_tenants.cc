// What a hostile tenant cannot take from others: the promises of Truth that are about it.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/state/pod_caps.h"
#include "test/sim/charges.h"
#include "test/sim/truth.h"

namespace maniple::sim {
std::string NamespaceOf(const std::string& key) { return key.substr(0, key.find('/')); }

bool IsOfTenant(absl::string_view key) {
  return absl::StartsWith(key, absl::StrCat(kTenantNamespace, "/"));
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
  if (selections_.MaySelectSince(expected_.queue, NamespaceOf(pod.key), known)) {
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
