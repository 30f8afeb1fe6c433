// Who is charged what: under which Queue a gang was admitted, what each of its pods costs there,
// and what it would ask of the quota.
//
// It keeps the ledger true to the gangs, and the queue's order true to the ledger.
//
// Owned by Leadership; one thread.
#pragma once

#include "scheduler/loop/desk.h"
#include "scheduler/loop/room_holders.h"
#include "scheduler/loop/supposition.h"

namespace maniple {

// What is held for later starts in the tree of a root, and may be lifted for somebody.
using HeldQuota = absl::btree_map<std::pair<QuotaNodeId, QuotaCellId>, Amount>;

class Charges final {
 public:
  Charges(Desk& desk, RoomHolders& room_holders) : desk_(desk), room_holders_(room_holders) {}

  // Order of service follows the tree of quotas.
  void GiveTreeToQueue();
  // Limits or flavors are others: every gang is to be charged again.
  void QuotaChanged(WarmState::QuotaChange change);

  // Charges the gang's Queue for every pod that takes room, reserved ones and holds included.
  void ChargeQuota(const Case& c);
  // No room is held for it any more, and it stands in no line.
  void LeaveLine(const Case& c);
  void Forget(GangId gang);
  // Something of them is placed, and nobody pays for it.
  [[nodiscard]] const absl::btree_set<GangId>& unadmitted() const { return unadmitted_; }
  // Whether usage of some Queue is not what it was when this was asked last.
  [[nodiscard]] bool TakeUsageChanged() { return std::exchange(usage_changed_, false); }

  // Wakes who waits for quota that came free; `short_at`: who is known to be short of it still.
  void WakeForQuota(ShortAt short_at);
  [[nodiscard]] HeldQuota AllHeldQuota() const;
  // Where the item is short, as far as that can be told without deciding; none: unknown.
  [[nodiscard]] std::optional<QuotaNodeId> ShortOfQuotaAt(QueueItem item,
                                                          const HeldQuota& held) const;

  // What it asks, as things are; what is held for it is free to it.
  [[nodiscard]] Supposition Suppose(const Case& c, const GangRequest& request);
  // Of its Queue; none: no quota applies.
  [[nodiscard]] std::optional<QuotaAsk> AskFor(const Case& c, const GangRequest& request);
  // In some flavors the request takes no more than its Queue has as its nominal.
  [[nodiscard]] bool AsksWithinNominal(const Case& c, const GangRequest& request,
                                       const QuotaTree& tree);
  // Why its Queue does not let it start, or begin anew; none: it does.
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Case& c, ItemKind kind);
  // Made anew; what usage decides of it is kept in the record.
  OrderKey OrderOf(Case& c, ItemKind kind);
  // Quotas or flavors are others since, and with them what the item would charge to whom.
  [[nodiscard]] bool OrderIsStale(Case& c, ItemKind kind);

 private:
  // What of that is held for it, and free to itself.
  [[nodiscard]] Demand OwnHeldQuota(const Case& c);
  struct Price {
    Demand demand;
    bool is_only = true;  // no other flavors would do
  };
  [[nodiscard]] Price PriceOf(const Case& c, ItemKind kind, QuotaNodeId queue);
  // In the first flavors that suit, else in the first ones.
  [[nodiscard]] Price PriceFor(const GangRequest& request, QuotaNodeId queue,
                               absl::FunctionRef<bool(const Demand&)> suits);
  // Of which Queue it is, by what it was admitted to.
  void FollowAdmission(const Case& c);
  [[nodiscard]] std::optional<std::string> AdmittedBefore(const Gang& gang) const;
  // Of a repair, where the Queue that has let the gang in does not let its namespace in any more.
  [[nodiscard]] std::optional<QueueRefusal> RefusalOfMore(const Case& c);

  Desk& desk_;
  RoomHolders& room_holders_;
  uint64_t epoch_ = 0;          // rises whenever pods may cost something else, or somebody else
  bool usage_changed_ = false;  // of some Queue, since it was asked
  // Something of them is placed, and no Queue that they name admits them: till Queues or
  // namespaces change.
  absl::btree_set<GangId> unadmitted_;
};

}  // namespace maniple
