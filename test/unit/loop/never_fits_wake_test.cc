// Gangs that fit on no empty cluster, and nodes that come and go. Fears: others have the node that
// comes already, so that the gang is not asked again and no room is ever held for it; the only node
// that could take a gang goes, and it blocks its Queue for ever.
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

TEST(LoopNeverFitsWake, ANodeThatGrowsUnderItsPodsEndsTheProof) {
  LoopDriver d;
  d.Nodes(1, 4, "n-");
  d.Put(MakePod("other").Gpu(4).Scheduler("another").On("n-1").Phase(PodPhase::kRunning));
  d.Submit({.gang = "large", .gpu = 8});
  d.Settle(absl::Seconds(20));
  ASSERT_EQ(d.StatusOf("large").reason, "NeverFits");
  d.Nodes(1, 8, "n-");
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.StatusOf("large").reason, "NoFit");
}

TEST(LoopNeverFitsWake, AHeadWhoseOnlyNodeGoesBlocksNobodyAnyMore) {
  LoopDriver d;
  Queue queue;
  queue.meta.name = "q";
  queue.ordering = QueueOrdering::kStrictFifo;
  d.Put(ObjectUpserted{queue});
  d.Nodes(1, 4, "small-");
  d.Nodes(1, 8, "large-");
  d.Put(MakePod("other").Gpu(4).Scheduler("another").On("large-1").Phase(PodPhase::kRunning));
  d.Submit({.gang = "head", .gpu = 8, .queue = "q"});
  d.Settle(absl::Seconds(20));
  ASSERT_EQ(d.StatusOf("head").reason, "NoFit");
  d.Submit({.gang = "next", .gpu = 4, .queue = "q"});
  d.Settle(absl::Seconds(20));
  ASSERT_EQ(d.Bound("next"), 0) << "it stands behind the head";
  d.api.Delete(ResourceKind::kNode, "large-1");
  d.Settle(absl::Seconds(20));
  EXPECT_EQ(d.StatusOf("head").reason, "NeverFits");
  EXPECT_EQ(d.Bound("next"), 1);
}

}  // namespace
}  // namespace maniple::loop_never_fits_wake_test
