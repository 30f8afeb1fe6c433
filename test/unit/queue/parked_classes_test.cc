// The classes of parked items. Fears: two classes are taken for one; a class that is gone is still
// found; one that waits is not; a class is looked for under the node that it watched before; the
// room of a shape is asked for again and again; a question that is out is asked twice.
#include "queue/parked_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/base/random.h"

namespace maniple::queue_parked_classes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr auto kNotAsking = [](const ParkedClass&) { return false; };

// Two trees: cohort 0 with queues 1 and 2, and queue 3 by itself.
QuotaTree MakeTree() {
  const QuotaNodeSpec child = {.parent = QuotaNodeId(0)};
  return QuotaTree({QuotaNodeSpec{}, child, child, QuotaNodeSpec{}}, {});
}

ParkedClassName NameOf(uint32_t relief, uint32_t shape = 1, std::optional<uint32_t> queue = {}) {
  return {.key = "k",
          .relief = relief,
          .smallest_shape = ShapeId(shape),
          .queue = queue.has_value() ? QuotaNodeId(*queue) : QuotaNodeId()};
}

class ParkedClassesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<ParkedClassId> WatchingNode(uint32_t node) {
    return classes_.Watching(QuotaNodeId(node), kNotAsking);
  }

  QuotaTree tree_ = MakeTree();
  ParkedClasses classes_;
};

TEST_F(ParkedClassesTest, EveryPartOfTheNameTellsClassesApart) {
  std::set<ParkedClassId> ids;
  for (const ParkedClassName& name :
       {NameOf(kReliefRoom), NameOf(kReliefNodes), NameOf(kReliefRoom, 2),
        NameOf(kReliefRoom, 1, 0), NameOf(kReliefRoom, 1, 1),
        ParkedClassName{.key = "other", .relief = kReliefRoom, .smallest_shape = ShapeId(1)}}) {
    const ParkedClassId id = classes_.IdOf(name);
    EXPECT_NE(id, 0u) << "that is the number of no class";
    EXPECT_TRUE(ids.insert(id).second);
    EXPECT_EQ(classes_.IdOf(name), id);
    EXPECT_EQ(classes_.At(id).name, name);
  }
}

TEST_F(ParkedClassesTest, AClassGoesOnlyWhenNobodySleepsInItOrIsAwakeFromIt) {
  const ParkedClassId id = classes_.IdOf(NameOf(kReliefRoom));
  ItemStanding one;
  classes_.At(id).asleep.insert(&one);
  classes_.DropIfEmpty(id);
  EXPECT_EQ(classes_.IdOf(NameOf(kReliefRoom)), id);
  classes_.At(id).asleep.clear();
  classes_.At(id).awake = 1;
  classes_.DropIfEmpty(id);
  EXPECT_EQ(classes_.IdOf(NameOf(kReliefRoom)), id);
  classes_.At(id).awake = 0;
  classes_.DropIfEmpty(id);
  classes_.DropIfEmpty(id);
  EXPECT_GT(classes_.IdOf(NameOf(kReliefRoom)), id) << "the next of that name is a new one";
}

TEST_F(ParkedClassesTest, AClassThatWaitsForQuotaWatchesTheRootOfItsQueue) {
  const ParkedClassId before = classes_.IdOf(NameOf(kReliefQuota, 1, 1));
  EXPECT_FALSE(classes_.At(before).watched.valid()) << "no Queue is known";
  classes_.SetTree(&tree_);
  EXPECT_EQ(classes_.At(before).watched, QuotaNodeId(0));
  const ParkedClassId alone = classes_.IdOf(NameOf(kReliefQuota | kReliefRoom, 1, 3));
  const auto no_quota = classes_.IdOf(NameOf(kReliefRoom, 1, 2));
  const auto unknown = classes_.IdOf(NameOf(kReliefQuota, 1, 4));
  EXPECT_THAT(WatchingNode(0), ElementsAre(before));
  EXPECT_THAT(WatchingNode(3), ElementsAre(alone));
  EXPECT_FALSE(classes_.At(no_quota).watched.valid());
  EXPECT_FALSE(classes_.At(unknown).watched.valid());
  classes_.SetTree(nullptr);
  EXPECT_THAT(WatchingNode(0), IsEmpty());
}

