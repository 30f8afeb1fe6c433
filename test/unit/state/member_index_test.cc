// Members by name, by pattern and by labels. Fears: an owner has a member whose labels no longer
// match; one that comes later is overlooked; a name that left is still selected by pattern, or one
// that was named is forgotten; a key that is asked about late is not known; the two sides differ.
#include "scheduler/state/member_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple::state_member_index_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

using Names = MemberIndex::Names;
using Selectors = std::vector<HyperNodeMember>;

constexpr int kNodes = 6, kOwners = 4;

std::string NodeName(uint64_t i) { return absl::StrCat("n", i); }
std::string OwnerName(uint64_t i) { return absl::StrCat("o", i); }

class MemberIndexTest : public ::testing::Test {
 protected:
  std::vector<std::string> Select(const std::string& owner, const Selectors& selectors) {
    return index_.Select(owner, selectors,
                         [this](absl::string_view name) { return there_.at(std::string(name)); });
  }
  void Put(const std::string& name, const StringMap& labels) {
    there_[name] = labels;
    index_.Put(name, labels);
  }
  void Remove(const std::string& name) {
    there_.erase(name);
    index_.Remove(name);
  }
  [[nodiscard]] HyperNodeMember AnySelector() {
    HyperNodeMember any;
    switch (random_.Below(4)) {
      case 0:
        any.name = NodeName(random_.Below(kNodes));
        break;
      case 1:
        any.pattern = absl::StrCat("^n[", random_.Below(kNodes), random_.Below(kNodes), "]$");
        break;
      case 2:
        any.pattern = "n[";  // no regular expression
        break;
      default:
        any.labels = Labelled(absl::StrCat("k", random_.Below(3)), absl::StrCat(random_.Below(2)));
    }
    return any;
  }
  [[nodiscard]] Names MembersFromScratch(const Selectors& selectors) const {
    Names members;
    for (const HyperNodeMember& one : selectors) {
      if (!one.name.empty()) members.insert(one.name);
      for (const auto& [name, labels] : there_) {
        const bool by_name =
            one.pattern.size() > 2 && one.pattern.find(name[1]) != std::string::npos;
        if (by_name || (one.labels.has_value() && one.labels->Matches(labels)))
          members.insert(name);
      }
    }
    return members;
  }
  void Compare() {
    std::map<std::string, Names> owners_of;
    for (int i = 0; i < kOwners; ++i) {
      const Names members = MembersFromScratch(selectors_[OwnerName(i)]);
      ASSERT_EQ(index_.MembersOf(OwnerName(i)), members);
      for (const std::string& name : members) owners_of[name].insert(OwnerName(i));
    }
    for (int i = 0; i < kNodes; ++i)
      ASSERT_EQ(index_.OwnersOf(NodeName(i)), owners_of[NodeName(i)]);
  }
  void SelectAny() {
    const std::string owner = OwnerName(random_.Below(kOwners));
    Selectors& selectors = selectors_[owner];
    const Names before = index_.MembersOf(owner);
    selectors.clear();
    while (!random_.OneIn(3)) selectors.push_back(AnySelector());
    const Names after = MembersFromScratch(selectors);
    std::vector<std::string> changed;
    std::ranges::set_symmetric_difference(before, after, std::back_inserter(changed));
    ASSERT_EQ(Select(owner, selectors), changed);
  }
  void PutOrRemoveAny() {
    const std::string name = NodeName(random_.Below(kNodes));
    if (random_.OneIn(3)) return Remove(name);
    StringMap labels;
    for (int key = 0; key < 3; ++key) {
      if (random_.OneIn(2)) labels.Set(absl::StrCat("k", key), absl::StrCat(random_.Below(2)));
    }
    Put(name, labels);
  }

  Random random_{1};
  MemberIndex index_;
  std::map<std::string, StringMap> there_;
  std::map<std::string, Selectors> selectors_;
};

TEST_F(MemberIndexTest, MembersAndOwnersAreThoseThatASearchFromScratchFinds) {
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    if (random_.OneIn(3)) {
      ASSERT_NO_FATAL_FAILURE(SelectAny());
    } else {
      PutOrRemoveAny();
    }
    ASSERT_NO_FATAL_FAILURE(Compare());
  }
}

TEST_F(MemberIndexTest, OneThatIsNamedNeedNotBeThereAndStaysWhenItLeaves) {
  EXPECT_THAT(Select("o", {{.name = "n0"}, {.name = "n0"}}), ElementsAre("n0"));
  Put("n0", {});
  Remove("n0");
  EXPECT_THAT(index_.MembersOf("o"), ElementsAre("n0"));
  EXPECT_THAT(Select("o", {{.name = "n0"}}), IsEmpty()) << "nothing has changed";
  EXPECT_THAT(Select("o", {}), ElementsAre("n0"));
  EXPECT_THAT(index_.OwnersOf("n0"), IsEmpty());
}

TEST_F(MemberIndexTest, ALabelThatNobodyAskedAboutBeforeIsKnownAllTheSame) {
  StringMap labels;
  labels.Set("rack", "r1");
  labels.Set("row", "w1");
  Put("n0", labels);
  EXPECT_THAT(Select("o", {{.labels = Labelled("rack", "r1")}}), ElementsAre("n0"));
  EXPECT_THAT(Select("p", {{.labels = Labelled("row", "w1")}}), ElementsAre("n0"));
  labels.Set("row", "w2");
  Put("n0", labels);
  EXPECT_THAT(index_.OwnersOf("n0"), ElementsAre("o"));
}

}  // namespace
}  // namespace maniple::state_member_index_test
