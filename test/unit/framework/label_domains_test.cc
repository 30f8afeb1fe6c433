// Domains of nodes by the value of a label, against a look at each node. Fears: nodes without the
// label make a domain; equal values in two blocks make two; the row of a node that is gone counts;
// a sum is set where it has to be added to.
#include "plugins/framework/label_domains.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/unit/framework/hand_made.h"

namespace maniple::framework_label_domains_test {
namespace {

const std::vector<std::string> kColumns = {"host", "zone"};
constexpr size_t kZone = 1;
constexpr PodCountId kCount{3}, kOther{4};

TEST(LabelDomains, AColumnIsFoundByItsKeyAlone) {
  const HandMade made({}, kColumns);
  EXPECT_EQ(ColumnOf(*made.Make().tables, "zone"), kZone);
  EXPECT_EQ(ColumnOf(*made.Make().tables, "zon"), std::nullopt);
  EXPECT_EQ(ColumnOf(*made.Make().tables, ""), std::nullopt);
}

TEST(LabelDomains, AreNumberedByTheFirstNodeThatHasTheValue) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const HandMade made(RandomNodes(random, kColumns), kColumns);
    const LabelDomains domains(made.Make(), kZone);
    std::map<std::string, uint32_t> numbers;
    bool one_node_each = true;
    for (const HandMadeNode& node : made.nodes()) {
      const std::string* value = node.labels.Find("zone");
      uint32_t want = LabelDomains::kNone;
      if (value != nullptr) {
        const auto [known, is_new] =
            numbers.try_emplace(*value, static_cast<uint32_t>(numbers.size()));
        one_node_each = one_node_each && is_new;
        want = known->second;
      }
      ASSERT_EQ(domains.Of(made.View(node)), want) << round << " " << node.name;
    }
    ASSERT_EQ(domains.count(), numbers.size());
    ASSERT_EQ(domains.one_node_each(), one_node_each);
    ASSERT_EQ(domains.column(), kZone);
  }
}

TEST(LabelDomains, AddThePodsOfTheirNodesToWhatIsThere) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    HandMade made(RandomNodes(random, kColumns), kColumns);
    const LabelDomains domains(made.Make(), kZone);
    std::vector<int64_t> sums(domains.count(), 7), want = sums;
    const int64_t factor = static_cast<int64_t>(random.Below(5)) - 2;
    for (const HandMadeNode& node : made.nodes()) {
      const int pods = static_cast<int>(random.Below(3));
      made.Count(node.at, kCount, pods);
      made.Count(node.at, kOther, 1);
      const uint32_t domain = domains.Of(made.View(node));
      if (domain != LabelDomains::kNone) want[domain] += factor * pods;
    }
    domains.AddTo(sums, made.Blocks(), kCount, factor);
    ASSERT_EQ(sums, want) << round;
    domains.AddTo(sums, made.Blocks(), PodCountId(5), factor);
    ASSERT_EQ(sums, want) << "a count that nothing adds to";
  }
}

// The row of a node that went may be there yet, with its value, or with the class of another.
TEST(LabelDomains, ANodeThatIsNotPresentMakesNoDomain) {
  const std::vector<HandMadeNode> nodes = {
      {.at = NodeId(0), .name = "gone", .labels = LabelsOf({{"zone", "a"}})},
      {.at = NodeId(1), .name = "there", .labels = LabelsOf({{"zone", "b"}})}};
  const HandMade made(nodes, kColumns);
  Snapshot snapshot = made.Make();
  auto rows = std::make_shared<NodeRows>(snapshot.blocks[0]->rows());
  rows->present.Clear(0);
  snapshot.blocks[0] = std::make_shared<NodeBlock>(rows);
  const LabelDomains domains(snapshot, kZone);
  EXPECT_EQ(domains.count(), 1u);
  EXPECT_EQ(domains.Of(*rows, 0), LabelDomains::kNone);
  EXPECT_EQ(domains.Of(*rows, 1), 0u);
}

}  // namespace
}  // namespace maniple::framework_label_domains_test
