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

  void GiveTreeToQueue();
  [[nodiscard]] HeldQuota AllHeldQuota() const;
  [[nodiscard]] std::optional<QuotaNodeId> ShortOfQuotaAt(QueueItem item,
                                                          const HeldQuota& held) const;
  void WakeForQuota(GangQueue::ShortAt short_at);
  // What it asks, as things are.
  [[nodiscard]] Supposition Suppose(const Case& c, const GangRequest& request);
  [[nodiscard]] std::optional<QuotaAsk> AskFor(const Case& c, const GangRequest& request);
  // Charges the gang's queue for every pod that takes room, reserved ones and holds included.
  void ChargeQuota(const Case& c);
  // In some flavors the request takes no more than its Queue has as its nominal.
  [[nodiscard]] bool AsksWithinNominal(const Case& c, const GangRequest& request,
                                       const QuotaTree& tree);
  [[nodiscard]] std::optional<QueueRefusal> RefusalOf(const Case& c, ItemKind kind);
  // Made anew; what usage decides of it is kept in the record.
  OrderKey OrderOf(Case& c, ItemKind kind);
  // Quotas or flavors are others since, and with them what the item would charge to whom.
  [[nodiscard]] bool OrderIsStale(Case& c, ItemKind kind);
  void LeaveLine(const Case& c);  // nothing is held for it any more

  void QuotaChanged(WarmState::QuotaChange change);
  void Forget(GangId gang);
  [[nodiscard]] const absl::btree_set<GangId>& unadmitted() const { return unadmitted_; }
  [[nodiscard]] bool TakeUsageChanged() { return std::exchange(usage_changed_, false); }

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
