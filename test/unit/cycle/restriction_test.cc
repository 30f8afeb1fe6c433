// Kinds that are kept to fewer nodes for a while. Fears: a kind is let on nodes that it was not
// allowed before; another kind is kept off nodes; the kinds stay restricted afterwards.
#include "scheduler/cycle/domains/restriction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/unit/cycle/bound_gang.h"

namespace maniple::cycle_restriction_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> AllowedTo(const Kind& kind) {
  std::vector<uint32_t> rows;
  (*kind.bound->allowed())[0].ForEach([&rows](uint32_t row) { rows.push_back(row); });
  return rows;
}

NodeSet NodesOf(std::initializer_list<uint32_t> rows) {
  NodeSet nodes(1);
  for (const uint32_t row : rows) nodes[0].Set(row);
  return nodes;
}

TEST(Restriction, KeepsOneKindToWhatItWasAllowedBeforeAndGivesThatBack) {
  TestCluster cluster;
  for (const char* name : {"n0", "n1", "n2"}) cluster.Add(MakeNode(name).Gpu(8).Cpu(8));
  cluster.Add(MakePodGroup("g").MinMember(2));
  cluster.Add(MakePod("g-0").Group("g").Gpu(8));
  cluster.Add(MakePod("g-1").Group("g").Cpu(1000));
  BoundGang made(cluster, "g");
  std::vector<Kind>& kinds = made.kinds.kinds;
  const NodeSet before = NodesOf({0, 1});
  kinds[0].bound->RestrictTo(&before);
  {
    Restriction restriction(kinds);
    restriction.To(NodesOf({1, 2}), 0);
    EXPECT_THAT(AllowedTo(kinds[0]), ElementsAre(1));
    EXPECT_EQ(kinds[1].bound->allowed(), nullptr);
    restriction.To(NodesOf({2}), 0);
    EXPECT_THAT(AllowedTo(kinds[0]), IsEmpty());
  }
  EXPECT_EQ(kinds[0].bound->allowed(), &before);
  EXPECT_EQ(kinds[1].bound->allowed(), nullptr);
}

}  // namespace
}  // namespace maniple::cycle_restriction_test
