// What a user hears of the priority of a gang. Fear: another counts than the PodGroup says, and
// nobody is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LoopPriorityTold : public ::testing::Test {
 protected:
  [[nodiscard]] int64_t Warnings() const {
    return std::ranges::count_if(d_.api.events_created(), [](const std::string& event) {
      return absl::StartsWith(event, "PriorityUnclear");
    });
  }

  LoopDriver d_;
};

TEST_F(LoopPriorityTold, AClassThatIsNotThereIsNamedUntilItIs) {
  constexpr char kTrouble[] = "PriorityClass \"later\" does not exist";
  d_.Nodes(1, 8);
  d_.Submit({.gang = "first"});
  d_.Settle();
  PodGroup group = MakePodGroup("a").MinMember(1).PriorityClass("later");
  group.meta.created = d_.now;
  d_.api.Put(group);
  d_.Submit({.gang = "a"});
  d_.Settle(absl::Seconds(2));
  EXPECT_THAT(d_.StatusOf("a").message, HasSubstr(kTrouble));
  EXPECT_EQ(Warnings(), 1);
  d_.Restart();
  d_.Settle(absl::Seconds(12));
  EXPECT_THAT(d_.StatusOf("a").message, HasSubstr(kTrouble));
  EXPECT_EQ(Warnings(), 1);
  PriorityClass later;
  later.meta.name = "later";
  d_.api.Put(later);
  d_.Settle(absl::Seconds(12));
  EXPECT_THAT(d_.StatusOf("a").message, Not(HasSubstr(kTrouble)));
}

TEST_F(LoopPriorityTold, MembersThatDifferInPriorityAreOneWarning) {
  d_.Nodes(4, 8);
  d_.Submit({.gang = "equal", .pods = 2, .priority = 3});
  for (const int32_t priority : {0, 1}) {
    d_.Submit({.gang = "a", .pods = 1, .min_member = 2, .priority = priority});
  }
  d_.Settle(absl::Seconds(12));
  EXPECT_EQ(d_.Bound("a"), 2);
  EXPECT_EQ(Warnings(), 1);
}

}  // namespace
}  // namespace maniple
