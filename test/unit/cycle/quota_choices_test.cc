// The choices of flavors that a decision tries. Fears: a choice is left out, or tried twice; a gang
// that stands changes its flavor; many choices are called all of them; a choice is struck out that
// quota allows; the cell that can never be covered is not the one that is told.
#include "scheduler/cycle/quota_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "plugins/framework/snapshot.h"

namespace maniple::cycle_quota_choices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Choice = std::vector<const QuotaOption*>;

constexpr QuotaNodeId kQueue{0};

NodeSet Nodes(const std::vector<uint32_t>& nodes) {
  NodeSet set(1);
  for (const uint32_t node : nodes) set[0].Set(node);
  return set;
}

// A queue with cells of its own, and shapes that are numbered as they are added.
class World final {
 public:
  explicit World(const std::vector<int64_t>& nominal) {
    QuotaNodeSpec queue;
    for (uint32_t cell = 0; cell < nominal.size(); ++cell) {
      queue.limits.push_back({.cell = QuotaCellId(cell), .nominal = Amount(nominal[cell])});
    }
    tree = QuotaTree({queue}, std::vector<uint32_t>(nominal.size(), 0));
    ask.tree = &tree;
    ask.queue = kQueue;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void AddShape(int wants, std::vector<QuotaOption> options) {
    const ShapeId shape(static_cast<uint32_t>(shapes.size()));
    for (int i = 0; i < wants; ++i) {
      request.wants.push_back({.pod = {}, .shape = shape});
      kinds_.push_back(shape.index());
    }
    ask.options[shape] = std::move(options);
    shapes.push_back(shape);
    request.need.total += wants;
  }
  void Stand(uint32_t shape, NodeId node) {
    request.pinned.push_back({.pod = {}, .node = node, .shape = ShapeId(shape)});
  }
  [[nodiscard]] QuotaChoices Choices() const { return QuotaChoices(ask, request, shapes); }
  [[nodiscard]] QuorumProblem Problem() const {
    return ProblemOf(request, kinds_, static_cast<uint32_t>(shapes.size()));
  }
  // Every choice, the first kind's first option first.
  [[nodiscard]] std::vector<Choice> Product() const {
    std::vector<Choice> all = {{}};
    for (const ShapeId shape : shapes) {
      std::vector<Choice> longer;
      for (const Choice& choice : all) {
        for (const QuotaOption& option : ask.options.at(shape)) {
          longer.push_back(choice);
          longer.back().push_back(&option);
        }
      }
      all = longer;
    }
    return all;
  }

  QuotaTree tree;
  QuotaAsk ask;
  GangRequest request;
  std::vector<ShapeId> shapes;

 private:
  std::vector<uint32_t> kinds_;  // by want
};

QuotaOption Costs(uint32_t cell, int64_t each, absl::string_view flavor = "") {
  return {.each = {{QuotaCellId(cell), Amount(each)}}, .flavor = std::string(flavor)};
}
// "ab" per choice: a flavor per kind.
std::vector<std::string> FlavorsOf(const std::vector<Choice>& choices) {
  std::vector<std::string> flavors;
  for (const Choice& choice : choices) {
    std::string& text = flavors.emplace_back();
    for (const QuotaOption* option : choice) absl::StrAppend(&text, option->flavor);
  }
  return flavors;
}
void AddRandomShapes(World& world, Random& random) {
  for (uint64_t shape = 1 + random.Below(4); shape > 0; --shape) {
    std::vector<QuotaOption> options;
    for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
      options.push_back(
          Costs(static_cast<uint32_t>(random.Below(3)), 1 + static_cast<int64_t>(random.Below(4))));
    }
    world.AddShape(static_cast<int>(random.Below(3)), options);
  }
  const auto spared = static_cast<int32_t>(random.Below(3));
  world.request.need.total = std::max(0, world.request.need.total - spared);
}

// Whether the members of every quorum cost no more than the quota, by cell.
bool IsWithin(std::vector<int64_t> quota, const Choice& choice, const QuorumProblem& problem) {
  for (uint32_t kind = 0; kind < choice.size(); ++kind) {
    const CellAmount& each = choice[kind]->each[0];
    quota[each.cell.index()] -= each.amount.units() * problem.LeastOf(kind);
  }
  return std::ranges::all_of(quota, [](int64_t left) { return left >= 0; });
}

