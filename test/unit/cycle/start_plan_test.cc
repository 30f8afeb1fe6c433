// The planned start of a gang. The fears: a start told too early is a promise that cannot be kept,
// one told too late lets idle room be held, and an estimate taken for certain lets others pass who
// then stand in the way.
//
// MANIPLE_START_PLANS=20000 is the full size of the comparison.
#include "scheduler/cycle/start_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple {
namespace {

constexpr int kDefaultWorlds = 400;
const QuotaCellId kCell{0};

class World final {
 public:
  explicit World(absl::string_view required = "") {
    MakePodGroup group("a");
    if (!required.empty()) group.Required(required);
    group_ = group;
  }
  // Nodes in one rack, and so many pods of 8 GPUs that want a place.
  World(int nodes, int pods) : World() {
    Nodes(nodes, 1);
    Want(pods, 8);
  }
  void Nodes(int count, int racks) {
    for (int i = 0; i < count; ++i) {
      cluster_.Add(MakeNode(absl::StrCat("n", i))
                       .Gpu(8)
                       .Label("example.com/rack", absl::StrCat("r", i % racks)));
    }
  }
  void Want(int pods, int64_t gpus) {
    group_.spec.min_member = pods;
    cluster_.Add(ObjectUpserted{group_});
    for (int i = 0; i < pods; ++i) {
      cluster_.Add(MakePod(absl::StrCat("a-", i)).Group("a").Index(i).Gpu(gpus));
    }
    each_ = gpus;
  }
  struct Running {
    int node = 0;
    int64_t gpus = 0;
    absl::Duration left;
  };
  void RunEach(const std::vector<Running>& pods) {
    for (const Running& pod : pods) Run(pod.node, pod.gpus, pod.left);
  }
  void Run(int node, int64_t gpus, absl::Duration left, EndIs end = EndIs::kKnown,
           QuotaNodeId queue = {}) {
    const std::string name = absl::StrCat("run-", releases_.size());
    cluster_.Add(MakePod(name).Gpu(gpus).On(absl::StrCat("n", node)));
    const Member member = cluster_.GangOf(name).members.front();
    Release release{.at = cluster_.now + left,
                    .end = end,
                    .room = {member.node, member.shape},
                    .queue = queue,
                    .charge = {}};
    if (queue.valid()) {
      release.charge = {{kCell, Amount(gpus)}};
      tree_.Add(queue, release.charge);
    }
    releases_.push_back(release);
  }
  // Queues 1 and 2 under Cohort 0.
  void Quota(int64_t first, int64_t second) {
    std::vector<QuotaNodeSpec> specs(3);
    specs[1] = {.parent = QuotaNodeId(0), .limits = {{.cell = kCell, .nominal = Amount(first)}}};
    specs[2] = {.parent = QuotaNodeId(0), .limits = {{.cell = kCell, .nominal = Amount(second)}}};
    tree_ = QuotaTree(specs, {0});
    has_quota_ = true;
  }

  [[nodiscard]] std::optional<StartPlan> Start() {
    return WithInput({}, [&](const DecideInput& input) {
      return PlanStart(input, releases_, cluster_.profile());
    });
  }
  // Moment by moment, and pod by pod.
  [[nodiscard]] std::optional<absl::Time> StartByTryingEach() {
    std::vector<absl::Time> times = {cluster_.now};
    for (const Release& release : releases_) times.push_back(release.at);
    std::ranges::sort(times);
    for (const absl::Time time : times) {
      if (FitsWithout([&](const Release& release) { return release.at <= time; })) return time;
    }
    return std::nullopt;
  }
  template <typename Ended>
  [[nodiscard]] bool FitsWithout(Ended ended) {
    std::vector<FreedRoom> freed;
    const QuotaTree before = tree_;
    for (const Release& release : releases_) {
      if (!ended(release)) continue;
      freed.push_back(release.room);
      tree_.Remove(release.queue, release.charge);
    }
    const bool fits = WithInput(freed, [&](const DecideInput& input) {
      return FindPlan(input, cluster_.profile()).has_value();
    });
    tree_ = before;
    return fits;
  }
  [[nodiscard]] absl::Time now() const { return cluster_.now; }
  [[nodiscard]] std::vector<std::string> Places(const StartPlan& start) {
    return cluster_.PlacesOf(start.plan);
  }
  [[nodiscard]] const QuotaTree& tree() const { return tree_; }

