// Groups of members in one domain each. Fears: a member joins another domain than its group; a
// group that is left altogether stays bound to its last domain.
#include "scheduler/cycle/search/group_domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace maniple::cycle_group_domains_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kNone = DomainLevel::kOutside;

// Nodes 0 and 1 are in one rack, 2 in another, 3 in none.
DomainLevel Racks() {
  DomainLevel level;
  level.paths = {"a", "b"};
  level.domain_of = {0, 0, 1, kNone};
  return level;
}

TEST(GroupDomains, TheFirstMemberChoosesForTheOthersUntilAllHaveLeft) {
  const DomainLevel racks = Racks();
  MemberGroups groups;
  groups.slices = {{.level = &racks, .wants = {0, 1}}};
  GroupDomains domains(&groups, 3);
  EXPECT_TRUE(domains.Allow(0, NodeId(2)));
  EXPECT_FALSE(domains.Allow(0, NodeId(3))) << "it is in no rack";
  domains.Join(0, NodeId(0));
  domains.Join(1, NodeId(1));
  EXPECT_FALSE(domains.Allow(0, NodeId(2)));
  EXPECT_TRUE(domains.Allow(2, NodeId(3))) << "it is in no group";
  domains.Leave(0);
  EXPECT_FALSE(domains.Allow(0, NodeId(2)));
  domains.Leave(1);
  EXPECT_TRUE(domains.Allow(0, NodeId(2)));
}

TEST(GroupDomains, StandingMembersBindTheirGroupForGood) {
  const DomainLevel racks = Racks();
  MemberGroups groups;
  groups.sub_groups = {{.level = &racks, .wants = {0}, .bound_to = 1},
                       {.level = &racks, .wants = {1}, .bound_to = kNone}};
  GroupDomains domains(&groups, 2);
  domains.Join(0, NodeId(2));
  domains.Leave(0);
  EXPECT_FALSE(domains.Allow(0, NodeId(0)));
  EXPECT_TRUE(domains.Allow(0, NodeId(2)));
  EXPECT_FALSE(domains.Allow(1, NodeId(0))) << "its group is torn apart";
}

TEST(GroupDomains, AMemberMayBeInASliceAndASubGroup) {
  const DomainLevel racks = Racks();
  DomainLevel hosts;
  hosts.paths = {"0", "1", "2"};
  hosts.domain_of = {0, 1, 2, kNone};
  MemberGroups groups;
  groups.slices = {{.level = &hosts, .wants = {0, 1}}};
  groups.sub_groups = {{.level = &racks, .wants = {0, 1, 2}}};
  GroupDomains domains(&groups, 4);
  domains.Join(2, NodeId(0));
  domains.Join(0, NodeId(1));
  EXPECT_FALSE(domains.Allow(1, NodeId(0)));
  EXPECT_TRUE(domains.Allow(1, NodeId(1)));
  EXPECT_THAT(domains.Of(0), ElementsAre(0, 1));
  EXPECT_THAT(domains.Of(3), IsEmpty());
  EXPECT_THAT(domains.levels(), ElementsAre(&hosts, &racks));
  EXPECT_THAT(GroupDomains(nullptr, 1).Of(0), IsEmpty());
}

}  // namespace
}  // namespace maniple::cycle_group_domains_test
