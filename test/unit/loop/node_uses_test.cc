// Who uses each node, as it is gathered gang by gang. Fears: a gang stands on a
// node twice, or its use of a resource is told in two rows; what one gang uses
// is added to another's; leaving and kept room are mixed up with use; a node
// that has gone is written to.
#include "scheduler/loop/views/node_uses.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::loop_node_uses_test {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // node, gang, resource

struct NaiveUses {
  std::map<Key, int64_t> amount, leaving, held;
  std::set<std::pair<std::string, std::string>> stands;  // node, gang
};

void ExpectEqual(const std::vector<NodeRow>& rows, const NaiveUses& naive) {
  NaiveUses told;
  for (const NodeRow& row : rows) {
    for (const std::string& gang : row.gangs) {
      EXPECT_TRUE(told.stands.emplace(row.name, gang).second) << gang;
    }
    for (const NodeUseView& use : row.uses) {
      const Key key(row.name, use.gang, use.resource);
      EXPECT_TRUE(told.amount.emplace(key, use.amount).second) << use.gang;
      if (use.leaving > 0) told.leaving[key] = use.leaving;
    }
    for (const NodeUseView& use : row.held) {
      const Key key(row.name, use.gang, use.resource);
      EXPECT_TRUE(told.held.emplace(key, use.amount).second) << use.gang;
    }
  }
  EXPECT_EQ(told.stands, naive.stands);
  EXPECT_EQ(told.amount, naive.amount);
  EXPECT_EQ(told.leaving, naive.leaving);
  EXPECT_EQ(told.held, naive.held);
}

TEST(NodeUsesModel, EachGangHasOneRowForEachResourceOfANode) {
  Random random(6);
  const std::vector<std::string> nodes = {"m", "n", "gone"}, resources = {"gpu", "mig"};
  for (int round = 0; round < 100; ++round) {
    std::vector<NodeRow> rows = {{.name = "m"}, {.name = "n"}};
    NodeUses uses(rows);
    NaiveUses naive;
    for (int i = 0; i < 3; ++i) {
      const std::string gang = absl::StrCat("d/g", i);
      uses.Of(gang);
      for (int step = 0; step < 8; ++step) {
        const std::string& node = nodes[random.Below(3)];
        const std::string& resource = resources[random.Below(2)];
        const int64_t amount = 1 + static_cast<int64_t>(random.Below(3));
        const Key key(node, gang, resource);
        const uint64_t deed = random.Below(4);
        if (deed == 0) uses.Stands(node);
        if (deed == 1) uses.Takes(node, resource, amount, Leaving::kNo);
        if (deed == 2) uses.Takes(node, resource, amount, Leaving::kYes);
        if (deed == 3) uses.Keeps(node, resource, amount);
        if (node == "gone") continue;
        if (deed == 0) naive.stands.emplace(node, gang);
        if (deed == 1 || deed == 2) naive.amount[key] += amount;
        if (deed == 2) naive.leaving[key] += amount;
        if (deed == 3) naive.held[key] += amount;
      }
    }
    ExpectEqual(rows, naive);
  }
}

}  // namespace
}  // namespace maniple::loop_node_uses_test
