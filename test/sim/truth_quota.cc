// What Queues allow, and who may make whom leave: the promises of Truth that are about them.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/sim/truth.h"

namespace maniple::sim {
namespace {

// A gang may go on asking others to leave for so long, and was not blind for longer before.
constexpr absl::Duration kAsksFor = absl::Minutes(9);

}  // namespace

// What is charged in the Queue's tree is not what it was, whatever our schedulers do.
void Truth::NoteUpheaval(const std::string& queue, absl::Time now) {
  // Before there is a pod nothing has been decided.
  if (!queue.empty() && !pods_.empty()) upheavals_[quotas_.RootOf(queue)] = now;
}

void Truth::NoteUpheavalEverywhere(absl::Time now) {
  for (const auto& [queue, rules] : quotas_.queues()) NoteUpheaval(queue, now);
}

void Truth::ApplyQuota(absl::string_view kind, const std::string& name, const Json& object,
                       absl::Time now) {
  const bool one_tree = kind == "Queue";
  const std::string before = one_tree ? quotas_.RootOf(name) : "";
  const QuotaTruth::Change change = quotas_.Apply(kind, name, object);
  if (one_tree) NoteSelector(name, now);
  switch (change) {
    case QuotaTruth::Change::kLimits:
      if (one_tree) {
        NoteUpheaval(name, now);
        if (!pods_.empty()) upheavals_[before] = now;
      } else {
        NoteUpheavalEverywhere(now);
      }
      [[fallthrough]];
    case QuotaTruth::Change::kRules:
      rules_changed_ = now;
      break;
    case QuotaTruth::Change::kNone:
      break;
  }
}

// Others have bound it when the last of its gang had just ended: whoever had not heard of that
// charges it where that one was admitted.
bool Truth::IsChargedWithWhoHasEnded(const PodFacts& pod) const {
  return !pod.ours && std::ranges::any_of(pods_, [&](const auto& entry) {
    const PodFacts& other = entry.second;
    return other.gang == pod.gang && other.ended() && other.admitted != pod.admitted &&
           other.bound_at < pod.bound_at && other.ended_at >= pod.bound_at - blind_for_;
  });
}

bool Truth::MayBeKnown(const PodFacts& pod, const Since& since) const {
  if (!pod.ours && pod.bound_at >= since.others_bound) return false;
  // Of what is gone only who knew it then knows the flavor, and the Queue; and what has just come
  // back may not have been heard of.
  const auto node = nodes_.find(pod.node);
  const bool there = node != nodes_.end() && node->second.since < since.others_bound;
  const auto lost = lost_at_.find(pod.node);
  if (!there && (lost == lost_at_.end() || lost->second < since.leads)) return false;
  if (pod.ours || IsOfTenant(pod.key)) return true;
  // What others have bound no Queue is charged for that keeps its namespace out.
  if (!SelectsSince(pod.admitted, NamespaceOf(pod.key), pod.bound_at - blind_for_)) return false;
  if (IsChargedWithWhoHasEnded(pod)) return false;
  if (groups_.contains(pod.gang)) return true;
  // A PodGroup that came and went while nobody looked has named its Queue to nobody.
  const GangFacts& gang = gangs_.at(pod.gang);
  return gang.group_gone_at >= since.leads && gang.group_gone_at - gang.group_since >= blind_for_;
}

QuotaTruth::Usage Truth::UsageKnown(const Since& since, Doubt doubt,
                                    const GangNames& without) const {
  QuotaTruth::Usage usage;
  for (const auto& [key, pod] : pods_) {
    if (pod.node.empty() || pod.ended() || without.contains(pod.gang)) continue;
    // What may be charged, though it is not certain, speaks against.
    if (doubt == Doubt::kInFavour && !MayBeKnown(pod, since)) continue;
    // Also where its node is gone.
    const auto labels = labels_.find(pod.node);
    if (labels == labels_.end()) continue;
    const std::string flavor = quotas_.FlavorOf(labels->second);
    for (const std::string& queue : QueuesOf(pod, since, doubt)) {
      usage[{queue, flavor}] += pod.gpus;
    }
  }
  return usage;
}

void Truth::CheckQuotaLegal(const PodFacts& pod, absl::Time now) {
  const auto group = groups_.find(pod.gang);
  const auto node = nodes_.find(pod.node);
  if (group == groups_.end() || node == nodes_.end() || group->second.queue.empty()) return;
  if (pod.gpus == 0) return;  // nothing that anybody has quota for
  const std::string& queue = pod.admitted;
  // Whoever binds now has decided before, and may have known less than is known now.
  const absl::Time known = now - blind_for_;
  const auto upheaval = upheavals_.find(quotas_.RootOf(queue));
  if (upheaval != upheavals_.end() && upheaval->second > known) return;
  const auto relabeled = relabeled_.find(pod.node);
  if (relabeled != relabeled_.end() && relabeled->second > known) return;
  if (gangs_.at(pod.gang).queue_since > known) return;
  ++quota_checks_;
  const std::string flavor = quotas_.FlavorOf(node->second.labels);
  // It lists once more after it has taken the Lease.
  const Since since{.others_bound = known, .leads = expected_.leads_since + kListsWithin};
  std::string why = quotas_.Illegal(queue, flavor, UsageKnown(since, Doubt::kInFavour));
  if (why.empty()) return;
  absl::StrAppend(&why, "; bound:");
  bool of_tenant = false;  // is charged, so that it may be something that it has edited since
  for (const auto& [key, other] : pods_) {
    const std::string& theirs = other.admitted;
    const bool same_tree = quotas_.RootOf(theirs) == quotas_.RootOf(queue);
    if (!same_tree || other.node.empty() || other.ended() || !MayBeKnown(other, since)) continue;
    of_tenant = of_tenant || (IsOfTenant(key) && other.gang != pod.gang);
    absl::StrAppend(&why, " ", key, "=", theirs, "@", other.node,
                    other.deleting ? " (leaving)" : "",
                    nodes_.contains(other.node) ? "" : " (lost)");
  }
  Violated(now, absl::StrCat(of_tenant ? "AdmittedStaysCharged" : "QuotaLegal", ": once ", pod.key,
                             " of queue ", queue, " is bound on ", pod.node, ", ", why));
}

bool Truth::MayMakeLeave(const GangFacts& gang, const GangFacts& victim) const {
  const bool higher = gang.priority() > victim.priority();
  if (!gang.MayPreempt()) return false;
  // As elsewhere in Kubernetes.
  if (!quotas_.queues().contains(victim.queue)) return higher;
  if (quotas_.RootOf(gang.queue) != quotas_.RootOf(victim.queue)) return false;
  const auto queue = quotas_.queues().find(gang.queue);
  if (queue == quotas_.queues().end()) return false;
  const bool own = gang.queue == victim.queue;
  const std::string& policy = own ? queue->second.within : queue->second.reclaim;
  if (policy == "LowerPriority") return higher;
  if (policy == "LowerOrNewerEqualPriority") return gang.priority() >= victim.priority();
  return policy == "Any";
}

Truth::GangFacts Truth::AsCharged(const std::string& gang) const {
  GangFacts facts = gangs_.at(gang);
  facts.queue = AdmittedQueueOf(gang);
  return facts;
}

bool Truth::MayBeMadeToLeave(const std::string& preemptor, const std::string& victim,
                             absl::Time now) const {
  // Under which Queue a gang stands that only somebody else has bound, nobody has written down.
  const bool admitted = std::ranges::any_of(pods_, [&preemptor](const auto& entry) {
    const PodFacts& pod = entry.second;
    return pod.gang == preemptor && pod.ours && !pod.node.empty() && !pod.ended();
  });
  const GangFacts gang = admitted ? AsCharged(preemptor) : gangs_.at(preemptor);
  const GangFacts facts = AsCharged(victim);
  const bool by_priority = gang.MayPreempt() && gang.priority() > facts.priority();
  const auto group = groups_.find(victim);
  const bool known = group != groups_.end() && group->second.since <= now - blind_for_;
  if (MayMakeLeave(gang, facts) || known) return MayMakeLeave(gang, facts);
  return by_priority && std::ranges::none_of(pods_, [&victim](const auto& entry) {
           const PodFacts& pod = entry.second;
           return pod.gang == victim && pod.ours && !pod.node.empty() && !pod.ended();
         });
}

void Truth::CheckEviction(const std::string& gang, const std::string& what, absl::Time now) {
  const auto victim = gangs_.find(gang);
  if (now < rules_changed_ + kAsksFor || victim == gangs_.end() || IsOfTenant(gang)) return;
  const std::string& queue = victim->second.queue;
  const auto stopped = quotas_.queues().find(queue);
  if (stopped != quotas_.queues().end() && stopped->second.stop == "HoldAndDrain") return;
  if (BudgetsOver(gang, now - blind_for_) > 1) {
    Violated(now, absl::StrCat("EvictionsFollowPolicy: ", what,
                               ", which two budgets cover: the API refuses that for ever"));
  }
  const bool any = std::ranges::any_of(gangs_, [&](const auto& other) {
    const bool there = groups_.contains(other.first) || other.second.seen >= now - kAsksFor;
    return other.first != gang && there && MayBeMadeToLeave(other.first, gang, now);
  });
  if (any) return;
  Violated(now, absl::StrCat("EvictionsFollowPolicy: ", what, " of queue ", queue,
                             ", which nobody may make leave"));
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

void Truth::CheckNobodyIsNominated(absl::Time now) {
  for (const auto& [key, pod] : pods_) {
    if (pod.nominated.empty() || !pod.node.empty() || pod.ended() || pod.deleting) continue;
    Violated(now, absl::StrCat("NothingLeaks: ", key, " is nominated for ", pod.nominated,
                               " though nobody makes room for it"));
  }
}

}  // namespace maniple::sim
