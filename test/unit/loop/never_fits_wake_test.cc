// A gang that fits on no empty cluster, and then a node comes on which it would. Fear: others have
// that node already, so that the gang is not asked again: it goes on saying that it never fits, and
// no room is ever held for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/loop_driver.h"

namespace maniple::loop_never_fits_wake_test {
namespace {

TEST(LoopNeverFitsWake, ANodeThatIsTakenAlreadyEndsTheProof) {
  LoopDriver d;
  d.Nodes(1, 4, "small-");
  d.Submit({.gang = "large", .gpu = 8});
  d.Settle(absl::Seconds(20));
  ASSERT_EQ(d.StatusOf("large").reason, "NeverFits");
  // Pods of another scheduler are heard of with their node.
  for (const char* name : {"other-1", "other-2"}) {
    d.Put(MakePod(name).Gpu(4).Scheduler("another").On("large-1").Phase(PodPhase::kRunning));
  }
  d.Nodes(1, 8, "large-");
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.StatusOf("large").reason, "NoFit");
}

}  // namespace
}  // namespace maniple::loop_never_fits_wake_test
