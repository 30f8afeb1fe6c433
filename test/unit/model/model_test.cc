#include "api/model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/model/object.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(StringMap, SortsItsEntriesAndKeepsTheLastOfEqualKeys) {
  const StringMap map({{"b", "1"}, {"a", "old"}, {"c", "3"}, {"a", "new"}});
  EXPECT_THAT(map.entries(), ElementsAre(Pair("a", "new"), Pair("b", "1"), Pair("c", "3")));
}

TEST(StringMap, SetReplacesOrInsertsInOrder) {
  StringMap map;
  map.Set("m", "1");
  map.Set("a", "2");
  map.Set("m", "3");
  EXPECT_THAT(map.entries(), ElementsAre(Pair("a", "2"), Pair("m", "3")));
  EXPECT_EQ(map.Get("m"), "3");
  EXPECT_EQ(map.Find("zz"), nullptr);
  EXPECT_EQ(map.Get("zz"), "");
}

struct SelectorCase {
  SelectorOperator op;
  std::vector<std::string> values;
  std::optional<std::string> label;
  bool satisfied;
};

TEST(Satisfies, FollowsKubeSchedulerForEveryOperator) {
  using enum SelectorOperator;
  const std::vector<SelectorCase> cases = {
      {kIn, {"a", "b"}, "b", true},
      {kIn, {"a"}, "c", false},
      {kIn, {"a"}, std::nullopt, false},
      {kIn, {}, "a", false},
      {kNotIn, {"a"}, "b", true},
      {kNotIn, {"a"}, "a", false},
      {kNotIn, {"a"}, std::nullopt, true},
      {kExists, {}, "", true},
      {kExists, {}, std::nullopt, false},
      {kDoesNotExist, {}, std::nullopt, true},
      {kDoesNotExist, {}, "x", false},
      {kGt, {"5"}, "6", true},
      {kGt, {"5"}, "5", false},
      {kLt, {"5"}, "-7", true},
      {kGt, {"5"}, "six", false},
      {kGt, {"five"}, "6", false},
      {kGt, {"5", "6"}, "9", false},
      {kGt, {"5"}, " 6", false},
      {kGt, {"5"}, "99999999999999999999", false},
      {kLt, {"5"}, std::nullopt, false},
  };
  for (const SelectorCase& c : cases) {
    const SelectorRequirement requirement{"key", c.op, c.values};
    EXPECT_EQ(Satisfies(requirement, c.label.has_value() ? &*c.label : nullptr), c.satisfied)
        << static_cast<int>(c.op) << " against " << c.label.value_or("(absent)");
  }
}

TEST(LabelSelector, MatchesWhenEveryRequirementIsMetAndAlwaysWhenEmpty) {
  const StringMap labels({{"team", "a"}, {"tier", "gold"}});
  EXPECT_TRUE(LabelSelector{}.Matches(labels));
  LabelSelector selector{{{"team", SelectorOperator::kIn, {"a"}}}};
  EXPECT_TRUE(selector.Matches(labels));
  selector.requirements.push_back({"tier", SelectorOperator::kDoesNotExist, {}});
  EXPECT_FALSE(selector.Matches(labels));
}

TEST(Tolerates, MatchesKeyValueAndEffectWithTheirWildcards) {
  const Taint taint{"gpu", "yes", TaintEffect::kNoSchedule};
  using enum TolerationOperator;
  EXPECT_TRUE(Tolerates({{"gpu", kEqual, "yes", TaintEffect::kNoSchedule}}, taint));
  EXPECT_TRUE(Tolerates({{"gpu", kExists, "", std::nullopt}}, taint));
  EXPECT_TRUE(Tolerates({{"", kExists, "", std::nullopt}}, taint));
  EXPECT_FALSE(Tolerates({{"gpu", kEqual, "no", std::nullopt}}, taint));
  EXPECT_FALSE(Tolerates({{"gpu", kExists, "", TaintEffect::kNoExecute}}, taint));
  EXPECT_FALSE(Tolerates({{"other", kExists, "", std::nullopt}}, taint));
  EXPECT_FALSE(Tolerates({}, taint));
}

TEST(Object, KnowsItsKindAndMetadata) {
  Queue queue;
  queue.meta.name = "team-a";
  const Object object = queue;
  EXPECT_EQ(KindOf(object), ResourceKind::kQueue);
  EXPECT_EQ(ResourceKindName(KindOf(object)), "Queue");
  EXPECT_EQ(MetaOf(object).name, "team-a");
}

TEST(Object, EveryKindHasADistinctNameAndPath) {
  std::vector<std::string> names;
  std::vector<std::string> paths;
  for (int i = 0; i < kResourceKinds; ++i) {
    names.emplace_back(ResourceKindName(static_cast<ResourceKind>(i)));
    paths.emplace_back(ResourceCollectionPath(static_cast<ResourceKind>(i)));
    EXPECT_EQ(paths.back()[0], '/');
  }
  std::sort(names.begin(), names.end());
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(std::adjacent_find(paths.begin(), paths.end()), paths.end());
}

}  // namespace
}  // namespace maniple
