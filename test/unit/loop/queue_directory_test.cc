// The counts and statuses of Queues. Fears: a count is left behind when a gang moves, ends, or the
// lead is lost; a Queue that is deleted and made anew inherits what the old one was told; a name
// that is forgotten is still counted; gangs whose Queue does not exist are counted nowhere; the
// pages of views lose a Queue or show one twice.
#include "scheduler/loop/quota/queue_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple::loop_queue_directory_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr std::array<absl::string_view, 4> kReasons = {"NoFit", "QuotaExceeded", "TopologyNoFit",
                                                       "WaitingForMembers"};

ObjectEvent Exists(const std::string& name, const std::string& uid = "uid") {
  Queue queue;
  queue.meta.name = name;
  queue.meta.uid = uid;
  return ObjectUpserted{queue};
}

// What is counted of one gang.
struct Counted {
  std::string queue;
  QueueCount count;
};

// The sums over all gangs of one Queue, found from scratch.
struct Sums {
  int64_t pending = 0, running = 0, pending_pods = 0, running_pods = 0;
  absl::Time oldest = absl::InfiniteFuture();
  std::map<absl::string_view, int64_t> reasons;
  std::map<std::string, Amount> asked;
};

Sums SumsOf(const std::map<GangId, Counted>& gangs, const std::string& queue) {
  Sums sums;
  for (const auto& [gang, counted] : gangs) {
    const QueueCount& count = counted.count;
    if (counted.queue != queue) continue;
    sums.pending += count.pending;
    sums.running += count.running;
    sums.pending_pods += count.pending_pods;
    sums.running_pods += count.running_pods;
    for (const ResourceAmount& part : count.asked) sums.asked[part.resource] += part.amount;
    if (count.pending == 0) continue;
    if (count.reason != "WaitingForMembers") sums.oldest = std::min(sums.oldest, count.since);
    ++sums.reasons[count.reason];
  }
  return sums;
}

std::vector<std::string> NamesOf(const std::vector<QueueView>& views) {
  std::vector<std::string> names;
  for (const QueueView& view : views) names.push_back(view.name);
  return names;
}

class QueueDirectoryTest : public ::testing::Test {
 protected:
  // Gangs whose Queue does not exist count as those without one.
  void ExpectReasonsWithoutQueue() {
    std::map<absl::string_view, int64_t> sums;
    for (const auto& [gang, counted] : gangs_) {
      const bool has_queue = !counted.queue.empty() && !ViewOf(counted.queue).name.empty();
      if (!has_queue && counted.count.pending > 0) ++sums[counted.count.reason];
    }
    EXPECT_EQ(ReasonsOf(directory_.WithoutQueueView(kNow)), sums);
  }
  static std::map<absl::string_view, int64_t> ReasonsOf(const QueueView& view) {
    return {view.pending_by_reason.begin(), view.pending_by_reason.end()};
  }
  void ExpectCounts(const std::string& queue) {
    const Sums sums = SumsOf(gangs_, queue);
    const QueueView view = ViewOf(queue);
    EXPECT_EQ(ReasonsOf(view), sums.reasons) << queue;
    EXPECT_EQ(view.pending, sums.pending);
    EXPECT_EQ(view.running, sums.running);
    EXPECT_EQ(view.pending_pods, sums.pending_pods);
    EXPECT_EQ(view.running_pods, sums.running_pods);
    EXPECT_EQ(view.oldest_pending, sums.oldest);
    std::map<std::string, Amount> asked;
    for (const ResourceAmount& part : view.asked) asked[part.resource] = part.amount;
    EXPECT_EQ(asked, sums.asked) << queue;
  }
  // The uids of the Queues that are written to.
  std::vector<std::string> WrittenAt(absl::Time now) {
    std::vector<std::string> uids;
    for (const auto& due : directory_.TakeDue(now, book_)) uids.push_back(due.queue.uid);
    return uids;
  }
  QueueView ViewOf(const std::string& name) {
    for (QueueView& view : directory_.Views(book_, kNow)) {
      if (view.name == name) return view;
    }
    return {};
  }
  void Count(uint32_t gang, const std::string& queue, const QueueCount& count) {
    directory_.Count(GangId(gang), queue, count);
    gangs_[GangId(gang)] = {queue, count};
  }
  static QueueCount AnyCount(Random& random) {
    QueueCount count;
    if (random.OneIn(4)) return count;  // nothing
    const auto pods = static_cast<int32_t>(1 + random.Below(3));
    if (random.OneIn(2)) {
      count.running = 1;
      count.running_pods = pods;
      return count;
    }
    count.pending = 1;
    count.pending_pods = pods;
    count.since = kNow + absl::Seconds(random.Below(5));
    count.reason = kReasons[random.Below(kReasons.size())];
    for (const char* resource : {"cpu", "memory"}) {
      if (random.OneIn(2)) continue;
      count.asked.push_back({resource, Amount(static_cast<int64_t>(1 + random.Below(9)))});
    }
    return count;
  }

