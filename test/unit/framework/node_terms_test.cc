// Node selector terms against kube-scheduler's rules, wherever the label is kept. Fears: a label in
// a column is read otherwise than one in the class; an absent label is taken for an empty one; a
// term that nobody can read matches; an answer is remembered for a class that decides it not alone.
#include "plugins/framework/node_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/unit/framework/hand_made.h"

namespace maniple::framework_node_terms_test {
namespace {

using enum SelectorOperator;
const std::vector<std::string> kKeys = {"class", "column"};

// Of labels and values that are small numbers, where the requirement is well formed.
bool NaivelyMeets(const SelectorRequirement& wanted, const std::string* value) {
  const bool listed =
      value != nullptr && std::ranges::find(wanted.values, *value) != wanted.values.end();
  const bool numbers = value != nullptr && wanted.values.size() == 1;
  int have = 0, bound = 0;
  if (numbers)
    (void)(absl::SimpleAtoi(*value, &have) && absl::SimpleAtoi(wanted.values[0], &bound));
  if (wanted.op == kIn) return listed;
  if (wanted.op == kNotIn) return !listed;
  if (wanted.op == kExists) return value != nullptr;
  if (wanted.op == kDoesNotExist) return value == nullptr;
  return numbers && (wanted.op == kGt ? have > bound : have < bound);
}

SelectorRequirement SomeRequirement(Random& random) {
  static constexpr SelectorOperator kOperators[] = {kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt};
  SelectorRequirement out{.key = kKeys[random.Below(2)], .op = kOperators[random.Below(6)]};
  const bool lists = out.op == kIn || out.op == kNotIn;
  const bool compares = out.op == kGt || out.op == kLt;
  const uint64_t values = lists ? 1 + random.Below(2) : compares ? 1 : 0;
  for (uint64_t i = 0; i < values; ++i) out.values.push_back(absl::StrCat(random.Below(3)));
  return out;
}

TEST(NodeTerms, MatchWhereEveryRequirementIsMet) {
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    const HandMade made(RandomNodes(random, kKeys), {"column"});
    NodeSelectorTerm term;
    for (uint64_t i = 1 + random.Below(3); i > 0; --i) {
      term.expressions.push_back(SomeRequirement(random));
    }
    const BoundTerm bound(*made.Make().tables, term);
    for (const HandMadeNode& node : made.nodes()) {
      const bool want = std::ranges::all_of(term.expressions, [&](const SelectorRequirement& r) {
        return NaivelyMeets(r, node.labels.Find(r.key));
      });
      ASSERT_EQ(bound.Matches(made.View(node)), want) << round << " " << node.name;
    }
    const bool of_class = std::ranges::none_of(
        term.expressions, [](const SelectorRequirement& r) { return r.key == "column"; });
    ASSERT_EQ(bound.of_class_only(), of_class) << round;
  }
}

class OneNodeTerms : public ::testing::Test {
 protected:
  [[nodiscard]] bool Matches(const NodeSelectorTerm& term) const {
    return BoundTerm(*made_.Make().tables, term).Matches(made_.View(made_.nodes()[0]));
  }
  [[nodiscard]] bool Matches(const SelectorRequirement& requirement) const {
    return Matches(NodeSelectorTerm{.expressions = {requirement}, .fields = {}});
  }
  [[nodiscard]] bool MatchesField(const SelectorRequirement& field) const {
    return Matches(NodeSelectorTerm{.expressions = {}, .fields = {field}});
  }
  [[nodiscard]] bool Selects(const StringMap& selector) const {
    return BoundTerm(*made_.Make().tables, selector).Matches(made_.View(made_.nodes()[0]));
  }

  HandMade made_{{{.at = NodeId(0), .name = "n", .labels = LabelsOf({{"a", ""}, {"b", "x"}})}},
                 {"b"}};
};

TEST_F(OneNodeTerms, AnEmptyTermMatchesNothingAndAnEmptySelectorEverything) {
  EXPECT_FALSE(Matches(NodeSelectorTerm{}));
  EXPECT_TRUE(Selects(StringMap()));
}

TEST_F(OneNodeTerms, ASelectorWantsEachLabelWithItsVeryValue) {
  EXPECT_TRUE(Selects(LabelsOf({{"a", ""}, {"b", "x"}})));
  EXPECT_FALSE(Selects(LabelsOf({{"a", ""}, {"b", ""}})));
  EXPECT_FALSE(Selects(LabelsOf({{"b", "x"}, {"c", ""}}))) << "absent is not empty";
}

TEST_F(OneNodeTerms, ATermThatKubeSchedulerCannotReadMatchesNothing) {
  EXPECT_TRUE(Matches(Requires("c", kNotIn, {"y"})));
  EXPECT_FALSE(Matches(Requires("c", kNotIn)));
  EXPECT_FALSE(Matches(Requires("c", kNotIn, {"not a word"})));
  EXPECT_FALSE(Matches(Requires("c", kNotIn, {"-y"})));
  EXPECT_FALSE(Matches(Requires("a", kExists, {"y"})));
  EXPECT_FALSE(Matches(Requires("b", kGt, {"1", "2"})));
  for (const char* key : {"", "/x", "x/", "Up.per/x", "x/y/z", "under_score/x", "a b"}) {
    EXPECT_FALSE(Matches(Requires(key, kDoesNotExist))) << key;
  }
  EXPECT_FALSE(Matches(Requires(std::string(64, 'k'), kDoesNotExist)));
  EXPECT_TRUE(Matches(Requires(std::string(63, 'k'), kDoesNotExist)));
  EXPECT_TRUE(Matches(Requires("a.b-c.example/Na_me.1", kDoesNotExist)));
  EXPECT_TRUE(Matches(Requires(std::string(64, 'a') + ".example/x", kDoesNotExist)));
  EXPECT_FALSE(Matches(Requires(std::string(254, 'a') + "/x", kDoesNotExist)));
}

TEST_F(OneNodeTerms, FieldsKnowTheNameOfTheNodeAlone) {
  EXPECT_TRUE(MatchesField(Requires("metadata.name", kIn, {"n"})));
  EXPECT_FALSE(MatchesField(Requires("metadata.name", kIn, {"m"})));
  EXPECT_FALSE(MatchesField(Requires("metadata.name", kNotIn, {"n"})));
  EXPECT_TRUE(MatchesField(Requires("metadata.name", kNotIn, {"m"})));
  EXPECT_FALSE(MatchesField(Requires("metadata.name", kIn, {"n", "m"}))) << "one value only";
  EXPECT_FALSE(MatchesField(Requires("metadata.name", kExists)));
  EXPECT_FALSE(MatchesField(Requires("metadata.uid", kNotIn, {"m"})));
  const NodeSelectorTerm both{.expressions = {Requires("b", kIn, {"y"})},
                              .fields = {Requires("metadata.name", kIn, {"n"})}};
  EXPECT_FALSE(Matches(both));
  const NodeSelectorTerm field{.expressions = {}, .fields = both.fields};
  EXPECT_FALSE(BoundTerm(*made_.Make().tables, field).of_class_only());
}

}  // namespace
}  // namespace maniple::framework_node_terms_test
