// Members that are alike to a search. Fears: members of different domains or needs are one class;
// a state is read as other numbers than it was made of; a target is met without its quorum, or a
// group is said to need more than some quorum takes; a later member is chosen.
#include "scheduler/cycle/search/member_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_member_classes_test {
namespace {

using ::testing::ElementsAre;

// A few members of some kinds, sub-groups and slices, whose quorum is possible.
class World final {
 public:
  explicit World(Random& random) : kinds(3) {
    std::vector<uint32_t> kind_of_want;
    for (uint64_t i = 1 + random.Below(7); i > 0; --i) {
      kind_of_want.push_back(static_cast<uint32_t>(random.Below(kinds.size())));
      request_.wants.push_back({.sub_group = static_cast<int32_t>(random.Below(3)) - 1});
    }
    groups.slices.resize(2);
    for (size_t i = 0; i < request_.wants.size(); ++i) {
      if (const uint64_t slice = random.Below(4); slice < 2)
        groups.slices[slice].wants.push_back(i);
    }
    for (int32_t part = 0; part < 2; ++part) {
      const auto members = std::ranges::count(request_.wants, part, &Want::sub_group);
      request_.need.sub_groups.push_back(
          static_cast<int32_t>(random.Below(static_cast<uint64_t>(members) + 1)));
    }
    request_.need.total = static_cast<int32_t>(random.Below(request_.wants.size() + 1));
    problem = ProblemOf(request_, kind_of_want, static_cast<uint32_t>(kinds.size()));
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] bool AllAreNeeded() const {
    return problem.total == static_cast<int64_t>(problem.wants.size());
  }
  // What tells the want apart from others.
  [[nodiscard]] std::tuple<uint32_t, int32_t, std::vector<size_t>> KeyOf(size_t want) const {
    std::vector<size_t> slices;
    for (size_t slice = 0; slice < groups.slices.size(); ++slice) {
      const std::vector<size_t>& wants = groups.slices[slice].wants;
      if (std::ranges::find(wants, want) != wants.end()) slices.push_back(slice);
    }
    return {problem.kinds[want], AllAreNeeded() ? -1 : problem.wants[want].sub_group, slices};
  }
  // The first members by rank that make the quorum, with at most so many of each class.
  [[nodiscard]] std::optional<std::vector<size_t>> FirstByRank(
      const MemberClasses& classes, const std::vector<int64_t>& counts) const {
    std::optional<std::vector<size_t>> first;
    for (uint32_t subset = 0; subset >> problem.wants.size() == 0; ++subset) {
      if (std::popcount(subset) != problem.total) continue;
      std::vector<int64_t> left = counts;
      std::vector<int64_t> missing(problem.sub_groups.begin(), problem.sub_groups.end());
      std::vector<size_t> wants;
      for (size_t i = 0; i < problem.wants.size(); ++i) {
        if ((subset >> i & 1) == 0) continue;
        wants.push_back(i);
        --left[classes.of_want()[i]];
        if (problem.wants[i].sub_group >= 0) {
          --missing[static_cast<size_t>(problem.wants[i].sub_group)];
        }
      }
      const bool fits = std::ranges::all_of(left, [](int64_t n) { return n >= 0; }) &&
                        std::ranges::all_of(missing, [](int64_t n) { return n <= 0; });
      if (fits && (!first.has_value() || wants < *first)) first = std::move(wants);
    }
    return first;
  }

  QuorumProblem problem;
  std::vector<Kind> kinds;
  MemberGroups groups;

