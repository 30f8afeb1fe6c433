// Members of several shapes on a set of nodes. Fears: numbers that fit are not reached, and
// "no room" is called proven; numbers are reached that do not fit; a node takes a class that may
// not use it; the nodes that are told do not add up to the members; work that ran out is an answer.
#include "scheduler/cycle/search/shape_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/bound_request.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_shape_packing_test {
namespace {

using Counts = std::vector<int64_t>;  // members by class

constexpr int64_t kGpusOf[] = {1, 2, 3};  // by class

// A few nodes with GPUs, and a gang whose members differ only in how many they need.
class World final {
 public:
  explicit World(Random& random) {
    for (uint64_t i = 0, nodes = 1 + random.Below(4); i < nodes; ++i) {
      gpus_.push_back(static_cast<int64_t>(random.Below(6)));
      const std::string name = absl::StrCat("n", i);
      cluster_.Add(MakeNode(name).Gpu(gpus_.back()));
      nodes_.push_back({.node = cluster_.state().NodeNamed(name).value(),
                        .likeness = static_cast<Likeness>(gpus_.back()),
                        .classes = static_cast<ClassMask>(random.OneIn(3) ? random.Below(8) : 7)});
    }
    cluster_.Add(MakePodGroup("g").MinMember(1));
    for (const int64_t gpus : kGpusOf) {
      for (uint64_t i = 1 + random.Below(3); i > 0; --i) {
        cluster_.Add(MakePod(absl::StrCat("g-", gpus, "-", i)).Group("g").Gpu(gpus));
      }
    }
    request_ = cluster_.RequestOf("g");
    request_.need.total = static_cast<int32_t>(random.Below(request_.wants.size() + 1));
    snapshot_ = cluster_.state().Publish();
    overlay_.emplace(*snapshot_, Overlay::View::kNow);
    bound_.emplace(CycleInput{.snapshot = *snapshot_, .now = cluster_.now}, request_,
                   cluster_.profile());
    kinds_ = bound_->Bind(Question::kNow, *overlay_);
    classes.emplace(bound_->problem(), kinds_.kinds, nullptr);
    patterns.emplace(*classes, kinds_.kinds, *overlay_, work);
    quorum = classes->Quorum();
    Reach(0, Counts(3, 0));
  }
  [[nodiscard]] const std::vector<PackedNode>& nodes() const { return nodes_; }
  // All numbers that some way of placing reaches, by hand.
  [[nodiscard]] const std::set<Counts>& reached() const { return reached_; }
  [[nodiscard]] bool IsQuorum(const Counts& counts) const {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0}) >= request_.need.total;
  }
  // Whether so many of each class stand on these nodes, each where it may and fits.
  [[nodiscard]] bool Stand(const std::vector<std::vector<NodeId>>& by_class,
                           const Counts& counts) const {
    std::vector<int64_t> left = gpus_;
    for (uint32_t cls = 0; cls < counts.size(); ++cls) {
      if (static_cast<int64_t>(by_class[cls].size()) != counts[cls]) return false;
      for (const NodeId node : by_class[cls]) {
        const auto at = static_cast<size_t>(std::ranges::find(nodes_, node, &PackedNode::node) -
                                            nodes_.begin());
        left[at] -= kGpusOf[cls];
        if (left[at] < 0 || (nodes_[at].classes >> cls & 1) == 0) return false;
      }
    }
    return true;
  }

  SearchWork work{10'000'000};
  std::optional<MemberClasses> classes;
  std::optional<NodePatterns> patterns;
  QuorumTarget quorum;

 private:
  // Adds to `counts` whatever the nodes from `at` on take.
  void Reach(size_t at, const Counts& counts) {
    if (at == nodes_.size()) {
      reached_.insert(counts);
      return;
    }
    Counts here(3, 0);
    for (here[0] = 0; here[0] <= gpus_[at]; ++here[0]) {
      for (here[1] = 0; here[1] <= gpus_[at]; ++here[1]) {
        for (here[2] = 0; here[2] <= gpus_[at]; ++here[2]) {
          Counts with = counts;
          int64_t used = 0;
          bool may = true;
          for (uint32_t cls = 0; cls < 3; ++cls) {
            with[cls] += here[cls];
            used += here[cls] * kGpusOf[cls];
            may = may && (here[cls] == 0 || (nodes_[at].classes >> cls & 1) != 0);
            may = may && with[cls] <= classes->all()[cls].members;
          }
          if (may && used <= gpus_[at]) Reach(at + 1, with);
        }
      }
    }
  }

  TestCluster cluster_;
  std::vector<int64_t> gpus_;  // by node
  std::vector<PackedNode> nodes_;
  GangRequest request_;
  SnapshotPtr snapshot_;
  std::optional<Overlay> overlay_;
  std::optional<BoundRequest> bound_;
  BoundKinds kinds_;
  std::set<Counts> reached_;
};

