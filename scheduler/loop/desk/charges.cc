#include "scheduler/loop/desk/charges.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace maniple {

// The kind of the node that the pod was charged on last, for a node that is gone.
NodeKindId Charges::KindKnownOf(const GangRecord& record, PodId pod) {
  const auto* known = std::ranges::find(record.charged_as, pod, &ChargedAs::pod);
  return known == record.charged_as.end() ? NodeKindId() : known->kind;
}

OrderKey Charges::OrderOf(Case& c, ItemKind kind) {
  const QuotaNodeId queue =
      c.gang.queue.empty() ? QuotaNodeId() : desk_.ledger.book().QueueNamed(c.gang.queue);
  Price price = PriceOf(c, kind, queue);
  const bool same = queue == c.record.order_queue && price.demand == c.record.order_demand;
  if (!same && room_holders_.lines().IsFirst(c.gang.id)) room_holders_.OpeningsChanged();
  c.record.order_epoch = epoch_;
  c.record.order_queue = queue;
  c.record.order_demand = std::move(price.demand);
  c.record.order_is_only = price.is_only;
  c.record.waits_for_demand = false;
  return {.priority = c.gang.priority,
          .queued = QueuedAt(c.gang, c.record),
          .namespace_name = c.gang.key.namespace_name,
          .name = c.gang.key.name,
          .queue = queue,
          .demand = c.record.order_demand};
}

bool Charges::OrderIsStale(Case& c, ItemKind kind) {
  return c.record.order_epoch != epoch_ && OrderDiffers(c, kind);
}

bool Charges::HasOtherFlavorsNow(Case& c, ItemKind kind) {
  return !c.record.order_is_only && OrderDiffers(c, kind);
}

bool Charges::OrderDiffers(Case& c, ItemKind kind) {
  const QuotaNodeId queue = c.record.order_queue;
  const Demand demand = c.record.order_demand;
  const OrderKey now = OrderOf(c, kind);
  return now.queue != queue || now.demand != demand;
}

Demand Sum(const Demand& a, const Demand& b) {
  std::map<QuotaCellId, Amount> sum;
  for (const Demand* part : {&a, &b}) {
    for (const CellAmount& amount : *part) sum[amount.cell] += amount.amount;
  }
  Demand out;
  for (const auto& [cell, amount] : sum) out.push_back({cell, amount});
  return out;
}

std::vector<PlacedPods> HeldPods(const GangRecord& record) {
  std::vector<PlacedPods> held;
  for (const HeldVacancy& hold : record.holds) {
    held.push_back({.shape = hold.vacancy.shape, .node = hold.node, .kind = hold.kind});
  }
  if (record.claim.has_value()) {
    for (const Claim::Room& room : record.claim->rooms) {
      held.push_back({.shape = room.shape, .node = room.node});
    }
  }
  return held;
}

uint64_t Charges::KindsUnder(const Gang& gang) const {
  uint64_t kinds = 0;
  if (gang.queue.empty()) return kinds;
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound || !member.node.valid()) continue;
    kinds = 31 * kinds + 1 + desk_.ledger.KindOf(member.node).index();
  }
  return kinds;
}

void Charges::QuotaChanged(WarmState::QuotaChange change) {
  if (change.tree) GiveTreeToQueue();
  if (!change.costs) return;
  ++epoch_;
  desk_.queue.ForgetShortages();
  room_holders_.OpeningsChanged();
  const std::vector<GangId> all = desk_.state.Gangs();
  desk_.touched.insert(all.begin(), all.end());
}

void Charges::GiveTreeToQueue() {
  std::vector<QueueRules> rules;
  for (uint32_t i = 0; i < desk_.ledger.book().node_count(); ++i) {
    rules.push_back({.ordering = desk_.ledger.book().OrderingOf(QuotaNodeId(i))});
  }
  desk_.queue.SetTree(&desk_.ledger.tree(), std::move(rules), desk_.options.fair_sharing);
}

