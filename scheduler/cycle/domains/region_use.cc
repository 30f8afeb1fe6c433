#include "scheduler/cycle/domains/region_use.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "api/base/check.h"

namespace maniple {
namespace {

constexpr int64_t kManyPods = std::numeric_limits<int64_t>::max();

struct SliceRoom {
  uint32_t domain = 0;
  int64_t room = 0;
};
// Adds up the room of equal domains.
void Merge(std::vector<SliceRoom>& rooms) {
  std::ranges::sort(rooms, {}, &SliceRoom::domain);
  size_t end = 0;
  for (const SliceRoom& room : rooms) {
    if (end > 0 && rooms[end - 1].domain == room.domain) {
      rooms[end - 1].room += room.room;
    } else {
      rooms[end++] = room;
    }
  }
  rooms.resize(end);
}

}  // namespace

Packing::Answer Takes(const DomainCount& count, const SliceDemand& demand) {
  if (count.room < demand.pods()) return Packing::Answer::kDoesNotFit;
  if (demand.slices.empty()) return Packing::Answer::kFits;
  return PackSlices(demand, count.slice_domains, count.slice_room).answer;
}

// The nodes by domain of the level; nodes outside every domain are left out.
struct RegionUse::Divided {
  std::vector<Bin> bins;  // by domain
  std::vector<std::vector<RankedNode>> nodes;
  std::vector<std::vector<SliceRoom>> slices;  // the slices' domains in each, if asked for

