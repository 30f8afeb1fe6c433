// KAI's PodGroup with sub-groups in sub-groups. Fears: a parent is counted beside its children; a
// gang starts with fewer members than its groups need; a ring of parents never ends; a number that
// makes no sense is counted with.
#include "api/producers/kind_readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "test/unit/producers/fixture.h"

namespace maniple::producers_kai_group_test {
namespace {

ReadResult<ForeignSpec> Read(absl::string_view spec) {
  return ReadYaml(absl::StrCat("{spec: ", spec, "}"),
                  [](const Cursor& root) { return ReadKaiGroup(root); });
}

// A tree of groups; the first is the whole PodGroup.
class Model {
 public:
  struct Group {
    size_t parent = 0;
    int64_t members = 0;                 // of a leaf
    std::optional<int64_t> enough = {};  // of the children of another; none: all
  };

  explicit Model(std::vector<Group> groups) : groups_(std::move(groups)) {}

  [[nodiscard]] std::string Spec() const {
    std::vector<std::string> listed;
    for (size_t i = 1; i < groups_.size(); ++i) {
      std::string item = absl::StrCat("name: g", i, Count(i));
      if (groups_[i].parent > 0) absl::StrAppend(&item, ", parent: g", groups_[i].parent);
      listed.push_back(absl::StrCat("{", item, "}"));
    }
    return absl::StrCat("{queue: q", Count(0), ", subGroups: [", absl::StrJoin(listed, ", "), "]}");
  }

  // Of all ways to have enough of each group the one with the fewest members.
  [[nodiscard]] int64_t Fewest(size_t group = 0) const {
    std::vector<int64_t> below;
    for (size_t child : ChildrenOf(group)) below.push_back(Fewest(child));
    if (below.empty()) return groups_[group].members;
    std::sort(below.begin(), below.end());
    const auto all = static_cast<int64_t>(below.size());
    const int64_t count = std::min(groups_[group].enough.value_or(all), all);
    return std::accumulate(below.begin(), below.begin() + count, int64_t{0});
  }

  [[nodiscard]] std::vector<size_t> ChildrenOf(size_t group) const {
    std::vector<size_t> children;
    for (size_t i = 1; i < groups_.size(); ++i) {
      if (groups_[i].parent == group) children.push_back(i);
    }
    return children;
  }

  // Whether some of the groups may be missing.
  [[nodiscard]] bool HasChoice() const {
    for (size_t i = 0; i < groups_.size(); ++i) {
      const auto all = static_cast<int64_t>(ChildrenOf(i).size());
      if (all > 0 && groups_[i].enough.value_or(all) < all) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] std::string Count(size_t group) const {
    if (!ChildrenOf(group).empty()) {
      const std::optional<int64_t>& enough = groups_[group].enough;
      return enough.has_value() ? absl::StrCat(", minSubGroup: ", *enough) : "";
    }
    return absl::StrCat(", minMember: ", groups_[group].members);
  }

  std::vector<Group> groups_;
};

// The whole may choose only among leaves, unless the groups below it choose as well.
enum class Choice { kNowhere, kAmongLeaves, kAnywhere };

Model Drawn(Choice choice, Random& random) {
  std::vector<Model::Group> groups(2 + random.Below(7));
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].members = static_cast<int64_t>(random.Below(5));
    const bool flat = choice == Choice::kAmongLeaves;
    groups[i].parent = i == 0 || flat ? 0 : random.Below(i);
    const bool chooses = choice == Choice::kAnywhere || (flat && i == 0);
    if (chooses && random.OneIn(2)) groups[i].enough = static_cast<int64_t>(random.Below(5));
  }
  return Model(std::move(groups));
}

void EqualsTheModel(Choice choice) {
  Random random(static_cast<uint64_t>(choice) + 5);
  for (int round = 0; round < 100; ++round) {
    const Model model = Drawn(choice, random);
    const ReadResult<ForeignSpec> read = Read(model.Spec());
    ASSERT_EQ(read.refused, "");
    ASSERT_EQ(read.value.problem, "") << model.Spec();
    ASSERT_EQ(read.value.minimum, model.Fewest()) << model.Spec();
    ASSERT_EQ(read.value.queue, "q");
    if (model.HasChoice()) {
      ASSERT_TRUE(read.value.parts.empty()) << model.Spec();
      continue;
    }
    for (const ForeignPart& part : read.value.parts) {
      size_t index = 0;
      ASSERT_TRUE(absl::SimpleAtoi(part.name.substr(1), &index));
      ASSERT_TRUE(model.ChildrenOf(index).empty()) << model.Spec() << " " << part.name;
      ASSERT_EQ(part.members, model.Fewest(index)) << model.Spec() << " " << part.name;
    }
  }
}

TEST(KaiGroupTrees, NeedAllTheirLeaves) { EqualsTheModel(Choice::kNowhere); }
TEST(KaiGroupTrees, NeedTheSmallestOfTheirLeavesIfTheyNeedSomeOnly) {
  EqualsTheModel(Choice::kAmongLeaves);
}

TEST(KaiGroupTrees, NeedTheSmallestOfWhateverStandsBelowThem) { EqualsTheModel(Choice::kAnywhere); }

// As KAI's podgrouper writes a JobSet.
TEST(KaiGroupTrees, OneReplicatedJobOfFourReplicasNeedsAllOfThem) {
  const ReadResult<ForeignSpec> read = Read(
      "{minSubGroup: 1, subGroups: [{name: w, minSubGroup: 2}, {name: w-0, minMember: 2, "
      "parent: w}, {name: w-1, minMember: 2, parent: w}]}");
  EXPECT_EQ(read.value.minimum, 4);
  EXPECT_EQ(read.value.parts.size(), 2);
}

TEST(KaiGroupTrees, GroupsInARingOrOfNobodyDoNoHarm) {
  const ReadResult<ForeignSpec> ring = Read(
      "{minMember: 2, subGroups: [{name: a, minMember: 3, parent: b}, {name: b, minMember: 4, "
      "parent: a}, {name: c, minMember: 5, parent: c}]}");
  EXPECT_EQ(ring.value.minimum, 2);
  EXPECT_TRUE(ring.value.parts.empty());
  const ReadResult<ForeignSpec> orphan = Read("{subGroups: [{name: a, minMember: 3, parent: b}]}");
  EXPECT_EQ(orphan.value.minimum, 3);
}

TEST(KaiGroupTrees, AMinimumAboveTheSumOfTheGroupsStands) {
  EXPECT_EQ(Read("{minMember: 9, subGroups: [{name: a, minMember: 3}]}").value.minimum, 9);
  EXPECT_EQ(Read("{minMember: 1, subGroups: [{name: a, minMember: 3}]}").value.minimum, 3);
  EXPECT_EQ(Read("{}").value.minimum, 0);
}

TEST(KaiGroupTrees, NumbersThatCannotBeAreToldOf) {
  for (const char* spec :
       {"{minMember: -1}", "{minSubGroup: -1}", "{minMember: 2147483648}",
        "{subGroups: [{name: a, minMember: 2147483647}, {name: b, minMember: 1}]}",
        "{subGroups: [{name: a, minMember: -9223372036854775808}]}"}) {
    EXPECT_NE(Read(spec).value.problem, "") << spec;
  }
  for (const char* spec : {"{minMember: two}", "{subGroups: {name: a}}", "{subGroups: [a]}",
                           "{minMember: 9223372036854775808}", "{topologyConstraint: rack}"}) {
    EXPECT_NE(Read(spec).refused, "") << spec;
  }
}

}  // namespace
}  // namespace maniple::producers_kai_group_test