TEST(ShapePacking, ReachesExactlyTheNumbersThatFitAndTellsTheirNodes) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    World world(random);
    ShapePacking packing(*world.classes, *world.patterns, world.work);
    QuorumTarget any = world.quorum;  // needs no particular member, so that no node is left out
    any.total = 0;
    ASSERT_TRUE(packing.Pack(world.nodes(), any, ShapePacking::Keep::kNodes));
    int64_t most = 0;
    for (PackingState state = 0; state < world.classes->states(); ++state) {
      int64_t last = ShapePacking::kNot;
      while (world.reached().contains(world.classes->CountsOf(state, last + 1))) ++last;
      ASSERT_EQ(packing.last_beside()[state], last) << "round " << round << ", state " << state;
      if (last == ShapePacking::kNot) continue;
      const Counts counts = world.classes->CountsOf(state, last);
      EXPECT_TRUE(world.Stand(packing.NodesOf(world.nodes(), state, last), counts));
      most = std::max(most, std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    }
    const PackingState closest = packing.Closest(any);
    const Counts best = world.classes->CountsOf(closest, packing.last_beside()[closest]);
    EXPECT_EQ(std::accumulate(best.begin(), best.end(), int64_t{0}), most);
  }
}

TEST(ShapePacking, MeetsAQuorumIfAndOnlyIfSomeNumbersThatFitDo) {
  Random random(2);
  for (int round = 0; round < 100; ++round) {
    World world(random);
    ShapePacking packing(*world.classes, *world.patterns, world.work);
    ASSERT_TRUE(packing.Pack(world.nodes(), world.quorum, ShapePacking::Keep::kAnswer));
    const bool some = std::ranges::any_of(
        world.reached(), [&world](const Counts& counts) { return world.IsQuorum(counts); });
    EXPECT_EQ(packing.Meets(world.quorum), some) << "round " << round;
  }
}

TEST(ShapePacking, WorkThatRanOutIsNoAnswer) {
  Random random(3);
  World world(random);
  SearchWork none(-1);
  ShapePacking packing(*world.classes, *world.patterns, none);
  EXPECT_FALSE(packing.Pack(world.nodes(), world.quorum, ShapePacking::Keep::kAnswer));
}

TEST(ShapePacking, WithoutNodesOnlyNobodyIsPlaced) {
  Random random(4);
  World world(random);
  ShapePacking packing(*world.classes, *world.patterns, world.work);
  ASSERT_TRUE(packing.Pack({}, world.quorum, ShapePacking::Keep::kNodes));
  EXPECT_EQ(packing.last_beside()[0], 0);
  EXPECT_EQ(std::ranges::count(packing.last_beside(), ShapePacking::kNot),
            world.classes->states() - 1);
  EXPECT_EQ(packing.Closest(world.quorum), 0u);
}

}  // namespace
}  // namespace maniple::cycle_shape_packing_test
