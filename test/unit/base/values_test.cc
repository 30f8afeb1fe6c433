// The values of api/base: amounts, ids, secrets, and the shapes of waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "api/base/amount.h"
#include "api/base/backoff.h"
#include "api/base/clock.h"
#include "api/base/id.h"
#include "api/base/random.h"
#include "api/base/secret.h"
#include "api/base/status_macros.h"
#include "api/base/thread_owner.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Amount, SaturatesInsteadOfWrapping) {
  const Amount one(1);
  EXPECT_EQ(Amount::Max() + one, Amount::Max());
  EXPECT_EQ(Amount::Min() - one, Amount::Min());
  EXPECT_EQ(Amount::Min() + Amount(-1), Amount::Min());
  EXPECT_EQ(Amount::Max() - Amount(-1), Amount::Max());
  EXPECT_EQ(Amount(-1) - Amount::Min(), Amount::Max());
  EXPECT_EQ(Amount::Max() * 2, Amount::Max());
  EXPECT_EQ(Amount::Max() * -2, Amount::Min());
  EXPECT_EQ(Amount::Min() * 2, Amount::Min());
  EXPECT_EQ(Amount::Min() * -1, Amount::Max());
  EXPECT_EQ(Amount::Max() * 0, Amount());
}

TEST(Amount, CountsWholePiecesAndNoneInDebt) {
  EXPECT_EQ(Amount(17).CountOf(Amount(8)), 2);
  EXPECT_EQ(Amount(7).CountOf(Amount(8)), 0);
  EXPECT_EQ(Amount(-17).CountOf(Amount(8)), 0);
  EXPECT_EQ(Amount().CountOf(Amount(1)), 0);
}

using TestId = Id<struct TestTag>;

TEST(Interner, GivesDenseStableIdsInOrderOfFirstSight) {
  Interner<TestId> names;
  const TestId cpu = names.Intern("cpu");
  std::string growing = "gpu";
  const TestId gpu = names.Intern(growing);
  growing = "changed";
  for (int i = 0; i < 10'000; ++i) names.Intern(std::to_string(i));
  EXPECT_EQ(cpu.index(), 0u);
  EXPECT_EQ(gpu.index(), 1u);
  EXPECT_EQ(names.Intern("gpu"), gpu);
  EXPECT_EQ(names.Name(gpu), "gpu");
  EXPECT_EQ(names.Find("cpu"), cpu);
  EXPECT_EQ(names.Find("never seen"), std::nullopt);
  EXPECT_EQ(names.size(), 10'002u);
}

TEST(Id, ADefaultOneIsNone) {
  EXPECT_FALSE(TestId().valid());
  EXPECT_TRUE(TestId(0).valid());
  std::ostringstream out;
  out << TestId() << TestId(7);
  EXPECT_EQ(out.str(), "#none#7");
}

TEST(InternerDeathTest, RefusesAnIdItNeverGaveOut) {
  Interner<TestId> names;
  EXPECT_DEATH((void)names.Name(TestId(3)), "CHECK failed");
}

TEST(Backoff, DoublesWithJitterUpToItsMostAndStartsAnewAfterReset) {
  Random random(1);
  Backoff backoff({.first = absl::Seconds(1), .most = absl::Seconds(5)});
  for (const int64_t seconds : {1, 2, 4, 5, 5, 5}) {
    const absl::Duration wait = backoff.Next(random);
    EXPECT_GE(wait, absl::Seconds(seconds));
    EXPECT_LT(wait, absl::Seconds(2 * seconds));
  }
  backoff.Reset();
  EXPECT_LT(backoff.Next(random), absl::Seconds(2));
}

TEST(Random, TheSameSeedGivesTheSameNumbersAndAnotherSeedOthers) {
  Random a(42);
  Random b(42);
  Random c(43);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    EXPECT_NE(value, c.Next());
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Random, StaysWithinItsBounds) {
  Random random(7);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_LT(random.Below(3), 3u);
    const double unit = random.Unit();
    EXPECT_GE(unit, 0.0);
    EXPECT_LT(unit, 1.0);
  }
}

TEST(Secret, PrintsAsAPlaceholderOnly) {
  const Secret token("hunter2");
  std::ostringstream out;
  out << token;
  EXPECT_EQ(out.str(), "<secret>");
  EXPECT_THAT(::testing::PrintToString(token), Not(HasSubstr("hunter2")));
  EXPECT_EQ(token.Reveal(), "hunter2");
  EXPECT_TRUE(Secret().empty());
}

TEST(SimulatedClock, MovesOnlyWhenTold) {
  SimulatedClock clock(absl::FromUnixSeconds(100));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(100));
  clock.Advance(absl::Seconds(5));
  clock.AdvanceTo(absl::FromUnixSeconds(200));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(200));
}

TEST(SimulatedClockDeathTest, NeverRunsBackwards) {
  SimulatedClock clock(absl::FromUnixSeconds(100));
  EXPECT_DEATH(clock.AdvanceTo(absl::FromUnixSeconds(99)), "CHECK failed");
}

TEST(RealClock, NeverRunsBackwardsAndStaysNearTheWallClock) {
  absl::Time last = RealClock().Now();
  EXPECT_GT(last, absl::FromUnixSeconds(1'700'000'000));
  for (int i = 0; i < 1000; ++i) {
    const absl::Time now = RealClock().Now();
    EXPECT_GE(now, last);
    last = now;
  }
}

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd");
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  RETURN_IF_ERROR(Half(half).status());
  return half / 2;
}

TEST(StatusMacros, ReturnTheFirstErrorAndAnnotateKeepsItsCode) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(7).status().message(), "odd");
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  const absl::Status annotated = Annotate(absl::NotFoundError("gone"), "Pod n/p");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(annotated.message(), "Pod n/p: gone");
  EXPECT_TRUE(Annotate(absl::OkStatus(), "x").ok());
}

TEST(ThreadOwnerDeathTest, ASecondThreadIsCaught) {
  EXPECT_DEATH(
      {
        const ThreadOwner owner;
        owner.Check();
        owner.Check();
        std::thread([&owner] { owner.Check(); }).join();
      },
      "used from a thread that does not own it");
}

}  // namespace
}  // namespace maniple
