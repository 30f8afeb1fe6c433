// The searches for one gang that follow each other in a decision. Fears: a search changes what the
// next one works on; members stay bound to each other where no domain is asked for; what gave up
// once is forgotten; a budget or a restriction outlives its search.
#include "scheduler/cycle/domains/gang_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/unit/cycle/bound_gang.h"

namespace maniple::cycle_gang_search_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using Outcome = SearchResult::Outcome;

// Two racks of one node each, n0 and n1, and a gang whose two members take a node each.
class GangSearchTest : public ::testing::Test {
 protected:
  GangSearchTest() {
    AddLevels(cluster_, {"rack"});
    for (const char* name : {"n0", "n1"}) cluster_.Add(MakeNode(name).Gpu(8).Label("rack", name));
  }
  void Submit(MakePodGroup group) {
    cluster_.Add(group.MinMember(2));
    for (const char* name : {"g-0", "g-1"}) cluster_.Add(MakePod(name).Group("g").Gpu(8));
  }
  // What a test works on; the levels are not resolved yet.
  struct Scene {
    GangSearch& search;
    BoundKinds& kinds;
    Overlay& now;

    [[nodiscard]] DomainResult Search(const DomainChoice& choice) const {
      return search.Search(kinds, choice, now, SearchGoal::kNodes);
    }
    [[nodiscard]] Outcome Within(std::vector<std::optional<NodeSet>> allowed) const {
      return search.SearchWithin(allowed, kinds, now).search.outcome;
    }
  };
  void Look(const std::function<void(const Scene&)>& look) {
    BoundGang made(cluster_, "g");
    auto& [request, snapshot, now, bound, kinds] = made;
    GangSearch search(*snapshot, request, bound.problem());
    const uint64_t before = now.Fingerprint();
    look({search, kinds, now});
    EXPECT_EQ(now.Fingerprint(), before);
  }

  TestCluster cluster_;
  LevelStore levels_;
};

TEST_F(GangSearchTest, ALevelThatDoesNotExistIsRefused) {
  Submit(MakePodGroup("g").Required("hall"));
  Look([this](const Scene& scene) {
    EXPECT_EQ(scene.search.Resolve(levels_).code(), absl::StatusCode::kInvalidArgument);
  });
}

// Scores rank the nodes of a domain; the choice between domains knows nothing of slices.
TEST_F(GangSearchTest, ADomainOfSlicesIsTakenOnlyWhereTheGangStartsInNoOther) {
  cluster_.Add(MakeNode("n0")
                   .Gpu(7)
                   .Label("rack", "n0")
                   .Label("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"));
  cluster_.Add(MakePodGroup("g").Required("rack").MinMember(2));
  for (const char* name : {"g-0", "g-1", "g-2"}) cluster_.Add(MakePod(name).Group("g").Gpu(1));
  const auto paths = [this] {
    std::vector<std::string> found;
    Look([&](const Scene& scene) {
      ASSERT_TRUE(scene.search.Resolve(levels_).ok());
      found = scene.Search(scene.search.choice()).paths;
    });
    return found;
  };
  EXPECT_THAT(paths(), ElementsAre("n1"));
  cluster_.Add(MakeNode("n1").Gpu(1).Label("rack", "n1"));
  EXPECT_THAT(paths(), ElementsAre("n0"));
}

TEST_F(GangSearchTest, WhatIsRequiredBindsOnlyTheSearchThatAsksForIt) {
  for (MakePodGroup group :
       {MakePodGroup("g").Required("rack"), MakePodGroup("g").Slice(2, "rack")}) {
    Submit(group);
    Look([this](const Scene& scene) {
      ASSERT_TRUE(scene.search.Resolve(levels_).ok());
      EXPECT_EQ(scene.Search(scene.search.choice()).search.outcome, Outcome::kProven);
      EXPECT_THAT(scene.Search(DomainChoice()).search.places, SizeIs(2));
      EXPECT_EQ(scene.Search(scene.search.choice()).search.outcome, Outcome::kProven);
      EXPECT_EQ(scene.Within({std::nullopt}), Outcome::kProven);
    });
  }
}

TEST_F(GangSearchTest,
       ASearchWithinNodesIgnoresWhatIsOnlyPreferredAndItsRestrictionEndsWithTheNext) {
  Submit(MakePodGroup("g").Preferred("rack"));
  Look([this](const Scene& scene) {
    ASSERT_TRUE(scene.search.Resolve(levels_).ok());
    NodeSet one(1);
    one[0].Set(0);
    EXPECT_EQ(scene.Within({one}), Outcome::kProven);
    EXPECT_EQ(scene.Within({std::nullopt}), Outcome::kFound);
    EXPECT_FALSE(scene.search.gave_up());
  });
}

TEST_F(GangSearchTest, AKindThatAPluginRefusedCanBeKeptToNodesAsWell) {
  Submit(MakePodGroup("g"));
  cluster_.Add(MakePod("g-1").Group("g").Gpu(8).Unsupported("spec.x"));
  Look([this](const Scene& scene) {
    ASSERT_TRUE(scene.search.Resolve(levels_).ok());
    EXPECT_EQ(scene.Within({NodeSet(1), NodeSet(1)}), Outcome::kProven);
  });
}

TEST_F(GangSearchTest, ABudgetHoldsUntilTheOneBeforeIsSetAgain) {
  Submit(MakePodGroup("g"));
  QuotaNodeSpec queue;
  queue.limits = {{.cell = QuotaCellId(0), .nominal = Amount(8)}};
  const QuotaTree tree({queue}, {0});
  const QuotaOption option{.nodes = {}, .each = {{QuotaCellId(0), Amount(8)}}, .flavor = ""};
  Look([&](const Scene& scene) {
    ASSERT_TRUE(scene.search.Resolve(levels_).ok());
    QuotaBudget before =
        scene.search.SetBudget(QuotaBudget(tree, QuotaNodeId(0), {&option}, QuotaBudget::Of::kNow));
    EXPECT_NE(scene.Search(scene.search.choice()).search.outcome, Outcome::kFound);
    EXPECT_EQ(scene.search.SetBudget(std::move(before)).CountOf(0), 1);
    EXPECT_EQ(scene.Search(scene.search.choice()).search.outcome, Outcome::kFound);
  });
}

TEST_F(GangSearchTest, AGangWhoseSearchGaveUpOnceIsMarkedFromThenOn) {
  Submit(MakePodGroup("g").Required("rack"));
  cluster_.Add(MakePod("g-1").Group("g").Gpu(7));
  Look([this](const Scene& scene) {
    ASSERT_TRUE(scene.search.Resolve(levels_).ok());
    const DomainChoice& choice = scene.search.choice();
    EXPECT_EQ(scene.Search(choice).search.outcome, Outcome::kProven);
    EXPECT_FALSE(scene.search.gave_up());
    SearchWork none(-1);
    Overlay spent(scene.search.snapshot(), Overlay::View::kNow, &none);
    const DomainResult result = scene.search.Search(scene.kinds, choice, spent, SearchGoal::kNodes);
    EXPECT_EQ(result.search.outcome, Outcome::kGaveUp);
    EXPECT_EQ(scene.Search(choice).search.outcome, Outcome::kProven);
    EXPECT_TRUE(scene.search.gave_up());
  });
}

}  // namespace
}  // namespace maniple::cycle_gang_search_test
