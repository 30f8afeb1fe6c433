// The nodes of slices and members once a region is known, against all spreads one by one. Fears: a
// better sum of scores is missed; a slice is torn; a bond to a domain is broken; a node takes more
// than it can; ranks that follow each other are scattered though the score is the same.
#include "scheduler/cycle/domains/sliced_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::cycle_sliced_nodes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

using Answer = Packing::Answer;

RankedNode NodeOf(uint32_t id, int32_t pods, int64_t score) {
  return {.score = score, .name_rank = id, .room = {.node = NodeId(id), .pods = pods}};
}
auto On(uint32_t id) { return Field(&MemberPlace::node, NodeId(id)); }
SliceDemand SlicesOf(const std::vector<size_t>& sizes) {
  SliceDemand demand;
  for (const size_t size : sizes) {
    SliceDemand::Slice& slice = demand.slices.emplace_back();
    for (size_t i = 0; i < size; ++i) {
      slice.wants.push_back(demand.wants.size());
      demand.wants.push_back(demand.wants.size());
    }
  }
  return demand;
}

// The best of all sums of scores for so many pods.
int64_t BestScore(const std::vector<RankedNode>& nodes, int64_t pods) {
  std::vector<int64_t> scores;
  for (const RankedNode& node : nodes) scores.insert(scores.end(), node.room.pods, node.score);
  std::ranges::sort(scores, std::greater<>());
  int64_t sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(pods); ++i) sum += scores.at(i);
  return sum;
}

// The best of all choices of a domain for each slice from `at` on; none: nothing fits.
std::optional<int64_t> NaiveScore(const SliceDemand& demand, const SliceBins& bins, size_t at,
                                  std::vector<int64_t> pods) {
  std::optional<int64_t> best;
  if (at == demand.slices.size()) {
    best = 0;
    for (size_t bin = 0; bin < pods.size(); ++bin) *best += BestScore(bins.nodes[bin], pods[bin]);
    return best;
  }
  const SliceDemand::Slice& slice = demand.slices[at];
  for (size_t bin = 0; bin < pods.size(); ++bin) {
    std::vector<int64_t> more = pods;
    more[bin] += static_cast<int64_t>(slice.wants.size());
    if (slice.bound_to.value_or(bins.domains[bin]) != bins.domains[bin]) continue;
    if (more[bin] > bins.room[bin]) continue;
    const std::optional<int64_t> score = NaiveScore(demand, bins, at + 1, more);
    if (score.has_value()) best = std::max(best.value_or(*score), *score);
  }
  return best;
}

struct SliceCase {
  explicit SliceCase(Random& random) {
    std::vector<size_t> sizes(1 + random.Below(5));
    for (size_t& size : sizes) size = 1 + random.Below(3);
    demand = SlicesOf(sizes);
    for (uint32_t domain = 3; domain < 9; domain += 2) {
      bins.domains.push_back(domain);
      bins.room.push_back(0);
      std::vector<RankedNode>& nodes = bins.nodes.emplace_back(random.Below(4));
      for (RankedNode& node : nodes) {
        node = NodeOf(next++, static_cast<int32_t>(1 + random.Below(3)),
                      static_cast<int64_t>(random.Below(7)) - 2);
        bins.room.back() += node.room.pods;
      }
    }
    for (SliceDemand::Slice& slice : demand.slices) {
      if (random.OneIn(6)) slice.bound_to = 3 + random.Below(6);  // also one that is not there
    }
  }
  SliceDemand demand;
  SliceBins bins;
  uint32_t next = 0;  // node
};