  QuotaBook book_;
  QueueDirectory directory_{absl::Seconds(1), WithoutQueue::kAllow};
  std::map<GangId, Counted> gangs_;
};

TEST_F(QueueDirectoryTest, CountsAreTheSumsOverAllGangsWhateverBecomesOfTheQueues) {
  const std::array<std::string, 3> queues = {"", "q1", "q2"};
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::string& queue = queues[random.Below(queues.size())];
    if (random.OneIn(12) && !queue.empty()) {
      directory_.Note(random.OneIn(2) ? Exists(queue, absl::StrCat("uid-", round))
                                      : DeletionOf(ResourceKind::kQueue, queue),
                      kNow);
    } else if (random.OneIn(20)) {
      directory_.ForgetUnusedNames();
    } else if (random.OneIn(50)) {
      directory_.Forget();
      gangs_.clear();
    } else {
      Count(static_cast<uint32_t>(random.Below(6)), queue, AnyCount(random));
    }
    for (const std::string& each : queues) {
      if (!ViewOf(each).name.empty()) ExpectCounts(each);  // it exists
    }
    ExpectReasonsWithoutQueue();
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST_F(QueueDirectoryTest, AGangWhoseQueueDoesNotExistWaitsWithoutOneUntilItDoes) {
  Count(1, "nowhere", {.pending = 1, .pending_pods = 2, .reason = "QueueNotFound"});
  Count(2, "", {.pending = 1, .pending_pods = 2, .reason = "NoFit"});
  EXPECT_THAT(directory_.WithoutQueueView(kNow).pending_by_reason,
              ElementsAre(Pair("NoFit", 1), Pair("QueueNotFound", 1)));
  directory_.Note(Exists("nowhere"), kNow);
  EXPECT_THAT(directory_.WithoutQueueView(kNow).pending_by_reason, ElementsAre(Pair("NoFit", 1)));
  EXPECT_THAT(ViewOf("nowhere").pending_by_reason, ElementsAre(Pair("QueueNotFound", 1)));
}

TEST_F(QueueDirectoryTest, PagesOfViewsTellEveryQueueOnceByName) {
  for (int i = 0; i < 7; ++i) directory_.Note(Exists(absl::StrCat("q", i * 5 % 7)), kNow);
  directory_.Note(DeletionOf(ResourceKind::kQueue, "q3"), kNow);
  for (size_t most = 1; most <= 8; ++most) {
    std::vector<QueueView> views;
    while (directory_.AddViews(views.empty() ? "" : views.back().name, most, book_, kNow, views)) {
    }
    EXPECT_EQ(NamesOf(views), NamesOf(directory_.Views(book_, kNow))) << most;
    EXPECT_THAT(NamesOf(views), ElementsAre("q0", "q1", "q2", "q4", "q5", "q6"));
  }
}

TEST_F(QueueDirectoryTest, AnotherQueueOfTheSameNameIsWrittenToWhateverTheFirstWasTold) {
  directory_.Note(Exists("q", "one"), kNow);
  EXPECT_THAT(WrittenAt(kNow), ElementsAre("one"));
  directory_.Note(Exists("q", "one"), kNow);
  EXPECT_THAT(WrittenAt(kNow + absl::Seconds(5)), IsEmpty());
  directory_.Note(Exists("q", "two"), kNow);
  EXPECT_THAT(WrittenAt(kNow + absl::Seconds(10)), ElementsAre("two"));
  directory_.Note(DeletionOf(ResourceKind::kQueue, "q"), kNow);
  Count(1, "q", {.running = 1, .running_pods = 4});  // it runs on
  EXPECT_THAT(WrittenAt(kNow + absl::Seconds(15)), IsEmpty());
  directory_.Note(Exists("q", "three"), kNow);
  EXPECT_THAT(WrittenAt(kNow + absl::Seconds(20)), ElementsAre("three"));
  EXPECT_EQ(ViewOf("q").running_pods, 4);
}

TEST_F(QueueDirectoryTest, AQueueThatIsMadeAnewHasNoneOfTheConditionsOfTheFirst) {
  const auto active_since = [this](absl::Time now) {
    const auto due = directory_.TakeDue(now, book_);
    return due.at(0).status.conditions.at(0).last_transition;
  };
  Queue queue;
  queue.meta.name = "q";
  queue.meta.uid = "one";
  const absl::Time first = kNow - absl::Hours(1);
  queue.conditions = {{.type = "Active", .status = "True", .reason = "Ready"}};
  queue.conditions.at(0).last_transition = first;
  directory_.Note(ObjectUpserted{queue}, kNow);
  EXPECT_EQ(active_since(kNow), first);
  // The second cannot be read, so it brings none of its own; the third comes after a deletion.
  const ObjectKey key = {ResourceKind::kQueue, "", "q"};
  const absl::Time second = kNow + absl::Minutes(1), third = kNow + absl::Minutes(2);
  directory_.Note(ObjectInvalid{key, "two", "bad"}, second);
  EXPECT_EQ(active_since(second), second);
  directory_.Note(ObjectUpserted{queue}, second);
  directory_.Note(DeletionOf(ResourceKind::kQueue, "q"), third);
  directory_.Note(ObjectInvalid{key, "one", "bad"}, third);
  EXPECT_EQ(active_since(third), third);
}

TEST_F(QueueDirectoryTest, OnlyAQueueThatExistsAndSelectsTheNamespaceAdmits) {
  Queue queue;
  queue.meta.name = "q";
  queue.namespace_selector = Labelled("team", "a");
  directory_.Note(ObjectUpserted{queue}, kNow);
  EXPECT_FALSE(directory_.Admits("q", "space")) << "nothing is known of the namespace";
  Namespace space;
  space.meta.name = "space";
  space.meta.labels.Set("team", "a");
  directory_.Note(ObjectUpserted{space}, kNow);
  EXPECT_TRUE(directory_.Admits("q", "space"));
  EXPECT_FALSE(directory_.Admits("", "space"));
  directory_.Note(DeletionOf(ResourceKind::kNamespace, "space", "", ""), kNow);
  EXPECT_FALSE(directory_.Admits("q", "space"));
  directory_.Note(ObjectUpserted{space}, kNow);
  directory_.Note(DeletionOf(ResourceKind::kQueue, "q"), kNow);
  EXPECT_FALSE(directory_.Admits("q", "space"));
}

TEST_F(QueueDirectoryTest, AQueueThatCouldNeverBeReadAdmitsNobody) {
  const ObjectEvent unreadable = ObjectInvalid{{ResourceKind::kQueue, "", "q"}, "uid", "bad"};
  directory_.Note(unreadable, kNow);
  EXPECT_FALSE(directory_.Admits("q", "space"));
  directory_.Note(Exists("q"), kNow);
  EXPECT_TRUE(directory_.Admits("q", "space"));
  directory_.Note(unreadable, kNow);
  EXPECT_TRUE(directory_.Admits("q", "space")) << "as the spec before it said";
  directory_.Note(DeletionOf(ResourceKind::kQueue, "q"), kNow);
  directory_.Note(unreadable, kNow);
  EXPECT_FALSE(directory_.Admits("q", "space"));
}

}  // namespace
}  // namespace maniple::loop_queue_directory_test
