// Which counts members of a gang add to, against a look at each member. Fears: a shape that is no
// member takes one of another shape for its own; the only shape of a gang is taken for another.
#include "plugins/framework/gang_pod_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "api/base/random.h"
#include "test/unit/framework/hand_made.h"

namespace maniple::framework_gang_pod_counts_test {
namespace {

constexpr uint32_t kShapes = 4, kCounts = 4;

bool Adds(const PodShape& shape, uint32_t count) {
  for (const PodCountChange& change : shape.counts) {
    if (change.count.index() == count) return true;
  }
  return false;
}

struct Shapes {
  explicit Shapes(Random& random) : made({}, {}) {
    for (uint32_t id = 0; id < kShapes; ++id) {
      auto shape = std::make_shared<PodShape>();
      shape->id = ShapeId(id);
      for (uint32_t count = 0; count < kCounts; ++count) {
        if (random.OneIn(3)) shape->counts.push_back({PodCountId(count), 1});
      }
      all.push_back(shape);
      made.tables().shapes.PushBack(shape);
    }
  }
  HandMade made;
  std::vector<std::shared_ptr<const PodShape>> all;
};

TEST(GangPodCounts, AreTheShapesOwnOrThoseOfOtherMembers) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const Shapes shapes(random);
    const Snapshot snapshot = shapes.made.Make();
    std::vector<ShapeId> members;
    for (uint32_t id = 0; id < kShapes; ++id) {
      if (random.OneIn(2)) members.emplace_back(id);
    }
    const MemberPodCounts all(*snapshot.tables, members);
    const CycleInput cycle{.snapshot = snapshot, .now = {}, .member_counts = &all};
    for (const auto& shape : shapes.all) {
      const GangPodCounts counts(cycle, *shape);
      ASSERT_EQ(all.Has(shape->id), std::ranges::count(members, shape->id) == 1);
      for (uint32_t count = 0; count < kCounts; ++count) {
        int32_t adding = 0, others = 0;
        for (const ShapeId member : members) {
          if (!Adds(*shapes.all[member.index()], count)) continue;
          ++adding;
          if (member != shape->id) ++others;
        }
        const PodCountId id(count);
        ASSERT_EQ(all.ShapesThatAdd(id), adding) << round;
        ASSERT_EQ(counts.OwnWrite(id), Adds(*shape, count)) << round;
        ASSERT_EQ(counts.OthersWrite(id), others > 0) << round;
        ASSERT_EQ(counts.Write(id), Adds(*shape, count) || others > 0) << round;
      }
    }
  }
}

TEST(GangPodCounts, AShapeThatIsAloneHasNoOthers) {
  Random random(2);
  const Shapes shapes(random);
  const Snapshot snapshot = shapes.made.Make();
  for (const auto& shape : shapes.all) {
    const GangPodCounts counts({.snapshot = snapshot, .now = {}}, *shape);
    for (uint32_t count = 0; count < kCounts; ++count) {
      EXPECT_EQ(counts.Write(PodCountId(count)), Adds(*shape, count));
      EXPECT_FALSE(counts.OthersWrite(PodCountId(count)));
    }
  }
}

}  // namespace
}  // namespace maniple::framework_gang_pod_counts_test