// The charge of the item, in flavors that have room for it if there are such.
Charges::Price Charges::PriceOf(const Case& c, ItemKind kind, QuotaNodeId queue) {
  // The order compares charges only between Queues of one Cohort.
  if (!queue.valid() || !desk_.ledger.tree().Parent(queue).valid()) return {};
  return PriceFor(desk_.RequestOf(c, kind), queue, [this, queue](const Demand& demand) {
    return desk_.ledger.tree().Fits(queue, demand);
  });
}

bool Charges::AsksWithinNominal(const Case& c, const GangRequest& request, const QuotaTree& tree) {
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(c.gang.queue);
  if (!queue.valid()) return false;
  const auto within = [&tree, queue](const Demand& demand) {
    return !tree.BorrowsWith(queue, queue, demand);
  };
  return within(PriceFor(request, queue, within).demand);
}

Demand Charges::DemandOf(const GangRequest& request, QuotaNodeId queue, const QuotaTree& tree) {
  const auto fits = [&tree, queue](const Demand& demand) { return tree.Fits(queue, demand); };
  return PriceFor(request, queue, fits).demand;
}

bool Charges::LacksQuota(const Case& c, const GangRequest& request) {
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(c.gang.queue);
  if (!queue.valid()) return false;
  const auto fits = [this, queue](const Demand& demand) {
    return desk_.ledger.tree().Fits(queue, demand);
  };
  const Price price = PriceFor(request, queue, fits);
  return price.is_only && !fits(price.demand);
}

Charges::Price Charges::PriceFor(const GangRequest& request, QuotaNodeId queue,
                                 absl::FunctionRef<bool(const Demand&)> suits) {
  const size_t members = request.scope == DecideScope::kSurplus
                             ? 1
                             : static_cast<size_t>(std::max(0, request.need.total));
  std::map<ShapeId, int64_t> counts;
  for (size_t i = 0; i < std::min(members, request.wants.size()); ++i) {
    ++counts[request.wants[i].shape];
  }
  Price price;
  for (const auto& counted : counts) {
    const int64_t count = counted.second;
    const std::vector<QuotaOption> options =
        desk_.ledger.OptionsFor(queue, counted.first, *desk_.Picture().tables);
    if (options.size() > 1) price.is_only = false;
    // With the members of the shapes before: they draw on the same quota.
    const auto with_all = [&price, count](const QuotaOption& option) {
      Demand all = option.each;
      for (CellAmount& part : all) part.amount = part.amount * count;
      return Sum(price.demand, all);
    };
    const auto best = std::ranges::find_if(
        options, [&](const QuotaOption& option) { return suits(with_all(option)); });
    price.demand = with_all(best != options.end() ? *best : options.front());
  }
  return price;
}

void Charges::WakeForQuota(ShortAt short_at) {
  const QuotaTree& tree = desk_.ledger.tree();
  absl::btree_set<QuotaNodeId> nodes;
  const std::vector<QuotaLedger::Changed> changes = desk_.ledger.TakeChanged();
  for (const auto& [queue, fell] : changes) {
    desk_.queue.UsageChanged(queue);
    // Usage that rises helps nobody, unless a borrower's larger share makes it a victim. A gang
    // that may evict is never known to be short, so it is woken all the same.
    if (!fell && desk_.ledger.book().Reclaims(tree.Root(queue))) nodes.insert(tree.Root(queue));
    for (QuotaNodeId node = queue; fell && node.valid(); node = tree.Parent(node)) {
      nodes.insert(node);
    }
  }
  for (const QuotaNodeId node : nodes) desk_.queue.WakeQuota(node, short_at);
  if (!changes.empty()) usage_changed_ = true;
}

HeldQuota Charges::AllHeldQuota() const {
  HeldQuota all;
  for (const GangId holder : room_holders_.holders()) {
    const GangRecord& record = *desk_.records.at(holder);
    const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
    if (!queue.valid()) continue;
    const QuotaNodeId root = desk_.ledger.tree().Root(queue);
    for (const CellAmount& part : record.reservation->held) all[{root, part.cell}] += part.amount;
  }
  return all;
}

