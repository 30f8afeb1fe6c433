// Producers that make members late: the quorum follows how far they have come.
#include "queue/staged_quorum.h"

#include <gtest/gtest.h>

namespace maniple::queue_staged_quorum_test {
namespace {

struct Come {
  int32_t sub_group = 0;
  MemberState state = MemberState::kPending;
};

class StagedQuorum : public ::testing::Test {
 protected:
  // One leader and two workers.
  static ForeignGang Declared(PartStart late) {
    ForeignGang gang;
    gang.spec.min_member = 3;
    gang.spec.sub_groups = {{.name = "lead", .min_member = 1}, {.name = "rest", .min_member = 2}};
    gang.starts = {PartStart::kTogether, late};
    return gang;
  }
  static std::vector<int32_t> QuorumWith(const ForeignGang& gang, const std::vector<Come>& come) {
    std::vector<Member> members;
    for (const Come& one : come) {
      Member& member = members.emplace_back();
      member.rank.sub_group = one.sub_group;
      member.state = one.state;
    }
    const PodGroupSpec spec = StagedSpec(gang, members);
    std::vector<int32_t> quorum = {spec.min_member};
    for (const SubGroup& part : spec.sub_groups) quorum.push_back(part.min_member);
    return quorum;
  }
};

using Quorum = std::vector<int32_t>;

TEST_F(StagedQuorum, IsTheDeclaredOneWhereNothingComesLate) {
  EXPECT_EQ(QuorumWith(Declared(PartStart::kTogether), {}), (Quorum{3, 1, 2}));
  ForeignGang plain = Declared(PartStart::kTogether);
  plain.starts.clear();
  EXPECT_EQ(QuorumWith(plain, {{0}}), (Quorum{3, 1, 2}));
}

TEST_F(StagedQuorum, CountsALatePartOnceOneOfItExists) {
  const ForeignGang gang = Declared(PartStart::kOnceOneExists);
  EXPECT_EQ(QuorumWith(gang, {{0}}), (Quorum{1, 1, 0}));
  EXPECT_EQ(QuorumWith(gang, {{0}, {1, MemberState::kGated}}), (Quorum{3, 1, 2}));
  EXPECT_EQ(QuorumWith(gang, {{0}, {1, MemberState::kSucceeded}}), (Quorum{3, 1, 2}));
}

TEST_F(StagedQuorum, ForgetsALatePartWhoseOnlyMemberIsLost) {
  const ForeignGang gang = Declared(PartStart::kOnceOneExists);
  EXPECT_EQ(QuorumWith(gang, {{0}, {1, MemberState::kFailed}}), (Quorum{1, 1, 0}));
  EXPECT_EQ(QuorumWith(gang, {{0}, {1, MemberState::kTerminating}}), (Quorum{1, 1, 0}));
}

TEST_F(StagedQuorum, WaitsWithTheRestUntilTheLeaderHasANode) {
  const ForeignGang gang = Declared(PartStart::kOnceLeadIsBound);
  EXPECT_EQ(QuorumWith(gang, {{0}, {1}}), (Quorum{1, 1, 0}));
  EXPECT_EQ(QuorumWith(gang, {{0, MemberState::kBound}}), (Quorum{1, 1, 0}));
  EXPECT_EQ(QuorumWith(gang, {{0, MemberState::kBound}, {1}}), (Quorum{3, 1, 2}));
}

TEST_F(StagedQuorum, IsNeverLessThanOne) {
  ForeignGang gang = Declared(PartStart::kOnceOneExists);
  gang.starts = {PartStart::kOnceOneExists, PartStart::kOnceOneExists};
  EXPECT_EQ(QuorumWith(gang, {}), (Quorum{1, 0, 0}));
}

}  // namespace
}  // namespace maniple::queue_staged_quorum_test
