// Nodes that reject pods. The fears: a node that is broken takes a gang again and again, and one
// that was mended stays shut.
#include "scheduler/loop/records/cool_downs.h"

#include <gtest/gtest.h>

namespace maniple::loop_cool_downs_test {
namespace {

constexpr NodeId kNode(3), kOther(4);
const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

TEST(CoolDowns, GrowWithEachRejectionUpToSixteenMinutes) {
  CoolDowns nodes(absl::Seconds(30));
  absl::Time now = kStart;
  for (const int64_t seconds : {30, 60, 120, 240, 480, 960, 960}) {
    const absl::Time until = nodes.Rejected(kNode, now);
    EXPECT_EQ(until - now, absl::Seconds(seconds));
    now = until;
  }
}

TEST(CoolDowns, PodsThatFailAtOnceCountOnce) {
  CoolDowns nodes(absl::Seconds(30));
  const absl::Time until = nodes.Rejected(kNode, kStart);
  EXPECT_EQ(nodes.Rejected(kNode, kStart + absl::Seconds(1)), until);
  EXPECT_EQ(nodes.Rejected(kNode, until) - until, absl::Seconds(60));
}

TEST(CoolDowns, AreForgivenAndForgotten) {
  CoolDowns nodes(absl::Seconds(30));
  const absl::Time until = nodes.Rejected(kNode, kStart);
  const absl::Time later = until + absl::Minutes(10);
  EXPECT_EQ(nodes.Rejected(kNode, later) - later, absl::Seconds(30));
  // Another node has its id.
  nodes.NodeGone(kNode);
  EXPECT_EQ(nodes.Rejected(kNode, later) - later, absl::Seconds(30));
}

TEST(CoolDowns, TellWhenTheNextNodeIsBack) {
  CoolDowns nodes(absl::Seconds(30));
  EXPECT_EQ(nodes.NextEnd(kStart), absl::InfiniteFuture());
  const absl::Time first = nodes.Rejected(kNode, kStart);
  const absl::Time second = nodes.Rejected(kOther, kStart + absl::Seconds(5));
  nodes.Shut(NodeId(5), second + absl::Seconds(5));
  nodes.Shut(NodeId(6), second + absl::Seconds(1));
  nodes.Opened(NodeId(6));  // sooner than was thought
  EXPECT_EQ(nodes.NextEnd(kStart), first);
  EXPECT_EQ(nodes.NextEnd(first), second);
  EXPECT_EQ(nodes.NextEnd(second), second + absl::Seconds(5));
  EXPECT_EQ(nodes.NextEnd(second + absl::Seconds(5)), absl::InfiniteFuture());
}

}  // namespace
}  // namespace maniple::loop_cool_downs_test
