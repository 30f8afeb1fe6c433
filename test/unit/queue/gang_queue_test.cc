#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "queue/gang_queue.h"

namespace maniple::queue_gang_queue_test {
namespace {

std::optional<QuotaNodeId> NotShort(QueueItem) { return std::nullopt; }

using ::testing::ElementsAre;

constexpr auto kAnyRoom = [](ShapeId) { return true; };
constexpr auto kNoRoom = [](ShapeId) { return false; };
const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

QueueItem Quorum(uint32_t gang) { return {GangId(gang), ItemKind::kQuorum}; }
QueueItem Repair(uint32_t gang) { return {GangId(gang), ItemKind::kRepair}; }
QueueItem Surplus(uint32_t gang) { return {GangId(gang), ItemKind::kSurplus}; }
OrderKey Order(int32_t priority, int seconds, const std::string& name = "g") {
  return {.priority = priority,
          .queued = kStart + absl::Seconds(seconds),
          .namespace_name = "default",
          .name = name};
}
ParkFacts RoomFacts(const std::string& class_key, uint32_t shape = 1) {
  return {.class_key = class_key, .relief = kReliefRoom, .smallest_shape = ShapeId(shape)};
}

std::vector<QueueItem> Drain(GangQueue& queue, absl::Time now = kStart) {
  std::vector<QueueItem> out;
  while (const auto item = queue.Pop(now)) out.push_back(*item);
  return out;
}
void OfferAndPark(GangQueue& queue, QueueItem item, const OrderKey& order, ParkFacts facts) {
  queue.Offer(item, order);
  ASSERT_EQ(queue.Pop(kStart), item);
  queue.Park(item, order, std::move(facts));
}

TEST(GangQueue, ServesByPriorityThenTimeThenName) {
  GangQueue queue;
  queue.Offer(Quorum(1), Order(0, 5, "b"));
  queue.Offer(Quorum(2), Order(0, 5, "a"));
  queue.Offer(Quorum(3), Order(0, 1, "z"));
  queue.Offer(Quorum(4), Order(9, 9, "z"));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(4), Quorum(3), Quorum(2), Quorum(1)));
}

TEST(GangQueue, SurplusComesAfterEveryQuorumWhateverItsPriority) {
  GangQueue queue;
  queue.Offer(Surplus(1), Order(100, 0));
  queue.Offer(Quorum(2), Order(-5, 9));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2), Surplus(1)));
}

TEST(GangQueue, RepairsGoBeforeNewGangsOfTheSameOrLowerPriorityOnly) {
  GangQueue queue;
  queue.Offer(Quorum(1), Order(5, 0));
  queue.Offer(Repair(2), Order(5, 9));
  queue.Offer(Quorum(3), Order(6, 9));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(3), Repair(2), Quorum(1)));
}

OrderKey OrderIn(const std::string& namespace_name, int32_t priority) {
  OrderKey order = Order(priority, 0);
  order.namespace_name = namespace_name;
  return order;
}

// The fear: the gangs of one namespace are looked at before all others, however long that takes.
TEST(GangQueue, ANamespaceThatStandsAsideLetsAllOthersGoFirst) {
  GangQueue queue;
  queue.Offer(Quorum(1), OrderIn("loud", 9));
  queue.Offer(Quorum(2), OrderIn("loud", 8));
  queue.Offer(Surplus(3), OrderIn("quiet", 0));
  queue.Offer(Quorum(4), OrderIn("quiet", 0));
  EXPECT_EQ(queue.Pop(kStart), Quorum(1));
  queue.StandAside(OrderIn("loud", 9));
  queue.Offer(Quorum(5), OrderIn("loud", 10));
  EXPECT_EQ(queue.ready(), 4u);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(4), Surplus(3), Quorum(5), Quorum(2)));
}

// The lane is charged while its only item is being decided, so that nobody is in it.
TEST(GangQueue, ANamespaceOfOneItemStandsAsideToo) {
  GangQueue queue;
  queue.Offer(Quorum(1), OrderIn("loud", 9));
  EXPECT_EQ(queue.Pop(kStart), Quorum(1));
  queue.StandAside(OrderIn("loud", 9));
  queue.Offer(Quorum(1), OrderIn("loud", 9));
  queue.Offer(Quorum(2), OrderIn("quiet", 0));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2), Quorum(1)));
}

TEST(GangQueue, WhoStoodAsideIsBackWhenNobodyElseWasLeft) {
  GangQueue queue;
  queue.Offer(Quorum(1), OrderIn("loud", 9));
  queue.StandAside(OrderIn("loud", 9));
  queue.StandAside(OrderIn("nobody", 0));
  EXPECT_EQ(queue.Pop(kStart), Quorum(1));
  queue.Offer(Quorum(2), OrderIn("quiet", 0));
  queue.Offer(Quorum(1), OrderIn("loud", 9));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1), Quorum(2)));
}

