// Random histories of a GangQueue with Queues, against the rules applied from scratch; and what
// must hold of any order: it does not depend on who was offered first, and at rest nobody sleeps
// who could start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "queue/gang_queue.h"
#include "test/oracle/queue/naive_gang_queue.h"
#include "test/oracle/queue/quota_forest.h"
#include "test/support/worlds.h"

namespace maniple::queue_order_model_test {
namespace {

std::optional<QuotaNodeId> NotShort(QueueItem) { return std::nullopt; }

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

FairSharing PickFairSharing(Random& random) {
  return random.OneIn(2) ? FairSharing::kOn : FairSharing::kOff;
}

// A forest with its usage, which a change of limits carries over.
class World {
 public:
  explicit World(Random& random) : forest(random) { Rebuild(random); }

  void Rebuild(Random& random) {
    fair_sharing = PickFairSharing(random);
    auto next = std::make_unique<QuotaTree>(forest.Tree());
    for (const auto& [queue, demand] : charged) next->Add(queue, demand);
    old = std::exchange(tree, std::move(next));
  }
  void Charge(QuotaNodeId queue, const Demand& demand) {
    charged.emplace_back(queue, demand);
    tree->Add(queue, demand);
  }
  QuotaNodeId Discharge(Random& random) {
    std::swap(charged[random.Below(charged.size())], charged.back());
    const auto [queue, demand] = charged.back();
    tree->Remove(queue, demand);
    charged.pop_back();
    return queue;
  }

  QuotaForest forest;
  FairSharing fair_sharing = FairSharing::kOn;
  std::unique_ptr<QuotaTree> tree, old;
  std::vector<std::pair<QuotaNodeId, Demand>> charged;
};

class History {
 public:
  explicit History(uint64_t seed) : random(seed), world(random) {}

  void Run(int steps) {
    if (random.OneIn(2)) SetTree();
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE(absl::StrCat("step ", step));
      Step();
      if (::testing::Test::HasFatalFailure()) return;
      ASSERT_EQ(queue.parked(), naive.parked());
      ASSERT_EQ(queue.ready(), naive.ready());
    }
    while (const auto item = queue.Pop(now)) {
      ASSERT_EQ(naive.Pop(now), item);
      Start(*item);
    }
    ASSERT_EQ(naive.Pop(now), std::nullopt);
    ASSERT_EQ(queue.ready(), 0u);
  }

 private:
  void SetTree() {
    world.Rebuild(random);
    known = true;
    queue.SetTree(world.tree.get(), world.forest.rules, world.fair_sharing);
    naive.SetTree(world.tree.get(), world.forest.rules, world.fair_sharing);
    if (random.OneIn(2)) return;
    queue.Wake(kReliefQueue, kAnyRoom, NotShort);
    naive.WakeFor(kReliefQueue, kAnyRoom);
  }
  OrderKey PickOrder() {
    OrderKey order{.priority = static_cast<int32_t>(random.Below(3)),
                   .queued = kStart + absl::Seconds(random.Below(4)),
                   .namespace_name = "default",
                   .name = absl::StrCat(random.Below(3)),
                   .demand = QuotaForest::PickDemand(random)};
    if (!random.OneIn(6)) order.queue = world.forest.PickQueue(random);
    return order;
  }
  ParkFacts PickFacts() {
    ParkFacts facts{.class_key = absl::StrCat(random.Below(2)),
                    .relief = static_cast<uint32_t>(random.Below(64)),
                    .blocks = !random.OneIn(3)};
    if (random.OneIn(2)) facts.relief = kReliefRoom;
    if (random.OneIn(2)) facts.smallest_shape = ShapeId(static_cast<uint32_t>(random.Below(2)));
    if (random.OneIn(4)) facts.until = now + absl::Seconds(random.Below(5));
    return facts;
  }
  void Start(QueueItem item) {
    queue.Started(item);
    naive.Started(item);
    if (!known || !orders[item].queue.valid()) return;
    if (orders[item].queue.index() >= world.tree->node_count()) return;
    world.Charge(orders[item].queue, orders[item].demand);
    queue.UsageChanged(orders[item].queue);
  }
  void PopOne() {
    const auto item = queue.Pop(now);
    ASSERT_EQ(item, naive.Pop(now));
    if (!item.has_value()) return;
    switch (random.Below(4)) {
      case 0:
        return Start(*item);
      case 1:
        if (random.OneIn(2)) orders[*item] = PickOrder();
        break;
      default:
        break;
    }
    const ParkFacts facts = PickFacts();
    queue.Park(*item, orders[*item], facts);
    naive.Park(*item, orders[*item], facts);
  }
  void Step() {
    const QueueItem any{
        GangId(static_cast<uint32_t>(random.Below(12))),
        random.OneIn(4) ? static_cast<ItemKind>(random.Below(3)) : ItemKind::kQuorum};
    const uint64_t roomy = random.Below(3);
    const auto fits = [roomy](ShapeId shape) { return shape.index() != roomy; };
    const auto relief = static_cast<uint32_t>(random.Below(64));
    switch (random.Below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        orders[any] = PickOrder();
        queue.Offer(any, orders[any]);
        naive.Offer(any, orders[any]);
        return;
      case 5:
        queue.Remove(any);
        naive.Remove(any);
        return;
      case 6:
      case 7:
        queue.Wake(relief, fits, NotShort);
        naive.WakeFor(relief, fits);
        return;
      case 8: {
        const QuotaNodeId node(static_cast<uint32_t>(random.Below(world.forest.nodes.size())));
        queue.WakeQuota(node, NotShort);
        naive.WakeQuota(node);
        return;
      }
      case 9:
        if (!known || world.charged.empty()) return;
        queue.UsageChanged(world.Discharge(random));
        return;
      case 10:
        now += absl::Seconds(random.Below(2));
        return;
      case 11:
        if (!random.OneIn(4)) return;
        world.forest.Grow(random, random.Below(2), random.Below(2));
        return;  // until the next SetTree items may name Queues that the tree does not know
      case 12:
        if (random.OneIn(4)) SetTree();
        return;
      default:
        return PopOne();
    }
  }

