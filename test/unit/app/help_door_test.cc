// The door of "what would help": a reader that asks often costs one answer, and one gang is asked
// about at a time.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "scheduler/app/doors/help_door.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1000);

GangKey Named(absl::string_view name) {
  return {.namespace_name = "default", .name = std::string(name)};
}

TEST(HelpDoor, TellsEverybodyTheOneAnswerUntilItIsTooOld) {
  HelpDoor door;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(door.Look(Named("a"), kNow).has_value());
  EXPECT_EQ(door.Wanted(), Named("a"));
  EXPECT_FALSE(door.Wanted().has_value()) << "asked again while it is under way";
  door.Put(Named("a"), std::make_shared<const HelpQuestion>(), kNow);
  EXPECT_EQ(door.Take()->gang, Named("a"));
  const auto help = std::make_shared<const Help>();
  door.Post(Named("a"), help, kNow + absl::Seconds(1));
  EXPECT_EQ(door.Look(Named("a"), kNow), help);
  EXPECT_FALSE(door.Wanted().has_value());
  EXPECT_FALSE(door.Look(Named("a"), kNow + absl::Seconds(2)).has_value());
  EXPECT_EQ(door.Wanted(), Named("a"));
}

TEST(HelpDoor, OneGangIsAskedAboutAtATimeInTheOrderOfAsking) {
  HelpDoor door;
  for (const char* name : {"b", "a", "b"}) EXPECT_FALSE(door.Look(Named(name), kNow).has_value());
  EXPECT_EQ(door.Wanted(), Named("b"));
  EXPECT_FALSE(door.Wanted().has_value());
  door.Put(Named("b"), nullptr, kNow);  // nothing can be asked of it
  EXPECT_EQ(door.Look(Named("b"), kNow), HelpPtr());
  EXPECT_EQ(door.Wanted(), Named("a"));
}

TEST(HelpDoor, WhoComesWhenTooManyWaitIsToldNothingAtOnce) {
  HelpDoor door;
  for (size_t i = 0; i < HelpDoor::kMostWanted; ++i) {
    EXPECT_FALSE(door.Look(Named(absl::StrCat("g", i)), kNow).has_value());
  }
  EXPECT_EQ(door.Look(Named("late"), kNow), HelpPtr());
  EXPECT_FALSE(door.Look(Named("g0"), kNow).has_value()) << "it waits already";
}

TEST(HelpDoor, KeepsTheLatestAnswersOnly) {
  HelpDoor door;
  const size_t all = HelpDoor::kMostKept + 10;
  for (size_t i = 0; i < all; ++i) {
    door.Post(Named(absl::StrCat("g", i)), std::make_shared<const Help>(),
              kNow + absl::Seconds(static_cast<int64_t>(i)));
  }
  EXPECT_TRUE(door.Look(Named(absl::StrCat("g", all - 1)), kNow).has_value());
  EXPECT_FALSE(door.Look(Named("g0"), kNow).has_value());
}

TEST(HelpDoor, AReaderWhoWaitsIsAnsweredWithWhatWasMadeSince) {
  HelpDoor door;
  const auto help = std::make_shared<const Help>();
  std::thread others([&] {
    while (std::optional<HelpDoor::Work> work = door.Take()) {
      door.Post(work->gang, help, RealClock().Now());
    }
  });
  const auto wake = [&] {
    if (const std::optional<GangKey> gang = door.Wanted()) {
      door.Put(*gang, std::make_shared<const HelpQuestion>(), RealClock().Now());
    }
  };
  EXPECT_EQ(door.Wait(Named("a"), absl::Seconds(20), wake), help);
  door.Close();
  others.join();
  EXPECT_EQ(door.Wait(Named("b"), absl::Seconds(20), wake), nullptr) << "the door is closed";
}

TEST(HelpDoor, AReaderWaitsByTheClockThatDatesTheAnswers) {
  SimulatedClock clock;  // years behind the wall clock, which has been set
  HelpDoor door(clock);
  const auto help = std::make_shared<const Help>();
  const auto wake = [&] {
    if (const std::optional<GangKey> gang = door.Wanted()) door.Post(*gang, help, clock.Now());
  };
  EXPECT_EQ(door.Wait(Named("a"), absl::Seconds(5), wake), help);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(door.Wait(Named("a"), absl::ZeroDuration(), [] {}), nullptr) << "that one is old";
}

}  // namespace
}  // namespace maniple
