// What Volcano's group is told: its operators make no pods before the phase opens. Fears: a phase
// that never comes, also because of another group; a condition that is old, or told twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class LoopVolcano : public LoopProducers {
 protected:
  void SubmitPods(int from, int to) {
    Submit({.prefix = "train",
            .from = from,
            .to = to,
            .annotation = "scheduling.k8s.io/group-name",
            .text = "train"});
  }
  [[nodiscard]] std::string Condition(const char* field) const {
    const Json& conditions = d_.api.ForeignStatus("train")["conditions"];
    return conditions.size() == 1 ? conditions.items()[0][field].AsString() : "none";
  }
  [[nodiscard]] int Writes() const { return d_.api.Count("PATCH /apis/scheduling.volcano.sh"); }
};

TEST_F(LoopVolcano, ThePhaseOpensBeforeThereArePods) {
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":2})"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Inqueue");
  Submit(
      {.prefix = "train", .to = 2, .annotation = "scheduling.k8s.io/group-name", .text = "train"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2);
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Running");
}

// Its status subresource is not found either, as that of all groups where there is none.
TEST_F(LoopVolcano, AGroupThatGoesWhileItsPhaseIsWrittenCostsNoOtherItsPhase) {
  d_.api.Break({.on = "podgroups/gone", .times = -1, .code = 404});
  Put({.kind = kVolcano, .name = "gone", .spec = R"({"minMember":2})"});
  d_.Settle(absl::Seconds(5));
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":2})"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(d_.api.Count("podgroups/train/status"), 1);
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Inqueue");
}

// It was written with the phase alone, which stays Inqueue while a gang waits.
TEST_F(LoopVolcano, TellsANewReasonAtOnce) {
  for (const char* node : {"n1", "n2"}) {
    d_.Put(MakePod(absl::StrCat("busy-", node)).Gpu(8).On(node).Phase(PodPhase::kRunning));
  }
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":3})"});
  SubmitPods(0, 2);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(Condition("reason"), "NotEnoughTasks");
  SubmitPods(2, 3);
  d_.Settle(absl::Seconds(2));
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Inqueue");
  EXPECT_EQ(Condition("type"), "Unschedulable");
  EXPECT_EQ(Condition("reason"), "NotEnoughResources");
}

TEST_F(LoopVolcano, TellsOtherNumbersOnceInTenSecondsAndNothingTwice) {
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":4})"});
  SubmitPods(0, 1);
  d_.Settle(absl::Seconds(5));
  const int writes = Writes();
  SubmitPods(1, 2);
  d_.Settle(absl::Seconds(2));
  EXPECT_EQ(Writes(), writes) << "ten seconds are not over";
  d_.Settle(absl::Seconds(60));
  EXPECT_EQ(Writes(), writes + 1);
  EXPECT_THAT(Condition("message"), HasSubstr("2 of 4"));
  d_.Restart();
  d_.Settle(absl::Seconds(60));
  EXPECT_EQ(Writes(), writes + 1) << "the leader before has told the same";
}

TEST_F(LoopVolcano, IsWrittenAgainWhenItDidNotArrive) {
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":4})"});
  SubmitPods(0, 1);
  d_.Settle(absl::Seconds(20));
  d_.api.Break({.on = "PATCH /apis/scheduling.volcano.sh", .times = 2, .code = 403});
  SubmitPods(1, 2);
  d_.Settle(absl::Seconds(20));
  EXPECT_THAT(Condition("message"), HasSubstr("2 of 4"));
}

TEST_F(LoopVolcano, StaysWithThePhaseWhenAMemberIsLost) {
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":2})"});
  SubmitPods(0, 2);
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(PhaseOf(kVolcano, "train"), "Running");
  const int writes = Writes();
  d_.api.Delete(ResourceKind::kPod, "train-0");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Running");
  EXPECT_EQ(Condition("type"), "Scheduled");
  EXPECT_EQ(Writes(), writes);
}

TEST_F(LoopVolcano, AGroupOfAQueueThatIsNotThereKeepsItsPodsBack) {
  Put({.kind = kVolcano, .name = "lost", .spec = R"({"minMember":1,"queue":"nowhere"})"});
  Submit({.prefix = "lost", .to = 1, .annotation = "scheduling.k8s.io/group-name", .text = "lost"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("lost"), 0);
  EXPECT_EQ(PhaseOf(kVolcano, "lost"), "Pending");
  ASSERT_THAT(StandingFor("lost"), SizeIs(1));
  EXPECT_EQ(StandingFor("lost")[0].status.reason, "QueueNotFound");
  EXPECT_THAT(StandingFor("lost")[0].status.message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace maniple
