// A claim holds quota that its victims still use. Charged beside them in their own Queue, it would
// make a Queue within its nominal quota seem to borrow, and keep others from what is theirs. So the
// claim is charged only for what is more than the charge of the pods that leave for it, cell by
// cell. As they go it takes over what they were charged for, and nobody can come between. The Queue
// is charged at each moment for the more of the two: what leaves, and what is to come.
//
// Pods of other Queues pay for no claim. What they use stays charged to their Queue, and what the
// claim is to have to its own.
#include <algorithm>
#include <optional>
#include <utility>

#include "scheduler/loop/desk/charges.h"
#include "scheduler/loop/records/reservation.h"

namespace maniple {
namespace {

// A pod that is to stay after all keeps its quota, and pays for nobody.
bool Leaves(PodId id, const PodFacts& pod, const GangRecord& record) {
  if (pod.terminal || pod.node_name.empty()) return false;
  return pod.terminating || (record.departure.has_value() && record.departure->pods.contains(id));
}

}  // namespace

const Claim* Charges::ClaimOf(GangId gang) const {
  const GangRecord* record = desk_.FindRecord(gang);
  return record != nullptr && record->claim.has_value() ? &*record->claim : nullptr;
}

void Charges::NamePayers(const Case& c) {
  Claim& claim = *c.record.claim;
  absl::btree_set<PodId> pay;
  for (const GangId claimant : claimants_) {
    const Claim* const other = ClaimOf(claimant);
    if (other == nullptr) continue;
    for (const Claim::Payer& payer : other->payers) pay.insert(payer.pod);
  }
  std::vector<PodId> leaving = claim.awaited;
  for (const GangId victim : claim.victims) {
    const GangRecord* record = desk_.FindRecord(victim);
    if (record == nullptr || !record->departure.has_value()) continue;
    for (const auto& leaver : record->departure->pods) leaving.push_back(leaver.first);
  }
  for (const PodId id : leaving) {
    const PodFacts* pod = desk_.state.FindPod(id);
    const GangRecord* record = pod == nullptr ? nullptr : desk_.FindRecord(pod->gang);
    if (record == nullptr || record->queue != c.record.queue || !pay.insert(id).second) continue;
    claim.payers.push_back({id, pod->gang});
  }
}

void Charges::NoteClaim(const Case& c) {
  if (!c.record.claim.has_value()) {
    claimants_.erase(c.gang.id);
    return;
  }
  claimants_.insert(c.gang.id);
  c.record.claim->paid = PaidFor(c.record, {});
}

Demand Charges::PaidFor(const GangRecord& record, const absl::btree_set<PodId>& gone) {
  std::vector<PlacedPods> theirs, rooms;
  for (const Claim::Payer& payer : record.claim->payers) {
    const PodFacts* pod = desk_.state.FindPod(payer.pod);
    const GangRecord* other = desk_.FindRecord(payer.gang);
    if (pod == nullptr || other == nullptr || pod->gang != payer.gang) continue;
    if (gone.contains(payer.pod) || !Leaves(payer.pod, *pod, *other)) continue;
    if (other->queue != record.queue) continue;
    theirs.push_back(
        {.shape = pod->shape, .node = pod->node, .kind = KindKnownOf(*other, payer.pod)});
  }
  if (theirs.empty()) return {};
  for (const Claim::Room& room : record.claim->rooms) {
    rooms.push_back({.shape = room.shape, .node = room.node});
  }
  const Tables& tables = *desk_.Picture().tables;
  const Demand claimed = desk_.ledger.CostOf(record.queue, rooms, tables);
  return Beyond(claimed, Beyond(claimed, desk_.ledger.CostOf(record.queue, theirs, tables)));
}

// Its pods may pay less than before: the claims are charged for that before anybody is decided.
void Charges::ChargeClaimsPaidBy(GangId gang, absl::Time now) {
  std::vector<GangId> paid_for;
  for (const GangId claimant : claimants_) {
    const Claim* const claim = ClaimOf(claimant);
    if (claimant == gang || claim == nullptr) continue;
    if (std::ranges::find(claim->payers, gang, &Claim::Payer::gang) == claim->payers.end())
      continue;
    paid_for.push_back(claimant);
  }
  for (const GangId claimant : paid_for) {
    const std::optional<Case> c = desk_.Open(claimant, now);
    // What its leaving would give back has changed with its charge.
    if (c.has_value() && ChargeAlone(*c)) desk_.to_report.insert(claimant);
  }
}

Demand Charges::HeldCharge(const GangRecord& record) {
  const std::vector<PlacedPods> held = HeldPods(record);
  if (held.empty()) return {};
  Demand charge = desk_.ledger.CostOf(record.queue, held, *desk_.Picture().tables);
  return record.claim.has_value() ? Beyond(charge, record.claim->paid) : charge;
}

void Charges::SupposeClaimsPay(Supposition& supposition) const {
  for (const GangId claimant : claimants_) {
    const Claim* const claim = ClaimOf(claimant);
    if (claim == nullptr || claim->paid.empty()) continue;
    const QuotaNodeId queue = desk_.ledger.book().QueueNamed(desk_.FindRecord(claimant)->queue);
    if (queue.valid()) supposition.Charge(queue, claim->paid);
  }
}

std::vector<std::pair<QuotaNodeId, Demand>> Charges::TakenOver(const absl::btree_set<PodId>& gone,
                                                               GangId but) {
  std::vector<std::pair<QuotaNodeId, Demand>> taken;
  for (const GangId claimant : claimants_) {
    const Claim* const claim = ClaimOf(claimant);
    if (claimant == but || claim == nullptr || claim->paid.empty()) continue;
    const GangRecord& record = *desk_.records.at(claimant);
    const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
    Demand more = Beyond(claim->paid, PaidFor(record, gone));
    if (queue.valid() && !more.empty()) taken.emplace_back(queue, std::move(more));
  }
  return taken;
}

}  // namespace maniple
