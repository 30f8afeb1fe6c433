// What gangs use of GPUs, counted by time; and what all GPUs are.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/loop/gpu_totals.h"
#include "scheduler/loop/loop_impl.h"

namespace maniple {
namespace {

// The last charge knows what a node that is gone was like.
NodeKindId KindOf(const QuotaLedger& ledger, const GangRecord& record, const Member& member) {
  const NodeKindId there = ledger.KindOf(member.node);
  if (there.valid()) return there;
  const auto* known = std::ranges::find(record.charged_as, member.pod, &ChargedAs::pod);
  return known == record.charged_as.end() ? NodeKindId() : known->kind;
}

bool MayBeOnNode(const Member& member) {
  return member.state == MemberState::kBound || member.state == MemberState::kTerminating;
}

bool IsOnNode(const Member& member, const PodFacts* pod) {
  return MayBeOnNode(member) && pod != nullptr && !pod->node_name.empty();
}

// Of one pod of a shape, on a node of this kind.
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

void SchedulingLoop::Impl::MeterUse(const Case& c) {
  UsageMeter& meter = directory_.meter();
  const UsageMeter::Payer payer{c.record.queue, c.gang.key.namespace_name};
  // Who only waits must not cost a snapshot.
  if (std::ranges::none_of(c.gang.members, MayBeOnNode)) {
    return meter.Set(c.gang.id, payer, {}, c.now);
  }
  // Since then nobody has counted.
  const absl::Time told = first_look_ ? directory_.UsedAsOf(payer.queue) : absl::InfinitePast();
  const Tables& tables = *Picture().tables;
  const auto use_of = [&](const KindUse& use) {
    return UsageMeter::Use{.flavor = ledger_.FlavorOf(use.kind),
                           .resource = tables.FactsOf(use.resource).name,
                           .amount = use.amount};
  };
  std::vector<KindUse> uses;
  for (const Member& member : c.gang.members) {
    if (!member.shape.valid() || !tables.ShapeOf(member.shape).wants_gpu) continue;
    if (!IsOnNode(member, state_.FindPod(member.pod))) continue;
    const NodeKindId kind = KindOf(ledger_, c.record, member);
    for (const auto& [resource, amount] : tables.ShapeOf(member.shape).requests) {
      if (!tables.FactsOf(resource).gpu) continue;
      const KindUse use{.kind = kind, .resource = resource, .amount = amount};
      AddTo(uses, use);
      if (told == absl::InfinitePast()) continue;
      meter.Credit(payer, use_of(use), c.now - std::max(told, member.created), c.now);
    }
  }
  std::vector<UsageMeter::Use> named;
  for (const KindUse& use : uses) named.push_back(use_of(use));
  meter.Set(c.gang.id, payer, named, c.now);
}

GpuTotalsPtr SchedulingLoop::Impl::Gpus() {
  GpuTotals totals(Picture());
  for (const GangId holder : holders_) {
    for (const Reservation::Room& room : records_.at(holder)->reservation->rooms) {
      totals.Hold(room.node, room.shape);
    }
  }
  for (const GangId gang : mending_) {
    const auto record = records_.find(gang);
    if (record == records_.end()) continue;
    for (const HeldVacancy& held : record->second->holds) {
      if (held.hold.valid()) totals.Hold(held.node, held.vacancy.shape);
    }
  }
  return std::make_shared<const std::vector<GpuTotalView>>(totals.Sum(ledger_));
}

}  // namespace maniple
