// The lanes of items without a Queue. Fears: an item is lost, or counted twice; a lane that stands
// aside is served before the others, or never comes back; an item that is put in or taken out
// changes which lanes stand aside; a lane keeps a head that is gone.
#include "queue/loose_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "api/base/random.h"

namespace maniple::queue_loose_lanes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ItemStanding StandingOf(uint32_t gang, const std::string& namespace_name, int32_t priority) {
  return {.item = {.gang = GangId(gang)},
          .order = {.priority = priority,
                    .queued = absl::UnixEpoch(),
                    .namespace_name = namespace_name,
                    .name = "g"}};
}

// The same, found from scratch each time.
class NaiveLanes final {
 public:
  [[nodiscard]] ItemStanding* Best() const {
    ItemStanding* best = nullptr;
    for (ItemStanding* one : items) {
      if (aside.contains(one->order.namespace_name)) continue;
      if (best == nullptr || ServedBefore()(one, best)) best = one;
    }
    return best;
  }
  std::set<ItemStanding*> items;
  std::set<std::string> aside;
};

class LooseLanesTest : public ::testing::Test {
 protected:
  LooseLanesTest() {
    for (uint32_t i = 0; i < 12; ++i) {
      all_.push_back(StandingOf(i, namespaces_[i % 3], static_cast<int32_t>(i * 5 % 4)));
    }
  }
  void PutInOrOut(ItemStanding& one) {
    if (naive_.items.erase(&one) != 0) {
      lanes_.Erase(one);
    } else {
      naive_.items.insert(&one);
      lanes_.Insert(one);
    }
  }

  const std::array<std::string, 3> namespaces_ = {"a", "b", "c"};
  std::vector<ItemStanding> all_;
  LooseLanes lanes_;
  NaiveLanes naive_;
};

TEST_F(LooseLanesTest, TheBestIsTheOneThatASearchFromScratchFinds) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::string& namespace_name = namespaces_[random.Below(3)];
    if (random.OneIn(10)) {
      lanes_.StandAside(namespace_name);
      naive_.aside.insert(namespace_name);
    } else if (random.OneIn(10) && !naive_.aside.empty()) {
      EXPECT_TRUE(lanes_.BringBack());
      EXPECT_FALSE(lanes_.BringBack()) << "they are back already";
      naive_.aside.clear();
    } else {
      PutInOrOut(all_[random.Below(all_.size())]);
    }
    ASSERT_EQ(lanes_.Best(), naive_.Best()) << "round " << round;
    ASSERT_EQ(lanes_.size(), naive_.items.size()) << "round " << round;
  }
}

TEST_F(LooseLanesTest, NothingIsThereAtFirst) {
  EXPECT_EQ(lanes_.Best(), nullptr);
  EXPECT_EQ(lanes_.size(), 0u);
  EXPECT_FALSE(lanes_.BringBack());
  EXPECT_THAT(lanes_.Take([](const ItemStanding&) { return true; }), IsEmpty());
}

TEST_F(LooseLanesTest, AnItemThatIsPutInTwiceIsThereOnceAndOneThatIsNotThereMayBeTakenOut) {
  lanes_.Insert(all_[0]);
  lanes_.Insert(all_[0]);
  lanes_.Erase(all_[1]);
  EXPECT_EQ(lanes_.size(), 1u);
  lanes_.Erase(all_[0]);
  EXPECT_EQ(lanes_.size(), 0u);
  EXPECT_EQ(lanes_.Best(), nullptr);
}

TEST_F(LooseLanesTest, TakeTakesWhomItIsToldOfOutOfLanesThatStandAsideToo) {
  for (ItemStanding& one : all_) lanes_.Insert(one);
  lanes_.StandAside("a");
  const OrderedStandings taken =
      lanes_.Take([](const ItemStanding& one) { return one.item.gang.index() < 2; });
  EXPECT_THAT(taken, ElementsAre(&all_[1], &all_[0]));
  EXPECT_EQ(lanes_.size(), all_.size() - 2);
  EXPECT_TRUE(lanes_.BringBack());
  ItemStanding* best = &all_[2];
  for (ItemStanding& one : all_) {
    if (one.item.gang.index() >= 2 && ServedBefore()(&one, best)) best = &one;
  }
  EXPECT_EQ(lanes_.Best(), best);
}

}  // namespace
}  // namespace maniple::queue_loose_lanes_test
