// What the desk reads of a gang's status. The fears: an earlier leader's word is lost because the
// pods are heard of before the PodGroup; or it is taken for a word on another PodGroup.
#include "scheduler/loop/desk/desk.h"

#include <gtest/gtest.h>

#include <optional>

#include "scheduler/loop/desk/warm_state.h"
#include "test/support/builders.h"

namespace maniple::loop_desk_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
const GangKey kKey{.namespace_name = "default", .name = "g"};

PodGroup WrittenBefore() {
  PodGroup group = MakePodGroup("g");
  group.meta.created = kNow - absl::Hours(2);
  group.status = {.phase = "Running", .quorum_reached_at = kNow - absl::Hours(1)};
  group.status.last_undone_at = kNow - absl::Hours(2);
  group.status.initial_share_preemption_used = true;
  return group;
}

class DeskTest : public ::testing::Test {
 protected:
  DeskTest() { warm_.Apply(ObjectUpserted{MakePod("g-0").Group("g").On("n1")}, kNow); }
  GangRecord& Look() { return desk_.Open(*warm_.state.GangNamed(kKey), kNow)->record; }
  WarmState warm_{LoopOptions()};
  Desk desk_{warm_};
};

TEST_F(DeskTest, ReadsTheStatusOfAPodGroupThatIsHeardOfAfterItsPods) {
  EXPECT_EQ(Look().quorum_reached_at, std::nullopt);
  warm_.Apply(ObjectUpserted{WrittenBefore()}, kNow);
  EXPECT_EQ(Look().quorum_reached_at, kNow - absl::Hours(1));
  EXPECT_EQ(Look().last_undone_at, kNow - absl::Hours(2));
  EXPECT_TRUE(Look().initial_share_used);
  Look().last_undone_at = kNow;
  PodGroup edited = WrittenBefore();
  edited.spec.min_member = 2;
  warm_.Apply(ObjectUpserted{edited}, kNow);
  EXPECT_EQ(Look().last_undone_at, kNow) << "it is read once";
}

TEST_F(DeskTest, APodGroupWithoutAStatusTakesNothingFromWhatRuns) {
  Look().domains = {"rack-1"};
  warm_.Apply(MakePodGroup("g"), kNow);
  EXPECT_EQ(Look().domains.size(), 1);
}

}  // namespace
}  // namespace maniple::loop_desk_test
