// Members of several shapes that one node takes at once. Fears: a pattern that fits is missing, so
// that "no room" is called proven; one that does not fit is kept; smaller ones are kept beside
// larger; the overlay is left with pods on it; nodes that are alike are asked one by one.
#include "scheduler/cycle/search/node_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/bound_request.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_node_patterns_test {
namespace {

using ::testing::IsEmpty;

using Counts = std::vector<int64_t>;  // members by class

struct Shape {
  int64_t gpus = 0, cores = 0;
  bool port = false;  // the same of all shapes, so one pod of a node has it
};

// One node, and a gang of a few shapes.
class World final {
 public:
  explicit World(Random& random)
      : gpus_(static_cast<int64_t>(random.Below(7))),
        cores_(static_cast<int64_t>(random.Below(9))) {
    cluster_.Add(MakeNode("n1").Gpu(gpus_).Cpu(cores_));
    cluster_.Add(MakeNode("n2").Gpu(gpus_).Cpu(cores_));
    cluster_.Add(MakePodGroup("g").MinMember(1));
    // Distinct shapes: each has cores of its own.
    for (int64_t cores = 1; cores <= 3; ++cores) {
      const Shape shape{static_cast<int64_t>(random.Below(4)), cores, random.OneIn(3)};
      shapes_.push_back(shape);
      for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
        MakePod pod(absl::StrCat("g-", cores, "-", i));
        if (shape.port) pod.Port(9000);
        cluster_.Add(pod.Group("g").Gpu(shape.gpus).Cpu(cores * 1000));
      }
    }
    request_ = cluster_.RequestOf("g");
    snapshot_ = cluster_.state().Publish();
    overlay.emplace(*snapshot_, Overlay::View::kNow);
    bound_.emplace(CycleInput{.snapshot = *snapshot_, .now = cluster_.now}, request_,
                   cluster_.profile());
    kinds = bound_->Bind(Question::kNow, *overlay);
    classes.emplace(bound_->problem(), kinds.kinds, nullptr);
  }
  [[nodiscard]] NodeId Node(absl::string_view name) {
    return cluster_.state().NodeNamed(name).value();
  }
  // By hand. Classes and shapes are in the order of their first members.
  [[nodiscard]] bool Fits(const Counts& counts) const {
    int64_t gpus = gpus_, cores = cores_, ports = 1;
    for (size_t cls = 0; cls < counts.size(); ++cls) {
      gpus -= counts[cls] * shapes_[cls].gpus;
      cores -= counts[cls] * shapes_[cls].cores;
      if (shapes_[cls].port) ports -= counts[cls];
    }
    return gpus >= 0 && cores >= 0 && ports >= 0;
  }
  [[nodiscard]] std::set<Counts> LargestByHand(ClassMask mask) const {
    Counts most(3, 0);
    for (uint32_t cls = 0; cls < 3; ++cls) {
      if ((mask >> cls & 1) != 0) most[cls] = classes->all()[cls].members;
    }
    std::set<Counts> largest;
    for (Counts at(3, 0); at[0] <= most[0]; ++at[0]) {
      for (at[1] = 0; at[1] <= most[1]; ++at[1]) {
        for (at[2] = 0; at[2] <= most[2]; ++at[2]) {
          if (at != Counts(3, 0) && Fits(at) && !CanGrow(at, most)) largest.insert(at);
        }
      }
    }
    return largest;
  }

  std::optional<Overlay> overlay;
  BoundKinds kinds;
  std::optional<MemberClasses> classes;

 private:
  [[nodiscard]] bool CanGrow(Counts counts, const Counts& most) const {
    for (size_t cls = 0; cls < counts.size(); ++cls) {
      if (counts[cls] == most[cls]) continue;
      ++counts[cls];
      if (Fits(counts)) return true;
      --counts[cls];
    }
    return false;
  }

  TestCluster cluster_;
  int64_t gpus_, cores_;
  std::vector<Shape> shapes_;
  GangRequest request_;
  SnapshotPtr snapshot_;
  std::optional<BoundRequest> bound_;
};

TEST(NodePatterns, AreTheLargestOfAllNumbersThatFitTogether) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    World world(random);
    const uint64_t before = world.overlay->Fingerprint();
    SearchWork work(1'000'000);
    NodePatterns patterns(*world.classes, world.kinds.kinds, *world.overlay, work);
    for (ClassMask mask = 0; mask < 8; ++mask) {
      std::set<Counts> found;
      for (const NodePattern& pattern : patterns.Of(world.Node("n1"), 0, mask)) {
        EXPECT_TRUE(found.insert(world.classes->CountsOf(pattern.others, pattern.last)).second);
      }
      EXPECT_EQ(found, world.LargestByHand(mask)) << "round " << round << ", classes " << mask;
    }
    EXPECT_EQ(world.overlay->Fingerprint(), before);
  }
}

TEST(NodePatterns, NodesThatAreAlikeAreAskedOnceForEachSetOfClasses) {
  Random random(2);
  World world(random);
  SearchWork work(1'000'000);
  NodePatterns patterns(*world.classes, world.kinds.kinds, *world.overlay, work);
  (void)patterns.Of(world.Node("n1"), 0, 7);
  const int64_t of_one = work.used();
  EXPECT_GT(of_one, 0);
  (void)patterns.Of(world.Node("n2"), 0, 7);
  EXPECT_EQ(work.used(), of_one);
  (void)patterns.Of(world.Node("n2"), 0, 3);
  EXPECT_GT(work.used(), of_one);
  const int64_t of_two = work.used();
  (void)patterns.Of(world.Node("n2"), 1, 7);
  EXPECT_EQ(work.used(), of_two + of_one) << "another likeness";
}

TEST(NodePatterns, WithoutWorkNoShapeIsAskedAnyMore) {
  Random random(3);
  World world(random);
  SearchWork work(-1);
  NodePatterns patterns(*world.classes, world.kinds.kinds, *world.overlay, work);
  EXPECT_THAT(patterns.Of(world.Node("n1"), 0, 7), IsEmpty());
  EXPECT_EQ(work.used(), 0);
}

}  // namespace
}  // namespace maniple::cycle_node_patterns_test