  [[nodiscard]] static Divided Of(const std::vector<RankedNode>& region, const DomainLevel& level,
                                  const std::vector<bool>& held);
  [[nodiscard]] bool Takes(const std::vector<uint32_t>& set, const SliceDemand& demand) const;
  [[nodiscard]] SliceBins BinsOf(const std::vector<uint32_t>& set) const;
};

RegionUse::Divided RegionUse::Divided::Of(const std::vector<RankedNode>& region,
                                          const DomainLevel& level, const std::vector<bool>& held) {
  Divided divided;
  absl::flat_hash_map<uint32_t, size_t> places;
  std::vector<std::pair<uint32_t, const RankedNode*>> inside;
  for (const RankedNode& node : region) {
    const uint32_t domain = level.domain_of[node.room.node.index()];
    if (domain == DomainLevel::kOutside) continue;
    inside.emplace_back(domain, &node);
    places.try_emplace(domain, 0);
  }
  std::vector<uint32_t> domains;
  for (const auto& [domain, place] : places) domains.push_back(domain);
  std::ranges::sort(domains);
  for (size_t i = 0; i < domains.size(); ++i) {
    places[domains[i]] = i;
    divided.bins.push_back({.domain = domains[i], .room = 0, .held = held[domains[i]]});
  }
  divided.nodes.resize(domains.size());
  for (const auto& [domain, node] : inside) {
    const size_t place = places[domain];
    divided.bins[place].room += node->room.pods;
    divided.nodes[place].push_back(*node);
  }
  return divided;
}

bool RegionUse::Divided::Takes(const std::vector<uint32_t>& set, const SliceDemand& demand) const {
  DomainCount count;
  for (const uint32_t bin : set) count.room += bins[bin].room;
  if (count.room < demand.pods()) return false;
  if (demand.slices.empty()) return true;
  std::vector<SliceRoom> rooms;
  for (const uint32_t bin : set) {
    rooms.insert(rooms.end(), slices[bin].begin(), slices[bin].end());
  }
  Merge(rooms);
  for (const SliceRoom& room : rooms) {
    count.slice_domains.push_back(room.domain);
    count.slice_room.push_back(room.room);
  }
  return maniple::Takes(count, demand) == Packing::Answer::kFits;
}

SliceBins RegionUse::Divided::BinsOf(const std::vector<uint32_t>& set) const {
  SliceBins out;
  for (const uint32_t bin : set) {
    out.domains.push_back(bins[bin].domain);
    out.room.push_back(bins[bin].room);
    out.nodes.push_back(nodes[bin]);
  }
  return out;
}

RegionUse::RegionUse(const DomainWish& wish, std::span<const Pinned> pinned, const Snapshot& base,
                     int64_t quorum)
    : wish_(wish), pinned_(pinned), base_(base), quorum_(quorum) {
  if (wish.slice != nullptr) slice_held_ = Held(*wish.slice);
}

std::vector<bool> RegionUse::Held(const DomainLevel& level) const {
  std::vector<bool> held(level.paths.size(), false);
  for (const Pinned& member : pinned_) {
    if (!base_.HasNode(member.node)) continue;
    const uint32_t domain = level.DomainOf(member.node);
    if (domain != DomainLevel::kOutside) held[domain] = true;
  }
  return held;
}

int64_t RegionUse::PodsPlaced(const SliceDemand& demand) const {
  return std::min(demand.pods(), quorum_);
}

Outlook RegionUse::Look(std::vector<RankedNode> region, size_t depth,
                        const SliceDemand& demand) const {
  if (depth < wish_.levels.size()) return LookByLevel(std::move(region), depth, demand);
  Outlook outlook;
  if (demand.slices.empty()) {
    outlook.cost = {-BestOf(region, PodsPlaced(demand)).score};
    outlook.nodes = std::move(region);
    return outlook;
  }
  return LookBySlice(region, demand);
}

Outlook RegionUse::LookByLevel(std::vector<RankedNode> region, size_t depth,
                               const SliceDemand& demand) const {
  const DomainLevel& level = *wish_.levels[depth];
  Divided divided = Divided::Of(region, level, Held(level));
  if (!demand.slices.empty()) AddSlices(divided);
  const auto sets =
      FewestBins(divided.bins, demand.slices.empty() ? BinRoom::kAddsUp : BinRoom::kMayNot,
                 [&](const std::vector<uint32_t>& set) { return divided.Takes(set, demand); });
  std::optional<Outlook> best;
  for (const std::vector<uint32_t>& set : sets) {
    std::vector<RankedNode> part;
    int64_t room = 0;
    std::vector<uint32_t> domains;
    for (const uint32_t bin : set) {
      part.insert(part.end(), divided.nodes[bin].begin(), divided.nodes[bin].end());
      room += divided.bins[bin].room;
      domains.push_back(divided.bins[bin].domain);
    }
    Outlook outlook = Look(std::move(part), depth + 1, demand);
    outlook.cost.insert(outlook.cost.begin(),
                        {static_cast<int64_t>(set.size()), room - demand.pods()});
    outlook.domains.insert(outlook.domains.begin(), domains.begin(), domains.end());
    outlook.broadest = domains.size();
    if (!best.has_value() || outlook.CheaperThan(*best)) best = std::move(outlook);
  }
  if (best.has_value()) return *std::move(best);
  // It comes to this only where some nodes are outside the level.
  Outlook outlook = Look(std::move(region), wish_.levels.size(), demand);
  for (size_t i = depth; i < wish_.levels.size(); ++i) {
    outlook.cost.insert(outlook.cost.begin(), {kManyPods, kManyPods});
  }
  outlook.broadest = 0;
  return outlook;
}

void RegionUse::AddSlices(Divided& divided) const {
  for (const std::vector<RankedNode>& nodes : divided.nodes) {
    std::vector<SliceRoom>& rooms = divided.slices.emplace_back();
    for (const RankedNode& node : nodes) {
      const uint32_t slice = wish_.slice->domain_of[node.room.node.index()];
      if (slice != DomainLevel::kOutside) rooms.push_back({slice, node.room.pods});
    }
    Merge(rooms);
  }
}

Outlook RegionUse::LookBySlice(const std::vector<RankedNode>& region,
                               const SliceDemand& demand) const {
  const Divided divided = Divided::Of(region, *wish_.slice, slice_held_);
  const auto takes = [&](const std::vector<uint32_t>& set) {
    std::vector<uint32_t> domains;
    std::vector<int64_t> room;
    for (const uint32_t bin : set) {
      domains.push_back(divided.bins[bin].domain);
      room.push_back(divided.bins[bin].room);
    }
    return PackSlices(demand, domains, room).answer == Packing::Answer::kFits;
  };
  std::optional<Outlook> best;
  for (const auto& set : FewestBins(divided.bins, BinRoom::kMayNot, takes)) {
    Outlook outlook;
    const SliceBins bins = divided.BinsOf(set);
    outlook.domains = bins.domains;
    outlook.broadest = bins.domains.size();
    for (const auto& nodes : bins.nodes) {
      outlook.nodes.insert(outlook.nodes.end(), nodes.begin(), nodes.end());
    }
    const int64_t room = std::accumulate(bins.room.begin(), bins.room.end(), int64_t{0});
    outlook.cost = {static_cast<int64_t>(set.size()), room - demand.pods(),
                    -BestSlices(demand, bins).score};
    if (!best.has_value() || outlook.CheaperThan(*best)) best = std::move(outlook);
  }
  CHECK(best.has_value()) << "a region that fits has no choice of domains that does";
  return *std::move(best);
}

std::vector<MemberPlace> RegionUse::Place(Outlook outlook, const SliceDemand& demand,
                                          const std::vector<size_t>& quorum) const {
  std::vector<MemberPlace> places;
  std::vector<size_t> placed = demand.wants.size() > quorum.size() ? quorum : demand.wants;
  if (demand.slices.empty()) {
    const BestNodes best = BestOf(std::move(outlook.nodes), static_cast<int64_t>(placed.size()));
    for (size_t i = 0; i < placed.size(); ++i) {
      places.push_back({.want = placed[i], .node = best.nodes[i]});
    }
    return places;
  }
  const Divided divided = Divided::Of(outlook.nodes, *wish_.slice, slice_held_);
  std::vector<uint32_t> all(divided.bins.size());
  std::iota(all.begin(), all.end(), 0);
  places = BestSlices(demand, divided.BinsOf(all)).places;
  std::erase_if(places, [&](const MemberPlace& place) {
    return !std::ranges::binary_search(placed, place.want);
  });
  return places;
}

}  // namespace maniple
