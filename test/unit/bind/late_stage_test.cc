// Gangs that their producers make in stages. The fears: whoever waits for its workers is told that
// it has lost some; or it waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/bind/fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LateStage, IsNoLossAndHasItsTimeAllTheSame) {
  Fixture f(3, 3, BindPhase::kBound);
  f.binding.KnowGrowth({}, {.total = 2});
  f.Show(0, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  EXPECT_TRUE(f.binding.StageIsLate());
  EXPECT_FALSE(f.binding.HasLostQuorum());
  EXPECT_TRUE(f.binding.wants_repair());
  f.now = kStart + absl::Minutes(5);
  EXPECT_EQ(f.binding.NextDeadline(), f.now);
  EXPECT_THAT(f.Settle(), ElementsAre("delete 0"));
  EXPECT_FALSE(f.binding.HasLostQuorum());
  f.Deleted(0);
  f.ShowGone(0);
  EXPECT_THAT(f.Settle(), ElementsAre("undone: stage late, 1"));
}

TEST(LateStage, WhoLosesAMemberMeanwhileIsToldSo) {
  Fixture f(4, 4, BindPhase::kBound);
  f.binding.KnowGrowth({}, {.total = 2});
  f.Show(0, MemberState::kBound);
  f.Show(1, MemberState::kBound);
  EXPECT_THAT(f.Settle(), IsEmpty());
  f.now = kStart + absl::Minutes(1);
  f.Show(1, MemberState::kFailed);
  EXPECT_THAT(f.Settle(), ElementsAre("quorum lost"));
  EXPECT_FALSE(f.binding.StageIsLate());
  EXPECT_TRUE(f.binding.HasLostQuorum());
  EXPECT_EQ(f.binding.NextDeadline(), kStart + absl::Minutes(5)) << "its time does not begin anew";
}

}  // namespace
}  // namespace maniple
