// The surplus of a running gang. Fears: members are given away that the quorum needs, in all or in
// a sub-group; fewer are given away than the quorum can spare; members that succeeded, and those
// that were cleaned away since, count for nothing or twice; a gang that is broken already gives
// some.
#include "scheduler/cycle/victims/victim_surplus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/base/random.h"
#include "queue/assembly.h"

namespace maniple::cycle_victim_surplus_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Gang GangOf(int32_t min_member, const std::vector<int32_t>& minima) {
  Gang gang;
  gang.declared = true;
  gang.spec.min_member = min_member;
  for (const int32_t least : minima) gang.spec.sub_groups.push_back({.min_member = least});
  return gang;
}
void Add(Gang& gang, MemberState state, int32_t sub_group, int members = 1) {
  for (int i = 0; i < members; ++i) {
    Member& member = gang.members.emplace_back();
    member.state = state;
    member.rank.sub_group = sub_group;
  }
}

// The fear: after a restart a rigid gang without its PodGroup seems to need one member only.
TEST(VictimSurplus, OfAGangThatNobodyDeclaresNoMemberIsKnownToBeBeyondTheQuorum) {
  Gang gang = GangOf(1, {});
  Add(gang, MemberState::kBound, 0, 2);
  EXPECT_EQ(SurplusOf(gang).members, 1);
  gang.declared = false;
  EXPECT_EQ(SurplusOf(gang).members, Surplus().members);
}

TEST(VictimSurplus, MembersBeyondTheQuorumCanGo) {
  Gang gang = GangOf(3, {});
  Add(gang, MemberState::kBound, 0, 3);
  EXPECT_EQ(SurplusOf(gang).members, 0);
  Add(gang, MemberState::kBound, 0, 2);
  EXPECT_EQ(SurplusOf(gang).members, 2);
  EXPECT_THAT(SurplusOf(gang).sub_groups, IsEmpty());
}

TEST(VictimSurplus, AQuorumIsAtLeastOneMemberWhateverTheSpecSays) {
  for (const int32_t min_member : {-1, 0, 1}) {
    Gang gang = GangOf(min_member, {-1});
    EXPECT_EQ(SurplusOf(gang).members, 0);
    Add(gang, MemberState::kBound, 0, 2);
    EXPECT_EQ(SurplusOf(gang).members, 1);
    EXPECT_THAT(SurplusOf(gang).sub_groups, ElementsAre(2));
  }
}

TEST(VictimSurplus, OnlyMembersThatAreBoundOrSucceededCount) {
  Gang gang = GangOf(1, {});
  for (const MemberState state : {MemberState::kPending, MemberState::kGated,
                                  MemberState::kTerminating, MemberState::kFailed}) {
    Add(gang, state, 0, 2);
  }
  Add(gang, MemberState::kBound, 0);
  EXPECT_EQ(SurplusOf(gang).members, 0);
  Add(gang, MemberState::kSucceeded, 0);
  EXPECT_EQ(SurplusOf(gang).members, 1);
  gang.cleaned.ranks.emplace_back();
  EXPECT_EQ(SurplusOf(gang).members, 2);
  gang.cleaned.unranked = 3;
  EXPECT_EQ(SurplusOf(gang).members, 5);
}

TEST(VictimSurplus, AGangThatLacksOneSubGroupHasNoneInTheOthers) {
  Gang gang = GangOf(1, {1, 1});
  Add(gang, MemberState::kBound, 0, 4);
  EXPECT_EQ(SurplusOf(gang).members, 0);
  EXPECT_THAT(SurplusOf(gang).sub_groups, IsEmpty());
  Add(gang, MemberState::kBound, 1);
  EXPECT_EQ(SurplusOf(gang).members, 4);
  EXPECT_THAT(SurplusOf(gang).sub_groups, ElementsAre(3, 0));
}

Gang DrawGang(Random& random) {
  std::vector<int32_t> minima(random.Below(3));
  for (int32_t& least : minima) least = static_cast<int32_t>(random.Below(3));
  Gang gang = GangOf(static_cast<int32_t>(random.Below(4)), minima);
  // One more than there are: members of no sub-group.
  const auto draw_part = [&] { return static_cast<int32_t>(random.Below(minima.size() + 1)); };
  for (uint64_t left = random.Below(6); left > 0; --left) {
    const bool odd = random.OneIn(3);
    const auto state = odd ? static_cast<MemberState>(random.Below(6)) : MemberState::kBound;
    Add(gang, state, draw_part());
  }
  if (random.OneIn(3)) gang.cleaned.ranks.push_back({.sub_group = draw_part()});
  if (random.OneIn(3)) gang.cleaned.unranked = static_cast<int32_t>(random.Below(3));
  return gang;
}

// The quorum stands when exactly these members, given as bits, are gone.
bool StandsWithout(const Gang& gang, uint32_t gone) {
  const auto is_there = [&](const Member& member) {
    const auto place = static_cast<size_t>(&member - gang.members.data());
    return ((gone >> place) & 1) == 0 &&
           (member.state == MemberState::kBound || member.state == MemberState::kSucceeded);
  };
  return NeedWith(gang, is_there).Met();
}

// The surplus says that these members may go.
bool Spares(const Surplus& surplus, const Gang& gang, uint32_t gone) {
  int64_t members = 0;
  std::vector<int64_t> parts = surplus.sub_groups;
  for (size_t place = 0; place < gang.members.size(); ++place) {
    if (((gone >> place) & 1) == 0) continue;
    ++members;
    const auto part = static_cast<size_t>(gang.members[place].rank.sub_group);
    if (part < parts.size()) --parts[part];
  }
  return members <= surplus.members &&
         std::ranges::all_of(parts, [](int64_t left) { return left >= 0; });
}

TEST(VictimSurplus, ExactlyThoseMembersCanGoWithoutWhomTheQuorumStands) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Gang gang = DrawGang(random);
    const Surplus surplus = SurplusOf(gang);
    uint32_t bound = 0;
    for (size_t place = 0; place < gang.members.size(); ++place) {
      bound |= uint32_t{gang.members[place].state == MemberState::kBound} << place;
    }
    for (uint32_t gone = bound; gone != 0; gone = (gone - 1) & bound) {
      ASSERT_EQ(Spares(surplus, gang, gone), StandsWithout(gang, gone)) << round << " " << gone;
    }
  }
}

}  // namespace
}  // namespace maniple::cycle_victim_surplus_test
