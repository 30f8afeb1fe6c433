#include "scheduler/loop/records/write_budget.h"

#include <gtest/gtest.h>

#include <string>

namespace maniple::loop_write_budget_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

int Spent(WriteBudget<std::string>& budget, const std::string& key, int tries, absl::Time now) {
  int spent = 0;
  for (int i = 0; i < tries; ++i) spent += budget.Spend(key, now) ? 1 : 0;
  return spent;
}

TEST(WriteBudget, ABurstAndThenOneEachInterval) {
  WriteBudget<std::string> budget({.burst = 25, .interval = absl::Minutes(5)});
  EXPECT_EQ(Spent(budget, "a", 100, kNow), 25);
  EXPECT_EQ(budget.MayAt("a"), kNow + absl::Minutes(5));
  EXPECT_EQ(Spent(budget, "a", 100, kNow + absl::Minutes(5) - absl::Nanoseconds(1)), 0);
  EXPECT_EQ(Spent(budget, "a", 100, kNow + absl::Minutes(5)), 1);
  EXPECT_EQ(Spent(budget, "b", 100, kNow), 25);
}

TEST(WriteBudget, WhatIsWholeAgainCostsNoMemory) {
  WriteBudget<std::string> budget({.burst = 2, .interval = absl::Seconds(1)});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Spent(budget, std::to_string(i), 1, kNow), 1);
  EXPECT_EQ(budget.objects(), 1000u);
  EXPECT_EQ(Spent(budget, "later", 1, kNow + absl::Seconds(1)), 1);
  EXPECT_EQ(budget.objects(), 1u);
}

TEST(WriteBudget, MemoryIsBoundedAndWhoHasSpentMostIsRememberedLongest) {
  WriteBudget<std::string> budget({.burst = 3, .interval = absl::Seconds(1), .most_objects = 10});
  EXPECT_EQ(Spent(budget, "greedy", 5, kNow), 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Spent(budget, std::to_string(i), 1, kNow), 1);
  EXPECT_EQ(budget.objects(), 10u);
  EXPECT_EQ(Spent(budget, "greedy", 5, kNow), 0);
}

TEST(WriteBudget, AClockThatIsPutBackSilencesNobodyForLongerThanAnInterval) {
  WriteBudget<std::string> budget({.burst = 1, .interval = absl::Seconds(1)});
  EXPECT_EQ(Spent(budget, "a", 1, kNow), 1);
  EXPECT_EQ(Spent(budget, "a", 1, kNow - absl::Hours(1)), 0);
  EXPECT_EQ(Spent(budget, "a", 1, kNow - absl::Hours(1) + absl::Seconds(1)), 1);
}

}  // namespace
}  // namespace maniple::loop_write_budget_test
