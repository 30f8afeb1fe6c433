// A turn folds in so much and no more; what it is at has a name.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/scheduling_loop.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(LoopApply, ALongBatchTakesSeveralTurnsAndNamesEveryObject) {
  std::vector<std::string> at;
  LoopOptions options;
  options.apply_work_per_turn = 10;
  options.applies = [&at](const ObjectKey& key) { at.push_back(key.name); };
  SchedulingLoop loop(std::move(options));
  for (int i = 0; i < 25; ++i) loop.Accept(MakePod(absl::StrCat("p", i)));
  EXPECT_TRUE(loop.Turn(kNow).more);
  EXPECT_EQ(loop.counters().events, 10);
  // What comes meanwhile does not put off the end of the batch.
  for (int i = 25; i < 45; ++i) loop.Accept(MakePod(absl::StrCat("p", i)));
  EXPECT_TRUE(loop.Turn(kNow).more);
  EXPECT_TRUE(loop.Turn(kNow).more);
  EXPECT_EQ(loop.counters().events, 25);  // a whole turn, before the later ones are begun with
  ASSERT_EQ(at.size(), 25u);
  EXPECT_EQ(at.back(), "p24");
  (void)loop.Turn(kNow);
  EXPECT_FALSE(loop.Turn(kNow).more);
  EXPECT_EQ(loop.counters().events, 45);
}

// The fear: a new leader decides on what it knew before the list that makes it leader.
TEST(LoopApply, WhoeverBeginsToLeadHasReadAllThatItWasToldBefore) {
  LoopOptions options;
  options.apply_work_per_turn = 10;
  SchedulingLoop loop(std::move(options));
  for (int kind = 0; kind < kResourceKinds; ++kind) {
    loop.Accept(KindSynced{static_cast<ResourceKind>(kind)});
  }
  while (loop.Turn(kNow).more) continue;
  ASSERT_TRUE(loop.Synced());
  for (int i = 0; i < 15; ++i) loop.Accept(MakePod(absl::StrCat("p", i)));
  (void)loop.Turn(kNow);
  for (int i = 15; i < 30; ++i) loop.Accept(MakePod(absl::StrCat("p", i)));
  loop.SetRole(SchedulingLoop::Role::kLeader);
  (void)loop.Turn(kNow);
  EXPECT_EQ(loop.counters().gangs, 0);  // nobody was looked at yet
  (void)loop.Turn(kNow);
  EXPECT_EQ(loop.counters().events - kResourceKinds, 30);
  EXPECT_EQ(loop.counters().gangs, 30);
}

}  // namespace
}  // namespace maniple