  static constexpr auto kAnyRoom = [](ShapeId) { return true; };
  Random random;
  World world;
  GangQueue queue;
  NaiveGangQueue naive;
  std::map<QueueItem, OrderKey> orders;
  absl::Time now = kStart;
  bool known = false;
};

TEST(GangQueueOrderModel, AgreesWithTheRulesAppliedFromScratch) {
  const auto histories = static_cast<uint64_t>(Worlds(4000));
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    History(seed).Run(150);
    if (HasFatalFailure()) return;
  }
}

std::vector<QueueItem> StartAll(const std::vector<std::pair<QueueItem, OrderKey>>& offers,
                                const World& world) {
  QuotaTree tree = *world.tree;
  GangQueue queue;
  queue.SetTree(&tree, world.forest.rules, world.fair_sharing);
  std::map<QueueItem, OrderKey> orders(offers.begin(), offers.end());
  for (const auto& [item, order] : offers) queue.Offer(item, order);
  std::vector<QueueItem> started;
  while (const auto item = queue.Pop(kStart)) {
    started.push_back(*item);
    queue.Started(*item);
    if (!orders[*item].queue.valid()) continue;
    tree.Add(orders[*item].queue, orders[*item].demand);
    queue.UsageChanged(orders[*item].queue);
  }
  return started;
}

TEST(GangQueueOrderModel, TheOrderOfOffersDoesNotMatter) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const World world(random);
    std::vector<std::pair<QueueItem, OrderKey>> offers;
    for (uint32_t i = 0; i < 20; ++i) {
      OrderKey order{.priority = static_cast<int32_t>(random.Below(2)),
                     .queued = kStart,
                     .namespace_name = "default",
                     .name = absl::StrCat(i / 2),
                     .demand = QuotaForest::PickDemand(random)};
      if (!random.OneIn(6)) order.queue = world.forest.PickQueue(random);
      offers.push_back({{GangId(i), static_cast<ItemKind>(random.Below(3))}, order});
    }
    const std::vector<QueueItem> first = StartAll(offers, world);
    ASSERT_EQ(first.size(), offers.size());
    for (size_t i = offers.size(); i > 1; --i) std::swap(offers[i - 1], offers[random.Below(i)]);
    ASSERT_EQ(StartAll(offers, world), first);
  }
}

// Nodes are one number; quorums and surplus of few sizes want some of it, and quota. Whoever has
// both starts.
class Cluster {
 public:
  explicit Cluster(uint64_t seed) : random(seed), world(random) {
    queue.SetTree(world.tree.get(), world.forest.rules, world.fair_sharing);
  }

