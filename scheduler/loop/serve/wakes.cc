#include "scheduler/loop/serve/wakes.h"

#include <algorithm>

namespace maniple {

void Wakes::WakeParked(absl::Time now) {
  if (desk_.ledger.HasChanged() || desk_.news.queues_changed)
    parts_.reservations.GatherHeldQuota(now);
  parts_.flights.LookAtHoldsAgain(desk_.news, now);
  absl::btree_set<NodeId> nodes = desk_.news.room_grew;
  nodes.insert(desk_.news.nodes_changed.begin(), desk_.news.nodes_changed.end());
  uint32_t relief = 0;
  if (!desk_.news.room_grew.empty()) relief |= kReliefRoom;
  if (!desk_.news.nodes_changed.empty()) relief |= kReliefNodes | kReliefCapacity;
  if (desk_.news.nodes_grew) relief |= kReliefCapacity;
  if (desk_.news.queues_changed) relief |= kReliefQueue;
  if (desk_.news.volumes_changed) relief |= kReliefVolumes;
  const bool more_bear = std::exchange(desk_.promises_fell, false) || desk_.news.budgets_changed;
  if (parts_.preemptions.TakeMoreVictims() || more_bear) relief |= kReliefVictims;
  if (parts_.preemptions.TakeMoreLoose() || more_bear) relief |= kReliefLoose;
  if (parts_.room_holders.TakeHoldsFell()) relief |= kReliefHolds;
  // When a node comes or goes, the nearness and evenness of domains change also for other nodes.
  const bool nodes_lost = std::exchange(nodes_lost_, false);
  if (nodes_lost || desk_.news.nodes_lost) relief |= kReliefLoss;
  const bool domains_changed = nodes_lost || !desk_.news.nodes_changed.empty();
  const std::vector<PodCountId> counts = desk_.state.TakeChangedCounts();
  if (domains_changed || !counts.empty()) relief |= kReliefPods;
  desk_.news = {};
  const size_t before = desk_.queue.ready();
  const HeldQuota held_quota = parts_.charges.AllHeldQuota();
  const auto short_at = [&](QueueItem item) {
    return parts_.charges.ShortOfQuotaAt(item, held_quota);
  };
  parts_.charges.WakeForQuota(short_at);
  if (relief != 0) {
    absl::btree_set<NodeId> held;  // more may fit there than is free
    for (const GangId holder : parts_.room_holders.holders()) {
      Reservation& reservation = *desk_.records.at(holder)->reservation;
      reservation.stale = true;
      for (const Reservation::Room& room : reservation.rooms) held.insert(room.node);
    }
    // What is held for a lost member without a Queue yields to who asks for nominal quota.
    for (const GangId mending : parts_.flights.mending()) {
      const Gang* gang = desk_.state.FindGang(mending);
      if (gang == nullptr || !gang->queue.empty()) continue;
      for (const HeldVacancy& vacancy : desk_.records.at(mending)->holds) {
        held.insert(vacancy.node);
      }
    }
    const auto fits = [&](ShapeId shape) {
      if (domains_changed ? desk_.state.AsksOfPods(shape) : desk_.state.LooksAt(shape, counts))
        return true;
      return std::ranges::any_of(nodes, [&](NodeId node) {
        if (desk_.state.NodeName(node).empty()) return false;
        return held.contains(node) || desk_.state.MayFit(shape, node);
      });
    };
    desk_.queue.Wake(relief, fits, short_at);
    parts_.flights.OfferRepairsHeldOn(nodes, now);
  }
  desk_.counters.wakes += static_cast<int64_t>(desk_.queue.ready() - before);
}

}  // namespace maniple
