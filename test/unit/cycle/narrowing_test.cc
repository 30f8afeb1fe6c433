// The narrowing of a region, with the search inside it played by the test. Fears: a looser choice
// of domains is tried before a tighter one, or one twice; nodes outside the region are offered; a
// domain where members stand is left out; a search that always fails is asked for ever.
#include "scheduler/cycle/domains/narrowing.h"

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

namespace maniple::cycle_narrowing_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Outcome = SearchResult::Outcome;

// With a gang whose members want one GPU each.
class World final : public RackedWorld {
 public:
  explicit World(int members) {
    cluster_.Add(MakePodGroup("g").MinMember(members));
    for (int i = 0; i < members; ++i) {
      cluster_.Add(MakePod(absl::StrCat("g-", i)).Group("g").Gpu(1));
    }
  }
  void Stands(absl::string_view node) { cluster_.Add(MakePod("g-on").Group("g").Cpu(1).On(node)); }

  // The regions that the search is asked for, as the numbers of their nodes; its answers are
  // these, the last one again and again.
  struct Narrowed {
    std::vector<std::string> asked;
    std::optional<SearchResult> result;
  };
  Narrowed Narrow(const NodeSet* region, size_t depth, std::vector<Outcome> answers,
                  SearchWork* work = nullptr) {
    BoundGang made(cluster_, "g", work);
    auto& [request, snapshot, now, bound, kinds] = made;
    DomainChoice choice;
    LevelKey key{.name = "block", .steps = {{"block"}}};
    choice.gang.levels.push_back(std::make_shared<const DomainLevel>(LevelOf(*snapshot, key)));
    key.steps.push_back({"rack"});
    choice.gang.slice = std::make_shared<const DomainLevel>(LevelOf(*snapshot, key));
    Narrowed narrowed;
    narrowed.result = maniple::Narrow(
        {bound.problem(), kinds.kinds, request.scope, choice, MemberGroups(), request.pinned}, now,
        region, depth, [&](const NodeSet* nodes) {
          std::string text = nodes == nullptr ? "anywhere" : "";
          if (nodes != nullptr) (*nodes)[0].ForEach([&](uint32_t n) { absl::StrAppend(&text, n); });
          const size_t at = std::min(narrowed.asked.size(), answers.size() - 1);
          narrowed.asked.push_back(text);
          return SearchResult{.outcome = answers[at], .places = {{.want = 7}}};
        });
    return narrowed;
  }
};

// Every set of racks that has the one where a member stands and enough room: few racks first, then
// little room. Racks have one node each, which is in the region or not.
std::vector<std::string> NaiveSets(const std::vector<int64_t>& gpus, uint32_t region,
                                   std::optional<uint32_t> held, int64_t members) {
  std::vector<std::tuple<size_t, int64_t, std::vector<uint32_t>>> sets;
  for (uint32_t chosen = 1; chosen < 1U << gpus.size(); ++chosen) {
    std::vector<uint32_t> set;
    int64_t room = 0;
    bool useful = !held.has_value() || (chosen >> *held & 1) != 0;
    for (uint32_t rack = 0; rack < gpus.size(); ++rack) {
      if ((chosen >> rack & 1) == 0) continue;
      const int64_t free = (region >> rack & 1) != 0 ? gpus[rack] : 0;
      useful = useful && (free > 0 || rack == held);
      room += free;
      set.push_back(rack);
    }
    if (useful && room >= members) sets.emplace_back(set.size(), room, set);
  }
  std::ranges::sort(sets);
  std::vector<std::string> texts;
  for (const auto& [size, room, set] : sets) {
    std::string& text = texts.emplace_back();
    for (const uint32_t rack : set) {
      if ((region >> rack & 1) != 0) absl::StrAppend(&text, rack);
    }
  }
  return texts;
}

TEST(Narrowing, ASearchThatFailsIsAskedForEverySetOfRacksTheTightestFirst) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const auto members = static_cast<int>(2 + random.Below(5));
    World world(members);
    std::vector<int64_t> gpus(1 + random.Below(4));
    NodeSet region(1);
    uint32_t in_region = 0;
    for (uint32_t i = 0; i < gpus.size(); ++i) {
      gpus[i] = static_cast<int64_t>(random.Below(6));
      world.Node("b", absl::StrCat("r", i), gpus[i]);
      if (random.OneIn(5)) continue;
      in_region |= 1U << i;
      region[0].Set(i);
    }
    std::optional<uint32_t> held;  // by one member, which needs no more room
    if (random.OneIn(3)) {
      held = static_cast<uint32_t>(random.Below(gpus.size()));
      world.Stands(absl::StrCat("n", *held));
    }
    const World::Narrowed narrowed = world.Narrow(&region, 1, {Outcome::kProven});
    const int wanted = held.has_value() ? members - 1 : members;
    EXPECT_EQ(narrowed.asked, NaiveSets(gpus, in_region, held, wanted)) << round;
    EXPECT_FALSE(narrowed.result.has_value());
  }
}

TEST(Narrowing, RacksAreChosenWithinTheChosenBlockAndWhatIsFoundThereIsTheAnswer) {
  World world(2);
  world.Node("b1", "r1", 2);
  world.Node("b1", "r2", 3);
  world.Node("b2", "r1", 9);
  const World::Narrowed narrowed = world.Narrow(
      nullptr, 0, {Outcome::kProven, Outcome::kGaveUp, Outcome::kProven, Outcome::kFound});
  EXPECT_THAT(narrowed.asked, ElementsAre("0", "1", "01", "2"));
  ASSERT_TRUE(narrowed.result.has_value());
  EXPECT_EQ(narrowed.result->outcome, Outcome::kFound);
  EXPECT_EQ(narrowed.result->places.at(0).want, 7);
}

TEST(Narrowing, BelowTheLastLevelTheRegionItselfIsAsked) {
  World world(1);
  world.Node("b", "r", 1);
  EXPECT_THAT(world.Narrow(nullptr, 2, {Outcome::kFound}).asked, ElementsAre("anywhere"));
}

TEST(Narrowing, ManyWaysThatFailAreNotAllTried) {
  World world(2);
  for (int i = 0; i < 12; ++i) world.Node("b", absl::StrCat("r", i), 1);
  const World::Narrowed narrowed = world.Narrow(nullptr, 0, {Outcome::kProven});
  EXPECT_THAT(narrowed.asked, SizeIs(::testing::Le(32)));
  EXPECT_FALSE(narrowed.result.has_value());
}

TEST(Narrowing, WithoutWorkLeftNothingIsAsked) {
  World world(1);
  world.Node("b", "r", 1);
  SearchWork none(-1);
  EXPECT_THAT(world.Narrow(nullptr, 0, {Outcome::kFound}, &none).asked, IsEmpty());
}

}  // namespace
}  // namespace maniple::cycle_narrowing_test
