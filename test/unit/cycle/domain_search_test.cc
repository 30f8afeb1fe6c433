// The search for a gang of two shapes within its topology, against every placement of small gangs.
// Fears: a domain that takes the gang is passed over, or a looser one is taken; a member that no
// node may take blocks the others; places name the wrong members; ranks do not follow the layout.
#include "scheduler/cycle/domains/domain_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/bound_request.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/unit/cycle/bound_gang.h"

namespace maniple::cycle_domain_search_test {
namespace {

using ::testing::ElementsAre;

using Outcome = SearchResult::Outcome;

// Nodes n0, n1 … in racks, and the gang "g" whose members want GPUs.
class World final {
 public:
  World() { AddLevels(cluster_, {"rack"}); }
  void Node(int64_t rack, int64_t gpus) {
    MakeNode node(absl::StrCat("n", nodes_++));
    cluster_.Add(node.Gpu(gpus).Label("rack", absl::StrCat("r", rack)));
  }
  void Submit(int64_t quorum, const std::vector<int64_t>& asks) {
    cluster_.Add(MakePodGroup("g").MinMember(static_cast<int32_t>(quorum)));
    for (size_t i = 0; i < asks.size(); ++i) {
      MakePod pod(absl::StrCat("g-", i));
      cluster_.Add(pod.Group("g").Index(static_cast<int64_t>(i)).Gpu(asks[i]));
    }
  }
  // `prepare` may change the choice, in which a rack is required, and the groups, of which there
  // are none.
  using Prepare = std::function<void(DomainChoice&, MemberGroups&)>;
  DomainResult Search(
      SearchGoal goal, const Prepare& prepare = [](DomainChoice&, MemberGroups&) {}) {
    BoundGang made(cluster_, "g");
    auto& [request, snapshot, now, bound, kinds] = made;
    DomainChoice choice = Within(*snapshot, "rack");
    MemberGroups groups = GroupsOf(*snapshot, request, choice);
    prepare(choice, groups);
    const uint64_t before = now.Fingerprint();
    DomainResult result = SearchDomains(
        {bound.problem(), kinds.kinds, request.scope, choice, groups, request.pinned}, now, goal);
    EXPECT_EQ(now.Fingerprint(), before);
    return result;
  }

 private:
  TestCluster cluster_;
  int nodes_ = 0;
};

// Five nodes in up to three racks before a gang of two shapes, of which each member wants a GPU.
struct RackCase {
  explicit RackCase(Random& random) {
    const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random.Below(bound)); };
    for (size_t node = 0; node < 5; ++node) {
      rack_of.push_back(below(3));
      gpus.push_back(below(6));
    }
    asks.resize(2 + random.Below(3), 1 + below(2));
    asks.front() = 3;
    quorum = 1 + below(asks.size());
  }
  // The most wants from `at` on that the rack takes.
  [[nodiscard]] int64_t MostIn(int64_t rack, std::vector<int64_t>& left, size_t at) const {
    if (at == asks.size()) return 0;
    int64_t most = MostIn(rack, left, at + 1);
    for (size_t node = 0; node < left.size(); ++node) {
      if (rack_of[node] != rack || left[node] < asks[at]) continue;
      left[node] -= asks[at];
      most = std::max(most, 1 + MostIn(rack, left, at + 1));
      left[node] += asks[at];
    }
    return most;
  }
  [[nodiscard]] bool TakesAll(int64_t rack) const {
    std::vector<int64_t> left = gpus;
    return MostIn(rack, left, 0) == static_cast<int64_t>(asks.size());
  }
  // Whether members without a place fit on what is left of the rack of the others.
  [[nodiscard]] bool TakesTheRest(const std::vector<MemberPlace>& places,
                                  std::vector<int64_t> left) const {
    RackCase rest = *this;
    for (const MemberPlace& place : places) rest.asks[place.want] = 0;
    std::erase(rest.asks, 0);
    const int64_t rack = rack_of[places.front().node.index()];
    return rest.MostIn(rack, left, 0) == static_cast<int64_t>(rest.asks.size());
  }
  // The racks that take the quorum, the best first: those that take all members; then the fewest
  // free GPUs that some member can use.
  [[nodiscard]] std::vector<int64_t> NaiveOrder() const {
    std::vector<std::tuple<bool, int64_t, int64_t>> order;
    for (int64_t rack = 0; rack < 3; ++rack) {
      std::vector<int64_t> left = gpus;
      if (MostIn(rack, left, 0) < quorum) continue;
      int64_t units = 0;
      for (size_t node = 0; node < gpus.size(); ++node) {
        if (rack_of[node] != rack) continue;
        if (gpus[node] >= asks.back()) units += gpus[node];
      }
      order.emplace_back(!TakesAll(rack), units, rack);
    }
    std::ranges::sort(order);
    std::vector<int64_t> racks;
    for (const auto& entry : order) racks.push_back(std::get<2>(entry));
    return racks;
  }

