// The use of a region, against all choices of domains one by one. Fears: more domains or more room
// than needed are used at some level; a domain where members stand already is left; the room of a
// slice is taken from two domains; members beyond the quorum are placed.
#include "scheduler/cycle/domains/region_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_region_use_test {
namespace {

using Answer = Packing::Answer;
using Nodes = std::vector<RankedNode>;

constexpr uint32_t kNodes = 7;

SnapshotPtr SevenNodes() {
  TestCluster cluster;
  for (uint32_t i = 0; i < kNodes; ++i) cluster.Add(MakeNode("n" + std::to_string(i)));
  return cluster.state().Publish();
}
DomainLevelPtr LevelOf(std::vector<uint32_t> domain_of, size_t domains) {
  DomainLevel level{.paths = std::vector<std::string>(domains), .domain_of = std::move(domain_of)};
  return std::make_shared<const DomainLevel>(std::move(level));
}
SliceDemand DemandOf(size_t pods, size_t slice_size) {
  SliceDemand demand;
  for (size_t want = 0; want < pods; ++want) {
    if (slice_size > 0 && want % slice_size == 0) demand.slices.emplace_back();
    if (slice_size > 0) demand.slices.back().wants.push_back(want);
    demand.wants.push_back(want);
  }
  return demand;
}
RankedNode NodeOf(uint32_t id, int32_t pods, int64_t score) {
  return {.score = score, .name_rank = id, .room = {.node = NodeId(id), .pods = pods}};
}

// Up to two levels that nest and perhaps slices that cross them, over some of the nodes.
struct RegionCase {
  explicit RegionCase(Random& random) {
    std::vector<uint32_t> outer, inner, slice;
    for (uint32_t i = 0; i < kNodes; ++i) {
      inner.push_back(static_cast<uint32_t>(random.Below(5)));
      outer.push_back(inner.back() / 2);
      slice.push_back(static_cast<uint32_t>(random.Below(4)));
      const auto pods = static_cast<int32_t>(random.Below(4));
      if (pods > 0) region.push_back(NodeOf(i, pods, static_cast<int64_t>(random.Below(3))));
    }
    wish.levels = {LevelOf(outer, 3), LevelOf(inner, 5)};
    wish.levels.resize(random.Below(3));
    const size_t slice_size = random.Below(3);
    if (slice_size > 0) wish.slice = LevelOf(slice, 4);
    demand = DemandOf(1 + random.Below(6), slice_size);
    quorum = static_cast<int64_t>(1 + random.Below(demand.wants.size()));
    if (random.OneIn(3)) pinned = {{.node = NodeId(static_cast<uint32_t>(random.Below(kNodes)))}};
  }
  DomainWish wish;
  Nodes region;
  SliceDemand demand;
  int64_t quorum = 0;
  std::vector<Pinned> pinned;
};

// The room of a region, and by domain of the slices.
DomainCount CountOf(const RegionCase& c, const Nodes& region) {
  DomainCount count;
  std::map<uint32_t, int64_t> rooms;
  for (const RankedNode& node : region) {
    count.room += node.room.pods;
    if (c.wish.slice != nullptr) rooms[c.wish.slice->DomainOf(node.room.node)] += node.room.pods;
  }
  for (const auto& [domain, room] : rooms) {
    count.slice_domains.push_back(domain);
    count.slice_room.push_back(room);
  }
  return count;
}
int64_t ScoreOf(const RegionCase& c, const Nodes& region) {
  if (c.demand.slices.empty()) return BestOf(region, std::min(c.demand.pods(), c.quorum)).score;
  const DomainCount count = CountOf(c, region);
  SliceBins bins{.domains = count.slice_domains, .room = count.slice_room, .nodes = {}};
  for (const uint32_t domain : bins.domains) {
    Nodes& nodes = bins.nodes.emplace_back();
    std::ranges::copy_if(region, std::back_inserter(nodes), [&](const RankedNode& node) {
      return c.wish.slice->DomainOf(node.room.node) == domain;
    });
  }
  return BestSlices(c.demand, bins).score;
}

// The cheapest of all choices of domains, level by level: the cost, then the domains.
using Naive = std::pair<std::vector<int64_t>, std::vector<uint32_t>>;
Naive NaiveLook(const RegionCase& c, const Nodes& region, size_t depth) {
  std::vector<DomainLevelPtr> levels = c.wish.levels;
  if (c.wish.slice != nullptr) levels.push_back(c.wish.slice);
  if (depth == levels.size()) return {{-ScoreOf(c, region)}, {}};
  std::vector<Naive> all;
  for (uint32_t chosen = 0; chosen < 1U << levels[depth]->paths.size(); ++chosen) {
    Nodes part;
    uint32_t used = 0, present = 0;
    for (const RankedNode& node : region) {
      const uint32_t domain = 1U << levels[depth]->DomainOf(node.room.node);
      present |= domain;
      used |= domain & chosen;
      if ((domain & chosen) != 0) part.push_back(node);
    }
    uint32_t held = 0;
    for (const Pinned& member : c.pinned) held |= 1U << levels[depth]->DomainOf(member.node);
    const DomainCount count = CountOf(c, part);
    if (used != chosen || (held & present & ~chosen) != 0) continue;
    if (Takes(count, c.demand) != Answer::kFits) continue;
    auto [cost, domains] = NaiveLook(c, part, depth + 1);
    std::vector<uint32_t> here;
    for (uint32_t d = 0; d < levels[depth]->paths.size(); ++d) {
      if ((chosen >> d & 1) != 0) here.push_back(d);
    }
    cost.insert(cost.begin(), {static_cast<int64_t>(here.size()), count.room - c.demand.pods()});
    domains.insert(domains.begin(), here.begin(), here.end());
    all.emplace_back(cost, domains);
  }
  return *std::ranges::min_element(all);
}

TEST(RegionUse, TheOutlookIsTheCheapestOfAllChoicesAndPlacesKeepTheRules) {
  const SnapshotPtr base = SevenNodes();
  Random random(1);
  for (int round = 0; round < 600; ++round) {
    const RegionCase c(random);
    if (Takes(CountOf(c, c.region), c.demand) != Answer::kFits) continue;
    const RegionUse use(c.wish, c.pinned, *base, c.quorum);
    const Outlook outlook = use.Look(c.region, 0, c.demand);
    const auto [cost, domains] = NaiveLook(c, c.region, 0);
    ASSERT_EQ(outlook.cost, cost) << round;
    ASSERT_EQ(outlook.domains, domains) << round;
    const bool finer = !c.wish.levels.empty() || c.wish.slice != nullptr;
    ASSERT_EQ(outlook.broadest, finer ? static_cast<size_t>(cost.front()) : 0u);

    std::vector<size_t> quorum(static_cast<size_t>(c.quorum));
    std::iota(quorum.begin(), quorum.end(), 0);
    std::map<NodeId, int32_t> room;
    for (const RankedNode& node : outlook.nodes) room[node.room.node] = node.room.pods;
    const std::vector<MemberPlace> places = use.Place(outlook, c.demand, quorum);
    ASSERT_EQ(places.size(), quorum.size());
    for (size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(places[i].want, i);
      ASSERT_GE(--room[places[i].node], 0) << round;
    }
    for (const SliceDemand::Slice& slice : c.demand.slices) {
      for (const size_t want : slice.wants) {
        if (want >= places.size()) break;
        ASSERT_EQ(c.wish.slice->DomainOf(places[want].node),
                  c.wish.slice->DomainOf(places[slice.wants.front()].node));
      }
    }
  }
}

TEST(RegionUse, ARegionThatOnlyNodesOutsideTheLevelMakeLargeEnoughIsUsedAsAWholeAndCostsMost) {
  const SnapshotPtr base = SevenNodes();
  const DomainWish wish{.levels = {LevelOf({0, 0, DomainLevel::kOutside}, 1)}};
  const RegionUse use(wish, {}, *base, 3);
  const Outlook inside = use.Look({NodeOf(0, 2, 0), NodeOf(1, 2, 0)}, 0, DemandOf(3, 0));
  const Outlook outside = use.Look({NodeOf(0, 2, 9), NodeOf(2, 1, 9)}, 0, DemandOf(3, 0));
  EXPECT_EQ(outside.broadest, 0);
  EXPECT_EQ(outside.nodes.size(), 2);
  EXPECT_TRUE(inside.CheaperThan(outside));
  EXPECT_FALSE(outside.CheaperThan(inside));
}

TEST(RegionUse, ADomainTakesADemandByTheSumOfItsRoomAndByTheRoomForItsSlices) {
  const DomainCount count{.room = 5, .slice_domains = {4, 6}, .slice_room = {1, 3}};
  EXPECT_EQ(Takes(count, DemandOf(5, 0)), Answer::kFits);
  EXPECT_EQ(Takes(count, DemandOf(6, 0)), Answer::kDoesNotFit);
  EXPECT_EQ(Takes(count, DemandOf(3, 2)), Answer::kFits);
  EXPECT_EQ(Takes(count, DemandOf(4, 2)), Answer::kDoesNotFit);
  SliceDemand demand = DemandOf(2, 2);
  demand.slices[0].bound_to = 4;
  EXPECT_EQ(Takes(count, demand), Answer::kDoesNotFit);
}

}  // namespace
}  // namespace maniple::cycle_region_use_test
