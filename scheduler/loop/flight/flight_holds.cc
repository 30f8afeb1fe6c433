// Room and quota for the replacements of lost members.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "scheduler/cycle/decide.h"
#include "scheduler/loop/flight/flights.h"

namespace maniple {
namespace {

// Each costs a decision: whoever has lost members of many gangs at once does not hold up a turn.
constexpr size_t kMostPlacedAnew = 16;
constexpr size_t kMostTriedAlone = 8;

}  // namespace

void Flights::OfferRepairsHeldOn(const absl::btree_set<NodeId>& nodes, absl::Time now) {
  erase_if(mending_, [this](GangId id) {
    const auto it = desk_.records.find(id);
    return it == desk_.records.end() || it->second->holds.empty();
  });
  for (const GangId id : mending_) {
    const GangRecord& record = *desk_.records.at(id);
    const bool there = std::ranges::any_of(
        record.holds, [&](const HeldVacancy& held) { return nodes.contains(held.node); });
    if (!there || record.queued != ItemKind::kRepair) continue;
    std::optional<Case> c = desk_.Open(id, now);
    if (!c.has_value()) continue;
    desk_.queue.Offer({id, ItemKind::kRepair}, charges_.OrderOf(*c, ItemKind::kRepair));
  }
}

// Vacancies for which no claim makes room.
std::vector<Vacancy> Flights::VacanciesToHold(const Case& c) const {
  std::vector<Vacancy> lacking;
  for (const Vacancy& vacancy : c.record.binding->vacancies()) {
    const bool yielded = std::ranges::find(c.record.yielded, vacancy.pod) != c.record.yielded.end();
    if (!vacancy.occupied && !yielded) lacking.push_back(vacancy);
  }
  if (!c.record.claim.has_value()) return lacking;
  for (const Claim::Room& room : c.record.claim->rooms) {
    if (lacking.empty()) break;
    const auto same = std::ranges::find(lacking, room.shape, &Vacancy::shape);
    lacking.erase(same != lacking.end() ? same : lacking.begin());
  }
  return lacking;
}

// Holds exactly what the vacancies need: the quota always, the room as far as there is some.
void Flights::ReconcileHolds(Case& c) {
  std::vector<Vacancy> lacking = VacanciesToHold(c);
  c.record.holds.EraseIf([&](const HeldVacancy& held) {
    const auto same = std::ranges::find(lacking, held.vacancy);
    if (same != lacking.end() && held.HasRoom()) {
      lacking.erase(same);
      return false;
    }
    desk_.state.ReleaseHold(held.hold, desk_.news);
    return true;
  });
  for (const Vacancy& vacancy : lacking) {
    const auto* charged = std::ranges::find(c.record.charged_as, vacancy.pod, &ChargedAs::pod);
    HeldVacancy held{.kind = desk_.ledger.KindOf(vacancy.node), .vacancy = vacancy};
    if (charged != c.record.charged_as.end()) held.kind = charged->kind;
    if (const std::optional<NodeId> node = PlaceForHold(c, vacancy)) {
      held.hold = desk_.state.Hold(*node, vacancy.shape);
      held.node = *node;
    }
    c.record.holds.push_back(held);
  }
  if (!c.record.holds.empty()) mending_.insert(c.gang.id);
}

// The lost member's own node, or another of its domain if that one is unfit.
std::optional<NodeId> Flights::PlaceForHold(Case& c, const Vacancy& vacancy) {
  if (!vacancy.unfit && vacancy.node.valid() && !desk_.state.NodeName(vacancy.node).empty() &&
      desk_.state.MayFit(vacancy.shape, vacancy.node)) {
    return vacancy.node;
  }
  GangRequest request = desk_.RequestOf(c, ItemKind::kRepair);
  // A replacement in the lost member's sub-group, and as if in a slice with it.
  const RankPlace rank{.group = std::numeric_limits<int32_t>::max(), .index = 0};
  const auto part = static_cast<size_t>(vacancy.sub_group);
  const bool of_part = vacancy.sub_group >= 0 && part < request.sub_group_topologies.size();
  const int32_t sub_group = of_part ? vacancy.sub_group : -1;
  const bool part_binds = of_part && request.sub_group_topologies[part] != TopologyRequest{};
  request.wants = {{.pod = PodId(), .shape = vacancy.shape, .sub_group = sub_group, .rank = rank}};
  if ((request.topology.slice_size > 0 || part_binds) && vacancy.node.valid()) {
    request.pinned.push_back(
        {.node = vacancy.node, .shape = vacancy.shape, .sub_group = sub_group, .rank = rank});
  }
  request.own_holds.clear();
  request.need = {.total = 1, .sub_groups = std::vector<int32_t>(c.gang.spec.sub_groups.size(), 0)};
  const Decision decision = Decide(
      {.snapshot = desk_.Picture(), .request = request, .now = c.now, .seed = desk_.options.seed},
      desk_.options.profile);
  const auto* plan = std::get_if<Plan>(&decision);
  return plan == nullptr ? std::nullopt : std::optional(plan->placements.front().node);
}

void Flights::LookAtHoldsAgain(const Delta& news, absl::Time now) {
  for (const GangId id : mending_) {
    const auto it = desk_.records.find(id);
    if (it == desk_.records.end()) continue;
    bool look = false, touched = false;
    for (HeldVacancy& held : it->second->holds) {
      const auto may_fit = [&](NodeId node) {
        return !desk_.state.NodeName(node).empty() && desk_.state.MayFit(held.vacancy.shape, node);
      };
      if (held.HasRoom() && news.nodes_changed.contains(held.node)) {
        // Whether the node still takes the member shows when its own hold is not in the way.
        desk_.state.ReleaseHold(std::exchange(held.hold, HoldId()), desk_.news);
        if (may_fit(held.node)) held.hold = desk_.state.Hold(held.node, held.vacancy.shape);
        look = look || !held.hold.valid();
        touched = true;
      } else if (!held.HasRoom()) {
        look = look || std::ranges::any_of(news.nodes_changed, may_fit) ||
               std::ranges::any_of(news.room_grew, may_fit);
      }
    }
    if (look) unplaced_.insert(id);
    if (touched) desk_.to_report.insert(id);
  }
  for (size_t i = 0; i < kMostPlacedAnew && !unplaced_.empty(); ++i) {
    const GangId id = *unplaced_.begin();
    unplaced_.erase(unplaced_.begin());
    std::optional<Case> c = desk_.Open(id, now);
    if (!c.has_value() || !c->record.binding.has_value()) continue;
    ReconcileHolds(*c);
    charges_.ChargeQuota(*c);
    desk_.to_report.insert(id);
  }
}

bool Flights::YieldHolds(const Case& c, const GangRequest& request, std::span<const GangId> of) {
  std::vector<GangId> holders;
  for (const GangId id : of) {
    const GangRecord& record = *desk_.records.at(id);
    // Room that a claim is about to free is nobody else's.
    if (id != c.gang.id && !record.holds.empty() && !record.claim.has_value())
      holders.push_back(id);
  }
  const auto fits_without = [&](std::span<const GangId> some) {
    Supposition without = charges_.Suppose(c, request);
    for (const GangId id : some) without.Free(HeldFor(id));
    return FindPlan(without.Input(), desk_.options.profile).has_value();
  };
  if (holders.empty() || !fits_without(holders)) return false;
  std::span<const GangId> enough = holders;
  for (size_t i = 0; i < std::min(holders.size(), kMostTriedAlone) && enough.size() > 1; ++i) {
    const std::span<const GangId> one(&holders[i], 1);
    if (fits_without(one)) enough = one;
  }
  for (const GangId id : enough) {
    Case holder = *desk_.Open(id, c.now);
    for (const HeldVacancy& held : holder.record.holds) {
      holder.record.yielded.push_back(held.vacancy.pod);
    }
    DropHolds(holder.record);
    charges_.ChargeQuota(holder);
    desk_.to_report.insert(id);
  }
  return true;
}

OpenHolds Flights::HeldFor(GangId id) const {
  const GangRecord& record = *desk_.records.at(id);
  OpenHolds open;
  for (const HeldVacancy& held : record.holds) {
    if (held.HasRoom()) {
      open.rooms.push_back({held.node, held.vacancy.shape, Occupant::kHold});
    }
  }
  const QuotaNodeId queue = desk_.ledger.book().QueueNamed(record.queue);
  if (queue.valid()) {
    open.quota.emplace_back(
        queue, desk_.ledger.CostOf(record.queue, HeldPods(record), *desk_.Picture().tables));
  }
  return open;
}

void Flights::DropHolds(GangRecord& record) {
  for (const HeldVacancy& held : record.holds) desk_.state.ReleaseHold(held.hold, desk_.news);
  record.holds.clear();
}

}  // namespace maniple
