// Who is first in line, and since when: the fear is a head whose time starts anew because others
// came and went behind it, or a turn that never passes on.
#include "scheduler/loop/records/waiting_lines.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

class WaitingLinesTest : public ::testing::Test {
 protected:
  static absl::Time At(int64_t minute) {
    return absl::FromUnixSeconds(1'700'000'000) + absl::Minutes(minute);
  }
  void Join(uint32_t gang, int64_t now, int32_t priority = 0, const std::string& queue = "q") {
    lines_.Join({.queue = queue,
                 .priority = priority,
                 .queued = At(gang),
                 .namespace_name = "default",
                 .name = absl::StrCat("g", gang),
                 .gang = GangId(gang)},
                At(now));
  }
  // "queue: gang since minute" of each line.
  std::string Heads() {
    std::string text;
    for (const WaitingLines::Head& head : lines_.Heads()) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", head.queue, ":", head.gang.index(), "@",
                      absl::ToInt64Minutes(head.since - At(0)));
    }
    return text;
  }
  WaitingLines lines_;
};

TEST_F(WaitingLinesTest, TheFirstKeepsItsTimeWhateverComesBehind) {
  Join(1, 1);
  Join(2, 2);
  Join(1, 3);
  lines_.Leave(GangId(2), At(4));
  EXPECT_EQ(Heads(), "q:1@1");
}

TEST_F(WaitingLinesTest, TheNextCountsFromTheMomentWhenItIsFirst) {
  Join(1, 1);
  Join(2, 2);
  lines_.Leave(GangId(1), At(7));
  EXPECT_EQ(Heads(), "q:2@7");
}

TEST_F(WaitingLinesTest, PriorityPutsItselfFirst) {
  Join(1, 1);
  Join(2, 2, 5);
  EXPECT_EQ(Heads(), "q:2@2");
  Join(2, 3, -5);
  EXPECT_EQ(Heads(), "q:1@2") << "a minute of its own, from 1 to 2";
}

// Someone urgent every few minutes would let nobody else ever be first for long enough.
TEST_F(WaitingLinesTest, WhoWasFirstBeforeGoesOnWithItsTime) {
  Join(1, 0);
  Join(2, 9, 5);
  lines_.Leave(GangId(2), At(10));
  EXPECT_EQ(Heads(), "q:1@1");
  Join(3, 12, 5);
  Join(1, 13);
  lines_.Leave(GangId(3), At(20));
  EXPECT_EQ(Heads(), "q:1@9");
  lines_.Leave(GangId(1), At(21));
  Join(1, 22);
  EXPECT_EQ(Heads(), "q:1@22") << "who left begins anew";
}

TEST_F(WaitingLinesTest, EveryQueueHasItsOwn) {
  Join(1, 1, 0, "b");
  Join(2, 2, 0, "a");
  Join(3, 3, 0, "");
  EXPECT_EQ(Heads(), ":3@3, a:2@2, b:1@1");
}

TEST_F(WaitingLinesTest, WhoIsBarredGivesItsTurnToTheNextAtOnce) {
  Join(1, 1);
  Join(2, 2);
  lines_.Bar(GangId(1), At(20));
  EXPECT_EQ(Heads(), "q:2@1");
  EXPECT_EQ(lines_.NextEnd(), At(20));
  lines_.EndBars(At(19));
  EXPECT_EQ(Heads(), "q:2@1");
  lines_.EndBars(At(20));
  EXPECT_EQ(Heads(), "q:1@1");
  EXPECT_EQ(lines_.NextEnd(), absl::InfiniteFuture());
}

TEST_F(WaitingLinesTest, ALineOfBarredOnesHasNoHead) {
  Join(1, 1);
  lines_.Bar(GangId(1), At(20));
  EXPECT_EQ(Heads(), "");
  EXPECT_FALSE(lines_.empty());
  lines_.Leave(GangId(1), At(5));
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(lines_.NextEnd(), absl::InfiniteFuture());
}

TEST_F(WaitingLinesTest, LeavingTwiceAndBarringAStrangerDoNothing) {
  Join(1, 1);
  lines_.Leave(GangId(2), At(2));
  lines_.Bar(GangId(2), At(20));
  lines_.Leave(GangId(1), At(2));
  lines_.Leave(GangId(1), At(2));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(WaitingLinesTest, WhoChangesItsQueueLeavesNothingBehind) {
  Join(1, 1, 0, "a");
  lines_.Bar(GangId(1), At(20));
  Join(1, 2, 0, "b");
  EXPECT_EQ(Heads(), "b:1@2");
  lines_.EndBars(At(30));
  EXPECT_EQ(Heads(), "b:1@2");
}

}  // namespace
}  // namespace maniple
