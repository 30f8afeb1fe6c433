#include "queue/loose_lanes.h"

#include <iterator>
#include <utility>

namespace maniple {

void LooseLanes::Change(const std::string& namespace_name, absl::FunctionRef<void(Lane&)> change) {
  const auto it = lanes_.try_emplace(namespace_name).first;
  Lane& lane = it->second;
  if (!lane.ready.empty() && !lane.aside) heads_.erase(*lane.ready.begin());
  change(lane);
  if (lane.aside) return;
  if (lane.ready.empty()) {
    lanes_.erase(it);
  } else {
    heads_.insert(*lane.ready.begin());
  }
}

void LooseLanes::Insert(ItemStanding& standing) {
  Change(standing.order.namespace_name,
         [&](Lane& lane) { size_ += lane.ready.insert(&standing).second ? 1 : 0; });
}

void LooseLanes::Erase(ItemStanding& standing) {
  Change(standing.order.namespace_name, [&](Lane& lane) { size_ -= lane.ready.erase(&standing); });
}

void LooseLanes::StandAside(const std::string& namespace_name) {
  Change(namespace_name, [](Lane& lane) { lane.aside = true; });
  some_aside_ = true;
}

bool LooseLanes::BringBack() {
  if (!std::exchange(some_aside_, false)) return false;
  for (auto it = lanes_.begin(); it != lanes_.end();) {
    Lane& lane = it->second;
    if (std::exchange(lane.aside, false) && !lane.ready.empty()) {
      heads_.insert(*lane.ready.begin());
    }
    it = lane.ready.empty() ? lanes_.erase(it) : std::next(it);
  }
  return true;
}

OrderedStandings LooseLanes::Take(absl::FunctionRef<bool(const ItemStanding&)> which) {
  OrderedStandings taken;
  for (const auto& [namespace_name, lane] : lanes_) {
    for (ItemStanding* standing : lane.ready) {
      if (which(*standing)) taken.insert(standing);
    }
  }
  for (ItemStanding* standing : taken) Erase(*standing);
  return taken;
}

}  // namespace maniple
