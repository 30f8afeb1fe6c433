// What Queues allow, and who may make whom leave: the promises of Truth that are about them.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/sim/charges.h"
#include "test/sim/truth.h"

namespace maniple::sim {
// What is charged in the Queue's tree is not what it was, whatever our schedulers do.
void Truth::NoteUpheaval(const std::string& queue, absl::Time now) {
  // Before there is a pod nothing has been decided.
  if (!queue.empty() && !pods_.empty()) upheavals_[quotas_.RootOf(queue)] = now;
}

void Truth::ApplyQuota(absl::string_view kind, const std::string& name, const Json& object,
                       absl::Time now) {
  const bool one_tree = kind == "Queue";
  const bool is_new = quota_objects_.emplace(kind, name).second;
  const std::string before = one_tree ? quotas_.RootOf(name) : "";
  const QuotaTruth::Change change = quotas_.Apply(kind, name, object);
  if (one_tree) selections_.NoteSelector(name, quotas_.SelectorOf(name), now);
  if (change != QuotaTruth::Change::kNone) rules_changed_ = now;
  // What is new before there is a pod overturns nothing. What is edited then may be known as it
  // was.
  if (change != QuotaTruth::Change::kLimits || (is_new && pods_.empty())) return;
  if (one_tree) {
    upheavals_[before] = upheavals_[quotas_.RootOf(name)] = now;
    return;
  }
  for (const auto& [queue, rules] : quotas_.queues()) upheavals_[quotas_.RootOf(queue)] = now;
}

void Truth::CheckQuotaLegal(const PodFacts& pod, absl::Time now) {
  const auto group = groups_.find(pod.gang);
  const auto node = nodes().find(pod.node);
  if (group == groups_.end() || node == nodes().end() || group->second.queue.empty()) return;
  if (pod.gpus == 0) return;  // nothing that anybody has quota for
  const std::string& queue = pod.admitted;
  // Whoever binds now has decided before, and may have known less than is known now.
  const absl::Time known = now - blind_for_;
  const auto upheaval = upheavals_.find(quotas_.RootOf(queue));
  if (upheaval != upheavals_.end() && upheaval->second > known) return;
  if (nodes_.RelabeledAt(pod.node).value_or(absl::InfinitePast()) > known) return;
  if (gangs_.at(pod.gang).queue_since > known) return;
  ++quota_checks_;
  const std::string flavor = quotas_.FlavorOf(node->second.labels);
  // It lists once more after it has taken the Lease.
  const Since since{.others_bound = known, .leads = expected_.leads_since + kListsWithin};
  std::string why = quotas_.Illegal(queue, flavor, UsageKnown(*this, since, Doubt::kInFavour));
  if (why.empty()) return;
  absl::StrAppend(&why, "; bound:");
  bool of_tenant = false;  // is charged, so that it may be something that it has edited since
  for (const auto& [key, other] : pods_) {
    const std::string& theirs = other.admitted;
    const bool same_tree = quotas_.RootOf(theirs) == quotas_.RootOf(queue);
    if (!same_tree || other.node.empty() || other.ended() || !MayBeKnown(*this, other, since))
      continue;
    of_tenant = of_tenant || (IsOfTenant(key) && other.gang != pod.gang);
    absl::StrAppend(&why, " ", key, "=", theirs, "@", other.node,
                    other.deleting ? " (leaving)" : "",
                    nodes().contains(other.node) ? "" : " (lost)");
  }
  Violated(now, absl::StrCat(of_tenant ? "AdmittedStaysCharged" : "QuotaLegal", ": once ", pod.key,
                             " of queue ", queue, " is bound on ", pod.node, ", ", why));
}

bool Truth::StaysSince(const std::string& gang, absl::Time time) const {
  int64_t held = 0;
  for (const auto& [key, pod] : pods_) {
    if (pod.gang != gang || pod.node.empty() || pod.ended()) continue;
    if (pod.deleting || pod.bound_at > time) return false;
    ++held;
  }
  const auto group = groups_.find(gang);
  return held > 0 && (group == groups_.end() || held >= group->second.min_member);
}

}  // namespace maniple::sim