std::optional<QuotaNodeId> Charges::ShortOfQuotaAt(QueueItem item, const HeldQuota& held) const {
  const GangRecord& record = *desk_.records.at(item.gang);
  // Since the charge was computed, its cells or their prices may have changed.
  if (!record.waits_for_demand || record.order_epoch != epoch_) return std::nullopt;
  const QuotaTree& tree = desk_.ledger.tree();
  const QuotaNodeId queue = record.order_queue;
  for (const CellAmount& part : record.order_demand) {
    const QuotaNodeId node = tree.ShortAt(queue, std::span(&part, 1));
    if (!node.valid()) continue;
    const QuotaNodeId root = tree.Root(queue);
    const auto lent = held.find({root, part.cell});
    if (lent == held.end()) return node;
    // Out of debt more comes free than is lifted.
    const Amount available = tree.Available(queue, part.cell);
    if (available >= Amount(0) && part.amount > available + lent->second) return root;
  }
  return std::nullopt;
}

std::optional<QuotaAsk> Charges::AskFor(const Case& c, const GangRequest& request) {
  std::vector<ShapeId> shapes;
  for (const Want& want : request.wants) shapes.push_back(want.shape);
  return desk_.ledger.AskFor(c.gang.queue, shapes, *desk_.Picture().tables);
}

Supposition Charges::Suppose(const Case& c, const GangRequest& request) {
  Supposition supposition(
      {.snapshot = desk_.Picture(), .request = request, .now = c.now, .seed = desk_.options.seed},
      desk_.ledger.tree(), AskFor(c, request));
  if (supposition.queue().valid()) supposition.Refund(supposition.queue(), OwnHeldQuota(c));
  return supposition;
}

Demand Charges::OwnHeldQuota(const Case& c) {
  Demand own = HeldCharge(c.record);
  if (c.record.reservation.has_value()) own = Sum(own, c.record.reservation->held);
  return own;
}

void Charges::ChargeQuota(const Case& c) {
  (void)ChargeAlone(c);
  ChargeClaimsPaidBy(c.gang.id, c.now);
}

bool Charges::ChargeAlone(const Case& c) {
  FollowAdmission(c);
  NoteClaim(c);
  const std::string& queue = c.record.queue;
  if (queue.empty()) return desk_.ledger.Charge(c.gang.id, "", {});
  std::vector<PlacedPods> placed = HeldPods(c.record);
  RareVector<ChargedAs> charged_as;
  for (const Member& member : c.gang.members) {
    const PodFacts* pod = desk_.state.FindPod(member.pod);
    if (pod == nullptr || pod->terminal) continue;
    const NodeId ahead = pod->reserved.valid() ? pod->reserved : pod->awaited;
    if (pod->node_name.empty() && !ahead.valid() && !pod->is_awaited) continue;
    const NodeId node = pod->node.valid() ? pod->node : ahead;
    const NodeKindId kind = desk_.ledger.KindOf(node).valid() ? desk_.ledger.KindOf(node)
                                                              : KindKnownOf(c.record, member.pod);
    if (kind.valid()) charged_as.push_back({member.pod, kind});
    if (!placed.empty() && placed.back().shape == member.shape && placed.back().node == node &&
        placed.back().kind == kind) {
      ++placed.back().pods;
    } else {
      placed.push_back({.shape = member.shape, .node = node, .kind = kind});
    }
  }
  c.record.charged_as = std::move(charged_as);
  Demand cost =
      placed.empty() ? Demand() : desk_.ledger.CostOf(queue, placed, *desk_.Picture().tables);
  if (c.record.claim.has_value()) cost = Beyond(cost, c.record.claim->paid);
  if (c.record.reservation.has_value()) cost = Sum(cost, c.record.reservation->held);
  return desk_.ledger.Charge(c.gang.id, queue, std::move(cost));
}

void Charges::LeaveLine(const Case& c) {
  // Whoever comes back goes on from there.
  c.record.was_head = std::max(c.record.was_head, room_holders_.lines().Leave(c.gang.id, c.now));
  if (!c.record.reservation.has_value()) return;
  room_holders_.Drop(c.gang.id, c.record);
  ChargeQuota(c);
}

void Charges::Forget(GangId gang, absl::Time now) {
  unadmitted_.erase(gang);
  claimants_.erase(gang);
  (void)desk_.ledger.Charge(gang, "", {});
  ChargeClaimsPaidBy(gang, now);
}

}  // namespace maniple