TEST(QuotaChoices, AreAllCombinationsInOrderUpToTheMostThatAreTried) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    World world({9, 9, 9});
    AddRandomShapes(world, random);
    const QuotaChoices choices = world.Choices();
    std::vector<Choice> all = world.Product();
    EXPECT_EQ(choices.complete(), all.size() <= 64) << "round " << round;
    if (all.size() > 64) all.resize(64);
    EXPECT_EQ(choices.choices(), all) << "round " << round;
  }
}

TEST(QuotaChoices, NarrowedTheyAreTheFirstThatQuotaAndTheCallerAllow) {
  Random random(2);
  std::set<bool> completes;
  for (int round = 0; round < 200; ++round) {
    World world({12, 9, 6});
    AddRandomShapes(world, random);
    const Demand used = {{QuotaCellId(0), Amount(4)}};
    world.tree.Add(kQueue, used);
    const QuorumProblem problem = world.Problem();
    const auto may = [](uint32_t kind, const QuotaOption& option) {
      return kind != 1 || option.each[0].amount != Amount(2);
    };
    const auto of = random.OneIn(2) ? QuotaBudget::Of::kNow : QuotaBudget::Of::kEver;
    const std::vector<int64_t> quota = {of == QuotaBudget::Of::kNow ? 8 : 12, 9, 6};
    std::vector<Choice> allowed;
    for (const Choice& choice : world.Product()) {
      bool fits = IsWithin(quota, choice, problem);
      for (uint32_t kind = 0; kind < choice.size(); ++kind) fits = fits && may(kind, *choice[kind]);
      if (fits) allowed.push_back(choice);
    }
    const size_t most = 1 + random.Below(20);
    const QuotaChoices::Narrowed narrowed = world.Choices().Narrow(problem, most, of, may);
    EXPECT_EQ(narrowed.complete, allowed.size() <= most) << "round " << round;
    completes.insert(narrowed.complete);
    if (allowed.size() > most) allowed.resize(most);
    EXPECT_EQ(narrowed.choices, allowed) << "round " << round;
  }
  EXPECT_EQ(completes.size(), 2u);
}

TEST(QuotaChoices, AnEnumerationThatWouldNotEndIsNotCalledComplete) {
  World world({100});
  for (int shape = 0; shape < 20; ++shape) world.AddShape(1, {Costs(0, 1), Costs(0, 1)});
  const QuotaChoices::Narrowed narrowed =
      world.Choices().Narrow(world.Problem(), 4, QuotaBudget::Of::kNow,
                             [](uint32_t kind, const QuotaOption&) { return kind != 19; });
  EXPECT_THAT(narrowed.choices, IsEmpty());
  EXPECT_FALSE(narrowed.complete);
  world.request.need.total = 101;
  EXPECT_EQ(world.Choices().Reject(world.Problem(), DecideScope::kQuorum).code,
            RejectionCode::kQuotaExceeded)
      << "nor is anything proven for ever";
}

TEST(QuotaChoices, MembersThatStandKeepTheShapeToTheirFlavor) {
  World world({9});
  QuotaOption a = Costs(0, 1, "a"), b = Costs(0, 1, "b"), both = Costs(0, 1, "c");
  a.nodes = Nodes({0, 1});
  b.nodes = Nodes({2});
  world.AddShape(1, {a, b, both});
  world.AddShape(1, {a, b});
  world.Stand(0, NodeId(2));
  world.Stand(0, NodeId());  // its node is gone
  EXPECT_THAT(FlavorsOf(world.Choices().choices()), ElementsAre("ba", "bb", "ca", "cb", "aa", "ab"))
      << "a quorum that must be completed may change, as a last resort";
  world.request.scope = DecideScope::kSurplus;
  EXPECT_THAT(FlavorsOf(world.Choices().choices()), ElementsAre("ba", "bb", "ca", "cb"));
  world.Stand(1, NodeId(0));
  world.Stand(1, NodeId(2));
  EXPECT_THAT(FlavorsOf(world.Choices().choices()), ElementsAre("ba", "bb", "ca", "cb"))
      << "who stands in two flavors keeps to neither";
}

