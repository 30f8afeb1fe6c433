// The search for everyone before the quorum alone. The fears: numbers of each shape promise what
// all shapes together do not get; a quorum is told that the domain does not hold; work is wasted
// where the quorum is everyone.
#include "scheduler/cycle/domains/whole_gang.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/unit/cycle/bound_gang.h"

namespace maniple::cycle_whole_gang_test {
namespace {

// Two racks of one node each: "r0" with `first` GPUs, "r1" with four.
struct Racks {
  int64_t first = 0;
  int32_t quorum = 0;
  std::vector<int64_t> asks;  // GPUs of the members
};

// Members that the quorum has in each rack; none: the rack does not take everyone.
std::vector<std::optional<size_t>> QuorumByRack(const Racks& racks) {
  TestCluster cluster;
  AddLevels(cluster, {"rack"});
  cluster.Add(MakeNode("n0").Gpu(racks.first).Label("rack", "r0"));
  cluster.Add(MakeNode("n1").Gpu(4).Label("rack", "r1"));
  cluster.Add(MakePodGroup("g").MinMember(racks.quorum));
  for (size_t i = 0; i < racks.asks.size(); ++i) {
    cluster.Add(MakePod(absl::StrCat("g-", i)).Group("g").Gpu(racks.asks[i]));
  }
  BoundGang made(cluster, "g");
  auto& [request, snapshot, now, bound, kinds] = made;
  const DomainChoice choice = Within(*snapshot, "rack");
  const MemberGroups groups = GroupsOf(*snapshot, request, choice);
  const QuorumProblem problem = bound.problem();
  const DomainSearch ask{problem, kinds.kinds, request.scope, choice, groups, request.pinned};
  WholeGangSearch whole(ask, *choice.gang.levels.front(), now);
  if (!whole.applies()) return {};
  std::vector<std::optional<size_t>> members;
  for (uint32_t rack = 0; rack < 2; ++rack) {
    const std::optional<SearchResult> found = whole.QuorumIn(rack);
    members.push_back(found.has_value() ? std::optional(found->places.size()) : std::nullopt);
  }
  return members;
}

TEST(WholeGangSearch, ARackTakesEveryoneIfAllShapesFitTogether) {
  // Three GPUs have room for two of the one shape or for one of the other.
  const std::vector<std::optional<size_t>> found =
      QuorumByRack({.first = 3, .quorum = 2, .asks = {2, 1, 1}});
  EXPECT_EQ(found, (std::vector<std::optional<size_t>>{std::nullopt, 2}));
}

TEST(WholeGangSearch, AQuorumOfEveryoneAsksNothing) {
  EXPECT_TRUE(QuorumByRack({.first = 8, .quorum = 3, .asks = {2, 1, 1}}).empty());
}

}  // namespace
}  // namespace maniple::cycle_whole_gang_test
