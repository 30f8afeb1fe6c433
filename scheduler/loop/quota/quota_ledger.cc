#include "scheduler/loop/quota/quota_ledger.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

// `more` has at least as much of every cell.
bool Covers(const Demand& more, const Demand& less) {
  return std::ranges::all_of(less, [&more](const CellAmount& part) {
    const auto it = std::ranges::lower_bound(more, part.cell, {}, &CellAmount::cell);
    return it != more.end() && it->cell == part.cell && it->amount >= part.amount;
  });
}

}  // namespace

bool QuotaLedger::Refresh() {
  if (!std::exchange(stale_, false)) return false;
  book_.Rebuild();
  for (const auto& [gang, account] : accounts_) book_.tree().Add(account.queue, account.cost);
  changed_.clear();
  return true;
}

Demand QuotaLedger::CostOf(absl::string_view queue, std::span<const PlacedPods> placed,
                           const Tables& tables) const {
  const QuotaNodeId id = book_.QueueNamed(queue);
  if (!id.valid()) return {};
  std::map<QuotaCellId, Amount> sum;
  for (const PlacedPods& pods : placed) {
    const PodConstraints& pod = tables.ShapeOf(pods.shape).constraints;
    const NodeKindId known = nodes_.KindOf(pods.node);
    const NodeKindId kind = known.valid() ? known : pods.kind;
    for (const CellAmount& each : nodes_.CostOn(book_, id, pod, kind)) {
      sum[each.cell] += each.amount * pods.pods;
    }
  }
  Demand cost;
  for (const auto& [cell, amount] : sum) cost.push_back({cell, amount});
  return cost;
}

bool QuotaLedger::Charge(GangId gang, absl::string_view queue, Demand cost) {
  const QuotaNodeId id = book_.QueueNamed(queue);
  const auto it = accounts_.find(gang);
  if (it != accounts_.end()) {
    Account& account = it->second;
    if (account.queue == id && account.cost == cost) return false;
    book_.tree().Remove(account.queue, account.cost);
    changed_[account.queue] |= account.queue != id || !Covers(cost, account.cost);
    if (!id.valid() || cost.empty()) {
      accounts_.erase(it);
      return true;
    }
  } else if (!id.valid() || cost.empty()) {
    return false;
  }
  book_.tree().Add(id, cost);
  (void)changed_[id];
  accounts_[gang] = {.queue = id, .cost = std::move(cost)};
  return true;
}

void QuotaLedger::NotePromiseEnded(absl::string_view queue) {
  const QuotaNodeId id = book_.QueueNamed(queue);
  if (id.valid()) changed_[id] = true;
}

Demand QuotaLedger::ChargedTo(QuotaNodeId queue, GangId gang) const {
  const auto it = accounts_.find(gang);
  return it == accounts_.end() || it->second.queue != queue ? Demand() : it->second.cost;
}

std::vector<QuotaLedger::Changed> QuotaLedger::TakeChanged() {
  std::vector<Changed> changes;
  for (const auto& [queue, fell] : std::exchange(changed_, {})) changes.push_back({queue, fell});
  return changes;
}

void QuotaLedger::Forget() {
  for (const auto& [gang, account] : accounts_) book_.tree().Remove(account.queue, account.cost);
  accounts_.clear();
  changed_.clear();
}

std::optional<QuotaAsk> QuotaLedger::AskFor(absl::string_view queue,
                                            std::span<const ShapeId> shapes,
                                            const Tables& tables) const {
  const QuotaNodeId id = book_.QueueNamed(queue);
  if (!id.valid()) return std::nullopt;
  QuotaAsk ask{.tree = &book_.tree(), .queue = id, .options = {}};
  for (const ShapeId shape : shapes) {
    if (ask.options.contains(shape)) continue;
    ask.options.emplace(shape, OptionsFor(id, shape, tables));
  }
  return ask;
}

absl::Status QuotaLedger::CheckInvariants() const {
  std::map<std::pair<QuotaNodeId, QuotaCellId>, Amount> usage;
  for (const auto& [gang, account] : accounts_) {
    for (const CellAmount& part : account.cost) usage[{account.queue, part.cell}] += part.amount;
  }
  for (uint32_t n = 0; n < tree().node_count(); ++n) {
    if (!tree().Children(QuotaNodeId(n)).empty()) continue;
    for (uint32_t c = 0; c < tree().cell_count(); ++c) {
      const auto it = usage.find({QuotaNodeId(n), QuotaCellId(c)});
      const Amount charged = it == usage.end() ? Amount() : it->second;
      const Amount used = tree().Usage(QuotaNodeId(n), QuotaCellId(c));
      if (used == charged) continue;
      return absl::InternalError(
          absl::StrCat("QuotaLegal: queue ", std::string(book_.NameOf(QuotaNodeId(n))), " uses ",
                       used.units(), " of ", book_.ResourceOf(QuotaCellId(c)),
                       ", but its gangs are charged ", charged.units()));
    }
  }
  return tree().CheckInvariants();
}

}  // namespace maniple
