// The lanes of Queues, and of namespaces for items without a Queue. Fears: an item is lost or
// counted twice when Queues come, go, or change their order; an item behind a blocker is served;
// one that a blocker no longer holds up is not; a head that is gone is served once more; a lane
// that stands aside is served first.
#include "queue/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::queue_lanes_test {
namespace {

using ::testing::ElementsAreArray;

constexpr uint32_t kQueues = 4;

// The rules of Lanes over plain sets of items: every answer is found from scratch.
struct NaiveLanes {
  using Items = std::set<ItemStanding*, ServedBefore>;

  [[nodiscard]] bool Known(QuotaNodeId queue) const {
    return queue.valid() && queue.index() < queues;
  }
  [[nodiscard]] bool Strict(QuotaNodeId queue) const {
    return Known(queue) && rules[queue.index()].ordering == QueueOrdering::kStrictFifo;
  }
  [[nodiscard]] ItemStanding* BlockerOf(QuotaNodeId queue) const {
    const auto at = std::ranges::find(blockers, queue, [](auto* b) { return b->order.queue; });
    return Strict(queue) && at != blockers.end() ? *at : nullptr;
  }
  [[nodiscard]] bool Held(ItemStanding* one) const {
    ItemStanding* blocker = BlockerOf(one->order.queue);
    return blocker != nullptr && ServedBefore()(blocker, one);
  }
  // The first of the lane is the one to ask: if that is held up, so are all others.
  [[nodiscard]] bool HeadIsHeld(ItemStanding* one) const {
    return Held(
        *std::ranges::find(ready, one->order.queue, [](auto* r) { return r->order.queue; }));
  }
  [[nodiscard]] ItemStanding* Best() const {
    const auto at = std::ranges::find_if(ready, [this](ItemStanding* one) {
      return !Held(one) && !(Known(one->order.queue) && aside.contains(one->order.queue));
    });
    return at == ready.end() ? nullptr : *at;
  }
  [[nodiscard]] size_t Count() const {
    return static_cast<size_t>(std::ranges::count_if(
        ready, [this](ItemStanding* one) { return !Known(one->order.queue) || !HeadIsHeld(one); }));
  }
  [[nodiscard]] std::vector<ItemStanding*> HeldIn(QuotaNodeId queue, bool only_speakers) const {
    std::vector<ItemStanding*> held;
    for (ItemStanding* one : ready) {
      if (one->order.queue != queue || !Held(one) || (only_speakers && !one->speaks)) continue;
      held.push_back(one);
    }
    return held;
  }

  uint32_t queues = 0;
  std::vector<QueueRules> rules;
  Items ready, blockers;
  std::set<QuotaNodeId> aside;
};

class LanesTest : public ::testing::Test {
 protected:
  explicit LanesTest(uint64_t seed = 1) : random_(seed) {
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t queue = i % (kQueues + 1);
      const ItemKind kind = i % 3 == 0 ? ItemKind::kSurplus : ItemKind::kQuorum;
      all_.push_back({.item = {.gang = GangId(i), .kind = kind},
                      .order = {.priority = static_cast<int32_t>(i * 7 % 3),
                                .queued = absl::UnixEpoch(),
                                .namespace_name = absl::StrCat("n", i % 3),
                                .name = absl::StrCat("g", i),
                                .queue = queue < kQueues ? QuotaNodeId(queue) : QuotaNodeId()},
                      .where = Whereabouts::kPopped});
    }
  }

  void SetTree(uint32_t queues) {
    auto tree =
        std::make_unique<QuotaTree>(std::vector<QuotaNodeSpec>(queues), std::vector<uint32_t>());
    naive_.queues = queues;
    naive_.aside.clear();
    naive_.rules.assign(queues, {});
    for (QueueRules& rule : naive_.rules) {
      if (random_.OneIn(2)) rule.ordering = QueueOrdering::kStrictFifo;
    }
    lanes_.SetTree(queues == 0 ? nullptr : tree.get(), naive_.rules, FairSharing::kOff);
    tree_ = std::move(tree);
  }
  void Move(ItemStanding& one) {
    if (one.where == Whereabouts::kPopped && random_.OneIn(2)) {
      one.where = Whereabouts::kParked;
      naive_.blockers.insert(&one);
      lanes_.Block(one);
    } else if (one.where == Whereabouts::kPopped) {
      one.where = Whereabouts::kReady;
      one.speaks = random_.OneIn(2);
      naive_.ready.insert(&one);
      lanes_.Insert(one);
    } else if (one.where == Whereabouts::kReady && one.speaks && random_.OneIn(3)) {
      lanes_.Silence(one);
      EXPECT_FALSE(one.speaks);
    } else {
      naive_.ready.erase(&one) != 0 ? lanes_.Erase(one) : lanes_.Unblock(one);
      naive_.blockers.erase(&one);
      one.where = Whereabouts::kPopped;
    }
  }
  void Compare() {
    ASSERT_EQ(lanes_.Best(), naive_.Best());
    ASSERT_EQ(lanes_.ready(), naive_.Count());
    for (ItemStanding& one : all_) {
      ASSERT_EQ(lanes_.Held(one), one.where != Whereabouts::kPopped && naive_.Held(&one));
    }
    for (uint32_t i = 0; i <= kQueues; ++i) CompareQueue(QuotaNodeId(i));
  }
  void CompareQueue(QuotaNodeId queue) {
    ASSERT_EQ(lanes_.BlockerOf(queue), naive_.BlockerOf(queue));
    ASSERT_THAT(lanes_.HeldReady(queue), ElementsAreArray(naive_.HeldIn(queue, false)));
    ASSERT_THAT(lanes_.HeldSpeakers(queue), ElementsAreArray(naive_.HeldIn(queue, true)));
    std::vector<ItemStanding*> later;
    for (ItemStanding* one : naive_.blockers) {
      if (one->order.queue == queue && naive_.Held(one)) later.push_back(one);
    }
    ASSERT_THAT(lanes_.LaterBlockers(queue), ElementsAreArray(later));
  }

  Random random_;
  std::vector<ItemStanding> all_;
  NaiveLanes naive_;
  std::unique_ptr<QuotaTree> tree_;
  Lanes lanes_;
};

TEST_F(LanesTest, EveryAnswerIsTheOneThatASearchFromScratchFinds) {
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(round);
    if (random_.OneIn(25)) {
      SetTree(static_cast<uint32_t>(random_.Below(kQueues + 1)));
    } else if (const QuotaNodeId queue(static_cast<uint32_t>(random_.Below(kQueues)));
               random_.OneIn(12) && naive_.Known(queue)) {
      lanes_.StandAside({.queue = queue});
      naive_.aside.insert(queue);
    } else if (random_.OneIn(12)) {
      ASSERT_EQ(lanes_.BringBack(), !std::exchange(naive_.aside, {}).empty());
    } else {
      Move(all_[random_.Below(all_.size())]);
    }
    ASSERT_NO_FATAL_FAILURE(Compare());
  }
}

TEST_F(LanesTest, AQueueThatStandsAsideWithNobodyLeftDoesSoWithItsNextItem) {
  SetTree(2);
  lanes_.StandAside({.queue = QuotaNodeId(0)});
  lanes_.Insert(all_[0]);
  EXPECT_EQ(lanes_.Best(), nullptr);
  lanes_.Insert(all_[1]);
  EXPECT_EQ(lanes_.Best(), &all_[1]);
  EXPECT_TRUE(lanes_.BringBack());
  EXPECT_EQ(lanes_.ready(), 2u);
}

}  // namespace
}  // namespace maniple::queue_lanes_test