TEST(GangQueue, RepairsOfWhoStandsAsideAreNotPutOff) {
  GangQueue queue;
  queue.Offer(Repair(1), OrderIn("loud", 0));
  queue.Offer(Quorum(2), OrderIn("loud", 0));
  queue.Offer(Quorum(3), OrderIn("quiet", 0));
  queue.StandAside(OrderIn("loud", 0));
  EXPECT_THAT(Drain(queue), ElementsAre(Repair(1), Quorum(3), Quorum(2)));
}

TEST(GangQueue, ARepeatedOfferOnlyUpdatesTheOrder) {
  GangQueue queue;
  queue.Offer(Quorum(1), Order(0, 0));
  queue.Offer(Quorum(2), Order(0, 1));
  queue.Offer(Quorum(2), Order(7, 1));
  EXPECT_EQ(queue.ready(), 2u);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2), Quorum(1)));
}

TEST(GangQueue, AnEventWakesOneOfAClassAndItsFailureSpeaksForAll) {
  GangQueue queue;
  for (uint32_t i = 0; i < 5; ++i) {
    OfferAndPark(queue, Quorum(i), Order(0, static_cast<int>(i)), RoomFacts("same"));
  }
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(0)));
  queue.Park(Quorum(0), Order(0, 0), RoomFacts("same"));
  EXPECT_TRUE(Drain(queue).empty());
  EXPECT_EQ(queue.parked(), 5u);
}

TEST(GangQueue, EachSuccessWakesTheNextOfItsClassUntilTheFirstFailure) {
  GangQueue queue;
  for (uint32_t i = 0; i < 5; ++i) {
    OfferAndPark(queue, Quorum(i), Order(0, static_cast<int>(i)), RoomFacts("same"));
  }
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  std::vector<QueueItem> tried;
  while (const auto item = queue.Pop(kStart)) {
    tried.push_back(*item);
    if (tried.size() < 3) {
      queue.Started(*item);
    } else {
      queue.Park(*item, Order(0, 2), RoomFacts("same"));
    }
  }
  EXPECT_THAT(tried, ElementsAre(Quorum(0), Quorum(1), Quorum(2)));
}

TEST(GangQueue, AWokenItemThatIsRemovedPassesTheQuestionOn) {
  GangQueue queue;
  OfferAndPark(queue, Quorum(1), Order(0, 1), RoomFacts("same"));
  OfferAndPark(queue, Quorum(2), Order(0, 2), RoomFacts("same"));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  queue.RemoveGang(GangId(1));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2)));
}

TEST(GangQueue, AWokenItemParkedForAnotherReasonPassesTheQuestionOn) {
  GangQueue queue;
  OfferAndPark(queue, Quorum(1), Order(0, 1), RoomFacts("same"));
  OfferAndPark(queue, Quorum(2), Order(0, 2), RoomFacts("same"));
  queue.Wake(kReliefRoom, kAnyRoom, NotShort);
  ASSERT_EQ(queue.Pop(kStart), Quorum(1));
  queue.Park(Quorum(1), Order(0, 1), RoomFacts("other"));
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2)));
}

TEST(GangQueue, RoomThatHelpsNoShapeOfAClassWakesNobody) {
  GangQueue queue;
  OfferAndPark(queue, Quorum(1), Order(0, 1), RoomFacts("a", 7));
  OfferAndPark(queue, Quorum(2), Order(0, 2), RoomFacts("b", 8));
  queue.Wake(
      kReliefRoom, [](ShapeId shape) { return shape == ShapeId(8); }, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2)));
}

TEST(GangQueue, AnEventThatAClassDoesNotWaitForWakesNobody) {
  GangQueue queue;
  OfferAndPark(queue, Quorum(1), Order(0, 1), RoomFacts("a"));
  queue.Wake(kReliefQueue | kReliefNodes, kAnyRoom, NotShort);
  EXPECT_TRUE(Drain(queue).empty());
  OfferAndPark(queue, Quorum(2), Order(0, 2), {.class_key = "q", .relief = kReliefQueue});
  queue.Wake(kReliefQueue, kNoRoom, NotShort);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(2)));
}

TEST(GangQueue, ATimeWakesExactlyWhenItComes) {
  GangQueue queue;
  ParkFacts facts = RoomFacts("a");
  facts.until = kStart + absl::Seconds(10);
  OfferAndPark(queue, Quorum(1), Order(0, 1), facts);
  EXPECT_EQ(queue.NextDeadline(), kStart + absl::Seconds(10));
  EXPECT_TRUE(Drain(queue, kStart + absl::Seconds(9)).empty());
  EXPECT_THAT(Drain(queue, kStart + absl::Seconds(10)), ElementsAre(Quorum(1)));
  EXPECT_EQ(queue.NextDeadline(), absl::InfiniteFuture());
}