// The sum of scores of places that keep the rules.
int64_t ScoreOf(const SliceCase& given, const std::vector<MemberPlace>& places) {
  std::map<NodeId, std::pair<uint32_t, RankedNode>> nodes;  // with the domain
  for (size_t bin = 0; bin < given.bins.domains.size(); ++bin) {
    for (const RankedNode& node : given.bins.nodes[bin]) {
      nodes[node.room.node] = {given.bins.domains[bin], node};
    }
  }
  int64_t score = 0;
  EXPECT_EQ(places.size(), given.demand.wants.size());
  for (size_t want = 0; want < places.size(); ++want) {
    EXPECT_EQ(places[want].want, want);
    RankedNode& node = nodes.at(places[want].node).second;
    EXPECT_GE(--node.room.pods, 0);
    score += node.score;
  }
  for (const SliceDemand::Slice& slice : given.demand.slices) {
    const uint32_t domain = nodes.at(places[slice.wants.front()].node).first;
    EXPECT_EQ(slice.bound_to.value_or(domain), domain);
    for (const size_t want : slice.wants) EXPECT_EQ(nodes.at(places[want].node).first, domain);
  }
  return score;
}

TEST(SlicedNodes, TheSumOfScoresIsTheHighestOfAllSpreads) {
  Random random(1);
  for (int round = 0; round < 1'500; ++round) {
    const SliceCase given(random);
    const auto naive = NaiveScore(given.demand, given.bins, 0, {0, 0, 0});
    ASSERT_EQ(PackSlices(given.demand, given.bins.domains, given.bins.room).answer,
              naive.has_value() ? Answer::kFits : Answer::kDoesNotFit);
    if (!naive.has_value()) continue;
    const SlicedPlaces found = BestSlices(given.demand, given.bins);
    ASSERT_EQ(found.score, *naive) << round;
    ASSERT_EQ(ScoreOf(given, found.places), *naive) << round;
  }
}

TEST(SlicedNodes, SlicesOfOneSizeFollowTheNamesOfTheDomainsWhateverTheScores) {
  const SliceBins bins = {.domains = {0, 1, 2},
                          .room = {2, 2, 2},
                          .nodes = {{NodeOf(4, 2, 9)}, {NodeOf(2, 2, 1)}, {NodeOf(3, 2, 5)}}};
  const std::vector<MemberPlace> places = BestSlices(SlicesOf({2, 2, 2}), bins).places;
  EXPECT_THAT(places, ElementsAre(On(2), On(2), On(3), On(3), On(4), On(4)));
}

TEST(SlicedNodes, TheBestNodesAreTheFirstByScoreThenNameAndStandInTheOrderOfNames) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<RankedNode> nodes;
    std::vector<std::pair<int64_t, uint32_t>> pods;  // what each node may take, the best first
    for (uint32_t id = 0; id < 6; ++id) {
      const auto room = static_cast<int32_t>(1 + random.Below(3));
      nodes.push_back(NodeOf(id, room, static_cast<int64_t>(random.Below(3))));
      pods.insert(pods.end(), static_cast<size_t>(room), {-nodes.back().score, id});
    }
    std::ranges::sort(pods);
    pods.resize(random.Below(pods.size() + 1));
    for (size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random.Below(i)]);
    const BestNodes best = BestOf(nodes, static_cast<int64_t>(pods.size()));
    ASSERT_EQ(best.score, BestScore(nodes, static_cast<int64_t>(pods.size()))) << round;
    std::vector<NodeId> expected;
    for (const auto& [score, id] : pods) expected.push_back(NodeId(id));
    std::ranges::sort(expected);
    ASSERT_EQ(best.nodes, expected) << round;
  }
}

TEST(SlicedNodes, ADemandHasTheSlicesOfItsWantsWithTheirBondsAndNoOthers) {
  MemberGroups groups;
  groups.slices = {{.wants = {0, 1}}, {.wants = {2}}, {.wants = {4, 5}, .bound_to = 7}};
  groups.slice_of = {0, 0, 1, MemberGroups::kNone, 2, 2};
  const SliceDemand demand = DemandOf(groups, {1, 3, 4, 5});
  EXPECT_THAT(demand.wants, ElementsAre(1, 3, 4, 5));
  ASSERT_EQ(demand.slices.size(), 2u);
  EXPECT_THAT(demand.slices[0].wants, ElementsAre(1));
  EXPECT_FALSE(demand.slices[0].bound_to.has_value());
  EXPECT_THAT(demand.slices[1].wants, ElementsAre(4, 5));
  EXPECT_EQ(demand.slices[1].bound_to, 7);
}

}  // namespace
}  // namespace maniple::cycle_sliced_nodes_test
