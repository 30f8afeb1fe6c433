// Members that succeeded and were cleaned away before we looked: only their number is known. Fear:
// they are taken for a sub-group that has its members, while the one that they were of seems to
// lack them, so that a new leader finds a quorum lost and sends away what runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/assembly.h"

namespace maniple::queue_cleaned_parts_test {
namespace {

Gang OneRunsOneHasSucceeded(int32_t part_that_runs) {
  Gang gang;
  gang.group_exists = true;
  gang.spec.min_member = 2;
  gang.spec.sub_groups = {{.name = "x", .min_member = 1}, {.name = "y", .min_member = 1}};
  Member runs;
  runs.state = MemberState::kBound;
  runs.rank.sub_group = part_that_runs;
  gang.members = {runs};
  gang.cleaned.unranked = 1;
  return gang;
}

TEST(QueueCleanedParts, AreTakenForTheSubGroupThatLacksMembers) {
  for (const int32_t part : {0, 1}) {
    const Assembly assembly = Assemble(OneRunsOneHasSucceeded(part));
    EXPECT_TRUE(assembly.need.Met()) << part;
    EXPECT_TRUE(assembly.members_ready) << part << ": " << assembly.lacking;
  }
}

}  // namespace
}  // namespace maniple::queue_cleaned_parts_test