 private:
  GangRequest request_;
};

constexpr int kWorlds = 60;

TEST(MemberClasses, HoldMembersThatNothingTellsApart) {
  Random random(1);
  for (int round = 0; round < kWorlds; ++round) {
    const World world(random);
    const MemberClasses classes(world.problem, world.kinds, &world.groups);
    std::map<std::tuple<uint32_t, int32_t, std::vector<size_t>>, int64_t> members;
    for (size_t i = 0; i < world.problem.wants.size(); ++i) {
      ++members[world.KeyOf(i)];
      const MemberClass& it = classes.all()[classes.of_want()[i]];
      EXPECT_EQ(std::tuple(it.kind, it.sub_group, it.groups), world.KeyOf(i)) << "round " << round;
    }
    ASSERT_EQ(classes.all().size(), members.size());
    for (const MemberClass& it : classes.all()) {
      EXPECT_EQ(it.members, (members[{it.kind, it.sub_group, it.groups}]));
      EXPECT_LE(it.members, classes.all()[classes.last()].members);
    }
  }
}

TEST(MemberClasses, AStateIsTheNumbersThatItIsReadAs) {
  Random random(2);
  for (int round = 0; round < kWorlds; ++round) {
    const World world(random);
    const MemberClasses classes(world.problem, world.kinds, &world.groups);
    ASSERT_TRUE(classes.few());
    std::set<std::vector<int64_t>> seen;
    for (PackingState state = 0; state < classes.states(); ++state) {
      const std::vector<int64_t> counts = classes.CountsOf(state, 7);
      EXPECT_TRUE(seen.insert(counts).second) << "two states of the same numbers";
      EXPECT_EQ(counts[classes.last()], 7);
      const auto placed = static_cast<PackingState>(random.Below(classes.states()));
      const PackingState left = classes.Less(state, placed);
      PackingState sum = 0;
      for (const uint32_t cls : classes.others()) {
        EXPECT_LE(counts[cls], classes.all()[cls].members);
        sum += static_cast<PackingState>(counts[cls]) * classes.StepOf(cls);
        EXPECT_EQ(classes.CountIn(left, cls),
                  std::max<int64_t>(0, counts[cls] - classes.CountIn(placed, cls)));
      }
      EXPECT_EQ(sum, state);
    }
  }
}

TEST(MemberClasses, MeetTheQuorumWhereMembersCanBeChosenTheFirstByRank) {
  Random random(3);
  for (int round = 0; round < kWorlds; ++round) {
    const World world(random);
    const MemberClasses classes(world.problem, world.kinds, &world.groups);
    for (PackingState state = 0; state < classes.states(); ++state) {
      const auto last = static_cast<int64_t>(random.Below(4));
      const std::vector<int64_t> counts = classes.CountsOf(state, last);
      const auto first = world.FirstByRank(classes, counts);
      EXPECT_EQ(classes.Select(counts), first) << "round " << round;
      EXPECT_EQ(classes.Meets(classes.Quorum(), state, last), first.has_value());
    }
  }
}

TEST(MemberClasses, AGroupNeedsWhatAllOthersTogetherLeaveOpen) {
  Random random(4);
  for (int round = 0; round < kWorlds; ++round) {
    const World world(random);
    const MemberClasses classes(world.problem, world.kinds, &world.groups);
    for (size_t group = 0; group < classes.groups().size(); ++group) {
      EXPECT_EQ(classes.groups()[group], &world.groups.slices[group]);
      for (PackingState state = 0; state < classes.states(); ++state) {
        const auto last = static_cast<int64_t>(random.Below(4));
        std::vector<int64_t> counts = classes.CountsOf(state, last);
        for (uint32_t cls = 0; cls < counts.size(); ++cls) {
          const std::vector<size_t>& groups = classes.all()[cls].groups;
          const bool of_it = std::ranges::find(groups, group) != groups.end();
          if (!of_it) counts[cls] = classes.all()[cls].members;
        }
        EXPECT_EQ(classes.Meets(classes.LeastOf(group), state, last),
                  world.FirstByRank(classes, counts).has_value())
            << "round " << round;
      }
    }
  }
}

// Members of so many kinds, so many of each.
enum class Numbered { kNot, kClasses, kStatesToo };
Numbered HowFew(uint32_t kinds, int members) {
  std::vector<Want> wants(static_cast<size_t>(members) * kinds);
  QuorumProblem problem;
  problem.wants = wants;
  problem.total = static_cast<int64_t>(wants.size());
  for (size_t i = 0; i < wants.size(); ++i)
    problem.kinds.push_back(static_cast<uint32_t>(i % kinds));
  problem.kind_count = kinds;
  const MemberClasses classes(problem, std::vector<Kind>(kinds), nullptr);
  if (classes.few()) return Numbered::kStatesToo;
  return classes.known() ? Numbered::kClasses : Numbered::kNot;
}

TEST(MemberClasses, AreFewUpToEightClassesAnd4096StatesAndKnownUpToSixtyFourClasses) {
  EXPECT_EQ(HowFew(8, 1), Numbered::kStatesToo);
  EXPECT_EQ(HowFew(9, 1), Numbered::kClasses);
  EXPECT_EQ(HowFew(3, 63), Numbered::kStatesToo) << "64 * 64 states";
  EXPECT_EQ(HowFew(3, 64), Numbered::kClasses);
  EXPECT_EQ(HowFew(1, 5000), Numbered::kStatesToo) << "the last class makes no states";
  EXPECT_EQ(HowFew(1, 0), Numbered::kNot);
  EXPECT_EQ(HowFew(64, 1), Numbered::kClasses);
  EXPECT_EQ(HowFew(65, 1), Numbered::kNot);
}

TEST(MemberClasses, MembersThatNeedLinkedGpusAreAskedForFirst) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8));
  cluster.Add(MakePodGroup("g").MinMember(3));
  cluster.Add(MakePod("g-0").Group("g").Gpu(1));
  for (const char* name : {"g-1", "g-2"}) {
    cluster.Add(MakePod(name).Group("g").Gpu(2).RequiresNvlink());
  }
  const GangRequest request = cluster.RequestOf("g");
  const SnapshotPtr snapshot = cluster.state().Publish();
  auto bound_of = [&](size_t want) {
    return BoundShape::Bind({.snapshot = *snapshot, .now = cluster.now},
                            snapshot->tables->ShapeOf(request.wants[want].shape),
                            cluster.profile());
  };
  auto any = bound_of(0), linked = bound_of(1);
  ASSERT_TRUE(any.ok() && linked.ok());
  const QuorumProblem problem = ProblemOf(request, {0, 1, 1}, 2);
  const MemberClasses classes(problem, {{.bound = &*any}, {.bound = &*linked}}, nullptr);
  EXPECT_THAT(classes.others(), ElementsAre(1)) << "though there are more of them";
  EXPECT_EQ(classes.last(), 0u);
}

}  // namespace
}  // namespace maniple::cycle_member_classes_test