TEST(GangQueue, AChangedGangLeavesItsClassAtOnce) {
  GangQueue queue;
  OfferAndPark(queue, Quorum(1), Order(0, 1), RoomFacts("a"));
  queue.Offer(Quorum(1), Order(3, 1));
  EXPECT_EQ(queue.parked(), 0u);
  EXPECT_THAT(Drain(queue), ElementsAre(Quorum(1)));
}

TEST(GangQueue, TenThousandParkedGangsCostNothingWhileNothingChanges) {
  GangQueue queue;
  for (uint32_t i = 0; i < 10'000; ++i) {
    OfferAndPark(queue, Quorum(i), Order(0, static_cast<int>(i)),
                 RoomFacts(absl::StrCat("class ", i % 100), i % 100));
  }
  const uint64_t before = queue.touched();
  for (int turn = 0; turn < 1'000; ++turn) {
    EXPECT_EQ(queue.Pop(kStart + absl::Seconds(turn)), std::nullopt);
  }
  EXPECT_EQ(queue.touched(), before);
  int asked = 0;
  const auto fits = [&asked](ShapeId shape) {
    ++asked;
    return shape == ShapeId(3);
  };
  queue.Wake(kReliefRoom, fits, NotShort);
  EXPECT_EQ(asked, 100);
  EXPECT_EQ(queue.ready(), 1u);
  EXPECT_LE(queue.touched() - before, 110u);
}

// Against the naive rule: an item may be served if and only if it was offered or an event or time
// of its facts has come and nobody of its class is out to ask already.
class NaiveQueue {
 public:
  struct Parked {
    ParkFacts facts;
    OrderKey order;
  };
  static auto Key(const QueueItem& item, const OrderKey& o) {
    return std::make_tuple(item.kind == ItemKind::kSurplus, -int64_t{o.priority}, item.kind,
                           o.queued, o.namespace_name, o.name, item);
  }
  using Class = std::tuple<std::string, uint32_t, ShapeId>;
  static Class ClassOf(const ParkFacts& f) { return {f.class_key, f.relief, f.smallest_shape}; }

  // Who sleeps towards a time leaves somebody else to see what that brings.
  void StopSleeping(QueueItem item) {
    const auto it = parked.find(item);
    if (it == parked.end()) return;
    const ParkFacts facts = it->second.facts;
    parked.erase(it);
    if (facts.until < absl::InfiniteFuture()) WakeClass(ClassOf(facts));
  }
  void Offer(QueueItem item, const OrderKey& order) {
    StopSleeping(item);
    ready[item] = order;
    popped.erase(item);
  }
  std::optional<QueueItem> Pop(absl::Time now) {
    std::vector<std::pair<absl::Time, QueueItem>> due;
    for (const auto& [item, p] : parked) {
      if (p.facts.until <= now) due.emplace_back(p.facts.until, item);
    }
    std::ranges::sort(due);
    for (const auto& [time, item] : due) {
      const Class c = ClassOf(parked[item].facts);
      const bool spoken =
          std::ranges::any_of(speaker, [&c](const auto& s) { return s.second == c; });
      (spoken ? woken_from : speaker)[item] = c;
      ready[item] = parked[item].order;
      parked.erase(item);
    }
    if (ready.empty()) return std::nullopt;
    auto best = ready.begin();
    for (auto it = ready.begin(); it != ready.end(); ++it) {
      if (Key(it->first, it->second) < Key(best->first, best->second)) best = it;
    }
    const QueueItem item = best->first;
    popped.insert(item);
    ready.erase(best);
    return item;
  }
  void WakeClass(const Class& c) {
    for (const auto& [item, spoken] : speaker) {
      if (spoken == c) return;
    }
    const QueueItem* best = nullptr;
    for (const auto& [item, p] : parked) {
      if (ClassOf(p.facts) != c) continue;
      if (best == nullptr || Key(item, p.order) < Key(*best, parked[*best].order)) best = &item;
    }
    if (best == nullptr) return;
    const QueueItem item = *best;
    ready[item] = parked[item].order;
    parked.erase(item);
    speaker[item] = c;
  }
  void Wake(uint32_t relief, absl::FunctionRef<bool(ShapeId)> fits) {
    std::set<Class> classes;
    for (const auto& [item, p] : parked) {
      const uint32_t hit = p.facts.relief & relief;
      if (hit == 0) continue;
      const bool other = (hit & ~(kReliefRoom | kReliefNodes)) != 0;
      if (other || fits(p.facts.smallest_shape)) classes.insert(ClassOf(p.facts));
    }
    for (const Class& c : classes) WakeClass(c);
  }
  void Leave(QueueItem item) {
    if (const auto it = speaker.find(item); it != speaker.end()) {
      const Class c = it->second;
      speaker.erase(it);
      WakeClass(c);
    }
    woken_from.erase(item);
  }
  void Park(QueueItem item, const OrderKey& order, const ParkFacts& facts) {
    popped.erase(item);
    parked[item] = {facts, order};
    const auto it = speaker.find(item);
    if (it != speaker.end() && it->second == ClassOf(facts)) {
      speaker.erase(it);
    } else {
      Leave(item);
    }
    woken_from.erase(item);
  }
  void Started(QueueItem item) {
    popped.erase(item);
    const auto from = woken_from.find(item);
    if (speaker.contains(item)) {
      Leave(item);
    } else if (from != woken_from.end()) {
      const Class c = from->second;
      woken_from.erase(from);
      WakeClass(c);
    }
  }
  void Remove(QueueItem item) {
    StopSleeping(item);
    ready.erase(item);
    popped.erase(item);
    Leave(item);
  }

