// The scheduling thread is shared: what one team's gangs cost to search for must not be what
// another team waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugins/builtin.h"
#include "scheduler/loop/records/search_shares.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
constexpr int64_t kMillisecond = 500'000;  // of steps

TEST(SearchShares, ARestIsTheSquareOfTheSearchOverTwiceTheHarm) {
  SearchShares shares(absl::Milliseconds(1));
  EXPECT_FALSE(shares.Rests("a", kStart));
  shares.Charge("a", 100 * kMillisecond, kStart);
  EXPECT_TRUE(shares.Rests("a", kStart + absl::Milliseconds(4999)));
  EXPECT_FALSE(shares.Rests("a", kStart + absl::Seconds(5)));
  EXPECT_FALSE(shares.Rests("b", kStart));
}

TEST(SearchShares, SlotsAreGivenOneAfterTheOther) {
  SearchShares shares(absl::Milliseconds(1));
  const int64_t steps = 20 * kMillisecond;  // a rest of 200 ms
  EXPECT_EQ(shares.TakeSlot("a", steps, kStart), kStart);
  EXPECT_TRUE(shares.HasSlots("a", kStart));
  EXPECT_EQ(shares.TakeSlot("a", steps, kStart), kStart + absl::Milliseconds(200));
  EXPECT_EQ(shares.TakeSlot("b", steps, kStart), kStart);
  EXPECT_FALSE(shares.HasSlots("a", kStart + absl::Milliseconds(400)));
}

TEST(SearchShares, ASlotIsAfterTheRest) {
  SearchShares shares(absl::Milliseconds(1));
  shares.Charge("a", 100 * kMillisecond, kStart);
  EXPECT_EQ(shares.TakeSlot("a", kMillisecond, kStart), kStart + absl::Seconds(5));
}

TEST(SearchShares, NobodyRestsForEver) {
  SearchShares shares(absl::Milliseconds(1));
  for (int i = 0; i < 100; ++i) shares.Charge("a", 1000 * kMillisecond, kStart);
  EXPECT_FALSE(shares.Rests("a", kStart + absl::Hours(1)));
}

TEST(SearchBudget, GrowsWithTheGangAndTheClusterWithinItsBounds) {
  const SearchBudget budget;
  EXPECT_EQ(budget.MostFor(1, 1), budget.least);
  EXPECT_EQ(budget.MostFor(1000, 5000), 1000 * kMillisecond);
  EXPECT_EQ(budget.MostFor(1'000'000'000'000, 1'000'000), budget.most);
  EXPECT_EQ(budget.MostFor(0, 0), budget.least);
}

// Unlike pods with three constraints each, more than there is room for: no count proves anything.
void SubmitHard(LoopDriver& driver, const std::string& name, int pods) {
  PodGroup group = MakePodGroup(name).MinMember(pods);
  group.meta.created = driver.now;
  driver.Put(ObjectUpserted{group});
  for (int i = 0; i < pods; ++i) {
    MakePod pod(absl::StrCat(name, "-", i));
    pod.Group(name).Gpu(4).Cpu(1000 + i).Label("app", name);
    for (const char* key : {"zone", "rack", "kubernetes.io/hostname"}) {
      pod.Spread(key, Labelled("app", name), {.max_skew = 5});
    }
    driver.Put(pod);
  }
}

// Each has room for one pod of four GPUs, and for two when it is empty.
void AddNodes(LoopDriver& driver, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    const std::string name = absl::StrCat("n", i);
    driver.Put(MakeNode(name)
                   .Gpu(8)
                   .Label("kubernetes.io/hostname", name)
                   .Label("rack", absl::StrCat("r", i / 4))
                   .Label("zone", absl::StrCat("z", i % 3)));
    driver.Put(MakePod(absl::StrCat("other-", i)).Scheduler("other").Gpu(2).On(name));
  }
}

LoopDriver::Settings Hurried() {
  LoopDriver::Settings settings;
  settings.search.brief = settings.search.turn = 200'000;
  settings.search.least = settings.search.most = 20'000'000;
  return settings;
}

