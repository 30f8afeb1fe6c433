#include "scheduler/loop/desk/use_counts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/state/gang_members.h"

namespace maniple {
namespace {

// For a node that is gone, the last charge knows its kind.
NodeKindId KindOf(const QuotaLedger& ledger, const GangRecord& record, const Member& member) {
  const NodeKindId there = ledger.KindOf(member.node);
  if (there.valid()) return there;
  const auto* known = std::ranges::find(record.charged_as, member.pod, &ChargedAs::pod);
  return known == record.charged_as.end() ? NodeKindId() : known->kind;
}

bool IsOnNode(const Member& member, const PodFacts* pod) {
  return StandsSomewhere(member) && pod != nullptr && !pod->node_name.empty();
}

// A name that only pods have is nobody's use, and would be kept for ever.
bool IsCounted(const Tables& tables, ResourceId resource) {
  return IsOnNodes(resource) && tables.FactsOf(resource).gpu;
}

// The use of one resource on nodes of one kind.
struct KindUse {
  NodeKindId kind;
  ResourceId resource;
  int64_t amount = 0;
};

void AddTo(std::vector<KindUse>& uses, const KindUse& more) {
  const auto same = std::ranges::find_if(uses, [&more](const KindUse& use) {
    return use.kind == more.kind && use.resource == more.resource;
  });
  if (same == uses.end()) {
    uses.push_back(more);
  } else {
    same->amount += more.amount;
  }
}

}  // namespace

void UseCounts::MeterUse(const Case& c) {
  UsageMeter& meter = desk_.directory.meter();
  const UsageMeter::Payer payer{c.record.queue, c.gang.key.namespace_name};
  // A gang that only waits must not cost a snapshot.
  if (std::ranges::none_of(c.gang.members, StandsSomewhere)) {
    return meter.Set(c.gang.id, payer, {}, c.now);
  }
  // Usage has not been counted since then.
  const absl::Time told =
      first_look_ ? desk_.directory.UsedAsOf(payer.queue) : absl::InfinitePast();
  const Tables& tables = *desk_.Picture().tables;
  const auto use_of = [&](const KindUse& use) {
    return UsageMeter::Use{.flavor = desk_.ledger.FlavorOf(use.kind),
                           .resource = tables.FactsOf(use.resource).name,
                           .amount = use.amount};
  };
  std::vector<KindUse> uses;
  for (const Member& member : c.gang.members) {
    if (!member.shape.valid() || !tables.ShapeOf(member.shape).wants_gpu) continue;
    if (!IsOnNode(member, desk_.state.FindPod(member.pod))) continue;
    const NodeKindId kind = KindOf(desk_.ledger, c.record, member);
    for (const auto& [resource, amount] : tables.ShapeOf(member.shape).requests) {
      if (!IsCounted(tables, resource)) continue;
      const KindUse use{.kind = kind, .resource = resource, .amount = amount};
      AddTo(uses, use);
      if (told == absl::InfinitePast()) continue;
      const absl::Time since = std::max({told, member.created, member.started});
      meter.Credit(payer, use_of(use), c.now - std::min(since, c.now), c.now);
    }
  }
  std::vector<UsageMeter::Use> named;
  for (const KindUse& use : uses) named.push_back(use_of(use));
  meter.Set(c.gang.id, payer, named, c.now);
}

void UseCounts::CountPreempted(const std::string& by, const std::string& victim) {
  const VictimsOf of = victim.empty() ? VictimsOf::kNoQueue
                       : victim == by ? VictimsOf::kSameQueue
                                      : VictimsOf::kOtherQueue;
  ++desk_.directory.HistoryOf(by).preempted[static_cast<size_t>(of)];
}

GpusSince UseCounts::GpusOf(const Case& c, PodId pod) {
  const auto member = std::ranges::find(c.gang.members, pod, &Member::pod);
  if (member == c.gang.members.end() || !member->shape.valid()) return {.since = c.now};
  const absl::Time decided = c.record.decided_at;
  const absl::Time began =
      c.record.quorum_reached_at.value_or(decided == absl::InfinitePast() ? c.now : decided);
  GpusSince had{.since = std::max(began, member->created)};
  const Tables& tables = *desk_.Picture().tables;
  for (const auto& [resource, amount] : tables.ShapeOf(member->shape).requests) {
    if (!IsCounted(tables, resource)) continue;
    had.amounts.emplace_back(tables.FactsOf(resource).name, amount);
  }
  return had;
}

void UseCounts::CountLost(const std::string& queue, const GpusSince& had, absl::Time now) {
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - had.since));
  for (const auto& [resource, amount] : had.amounts) {
    desk_.directory.HistoryOf(queue).lost[resource] += seconds * static_cast<double>(amount);
  }
}

void UseCounts::CountAllLost(const Case& c) {
  for (const Member& member : c.gang.members) {
    if (member.state != MemberState::kBound) continue;
    CountLost(c.record.queue, GpusOf(c, member.pod), c.now);
  }
}

}  // namespace maniple
