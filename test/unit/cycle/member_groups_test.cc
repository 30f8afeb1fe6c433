// Members that are bound to one domain each. Fears: ranks are counted through sub-groups that have
// nothing to do with each other; a replacement does not return to the domain of its slice; members
// without ranks open a slice while one is short; a part of the wants keeps the numbers of the
// whole.
#include "scheduler/cycle/topology/member_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_member_groups_test {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kRacks = 3, kNodesOfARack = 2;
constexpr uint32_t kHomeless = kRacks * kNodesOfARack;  // a node of no rack
constexpr uint32_t kGone = 99;                          // a node that is no more

// The domain that binds whoever joins members on these nodes.
std::optional<uint32_t> BoundBy(const std::vector<uint32_t>& nodes) {
  std::optional<uint32_t> common;
  for (const uint32_t node : nodes) {
    const uint32_t rack = node == kHomeless ? DomainLevel::kOutside : node / kNodesOfARack;
    if (common.value_or(rack) != rack) return DomainLevel::kOutside;
    common = rack;
  }
  return common;
}

struct SliceByHand {
  std::vector<size_t> wants, pinned;
  std::vector<uint32_t> nodes;  // of those that stand
};

class MemberGroupsTest : public ::testing::Test {
 protected:
  MemberGroupsTest() {
    DomainLevel level{.name = "rack", .paths = {"r0", "r1", "r2"}, .domain_of = {}};
    for (uint32_t node = 0; node < kHomeless; ++node) {
      cluster_.Add(MakeNode(absl::StrCat("n", node)));
      level.domain_of.push_back(node / kNodesOfARack);
    }
    cluster_.Add(MakeNode("homeless"));
    racks_ = std::make_shared<const DomainLevel>(std::move(level));
    choice_.gang = {.levels = {}, .required = false, .slice = racks_, .slice_size = 2};
  }
  void Want(int64_t rank, int32_t group = 0) {
    request_.wants.push_back(
        {.pod = {}, .shape = {}, .sub_group = group - 1, .rank = {.group = group, .index = rank}});
  }
  void Stand(uint32_t node, int64_t rank, int32_t group = 0) {
    request_.pinned.push_back({.pod = {},
                               .node = NodeId(node),
                               .shape = {},
                               .sub_group = group - 1,
                               .rank = {.group = group, .index = rank}});
  }
  // One more member, wanted or standing, of the slice.
  void AddTo(SliceByHand& slice, Random& random, int64_t rank, int32_t group) {
    const auto node = static_cast<uint32_t>(random.Below(kHomeless + 2));
    if (random.OneIn(2)) {
      slice.wants.push_back(request_.wants.size());
      return Want(rank, group);
    }
    if (node > kHomeless) return Stand(kGone, rank, group);
    slice.pinned.push_back(request_.pinned.size());
    slice.nodes.push_back(node);
    Stand(node, rank, group);
  }
  MemberGroups Groups() { return GroupsOf(*cluster_.state().Publish(), request_, choice_); }

  TestCluster cluster_;
  DomainLevelPtr racks_;
  GangRequest request_;
  DomainChoice choice_;
};

TEST_F(MemberGroupsTest, ASliceIsTheRanksOfOneQuotientWithinItsSubGroup) {
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    request_ = {};
    // Members of group 0 are in no sub-group; the second sub-group has slices of its own size.
    choice_.gang.slice_size = static_cast<int32_t>(1 + random.Below(3));
    choice_.sub_groups.assign(2, {});
    choice_.sub_groups[1] = {.slice = racks_,
                             .slice_size = static_cast<int32_t>(1 + random.Below(3))};
    std::map<std::pair<int32_t, int64_t>, SliceByHand> slices;
    for (int32_t group = 0; group < 3; ++group) {
      const int32_t size = (group == 2 ? choice_.sub_groups[1] : choice_.gang).slice_size;
      for (int64_t rank = 0; rank < 6; ++rank) {
        if (random.OneIn(3)) continue;  // ranks are missing
        AddTo(slices[{group, rank / size}], random, rank, group);
      }
    }
    std::erase_if(slices, [](const auto& slice) { return slice.second.wants.empty(); });
    const MemberGroups groups = Groups();
    ASSERT_EQ(groups.slices.size(), slices.size()) << "round " << round;
    int32_t at = 0;
    for (const auto& [key, expected] : slices) {
      const MemberGroup& slice = groups.slices[static_cast<size_t>(at)];
      EXPECT_EQ(slice.wants, expected.wants) << "in order of rank";
      EXPECT_EQ(slice.pinned, expected.pinned);
      EXPECT_EQ(slice.bound_to, BoundBy(expected.nodes));
      EXPECT_EQ(slice.level, racks_.get());
      for (const size_t want : expected.wants) {
        EXPECT_EQ(groups.slice_of[want], at);
        EXPECT_EQ(groups.Stuck(want), BoundBy(expected.nodes) == DomainLevel::kOutside);
      }
      ++at;
    }
  }
}