// The fear: thirty gangs that take long to search for are all looked at before anybody else.
TEST(LoopSearch, APodOfAnotherNamespaceIsServedInTheNextTurnWhateverOthersSearchFor) {
  LoopDriver driver(Hurried());
  AddNodes(driver, 12);
  driver.Settle();
  for (int i = 0; i < 6; ++i) SubmitHard(driver, absl::StrCat("hard-", i), 20);
  driver.Exchange();
  Pod quiet = MakePod("quiet").In("elsewhere").Cpu(1000);
  quiet.meta.created = driver.now;
  driver.api.Put(quiet);
  const int64_t before = driver.loop().counters().search_steps;
  for (int turn = 0; turn < 3; ++turn) driver.Exchange();
  EXPECT_TRUE(std::ranges::any_of(driver.api.Pods(), [](const Pod* pod) {
    return pod->meta.name == "quiet" && !pod->node_name.empty();
  }));
  EXPECT_LT(driver.loop().counters().search_steps - before, 25'000'000);
  driver.Settle(absl::Minutes(5));
}

TEST(LoopSearch, AGangForWhichASearchGaveUpIsAskedAgainLessAndLess) {
  LoopDriver driver(Hurried());
  AddNodes(driver, 12);
  SubmitHard(driver, "hard", 20);
  driver.Settle();
  ASSERT_EQ(driver.StatusOf("hard").reason, "SearchLimitReached");
  EXPECT_NE(driver.StatusOf("hard").message.find("all of its 20 pods together"), std::string::npos)
      << driver.StatusOf("hard").message;
  for (int second = 0; second < 600; ++second) {
    // Room that comes and goes wakes nobody who waits for a search.
    driver.api.Delete(ResourceKind::kPod, absl::StrCat("other-", 0));
    driver.Put(MakePod("other-0").Scheduler("other").Gpu(2).On("n0"));
    driver.Settle(absl::Seconds(1));
  }
  EXPECT_LE(driver.loop().counters().searches_given_up, 6 + 10);
  EXPECT_GE(driver.loop().counters().searches_given_up, 6);
}

// The fear: what gave up once is never looked at again.
TEST(LoopSearch, AGangStartsOnceThereIsRoomThoughItsSearchGaveUp) {
  LoopDriver driver(Hurried());
  AddNodes(driver, 12);
  SubmitHard(driver, "hard", 20);
  driver.Settle();
  ASSERT_EQ(driver.StatusOf("hard").reason, "SearchLimitReached");
  for (int i = 0; i < 12; ++i) driver.api.Delete(ResourceKind::kPod, absl::StrCat("other-", i));
  driver.Settle(absl::Minutes(4));
  EXPECT_EQ(driver.Bound("hard"), 20);
}

// The fear: gangs of one team that are quickly told have to wait for the slots of its hard ones.
TEST(LoopSearch, QuickAnswersDoNotWaitForTheHardOnesOfTheSameNamespace) {
  LoopDriver driver(Hurried());
  AddNodes(driver, 12);
  for (int i = 0; i < 4; ++i) SubmitHard(driver, absl::StrCat("hard-", i), 20);
  driver.Settle();
  driver.Submit({.gang = "easy", .pods = 2, .gpu = 1});
  driver.Settle();
  EXPECT_EQ(driver.Bound("easy"), 2);
  EXPECT_GT(driver.loop().counters().searches_put_off, 0);
}

// The fear: room that others have left for a gang is given up while its namespace has to rest.
TEST(LoopSearch, WhoHasMadeRoomSearchesThoughItsNamespaceRests) {
  LoopDriver::Settings settings;
  settings.search.brief = 4;
  settings.search.harm = absl::Nanoseconds(1);
  LoopDriver driver(settings);
  driver.Nodes(8, 8);
  driver.Submit({.gang = "low", .pods = 8, .gpu = 8, .priority = 1});
  driver.Settle();
  driver.Submit({.gang = "high", .pods = 8, .gpu = 8, .priority = 2});
  driver.Settle(absl::Seconds(30));
  EXPECT_EQ(driver.Bound("high"), 8);
  EXPECT_EQ(driver.loop().counters().searches_put_off, 0);
}

}  // namespace
}  // namespace maniple
