// What is counted in a Queue of gangs that another scheduler serves. Fears: such a gang is told as
// one that waits, though nobody here will ever decide on it; it is counted on after its pods went
// to the other scheduler, or not counted again when they came back.
#include <gtest/gtest.h>

#include "test/support/loop_driver.h"

namespace maniple::loop_gangs_of_others_test {
namespace {

class GangsOfOthersTest : public ::testing::Test {
 protected:
  GangsOfOthersTest() {
    d_.Nodes(1, 8);
    Queue queue;
    queue.meta.name = "q";
    queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(8)}}}};
    d_.api.Put(queue);
  }
  [[nodiscard]] int64_t Pending() {
    d_.Settle();
    return d_.Figures()->queues.front().pending;
  }
  void PutGroup() { d_.Put(MakePodGroup("g").MinMember(1).Queue("q")); }
  void PutPod() {
    d_.Put(MakePod("g-0").Group("g").Gpu(1).Scheduler("other").On("n1").Phase(PodPhase::kRunning));
  }

  LoopDriver d_;
};

TEST_F(GangsOfOthersTest, WaitForNobodyHere) {
  PutGroup();
  EXPECT_EQ(Pending(), 1) << "nobody has made a pod";
  PutPod();
  EXPECT_EQ(Pending(), 0);
}

TEST_F(GangsOfOthersTest, WaitForNobodyHereWhateverComesFirst) {
  PutPod();
  PutGroup();
  EXPECT_EQ(Pending(), 0);
}

TEST_F(GangsOfOthersTest, AreOursOnceTheirPodsAreGone) {
  PutGroup();
  PutPod();
  EXPECT_EQ(Pending(), 0);
  d_.api.Delete(ResourceKind::kPod, "g-0");
  EXPECT_EQ(Pending(), 1);
}

}  // namespace
}  // namespace maniple::loop_gangs_of_others_test
