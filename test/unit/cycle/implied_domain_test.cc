// The domain that members imply by wanting to be near each other, with the search inside it played
// by the test. Fears: a standing pod already says where, and a domain is implied all the same; a
// tighter domain comes later; the kinds stay restricted afterwards; giving up counts as a proof.
#include "scheduler/cycle/domains/implied_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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

namespace maniple::cycle_implied_domain_test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

using Outcome = SearchResult::Outcome;

// The gang "g" and what a search for it works on.
class World final {
 public:
  struct Scene {
    const QuorumProblem& problem;
    std::vector<Kind>& kinds;
    Overlay& now;

    [[nodiscard]] std::vector<std::string> ColumnKeys() const {
      std::vector<std::string> keys;
      const std::vector<size_t> columns = ImpliedColumns(kinds, now);
      EXPECT_TRUE(std::ranges::is_sorted(columns));
      for (const size_t column : columns) {
        keys.push_back(now.base().tables->label_columns[column]);
      }
      return keys;
    }
    // The nodes of the first block that the kind is restricted to.
    [[nodiscard]] std::string AllowedTo(size_t kind) const {
      const NodeSet* allowed = kinds[kind].bound->allowed();
      if (allowed == nullptr) return "all";
      std::string text;
      (*allowed)[0].ForEach([&](uint32_t node) { absl::StrAppend(&text, node); });
      return text;
    }
  };

  void Add(ObjectEvent event) { cluster_.Add(std::move(event)); }
  void Submit(size_t quorum, const std::vector<MakePod>& members) {
    cluster_.Add(MakePodGroup("g").MinMember(static_cast<int32_t>(quorum)));
    for (const MakePod& member : members) cluster_.Add(MakePod(member).Group("g"));
  }
  void Look(const std::function<void(const Scene&)>& look) {
    BoundGang made(cluster_, "g");
    auto& [request, snapshot, now, bound, kinds] = made;
    look({bound.problem(), kinds.kinds, now});
  }

 private:
  TestCluster cluster_;
};

LabelSelector App(absl::string_view app) { return Labelled("app", app); }
MakePod Member(int index) {
  return MakePod(absl::StrCat("g-", index)).Label("app", "x").Gpu(1).Near("zone", App("x"));
}

TEST(ImpliedDomain, ItIsImpliedByMembersThatWaitForEachOtherUntilOneOfThemStands) {
  World world;
  world.Add(MakeNode("n0").Gpu(8).Label("zone", "a").Label("rack", "r"));
  world.Submit(2, {Member(0), Member(1), MakePod("g-2").Label("app", "z").Near("rack", App("z")),
                   MakePod("g-3").Cpu(1)});
  world.Look([](const World::Scene& scene) {
    EXPECT_THAT(scene.ColumnKeys(), UnorderedElementsAre("zone", "rack"));
    scene.now.Place(NodeId(0), scene.kinds[0].shape);
    EXPECT_THAT(scene.ColumnKeys(), ElementsAre("rack"));
  });
  world.Add(MakePod("other").Label("app", "z").On("n0"));
  world.Look(
      [](const World::Scene& scene) { EXPECT_THAT(scene.ColumnKeys(), ElementsAre("zone")); });
}

// Nodes n0 … n5, each in a zone or in none; only those of a region are open to the gang.
struct ZoneCase {
  explicit ZoneCase(Random& random)
      : members(1 + random.Below(4)), quorum(1 + random.Below(members)) {
    for (uint32_t node = 0; node < 6; ++node) {
      zones.push_back(std::vector<std::string>{"", "a", "b", "c"}[random.Below(4)]);
      gpus.push_back(static_cast<int64_t>(random.Below(4)));
      if (!random.OneIn(5)) open[0].Set(node);
    }
  }
  // The open nodes of every zone with room for the quorum: those with room for all members come
  // first, then little room, then the zone of the first node.
  [[nodiscard]] std::vector<std::string> NaiveOrder() const {
    std::vector<std::tuple<bool, int64_t, uint32_t, std::string>> order;
    for (uint32_t first = 0; first < 6; ++first) {
      if (zones[first].empty() || std::ranges::find(zones, zones[first]) != zones.begin() + first) {
        continue;
      }
      int64_t room = 0;
      std::string text;
      for (uint32_t node = first; node < 6; ++node) {
        if (zones[node] != zones[first] || !open[0].Test(node)) continue;
        room += gpus[node];
        absl::StrAppend(&text, node);
      }
      if (room < quorum) continue;
      order.emplace_back(room < members, room, first, text);
    }
    std::ranges::sort(order);
    std::vector<std::string> texts;
    for (const auto& entry : order) texts.push_back(std::get<3>(entry));
    return texts;
  }
  void Fill(World& world) const {
    for (uint32_t node = 0; node < 6; ++node) {
      MakeNode made(absl::StrCat("n", node));
      made.Gpu(gpus[node]);
      if (!zones[node].empty()) made.Label("zone", zones[node]);
      world.Add(made);
    }
    std::vector<MakePod> pods;
    for (int i = 0; i < members; ++i) pods.push_back(Member(i));
    world.Submit(static_cast<size_t>(quorum), pods);
  }