  std::vector<int64_t> rack_of, gpus, asks;
  int64_t quorum = 0;
};

TEST(DomainSearch, TheRackIsTheTightestOfThoseThatTakeTheQuorum) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const RackCase c(random);
    World world;
    for (size_t node = 0; node < c.gpus.size(); ++node) world.Node(c.rack_of[node], c.gpus[node]);
    world.Submit(c.quorum, c.asks);
    const DomainResult result = world.Search(SearchGoal::kNodes);
    EXPECT_EQ(world.Search(SearchGoal::kAnswerOnly).search.outcome, result.search.outcome);
    const std::vector<int64_t> order = c.NaiveOrder();
    ASSERT_EQ(result.search.outcome, order.empty() ? Outcome::kProven : Outcome::kFound) << round;
    EXPECT_EQ(result.best.has_value(), order.empty());
    if (order.empty()) continue;
    EXPECT_THAT(result.paths, ElementsAre(absl::StrCat("r", order.front()))) << round;
    ASSERT_EQ(result.search.places.size(), c.quorum);
    std::vector<int64_t> left = c.gpus;
    for (const MemberPlace& place : result.search.places) {
      EXPECT_EQ(c.rack_of[place.node.index()], order.front());
      EXPECT_GE(left[place.node.index()] -= c.asks[place.want], 0) << round;
    }
    if (c.TakesAll(order.front())) {
      EXPECT_TRUE(c.TakesTheRest(result.search.places, left)) << round;
    }
  }
}

// Member 0 is of a slice that is torn apart.
void TearFirst(DomainChoice& choice, MemberGroups& groups) {
  groups.slices = {
      {.level = choice.gang.levels.front().get(), .wants = {0}, .bound_to = DomainLevel::kOutside}};
  groups.slice_of.front() = 0;
}

TEST(DomainSearch, AMemberThatNoNodeMayTakeIsLeftOutAndTheOthersKeepTheirNumbers) {
  World world;
  world.Node(0, 8);
  world.Submit(1, {1, 2});
  const DomainResult result = world.Search(SearchGoal::kNodes, TearFirst);
  ASSERT_EQ(result.search.places.size(), 1u);
  EXPECT_EQ(result.search.places.front().want, 1);
}

TEST(DomainSearch, WhereNoNodeMayTakeAnybodyThatIsSaidOfTheirShape) {
  World world;
  world.Node(0, 8);
  world.Submit(1, {1});
  const DomainResult result = world.Search(SearchGoal::kNodes, TearFirst);
  EXPECT_EQ(result.search.outcome, Outcome::kProven);
  EXPECT_EQ(result.search.shortage.wanted, 1);
  EXPECT_EQ(result.search.shortage.placeable, 0);
}

// A gang of one shape is searched by count, and one of two shapes by trial.
TEST(DomainSearch, RanksOfOneShapeFollowTheLayout) {
  for (const int64_t first : {2, 4}) {
    World world;
    for (int node = 0; node < 4; ++node) world.Node(0, 4);
    world.Submit(4, {first, 4, 4, 4});
    const auto layout = std::make_shared<const NodeLayout>(NodeLayout{3, 2, 1, 0});
    const DomainResult result = world.Search(
        SearchGoal::kNodes, [&](DomainChoice& choice, MemberGroups&) { choice.layout = layout; });
    std::vector<uint32_t> places;
    for (const MemberPlace& place : result.search.places) {
      if (place.want > 0) places.push_back((*layout)[place.node.index()]);
    }
    EXPECT_TRUE(std::ranges::is_sorted(places));
    EXPECT_EQ(places.size(), 3);
  }
}

}  // namespace
}  // namespace maniple::cycle_domain_search_test
