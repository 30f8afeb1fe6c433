// Quota in the loop: what gangs are charged, what their queue allows, and the tree that both are
// told by.
#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "scheduler/cycle/decide.h"
#include "scheduler/loop/leadership.h"

namespace maniple {
namespace {

// What its node was like while it was there.
NodeKindId KindKnownOf(const GangRecord& record, PodId pod) {
  const auto* known = std::ranges::find(record.charged_as, pod, &ChargedAs::pod);
  return known == record.charged_as.end() ? NodeKindId() : known->kind;
}

}  // namespace

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

void Leadership::QuotaChanged(WarmState::QuotaChange change) {
  if (change.tree) {
    last_noted_.clear();  // Queues that are gone among them
    GiveTreeToQueue();
  }
  if (!change.costs) return;
  ++charge_epoch_;
  queue_->ForgetShortages();
  openings_changed_ = true;
  Touch(state_.Gangs());
}

void Leadership::GiveTreeToQueue() {
  std::vector<GangQueue::QueueRules> rules;
  for (uint32_t i = 0; i < ledger_.book().node_count(); ++i) {
    rules.push_back({.ordering = ledger_.book().OrderingOf(QuotaNodeId(i))});
  }
  queue_->SetTree(&ledger_.tree(), std::move(rules), options_.fair_sharing);
}

// What the item would charge, in flavors that have room for it if there are such.
Leadership::Price Leadership::PriceOf(const Case& c, ItemKind kind, QuotaNodeId queue) {
  // Only Queues of one Cohort are compared by it.
  if (!queue.valid() || !ledger_.tree().Parent(queue).valid()) return {};
  return PriceFor(RequestOf(c, kind), queue, [this, queue](const Demand& demand) {
    return ledger_.tree().Fits(queue, demand);
  });
}

bool Leadership::AsksWithinNominal(const Case& c, const GangRequest& request,
                                   const QuotaTree& tree) {
  const QuotaNodeId queue = ledger_.book().QueueNamed(c.gang.queue);
  if (!queue.valid()) return false;
  const auto within = [&tree, queue](const Demand& demand) {
    return !tree.BorrowsWith(queue, queue, demand);
  };
  return within(PriceFor(request, queue, within).demand);
}

Leadership::Price Leadership::PriceFor(const GangRequest& request, QuotaNodeId queue,
                                       absl::FunctionRef<bool(const Demand&)> suits) {
  const size_t members = request.scope == DecideScope::kSurplus
                             ? 1
                             : static_cast<size_t>(std::max(0, request.need.total));
  std::map<ShapeId, int64_t> counts;
  for (size_t i = 0; i < std::min(members, request.wants.size()); ++i) {
    ++counts[request.wants[i].shape];
  }
  std::map<QuotaCellId, Amount> sum;
  Price price;
  for (const auto& [shape, count] : counts) {
    const std::vector<QuotaOption> options = ledger_.OptionsFor(queue, shape, *Picture().tables);
    if (options.size() > 1) price.is_only = false;
    const QuotaOption* best = &options.front();
    for (const QuotaOption& option : options) {
      Demand all = option.each;
      for (CellAmount& part : all) part.amount = part.amount * count;
      if (!suits(all)) continue;
      best = &option;
      break;
    }
    for (const CellAmount& part : best->each) sum[part.cell] += part.amount * count;
  }
  for (const auto& [cell, amount] : sum) price.demand.push_back({cell, amount});
  return price;
}

void Leadership::WakeForQuota(GangQueue::ShortAt short_at) {
  const QuotaTree& tree = ledger_.tree();
  absl::btree_set<QuotaNodeId> nodes;
  const std::vector<QuotaLedger::Changed> changes = ledger_.TakeChanged();
  for (const auto& [queue, fell] : changes) {
    queue_->UsageChanged(queue);
    // What rises helps nobody, except where a borrower's larger share makes it a victim: who may
    // evict is never known to be short.
    if (!fell && ledger_.book().Reclaims(tree.Root(queue))) nodes.insert(tree.Root(queue));
    for (QuotaNodeId node = queue; fell && node.valid(); node = tree.Parent(node)) {
      nodes.insert(node);
    }
  }
  for (const QuotaNodeId node : nodes) queue_->WakeQuota(node, short_at);
  if (!changes.empty()) usage_changed_ = true;
}

Leadership::HeldQuota Leadership::AllHeldQuota() const {
  HeldQuota all;
  for (const GangId holder : holders_) {
    const GangRecord& record = *records_.at(holder);
    const QuotaNodeId queue = ledger_.book().QueueNamed(record.queue);
    if (!queue.valid()) continue;
    const QuotaNodeId root = ledger_.tree().Root(queue);
    for (const CellAmount& part : record.reservation->held) all[{root, part.cell}] += part.amount;
  }
  return all;
}

std::optional<QuotaNodeId> Leadership::ShortOfQuotaAt(QueueItem item, const HeldQuota& held) const {
  const GangRecord& record = *records_.at(item.gang);
  // What it would charge to whom may be something else now.
  if (!record.waits_for_demand || record.order_epoch != charge_epoch_) return std::nullopt;
  const QuotaTree& tree = ledger_.tree();
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

std::optional<QuotaAsk> Leadership::AskFor(const Case& c, const GangRequest& request) {
  std::vector<ShapeId> shapes;
  for (const Want& want : request.wants) shapes.push_back(want.shape);
  return ledger_.AskFor(c.gang.queue, shapes, *Picture().tables);
}

Supposition Leadership::Suppose(const Case& c, const GangRequest& request) {
  Supposition supposition(
      {.snapshot = Picture(), .request = request, .now = c.now, .seed = options_.seed},
      ledger_.tree(), AskFor(c, request));
  if (supposition.queue().valid()) supposition.Refund(supposition.queue(), OwnHeldQuota(c));
  return supposition;
}

Answer Leadership::Ask(const Case& c, const GangRequest& request) {
  Supposition as_is = Suppose(c, request);
  DecideInput input = as_is.Input();
  input.cache = &rooms_;
  Answer answer{.decision = Decide(input, options_.profile)};
  if (auto* rejection = std::get_if<Rejection>(&answer.decision))
    MindMig(request, c.now, *rejection);
  if (request.scope == DecideScope::kQuorum && MoreRoomMayHelp(answer.decision)) {
    TryHeldRoom(c, as_is, answer);
  }
  return answer;
}

Demand Leadership::OwnHeldQuota(const Case& c) {
  const std::vector<PlacedPods> held = HeldPods(c.record);
  Demand own = held.empty() ? Demand() : ledger_.CostOf(c.record.queue, held, *Picture().tables);
  if (c.record.reservation.has_value()) own = Sum(own, c.record.reservation->held);
  return own;
}

void Leadership::ChargeQuota(const Case& c) {
  FollowAdmission(c);
  const std::string& queue = c.record.queue;
  if (queue.empty()) {
    (void)ledger_.Charge(c.gang.id, "", {});
    return;
  }
  std::vector<PlacedPods> placed = HeldPods(c.record);
  RareVector<ChargedAs> charged_as;
  for (const Member& member : c.gang.members) {
    const PodFacts* pod = state_.FindPod(member.pod);
    if (pod == nullptr || pod->terminal) continue;
    const NodeId ahead = pod->reserved.valid() ? pod->reserved : pod->awaited;
    if (pod->node_name.empty() && !ahead.valid() && !pod->is_awaited) continue;
    const NodeId node = pod->node.valid() ? pod->node : ahead;
    const NodeKindId kind =
        ledger_.KindOf(node).valid() ? ledger_.KindOf(node) : KindKnownOf(c.record, member.pod);
    if (kind.valid()) charged_as.push_back({member.pod, kind});
    if (!placed.empty() && placed.back().shape == member.shape && placed.back().node == node &&
        placed.back().kind == kind) {
      ++placed.back().pods;
    } else {
      placed.push_back({.shape = member.shape, .node = node, .kind = kind});
    }
  }
  c.record.charged_as = std::move(charged_as);
  Demand cost = placed.empty() ? Demand() : ledger_.CostOf(queue, placed, *Picture().tables);
  if (c.record.reservation.has_value()) cost = Sum(cost, c.record.reservation->held);
  (void)ledger_.Charge(c.gang.id, queue, std::move(cost));
}

}  // namespace maniple