  void Step() {
    const auto gang = static_cast<uint32_t>(random.Below(30));
    const QueueItem any{GangId(gang), gang < 20 ? ItemKind::kQuorum : ItemKind::kSurplus};
    switch (random.Below(6)) {
      case 0:
      case 1:
      case 2:
        if (running.contains(any)) return;
        waiting[any] = {.priority = static_cast<int32_t>(random.Below(3)),
                        .queued = kStart + absl::Seconds(++clock),
                        .queue = random.OneIn(6) ? QuotaNodeId() : world.forest.PickQueue(random),
                        .demand = QuotaForest::PickDemand(random)};
        queue.Offer(any, waiting[any]);
        return;
      case 3:
        waiting.erase(any);
        queue.Remove(any);
        return;
      default:
        if (running.empty()) return;
        return End(
            std::next(running.begin(), static_cast<int64_t>(random.Below(running.size())))->first);
    }
  }
  void Decide() {
    while (const auto item = queue.Pop(kStart)) {
      const OrderKey order = waiting.at(*item);
      if (const auto facts = WhyNot(order)) {
        queue.Park(*item, order, *facts);
        lacks[*item] = facts->relief;
        continue;
      }
      room -= SizeOf(order);
      queue.Started(*item);
      waiting.erase(*item);
      running[*item] = order;
      if (!order.queue.valid()) continue;
      world.tree->Add(order.queue, order.demand);
      queue.UsageChanged(order.queue);
    }
  }
  // Whoever waits and is not held up must lack something.
  void CheckAtRest() const {
    ASSERT_EQ(queue.ready(), 0u);
    for (const auto& [item, order] : waiting) {
      if (WhyNot(order).has_value()) continue;
      ASSERT_TRUE(BlockedBefore(item, order)) << "gang " << item.gang << " could start";
    }
  }

 private:
  static std::tuple<ItemKind, int64_t, absl::Time> Key(QueueItem item, const OrderKey& order) {
    return {item.kind, -int64_t{order.priority}, order.queued};
  }
  // Its Queue is StrictFIFO, and a quorum before it cannot start now, but some day.
  [[nodiscard]] bool BlockedBefore(QueueItem item, const OrderKey& order) const {
    const QuotaNodeId queue_of = order.queue;
    if (!queue_of.valid()) return false;
    if (world.forest.rules[queue_of.index()].ordering != QueueOrdering::kStrictFifo) return false;
    return std::ranges::any_of(waiting, [&](const auto& other) {
      if (other.first.kind == ItemKind::kSurplus || other.second.queue != queue_of) return false;
      if (Key(other.first, other.second) >= Key(item, order)) return false;
      const std::optional<ParkFacts> facts = WhyNot(other.second);
      return facts.has_value() && facts->blocks;
    });
  }
  static int64_t SizeOf(const OrderKey& order) {
    return 1 + static_cast<int64_t>(order.demand.size());
  }
  [[nodiscard]] std::optional<ParkFacts> WhyNot(const OrderKey& order) const {
    if (order.queue.valid()) {
      std::string key = absl::StrCat("queue ", order.queue.index());
      for (const CellAmount& part : order.demand) {
        absl::StrAppend(&key, " ", part.cell.index(), ":", part.amount.units());
      }
      if (!world.tree->FitsEver(order.queue, order.demand)) {
        return ParkFacts{.class_key = key, .relief = kReliefQueue, .blocks = false};
      }
      if (!world.tree->Fits(order.queue, order.demand)) {
        return ParkFacts{.class_key = key, .relief = kReliefQuota};
      }
    }
    if (SizeOf(order) <= room) return std::nullopt;
    return ParkFacts{.class_key = absl::StrCat("size ", SizeOf(order)), .relief = kReliefRoom};
  }
  void End(QueueItem item) {
    const OrderKey order = running.at(item);
    running.erase(item);
    room += SizeOf(order);
    queue.Wake(
        kReliefRoom, [](ShapeId) { return true; }, NotShort);
    if (!order.queue.valid()) return;
    world.tree->Remove(order.queue, order.demand);
    queue.UsageChanged(order.queue);
    if (random.OneIn(50)) queue.ForgetShortages();
    for (QuotaNodeId node = order.queue; node.valid(); node = world.tree->Parent(node)) {
      queue.WakeQuota(node, [this](QueueItem waits) { return ShortAt(waits); });
    }
  }
  [[nodiscard]] std::optional<QuotaNodeId> ShortAt(QueueItem item) const {
    const OrderKey& order = waiting.at(item);
    if (lacks.at(item) != kReliefQuota) return std::nullopt;
    const QuotaNodeId node = world.tree->ShortAt(order.queue, order.demand);
    return node.valid() ? std::optional(node) : std::nullopt;
  }

  Random random;
  World world;
  GangQueue queue;
  std::map<QueueItem, OrderKey> waiting, running;
  std::map<QueueItem, uint32_t> lacks;  // of who was refused last
  int64_t room = 12;
  int64_t clock = 0;
};

TEST(GangQueueOrderModel, AtRestNobodySleepsWhoHasRoomAndQuotaAndIsNotHeldUp) {
  const auto histories = static_cast<uint64_t>(Worlds(1000));
  for (uint64_t seed = 1; seed <= histories; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Cluster cluster(seed);
    for (int step = 0; step < 200; ++step) {
      SCOPED_TRACE(absl::StrCat("step ", step));
      cluster.Step();
      cluster.Decide();
      cluster.CheckAtRest();
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace maniple::queue_order_model_test
