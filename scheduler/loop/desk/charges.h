// Admission and charges: the Queue under which a gang was admitted, the cost of its pods there,
// and the quota that the gang would need.
//
// It keeps the ledger true to the gangs, and the queue's order true to the ledger.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk/desk.h"
#include "scheduler/loop/desk/room_holders.h"
#include "scheduler/loop/records/supposition.h"

namespace maniple {

// Quota held for later starts in the tree of a root; it may be lifted for another gang.
using HeldQuota = absl::btree_map<std::pair<QuotaNodeId, QuotaCellId>, Amount>;

class Charges final {
 public:
  Charges(Desk& desk, RoomHolders& room_holders) : desk_(desk), room_holders_(room_holders) {}

  // Order of service follows the tree of quotas.
  void GiveTreeToQueue();
  // Limits or flavors have changed: every gang is to be charged again.
  void QuotaChanged(WarmState::QuotaChange change);

  // Charges the gang's Queue for every pod that takes room, reserved ones and holds included; and
  // the claims for which its pods pay.
  void ChargeQuota(const Case& c);
  // The gang holds no room any more, and stands in no line.
  void LeaveLine(const Case& c);
  // Nobody of its Queue waits before it.
  [[nodiscard]] bool IsFirstInLine(const Case& c) const {
    return room_holders_.lines().IsFirst(c.gang.id) ||
           !room_holders_.lines().HeadOf(c.gang.queue).has_value();
  }
  void Forget(GangId gang, absl::Time now);

  // The gang's claim is new, and all that leaves for it is known: says which pods pay for it.
  // REQUIRES: the gang has a claim.
  void NamePayers(const Case& c);
  // What is charged for the room that HeldPods names.
  [[nodiscard]] Demand HeldCharge(const GangRecord& record);
  // As if nobody paid for claims: each is charged in full.
  void SupposeClaimsPay(Supposition& supposition) const;
  // What claims are charged for in addition once these pods are gone; not that of `but`.
  [[nodiscard]] std::vector<std::pair<QuotaNodeId, Demand>> TakenOver(
      const absl::btree_set<PodId>& gone, GangId but);
  // Gangs with placed members for which no Queue pays.
  [[nodiscard]] const absl::btree_set<GangId>& unadmitted() const { return unadmitted_; }
  // A repair would do more than replace what was lost: more members, or larger ones.
  // REQUIRES: the gang is in flight.
  [[nodiscard]] bool AsksForMore(const Case& c) const;
  // Whether the usage of some Queue has changed since the last call.
  [[nodiscard]] bool TakeUsageChanged() { return std::exchange(usage_changed_, false); }

  // Wakes gangs that wait for quota which came free; `short_at` tells which of them
  // are known to be still short of it.
  void WakeForQuota(ShortAt short_at);
  [[nodiscard]] HeldQuota AllHeldQuota() const;
  // Its Queue cannot cover the only demand that it could make. False where it has a choice of
  // flavors.
  [[nodiscard]] bool LacksQuota(const Case& c, const GangRequest& request);
  // The node of the tree where the item is short, as far as that is known without a decision.
  // None: unknown.
  [[nodiscard]] std::optional<QuotaNodeId> ShortOfQuotaAt(QueueItem item,
                                                          const HeldQuota& held) const;

  // The gang's request as things are, with the gang's own holds free to it.
  [[nodiscard]] Supposition Suppose(const Case& c, const GangRequest& request);
  // What the Queue of the gang allows; none: no quota applies.
  [[nodiscard]] std::optional<QuotaAsk> AskFor(const Case& c, const GangRequest& request);
  // In some flavors the request fits into what its Queue has left of its nominal quota.
  [[nodiscard]] bool AsksWithinNominal(const Case& c, const GangRequest& request,
                                       const QuotaTree& tree);
  // The charge of the request in the first flavors that the tree covers, else in the first of all.
  [[nodiscard]] Demand DemandOf(const GangRequest& request, QuotaNodeId queue,
                                const QuotaTree& tree);
  // Why its Queue does not let it start, or begin anew; none: it does.
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Case& c, ItemKind kind);
  // What decides how its standing members are charged; another number when that changes.
  [[nodiscard]] uint64_t KindsUnder(const Gang& gang) const;
  // The order, made anew; the parts that depend on usage are kept in the record.
  OrderKey OrderOf(Case& c, ItemKind kind);
  // Since the order was made, quotas or flavors have changed, and with them the item's charge.
  [[nodiscard]] bool OrderIsStale(Case& c, ItemKind kind);
  // Usage has changed, and with it the flavors that the item would be charged in.
  [[nodiscard]] bool HasOtherFlavorsNow(Case& c, ItemKind kind);

 private:
  // True: usage changed.
  [[nodiscard]] bool ChargeAlone(const Case& c);
  void ChargeClaimsPaidBy(GangId gang, absl::Time now);
  // Sees who pays for the gang's claim, if it has one.
  void NoteClaim(const Case& c);
  // The part of the claim's charge that its payers pay, without those that are gone.
  // REQUIRES: the gang has a claim.
  [[nodiscard]] Demand PaidFor(const GangRecord& record, const absl::btree_set<PodId>& gone);
  [[nodiscard]] static NodeKindId KindKnownOf(const GangRecord& record, PodId pod);
  // Null: it has none.
  [[nodiscard]] const Claim* ClaimOf(GangId gang) const;
  // The part of the usage that is held for the gang, and so free to it.
  [[nodiscard]] Demand OwnHeldQuota(const Case& c);
  struct Price {
    Demand demand;
    bool is_only = true;  // no other flavors would do
  };
  [[nodiscard]] Price PriceOf(const Case& c, ItemKind kind, QuotaNodeId queue);
  // The price in the first flavors that suit, else in the first of all.
  [[nodiscard]] Price PriceFor(const GangRequest& request, QuotaNodeId queue,
                               absl::FunctionRef<bool(const Demand&)> suits);
  // The order is made anew, and is another one.
  [[nodiscard]] bool OrderDiffers(Case& c, ItemKind kind);
  // Sets the Queue of the gang by its admission.
  void FollowAdmission(const Case& c);
  [[nodiscard]] std::optional<std::string> AdmittedBefore(const Gang& gang) const;
  // For a repair that does more than replace what was lost: refuses it where the admitting
  // Queue no longer lets the gang's namespace in.
  [[nodiscard]] std::optional<QueueRefusal> RefusalOfMore(const Case& c);
  [[nodiscard]] bool OnlyReplaces(const Case& c) const;

  Desk& desk_;
  RoomHolders& room_holders_;
  uint64_t epoch_ = 0;          // rises whenever pods may cost something else, or another Queue
  bool usage_changed_ = false;  // of some Queue, since the last TakeUsageChanged
  // Gangs with placed members that no Queue admits, until Queues or namespaces change.
  absl::btree_set<GangId> unadmitted_;
  absl::btree_set<GangId> claimants_;  // gangs with a claim, as of their last charge
};

}  // namespace maniple
