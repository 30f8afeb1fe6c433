// The PodGroups that pods of other schedulers name. Fears: a group keeps a stranger that has left
// it; the first or the last one comes or goes unseen; a repeated event is counted again.
#include "scheduler/state/stranger_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::state_stranger_groups_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

GangKey KeyOf(uint64_t namespace_number, uint64_t group) {
  return {.namespace_name = absl::StrCat("n", namespace_number), .name = absl::StrCat("g", group)};
}

// Pods of two namespaces name one of three groups there, or none.
TEST(StrangerGroups, GroupsHaveStrangersAsACountFromScratchFinds) {
  Random random(1);
  StrangerGroups strangers;
  std::map<uint64_t, GangKey> named;
  const auto has = [&](const GangKey& key) {
    return std::ranges::any_of(named, [&](const auto& one) { return one.second == key; });
  };
  for (int round = 0; round < 2000; ++round) {
    const uint64_t pod = random.Below(8);
    const GangKey key = KeyOf(pod % 2, random.Below(3));
    std::map<GangKey, bool> before, after;
    for (uint64_t i = 0; i < 6; ++i) before[KeyOf(i % 2, i / 2)] = has(KeyOf(i % 2, i / 2));
    const bool none = random.OneIn(3);
    none ? static_cast<void>(named.erase(pod)) : static_cast<void>(named[pod] = key);
    const std::vector<GangKey> changed =
        strangers.Note(PodId(static_cast<uint32_t>(pod)), key.namespace_name, none ? "" : key.name);
    std::vector<GangKey> expected;
    for (const auto& [group, had] : before) {
      ASSERT_EQ(strangers.Has(group), has(group)) << "round " << round;
      if (had != has(group)) expected.push_back(group);
    }
    ASSERT_THAT(changed, UnorderedElementsAreArray(expected)) << "round " << round;
  }
}

TEST(StrangerGroups, TheGroupThatAPodLeavesIsToldOfBeforeTheOneThatItJoins) {
  StrangerGroups strangers;
  EXPECT_THAT(strangers.Note(PodId(0), "n0", ""), IsEmpty());
  EXPECT_THAT(strangers.Note(PodId(0), "n0", "g1"), ElementsAre(KeyOf(0, 1)));
  EXPECT_THAT(strangers.Note(PodId(0), "n0", "g1"), IsEmpty());
  EXPECT_THAT(strangers.Note(PodId(0), "n0", "g0"), ElementsAre(KeyOf(0, 1), KeyOf(0, 0)));
  EXPECT_FALSE(
      strangers.Has({.dialect = GangDialect::kSingleton, .namespace_name = "n0", .name = "g0"}))
      << "a pod of that name is no PodGroup";
}

}  // namespace
}  // namespace maniple::state_stranger_groups_test
