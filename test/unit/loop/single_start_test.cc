// Single pods that run when a leader comes. Fear: each new leader takes them for just started, so
// that a pod is protected for as long again, and its known end moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/loop_driver.h"

namespace maniple::loop_single_start_test {
namespace {

class LoopSingleStart : public ::testing::Test {
 protected:
  LoopSingleStart() {
    d_.Nodes(1, 8);
    Queue queue;
    queue.meta.name = "q";
    queue.within_queue = WithinQueuePreemption::kLowerPriority;
    queue.min_runtime = absl::Minutes(10);
    d_.Put(ObjectUpserted{queue});
  }
  void Runs(absl::Duration since_created, absl::Duration since_started) {
    Pod pod = MakePod("low").Label(kQueueLabel, "q").Gpu(8).On("n1").Phase(PodPhase::kRunning);
    pod.meta.created = d_.now - since_created;
    pod.started = d_.now - since_started;
    d_.Put(ObjectUpserted{pod});
  }
  [[nodiscard]] bool MakesRoom() {
    d_.Submit({.gang = "high", .gpu = 8, .queue = "q", .priority = 10});
    d_.Settle(absl::Seconds(20));
    return d_.Bound("high") == 1;
  }

  LoopDriver d_;
};

TEST_F(LoopSingleStart, ProtectionCountsFromWhenThePodStarted) {
  Runs(absl::Minutes(21), absl::Minutes(20));
  EXPECT_TRUE(MakesRoom());
}

TEST_F(LoopSingleStart, ThePodIsProtectedUntilItHasRunForLong) {
  Runs(absl::Minutes(21), absl::Minutes(5));
  EXPECT_FALSE(MakesRoom());
  d_.Settle(absl::Minutes(6));
  EXPECT_EQ(d_.Bound("high"), 1);
}

TEST_F(LoopSingleStart, AStartThatMakesNoSenseIsNone) {
  Runs(absl::Minutes(5), absl::Minutes(20));
  EXPECT_FALSE(MakesRoom());
}

}  // namespace
}  // namespace maniple::loop_single_start_test