TEST_F(ParkedClassesTest, AClassIsFoundUnderTheNodeThatItWatchesLast) {
  classes_.SetTree(&tree_);
  std::vector<ParkedClassId> ids;
  for (uint32_t shape = 0; shape < 5; ++shape) {
    ids.push_back(classes_.IdOf(NameOf(kReliefQuota, shape, 1 + shape % 2)));
  }
  std::map<ParkedClassId, uint32_t> watched;
  for (const ParkedClassId id : ids) watched[id] = 0;
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const ParkedClassId id = ids[random.Below(ids.size())];
    const auto node = static_cast<uint32_t>(random.Below(3));
    watched[id] = random.OneIn(5) ? 0 : node;
    watched[id] == node ? classes_.Watch(id, QuotaNodeId(node)) : classes_.WatchRoot(id);
    for (uint32_t at = 0; at < 3; ++at) {
      std::vector<ParkedClassId> there;
      for (const auto& [one, where] : watched) {
        if (where == at) there.push_back(one);
      }
      ASSERT_EQ(WatchingNode(at), there) << "in order of first sight; round " << round;
    }
  }
  classes_.WatchRoots();
  EXPECT_EQ(WatchingNode(0), ids);
  for (const ParkedClassId id : ids) classes_.DropIfEmpty(id);
  EXPECT_THAT(WatchingNode(0), IsEmpty());
}

TEST_F(ParkedClassesTest, RoomAloneMustFitTheShapeAndTheQuotaAndIsAskedForOnce) {
  const ParkedClassId fits = classes_.IdOf(NameOf(kReliefRoom, 1));
  const ParkedClassId fits_too = classes_.IdOf(NameOf(kReliefRoom | kReliefHolds, 1));
  const ParkedClassId no_quota = classes_.IdOf(NameOf(kReliefRoom, 1, 1));
  const ParkedClassId large = classes_.IdOf(NameOf(kReliefRoom, 2));
  const ParkedClassId any_shape = classes_.IdOf({.key = "k", .relief = kReliefRoom});
  std::vector<ShapeId> asked;
  const auto fits_first = [&](ShapeId shape) {
    return asked.push_back(shape), shape == ShapeId(1);
  };
  const auto has_quota = [](const ParkedClass& one) { return !one.name.queue.valid(); };
  const ParkedClasses::Questions ask = {
      .fits = fits_first, .asking = kNotAsking, .has_quota = has_quota};
  EXPECT_THAT(classes_.Hit(kReliefRoom, ask), UnorderedElementsAre(fits, fits_too, any_shape));
  EXPECT_THAT(asked, UnorderedElementsAre(ShapeId(1), ShapeId(2)));
  EXPECT_THAT(classes_.Hit(kReliefRoom | kReliefHolds, ask),
              UnorderedElementsAre(fits, fits_too, any_shape));
  EXPECT_THAT(classes_.Hit(kReliefVictims, ask), IsEmpty());
  EXPECT_NE(no_quota, large);
}

TEST_F(ParkedClassesTest, AnEventHitsTheClassesThatItMayHelpAndThatAreNotAsking) {
  Random random(2);
  std::map<ParkedClassId, uint32_t> reliefs;
  for (uint32_t shape = 0; shape < 40; ++shape) {
    const auto relief = static_cast<uint32_t>(random.Below(kReliefHolds * 2));
    reliefs[classes_.IdOf(NameOf(relief, shape % 4))] = relief;
  }
  const auto asking = [](const ParkedClass& one) { return one.name.relief % 3 == 0; };
  for (uint32_t bit = 1; bit <= kReliefHolds; bit *= 2) {
    std::vector<ParkedClassId> hit;
    for (const auto& [id, relief] : reliefs) {
      if ((relief & bit) != 0 && relief % 3 != 0) hit.push_back(id);
    }
    const uint64_t looked_at = classes_.looked_at();
    EXPECT_THAT(classes_.Hit(bit, {.fits = [](ShapeId) { return true; },
                                   .asking = asking,
                                   .has_quota = [](const ParkedClass&) { return true; }}),
                UnorderedElementsAreArray(hit));
    EXPECT_EQ(classes_.looked_at() - looked_at, hit.size());
  }
  for (const auto& [id, relief] : reliefs) classes_.DropIfEmpty(id);
  classes_.ForEachShape([](ShapeId) { ADD_FAILURE() << "a class that is gone is still listed"; });
}

}  // namespace
}  // namespace maniple::queue_parked_classes_test
