// One gang makes room for another, in the loop: each test is a symptom that was seen once.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

class LoopEvictionTest : public ::testing::Test {
 protected:
  // Pods of 8 GPUs each.
  void Submit(const std::string& gang, int pods, int32_t priority) {
    PodGroup group = MakePodGroup(gang).MinMember(pods);
    group.meta.created = d_.now;
    d_.api.Put(group);
    for (int i = 0; i < pods; ++i) {
      Pod pod = MakePod(absl::StrCat(gang, "-", i)).Group(gang).Gpu(8).Priority(priority);
      pod.meta.uid.clear();
      pod.meta.created = d_.now;
      d_.api.Put(pod);
    }
  }
  int Evictions() { return d_.api.Count("/eviction"); }

  LoopDriver d_;
};

TEST_F(LoopEvictionTest, VictimsThatTakeTheirTimeToEndAreWaitedForWithoutSpinning) {
  d_.Nodes(2, 8);
  d_.api.KeepTerminating();
  Submit("low", 2, 1);
  d_.Settle();
  Submit("high", 2, 2);
  d_.Settle(absl::Seconds(40));
  EXPECT_EQ(Evictions(), 2);
  EXPECT_EQ(d_.Bound("high"), 0);
  d_.api.Reap();
  d_.Settle();
  EXPECT_EQ(d_.Bound("high"), 2);
}

}  // namespace
}  // namespace maniple
