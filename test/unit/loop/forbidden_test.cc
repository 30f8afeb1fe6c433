// A right that is lacking is told by name to whoever waits, and counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;

constexpr char kUser[] = R"(User "maniple" cannot do that)";

class LoopForbidden : public ::testing::Test {
 protected:
  void Forbid(const char* what) {
    d_.api.Break({.on = what, .times = -1, .code = 403, .message = kUser});
  }
  int64_t Counted(const Right& right) {
    const auto& forbidden = d_.loop().counters().forbidden;
    const auto it = forbidden.find(right);
    return it == forbidden.end() ? 0 : it->second;
  }
  void HighAsksLowToLeave() {
    d_.Nodes(1, 8);
    d_.Submit({.gang = "low", .pods = 1, .priority = 1});
    d_.Settle();
    d_.Submit({.gang = "high", .pods = 1, .priority = 2});
    d_.Settle(absl::Seconds(12));  // only the message changes, so it may wait for ten
  }
  LoopDriver d_;
};

TEST_F(LoopForbidden, ABindIsNamedInTheStatusOfTheGangThatWaits) {
  Forbid("/binding");
  d_.Nodes(1, 8);
  d_.Submit({.gang = "a", .pods = 1});
  d_.Settle(absl::Seconds(2));
  EXPECT_THAT(d_.StatusOf("a").message,
              HasSubstr("the API server forbids Maniple to create pods/binding: User"));
  EXPECT_GE(Counted({"create", "", "pods/binding"}), 1);
}

TEST_F(LoopForbidden, AnEvictionIsNamedInBothStatuses) {
  Forbid("/eviction");
  HighAsksLowToLeave();
  const auto named = HasSubstr("the API server forbids Maniple to create pods/eviction: User");
  EXPECT_THAT(d_.StatusOf("high").message, named);
  EXPECT_THAT(d_.StatusOf("low").message, named);
  EXPECT_GE(Counted({"create", "", "pods/eviction"}), 1);
}

TEST_F(LoopForbidden, OnceItIsAllowedNobodySpeaksOfItAnyMore) {
  Forbid("/eviction");
  HighAsksLowToLeave();
  d_.api.Mend();
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("high"), 1);
  EXPECT_EQ(d_.StatusOf("high").message.find("forbids"), std::string::npos);
}

TEST_F(LoopForbidden, AnUndoThatMayNotDeleteSaysSo) {
  Forbid("DELETE /api/v1");
  d_.api.Break({.on = "pods/a-1/binding", .times = -1, .code = 422});
  d_.Nodes(2, 8);
  d_.Submit({.gang = "a", .pods = 2});
  d_.Settle(absl::Seconds(3));
  EXPECT_THAT(d_.StatusOf("a").message,
              HasSubstr("the API server forbids Maniple to delete pods: User"));
}

TEST_F(LoopForbidden, StatusesConditionsAndEventsAreCounted) {
  Forbid("/status");
  Forbid("/events");
  d_.Nodes(1, 8);
  d_.Submit({.gang = "a", .pods = 1, .gpu = 100});
  d_.Settle(absl::Seconds(3));
  EXPECT_GE(Counted({"patch", "scheduling.maniple.dev", "podgroups/status"}), 1);
  EXPECT_GE(Counted({"patch", "", "pods/status"}), 1);
  EXPECT_GE(Counted({"create", "events.k8s.io", "events"}), 1);
}

}  // namespace
}  // namespace maniple
