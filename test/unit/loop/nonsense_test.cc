// Declarations that stop making sense while their gang starts or runs. The fears: half a gang stays
// bound for ever; what runs is told of as if it waited, and nobody looks after it any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

class LoopNonsense : public LoopProducers {
 protected:
  // The Job "train" of two; `minimum`: in the annotation for its quorum.
  void PutJob(const std::string& minimum) {
    Put({.kind = kJobs,
         .name = "train",
         .spec = R"({"completionMode":"Indexed","completions":2,"parallelism":2})",
         .metadata = absl::StrCat(R"(,"annotations":{"scheduling.maniple.dev/min-member":")",
                                  minimum, "\"}")});
  }
  void SubmitJob(int from, int to) {
    Submit({.prefix = "train",
            .from = from,
            .to = to,
            .owner = OwnerReference{"Job", "train", "u-train", "batch/v1"}});
  }
  void RunAndSpoil() {
    PutJob("2");
    SubmitJob(0, 2);
    d_.Settle(absl::Seconds(5));
    ASSERT_EQ(BoundOf("train"), 2);
    PutJob("many");
    d_.Settle(absl::Seconds(15));
  }
  [[nodiscard]] PodGroupStatus Status() {
    const std::vector<PodGroup> groups = StandingFor("train");
    return groups.size() == 1 ? groups.front().status : PodGroupStatus{};
  }
};

TEST_F(LoopNonsense, AGangThatRunsGoesOnAndNewMembersAreToldWhy) {
  RunAndSpoil();
  EXPECT_EQ(Status().phase, "Running");
  EXPECT_THAT(Status().message, HasSubstr("no other pod of it starts: "));
  SubmitJob(2, 3);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2);
  EXPECT_EQ(d_.api.FindPod("train-2")->scheduled_condition->reason, "InvalidSpec");
}

// Also after a restart, when nobody has seen it in its senses.
TEST_F(LoopNonsense, AGangThatLosesItsQuorumHasItsTimeAndLeaves) {
  for (const bool restarts : {false, true}) {
    SCOPED_TRACE(restarts);
    RunAndSpoil();
    if (restarts) d_.Restart();
    d_.api.Delete(ResourceKind::kPod, "train-1");
    d_.Settle(absl::Seconds(30));
    EXPECT_EQ(Status().reason, "QuorumLost");
    EXPECT_EQ(BoundOf("train"), 1);
    d_.Settle(absl::Minutes(6));
    EXPECT_EQ(BoundOf("train"), 0);
  }
}

TEST_F(LoopNonsense, HalfAGangIsUndoneWhenItsTimeIsOver) {
  PutJob("2");
  d_.api.Break({.on = "train-1/binding", .times = -1, .code = 500});
  SubmitJob(0, 2);
  d_.Settle(absl::Seconds(2));
  ASSERT_EQ(BoundOf("train"), 1);
  PutJob("many");
  d_.Settle(absl::Minutes(3));
  EXPECT_EQ(BoundOf("train"), 0);
}

}  // namespace
}  // namespace maniple