TEST_F(MemberGroupsTest, MembersWithoutRanksFillUpSlicesAndThenOpenWholeOnes) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    request_ = {};
    const auto size = static_cast<int32_t>(1 + random.Below(4));
    choice_.gang.slice_size = size;
    std::vector<int32_t> standing(kRacks, 0);
    for (uint64_t i = random.Below(8); i > 0; --i) {
      const auto node = static_cast<uint32_t>(random.Below(kHomeless + 1));
      if (node < kHomeless) ++standing[node / kNodesOfARack];
      Stand(node, -1);
    }
    std::vector<std::optional<uint32_t>> expected;  // by want: the rack that binds it
    for (uint32_t rack = 0; rack < kRacks; ++rack) {
      for (int32_t i = standing[rack]; i % size != 0; ++i) expected.emplace_back(rack);
    }
    const size_t wants = random.Below(9);
    const size_t short_slices = expected.size();
    expected.resize(wants);
    for (size_t i = 0; i < wants; ++i) Want(-1);
    const MemberGroups groups = Groups();
    std::map<int32_t, size_t> members;
    for (size_t i = 0; i < wants; ++i) {
      const MemberGroup& slice = groups.slices[static_cast<size_t>(groups.slice_of[i])];
      EXPECT_EQ(slice.bound_to, expected[i]) << "round " << round << " want " << i;
      EXPECT_LE(slice.wants.size() + slice.pinned.size(), static_cast<size_t>(size));
      if (i >= short_slices) ++members[groups.slice_of[i]];
    }
    const size_t rest = wants - std::min(wants, short_slices);
    EXPECT_EQ(members.size(), (rest + static_cast<size_t>(size) - 1) / static_cast<size_t>(size));
  }
}

TEST_F(MemberGroupsTest, MembersWithAndWithoutRanksShareNoSlice) {
  Want(0);
  Want(-1);
  Want(1);
  EXPECT_EQ(Groups().slices.size(), 2u);
  EXPECT_THAT(Groups().slices[0].wants, ElementsAre(0, 2));
}

TEST_F(MemberGroupsTest, ASubGroupIsBoundOnlyByALevelThatItRequires) {
  choice_.gang = {};
  choice_.sub_groups = {{.levels = {racks_}, .required = true},
                        {.levels = {racks_}, .required = false},
                        {.levels = {racks_}, .required = true}};
  Stand(2, 0, 1);
  Stand(kGone, 1, 1);
  Stand(0, 0, 3);  // of a sub-group that wants nobody
  Want(2, 1);
  Want(0, 0);
  Want(0, 2);
  const MemberGroups groups = Groups();
  ASSERT_EQ(groups.sub_groups.size(), 1u);
  EXPECT_THAT(groups.sub_groups[0].wants, ElementsAre(0));
  EXPECT_THAT(groups.sub_groups[0].pinned, ElementsAre(0));
  EXPECT_EQ(groups.sub_groups[0].bound_to, 1);
  EXPECT_THAT(groups.sub_group_of, ElementsAre(0, MemberGroups::kNone, MemberGroups::kNone));
  EXPECT_FALSE(groups.empty());
}

TEST_F(MemberGroupsTest, APartKeepsWhoIsBoundToWhomUnderNewNumbers) {
  Stand(0, 2);
  Stand(2, 2);  // one rank twice, and so a slice that is torn apart
  for (const int64_t rank : {0, 1, 3, 4, 5}) Want(rank);
  const MemberGroups part = Groups().Of({1, 2, 4});
  ASSERT_EQ(part.slices.size(), 3u);
  EXPECT_THAT(part.slice_of, ElementsAre(0, 1, 2));
  EXPECT_THAT(part.slices[2].wants, ElementsAre(2));
  EXPECT_THAT(part.slices[1].pinned, ElementsAre(0, 1));
  EXPECT_FALSE(part.Stuck(0));
  EXPECT_TRUE(part.Stuck(1));
  EXPECT_EQ(Groups().Of({1, 4}).slices.size(), 2u) << "a slice of nobody is none";
  EXPECT_FALSE(Groups().Unbound().Stuck(2));
  EXPECT_TRUE(Groups().Unbound().empty());
  EXPECT_EQ(Groups().Unbound().Of({1, 2}).slice_of.size(), 2u);
}

TEST_F(MemberGroupsTest, WithoutAWishNobodyIsBound) {
  choice_ = {};
  Want(0);
  EXPECT_TRUE(Groups().empty());
  EXPECT_FALSE(Groups().Stuck(0));
  EXPECT_FALSE(MemberGroups().Stuck(7)) << "nor where no groups were made";
}

}  // namespace
}  // namespace maniple::cycle_member_groups_test