  std::vector<std::string> zones;
  std::vector<int64_t> gpus;
  NodeSet open = NodeSet(1);
  int64_t members, quorum;
};

TEST(ImpliedDomain, EveryZoneWithRoomIsSearchedTheTightestThatTakesAllFirst) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const ZoneCase c(random);
    World world;
    c.Fill(world);
    world.Look([&](const World::Scene& scene) {
      scene.kinds[0].bound->RestrictTo(&c.open);
      const std::vector<size_t> columns = ImpliedColumns(scene.kinds, scene.now);
      if (columns.empty()) return;  // no node has a zone
      const std::vector<std::string> order = c.NaiveOrder();
      // One of the searches finds a place, or none does; one of those before it may give up.
      const size_t found = random.Below(order.size() + 2), gave_up = random.Below(order.size() + 2);
      std::vector<std::string> asked;
      const SearchResult result =
          SearchImplied(scene.problem, scene.kinds, scene.now, columns, [&]() -> SearchResult {
            asked.push_back(scene.AllowedTo(0));
            if (asked.size() == found + 1)
              return {.outcome = Outcome::kFound, .places = {{.want = 7}}};
            return {.outcome = asked.size() == gave_up + 1 ? Outcome::kGaveUp : Outcome::kProven};
          });
      const size_t searched = std::min(order.size(), found + 1);
      EXPECT_EQ(asked, std::vector(order.begin(), order.begin() + static_cast<long>(searched)));
      const Outcome failed = gave_up < searched ? Outcome::kGaveUp : Outcome::kProven;
      EXPECT_EQ(result.outcome, found < order.size() ? Outcome::kFound : failed) << round;
      EXPECT_EQ(result.places.size(), found < order.size() ? 1u : 0u);
      EXPECT_EQ(scene.kinds[0].bound->allowed(), &c.open) << "restricted as before";
    });
  }
}

// What the two kinds are restricted to in each search, where every search proves a lack.
std::vector<std::string> SearchedIn(const World::Scene& scene) {
  std::vector<std::string> asked;
  const std::vector<size_t> columns = ImpliedColumns(scene.kinds, scene.now);
  const auto refuse = [&]() -> SearchResult {
    asked.push_back(absl::StrCat(scene.AllowedTo(0), " and ", scene.AllowedTo(1)));
    return {.outcome = Outcome::kProven};
  };
  EXPECT_EQ(SearchImplied(scene.problem, scene.kinds, scene.now, columns, refuse).outcome,
            Outcome::kProven);
  return asked;
}

TEST(ImpliedDomain, AKindThatWaitsForAnotherTakesItAlongAndThenBothMayBeAnywhere) {
  World world;
  world.Add(MakeNode("n0").Label("zone", "a"));
  world.Add(MakeNode("n1"));
  world.Submit(2, {MakePod("g-0").Cpu(1).Near("zone", App("y")), MakePod("g-1").Label("app", "y")});
  world.Look([](const World::Scene& scene) {
    EXPECT_THAT(SearchedIn(scene), ElementsAre("0 and 0", "all and all"));
    EXPECT_EQ(scene.AllowedTo(1), "all") << "restricted as before";
  });
}

TEST(ImpliedDomain, AKindThatWantsToBeNearNobodyStaysFree) {
  World world;
  world.Add(MakeNode("n0").Gpu(8).Label("zone", "a"));
  world.Add(MakeNode("n1"));
  world.Submit(3, {Member(0), Member(1), MakePod("g-2").Cpu(1)});
  world.Look(
      [](const World::Scene& scene) { EXPECT_THAT(SearchedIn(scene), ElementsAre("0 and all")); });
}

}  // namespace
}  // namespace maniple::cycle_implied_domain_test