 private:
  template <typename Ask>
  std::invoke_result_t<Ask, const DecideInput&> WithInput(const std::vector<FreedRoom>& freed,
                                                          Ask ask_with) {
    const GangRequest request = cluster_.RequestOf("a");
    const SnapshotPtr snapshot = cluster_.state().Publish();
    QuotaAsk ask{.tree = &tree_, .queue = QuotaNodeId(1), .options = {}};
    for (const maniple::Want& want : request.wants) {
      ask.options[want.shape] = {{.nodes = {}, .each = {{kCell, Amount(each_)}}, .flavor = ""}};
    }
    return ask_with(DecideInput{.snapshot = *snapshot,
                                .request = request,
                                .now = cluster_.now,
                                .quota = has_quota_ ? &ask : nullptr,
                                .freed = freed});
  }

  TestCluster cluster_;
  PodGroup group_;
  std::vector<Release> releases_;
  QuotaTree tree_;
  bool has_quota_ = false;
  int64_t each_ = 0;
};

// There is a plan, and it starts so long from now.
StartPlan StartsIn(World& world, absl::Duration wait) {
  const std::optional<StartPlan> start = world.Start();
  EXPECT_TRUE(start.has_value());
  if (!start.has_value()) return {};
  EXPECT_EQ(start->at, world.now() + wait);
  return *start;
}

TEST(StartPlan, IsTheMomentWhenTheLastPodInTheWayEnds) {
  World world(2, 2);
  world.RunEach({{0, 4, absl::Minutes(5)}, {0, 4, absl::Minutes(30)}, {1, 8, absl::Minutes(10)}});
  const StartPlan start = StartsIn(world, absl::Minutes(30));
  EXPECT_EQ(start.end, EndIs::kKnown);
  EXPECT_EQ(world.Places(start), (std::vector<std::string>{"a-0=n0", "a-1=n1"}));
}

TEST(StartPlan, WaitsNoLongerThanForTheNodesThatAreFreeFirst) {
  World world(3, 2);
  world.RunEach({{0, 8, absl::Hours(5)}, {1, 8, absl::Hours(1)}, {2, 8, absl::Hours(2)}});
  const StartPlan start = StartsIn(world, absl::Hours(2));
  EXPECT_EQ(world.Places(start), (std::vector<std::string>{"a-0=n1", "a-1=n2"}));
}

TEST(StartPlan, IsNowForAGangThatFits) {
  World world(1, 1);
  StartsIn(world, absl::ZeroDuration());
}

TEST(StartPlan, WhatShouldHaveEndedBeforeNowEndsNow) {
  World world(1, 1);
  world.Run(0, 8, -absl::Hours(1));
  StartsIn(world, absl::ZeroDuration());
}

TEST(StartPlan, ThereIsNoneForWhatNeverFits) {
  World world(2, 3);
  world.Run(0, 8, absl::Hours(1));
  EXPECT_FALSE(world.Start().has_value());
}

TEST(StartPlan, WaitsForQuotaThatOthersBorrow) {
  World world;
  world.Nodes(4, 1);
  world.Quota(16, 0);
  world.Want(2, 8);
  world.Run(0, 8, absl::Minutes(20), EndIs::kKnown, QuotaNodeId(2));
  StartsIn(world, absl::Minutes(20));  // there is room, but no quota
}

TEST(StartPlan, LeavesTheQuotaAsItFoundIt) {
  World world;
  world.Nodes(2, 1);
  world.Quota(16, 0);
  world.Want(2, 8);
  world.Run(0, 8, absl::Minutes(20), EndIs::kKnown, QuotaNodeId(2));
  ASSERT_TRUE(world.Start().has_value());
  EXPECT_EQ(world.tree().Usage(QuotaNodeId(2), kCell), Amount(8));
}

TEST(StartPlan, RestsOnAnEstimateOnlyWhereItMust) {
  World needed;
  needed.Nodes(1, 1);
  needed.Want(1, 8);
  needed.Run(0, 8, absl::Minutes(5), EndIs::kEstimated);
  ASSERT_TRUE(needed.Start().has_value());
  EXPECT_EQ(needed.Start()->end, EndIs::kEstimated);

  World not_needed;
  not_needed.Nodes(2, 1);
  not_needed.Want(1, 8);
  not_needed.Run(0, 8, absl::Minutes(10), EndIs::kKnown);
  not_needed.Run(1, 4, absl::Minutes(5), EndIs::kEstimated);
  not_needed.Run(1, 4, absl::Minutes(20), EndIs::kKnown);
  ASSERT_TRUE(not_needed.Start().has_value());
  EXPECT_EQ(not_needed.Start()->end, EndIs::kKnown);
  EXPECT_EQ(not_needed.Start()->at, not_needed.now() + absl::Minutes(10));
}

// Random worlds of one-shape gangs, with and without a required rack and quota: the start is the
// first moment at which a decision places the gang, and what is called known needs no estimate.
TEST(StartPlan, IsTheFirstMomentThatTryingEachOneFinds) {
  const int worlds = static_cast<int>(Worlds("MANIPLE_START_PLANS", kDefaultWorlds));
  int found = 0, later = 0, estimated = 0;
  for (int seed = 1; seed <= worlds; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    World world(random.OneIn(3) ? "example.com/rack" : "");
    const int nodes = 2 + static_cast<int>(random.Below(5));
    world.Nodes(nodes, 1 + static_cast<int>(random.Below(3)));
    const bool quota = random.OneIn(2);
    if (quota) world.Quota(8 * static_cast<int64_t>(random.Below(4)), 16);
    const int64_t sizes[] = {2, 4, 8};
    world.Want(1 + static_cast<int>(random.Below(4)), sizes[random.Below(3)]);
    for (int node = 0; node < nodes; ++node) {
      for (int64_t used = 0; used < 8;) {
        const int64_t gpus = std::min<int64_t>(8 - used, sizes[random.Below(3)]);
        used += gpus;
        if (random.OneIn(4)) continue;
        world.Run(node, gpus, absl::Minutes(static_cast<int64_t>(random.Below(6))),
                  random.OneIn(4) ? EndIs::kEstimated : EndIs::kKnown,
                  quota ? QuotaNodeId(1 + static_cast<uint32_t>(random.Below(2))) : QuotaNodeId());
      }
    }
    const std::optional<StartPlan> start = world.Start();
    const std::optional<absl::Time> expected = world.StartByTryingEach();
    ASSERT_EQ(start.has_value(), expected.has_value()) << "seed " << seed;
    if (!start.has_value()) continue;
    ++found;
    ASSERT_EQ(start->at, *expected) << "seed " << seed;
    later += start->at > world.now() ? 1 : 0;
    const bool certain = world.FitsWithout([&](const Release& release) {
      return release.at <= start->at && release.end == EndIs::kKnown;
    });
    ASSERT_EQ(start->end == EndIs::kKnown, certain) << "seed " << seed;
    estimated += certain ? 0 : 1;
  }
  EXPECT_GT(found, worlds / 3);
  EXPECT_GT(later, worlds / 8);
  EXPECT_GT(estimated, worlds / 40);
}

}  // namespace
}  // namespace maniple