  std::map<QueueItem, OrderKey> ready;
  std::map<QueueItem, Parked> parked;
  std::set<QueueItem> popped;
  std::map<QueueItem, Class> speaker;
  std::map<QueueItem, Class> woken_from;
};

TEST(GangQueueModel, AgreesWithANaiveListUnderRandomOperations) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    GangQueue queue;
    NaiveQueue naive;
    absl::Time now = kStart;
    for (int step = 0; step < 600; ++step) {
      const QueueItem any{GangId(static_cast<uint32_t>(random.Below(25))),
                          static_cast<ItemKind>(random.Below(3))};
      const OrderKey order =
          Order(static_cast<int32_t>(random.Below(3)), static_cast<int>(random.Below(4)),
                absl::StrCat(random.Below(2)));
      switch (random.Below(8)) {
        case 0:
        case 1:
          queue.Offer(any, order);
          naive.Offer(any, order);
          break;
        case 2:
          queue.Remove(any);
          naive.Remove(any);
          break;
        case 3: {
          const auto relief = static_cast<uint32_t>(random.Below(16));
          const uint64_t roomy = random.Below(4);
          const auto fits = [roomy](ShapeId shape) { return shape.index() == roomy; };
          queue.Wake(relief, fits, NotShort);
          naive.Wake(relief, fits);
          break;
        }
        case 4:
          now += absl::Seconds(random.Below(3));
          break;
        default: {
          const auto got = queue.Pop(now);
          ASSERT_EQ(got, naive.Pop(now));
          if (!got.has_value()) break;
          if (random.OneIn(3)) {
            queue.Started(*got);
            naive.Started(*got);
            break;
          }
          ParkFacts facts{.class_key = absl::StrCat(random.Below(2)),
                          .relief = static_cast<uint32_t>(random.Below(16)),
                          .smallest_shape = ShapeId(static_cast<uint32_t>(random.Below(4)))};
          if (random.OneIn(3)) facts.until = now + absl::Seconds(random.Below(5));
          queue.Park(*got, order, facts);
          naive.Park(*got, order, facts);
          break;
        }
      }
      ASSERT_EQ(queue.parked(), naive.parked.size());
      ASSERT_EQ(queue.ready(), naive.ready.size());
    }
  }
}

// One pool of room, gangs of three sizes; whoever fits starts. At rest nobody who fits may sleep.
TEST(GangQueueModel, AtRestNoParkedGangWouldFit) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    GangQueue queue;
    int64_t room = 10;
    std::map<QueueItem, int64_t> size, running;
    std::map<QueueItem, OrderKey> order;
    for (int step = 0; step < 400; ++step) {
      const QueueItem any = Quorum(static_cast<uint32_t>(random.Below(40)));
      if (random.OneIn(2)) {
        if (!running.contains(any)) {
          size[any] = static_cast<int64_t>(1 + random.Below(3));
          order[any] = Order(static_cast<int32_t>(random.Below(3)), step);
          queue.Offer(any, order[any]);
        }
      } else if (random.OneIn(3)) {
        queue.Remove(any);
        if (!running.contains(any)) size.erase(any);
      } else if (running.contains(any)) {
        room += running[any];
        running.erase(any);
        size.erase(any);
        queue.Wake(
            kReliefRoom, [room](ShapeId shape) { return shape.index() <= room; }, NotShort);
      }
      while (const auto item = queue.Pop(kStart)) {
        if (size[*item] <= room) {
          room -= size[*item];
          running[*item] = size[*item];
          queue.Started(*item);
        } else {
          queue.Park(
              *item, order[*item],
              RoomFacts(absl::StrCat("size ", size[*item]), static_cast<uint32_t>(size[*item])));
        }
      }
      for (const QueueItem item : queue.ParkedItems()) ASSERT_GT(size[item], room);
    }
  }
}

}  // namespace
}  // namespace maniple::queue_gang_queue_test