TEST(QuotaChoices, AQuorumIsCoveredAsAWholeAndASurplusByOneMember) {
  World world({5});
  world.AddShape(3, {Costs(0, 2, "a")});
  const QuotaChoices choices = world.Choices();
  QuorumProblem problem = world.Problem();
  problem.budget = choices.BudgetOf(choices.choices()[0], QuotaBudget::Of::kNow);
  EXPECT_FALSE(choices.Covers(problem, DecideScope::kQuorum));
  EXPECT_TRUE(choices.Covers(problem, DecideScope::kSurplus));
  problem.total = 2;
  EXPECT_TRUE(choices.Covers(problem, DecideScope::kQuorum));
  problem.budget.Take(0, 2);
  EXPECT_FALSE(choices.Covers(problem, DecideScope::kSurplus));
}

TEST(QuotaChoices, ARejectionTellsTheFirstChoiceThatFitsSomeDay) {
  World world({5, 6});
  world.AddShape(3, {Costs(0, 2, "a"), Costs(1, 2, "b")});
  const Demand used = {{QuotaCellId(1), Amount(1)}};
  world.tree.Add(kQueue, used);
  const Rejection not_now = world.Choices().Reject(world.Problem(), DecideScope::kQuorum);
  EXPECT_EQ(not_now.code, RejectionCode::kQuotaExceeded);
  ASSERT_TRUE(not_now.quota.has_value());
  EXPECT_EQ(not_now.quota->cell, QuotaCellId(1));
  EXPECT_EQ(not_now.quota->needs, Amount(6));
  EXPECT_EQ(not_now.quota->available, Amount(5));
  EXPECT_EQ(not_now.quota->potential, Amount(6));
}

TEST(QuotaChoices, ARejectionForEverTellsTheChoiceThatLacksLeast) {
  World world({3, 4, 3});
  world.AddShape(3, {Costs(0, 2, "a"), Costs(1, 2, "b"), Costs(2, 2, "c")});
  const Rejection never = world.Choices().Reject(world.Problem(), DecideScope::kQuorum);
  EXPECT_EQ(never.code, RejectionCode::kExceedsMaxQuota);
  ASSERT_TRUE(never.quota.has_value());
  EXPECT_EQ(never.quota->cell, QuotaCellId(1));
}

TEST(QuotaChoices, ACellThatIsNeverCoveredIsToldBeforeOneThatIsNotCoveredNow) {
  World world({8, 9, 3});
  QuotaOption option = Costs(0, 2, "a");
  option.each.push_back({QuotaCellId(1), Amount(3)});
  option.each.push_back({QuotaCellId(2), Amount(2)});
  world.AddShape(3, {option});
  const Demand used = {{QuotaCellId(1), Amount(1)}};
  world.tree.Add(kQueue, used);
  const QuotaChoices choices = world.Choices();
  const auto cell_of = [&](DecideScope scope) {
    return choices.ShortageOf(world.Problem(), scope, choices.choices()[0]).cell;
  };
  EXPECT_EQ(cell_of(DecideScope::kQuorum), QuotaCellId(2));
  EXPECT_EQ(cell_of(DecideScope::kSurplus), QuotaCellId(0)) << "one more lacks nothing";
}

TEST(QuotaChoices, TheNodesOfAKindAreThoseOfAllItsFlavors) {
  World world({9});
  QuotaOption a = Costs(0, 1), b = Costs(0, 1);
  a.nodes = Nodes({0, 1});
  b.nodes = Nodes({2});
  b.nodes->emplace_back().Set(3);  // of a second block
  world.AddShape(1, {a, b});
  world.AddShape(1, {a, Costs(0, 1)});
  const auto nodes = world.Choices().NodesOfAnyOption();
  NodeSet union_of_both = Nodes({0, 1, 2});
  union_of_both.emplace_back().Set(3);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0], union_of_both);
  EXPECT_EQ(nodes[1], std::nullopt) << "one flavor is of all nodes";
}

}  // namespace
}  // namespace maniple::cycle_quota_choices_test
