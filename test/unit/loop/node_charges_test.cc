// The cost of pods on nodes, and the choices that a queue has. Fears: a node is offered at a price
// that it does not have, or not at all; a node that is relabelled, or gone and made again, keeps
// its old price; a node of a forbidden flavor is offered; the order of the queue is not kept.
#include "scheduler/loop/records/node_charges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/random.h"

namespace maniple::loop_node_charges_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr uint32_t kNodes = 300;  // more than one block has

StringMap Model(const std::string& model) {
  StringMap labels;
  if (!model.empty()) labels.Set("model", model);
  return labels;
}
GpuFacts SharedBy(int32_t replicas) {
  return {.replicas = replicas, .shares_plain_name = replicas > 1};
}
PodConstraints Asking(int64_t gpus, int64_t milli) {
  PodConstraints pod;
  if (milli > 0) pod.requests.push_back({"cpu", Amount(milli)});
  if (gpus > 0) pod.requests.push_back({kGpu, Amount(gpus)});
  return pod;
}

bool Has(const QuotaOption& option, uint32_t node) {
  if (!option.nodes.has_value()) return true;
  const size_t block = BlockOf(NodeId(node));
  return block < option.nodes->size() && (*option.nodes)[block].Test(RowOf(NodeId(node)));
}

class NodeChargesTest : public ::testing::Test {
 protected:
  void AddFlavor(const std::string& name) {
    ResourceFlavor flavor;
    flavor.meta.name = name;
    flavor.node_labels = Model(name);
    book_.Note(ObjectUpserted{flavor});
  }
  void AddQueue(std::vector<FlavorQuota> quotas) {
    Queue queue;
    queue.meta.name = "q";
    queue.quotas = std::move(quotas);
    book_.Note(ObjectUpserted{queue});
    book_.Rebuild();
  }
  static FlavorQuota Listed(const std::string& flavor, const std::vector<std::string>& resources) {
    FlavorQuota quota{.flavor = flavor};
    for (const std::string& resource : resources) {
      quota.resources.push_back({.resource = resource, .nominal = Amount(1)});
    }
    return quota;
  }
  [[nodiscard]] QuotaNodeId queue() const { return book_.QueueNamed("q"); }
  [[nodiscard]] std::vector<QuotaOption> OptionsFor(const PodConstraints& pod) const {
    return charges_.OptionsFor(book_, queue(), pod);
  }
  [[nodiscard]] Demand CostOn(uint32_t node, const PodConstraints& pod) const {
    return charges_.CostOn(book_, queue(), pod, charges_.KindOf(NodeId(node)));
  }

  QuotaBook book_;
  NodeCharges charges_;
};

// The price at which the node is offered, as far as that is its own; else nothing.
std::optional<Demand> OfferedFor(const std::vector<QuotaOption>& options, uint32_t node,
                                 const Demand& cost) {
  std::optional<Demand> own;
  for (const QuotaOption& option : options) {
    if (!Has(option, node)) continue;
    EXPECT_TRUE(std::ranges::equal(option.each, cost,
                                   [](const auto& more, const auto& less) {
                                     return more.cell == less.cell && more.amount >= less.amount;
                                   }))
        << "it costs more than node " << node << " is offered for";
    if (option.each == cost) own = cost;
  }
  return own;
}

TEST_F(NodeChargesTest, EveryNodeIsOfferedAtItsOwnPriceAndNoneBelowIt) {
  AddFlavor("a");
  AddFlavor("b");
  AddQueue({Listed("a", {kGpu, kGpuMilliResource}), Listed("b", {kGpu, "cpu"}),
            Listed("", {kGpuMilliResource, "cpu", "pods"})});
  std::map<uint32_t, FlavorId> flavors;
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto node = static_cast<uint32_t>(random.Below(kNodes));
    if (random.OneIn(3)) {
      charges_.Remove(NodeId(node));
      flavors.erase(node);
    } else {
      const std::string model = random.OneIn(3) ? "" : random.OneIn(2) ? "a" : "b";
      const GpuFacts gpus = SharedBy(static_cast<int32_t>(1 + random.Below(3)));
      charges_.Upsert(NodeId(node), Model(model), gpus, book_);
      EXPECT_FALSE(charges_.Upsert(NodeId(node), Model(model), gpus, book_));
      flavors[node] = book_.FlavorOf(Model(model));
    }
    const PodConstraints pod = Asking(static_cast<int64_t>(random.Below(3)), 500);
    const std::vector<QuotaOption> options = OptionsFor(pod);
    for (const auto& [n, flavor] : flavors) {
      const bool allowed = pod.requests.size() == 1 ||
                           book_.CellFor(queue(), kGpu, flavor).rule != CellRule::kForbidden;
      ASSERT_EQ(OfferedFor(options, n, CostOn(n, pod)).has_value(), allowed)
          << "round " << round << ", node " << n;
    }
    for (uint32_t n = 0; n < kNodes; ++n) {
      const bool there = flavors.contains(n);
      ASSERT_EQ(charges_.KindOf(NodeId(n)).valid(), there);
      ASSERT_TRUE(there || std::ranges::none_of(options,
                                                [n](const QuotaOption& option) {
                                                  return option.nodes.has_value() && Has(option, n);
                                                }))
          << n << " is gone";
    }
  }
}

TEST_F(NodeChargesTest, OptionsComeInTheOrderOfTheQueue) {
  for (const char* flavor : {"a", "b", "c"}) AddFlavor(flavor);
  AddQueue({Listed("c", {kGpu}), Listed("a", {kGpu}), Listed("b", {kGpu})});
  charges_.Upsert(NodeId(0), Model("a"), {}, book_);
  charges_.Upsert(NodeId(1), Model("b"), {}, book_);
  std::vector<std::string> names;
  for (const QuotaOption& option : OptionsFor(Asking(1, 0))) names.push_back(option.flavor);
  EXPECT_THAT(names, ElementsAre("c", "a", "b"));  // of c there is no node yet
}

TEST_F(NodeChargesTest, WhereThePodMayGoNowhereThereIsOneOptionWithoutNodes) {
  AddFlavor("a");
  AddQueue({Listed("gone", {kGpu})});
  charges_.Upsert(NodeId(0), Model("a"), {}, book_);
  const std::vector<QuotaOption> options = OptionsFor(Asking(1, 0));
  ASSERT_THAT(options, SizeIs(1));
  ASSERT_TRUE(options[0].nodes.has_value());
  EXPECT_FALSE(Has(options[0], 0));
  EXPECT_THAT(options[0].each, IsEmpty());
}

TEST_F(NodeChargesTest, DerivedResourcesAreNotChargedTwice) {
  AddQueue({Listed("", {"pods", kGpuMilliResource})});
  charges_.Upsert(NodeId(0), {}, {}, book_);
  PodConstraints pod = Asking(2, 0);
  pod.requests.push_back({"pods", Amount(7)});
  pod.requests.push_back({kGpuMilliResource, Amount(7)});
  EXPECT_THAT(
      CostOn(0, pod),
      UnorderedElementsAre(CellAmount{book_.CellNamed("", "pods"), Amount(1)},
                           CellAmount{book_.CellNamed("", kGpuMilliResource), Amount(2000)}));
}

TEST_F(NodeChargesTest, AKindKeepsItsMeaningWhenItsLastNodeIsGoneAndANewOneTakesTheId) {
  AddFlavor("a");
  AddFlavor("b");
  AddQueue({Listed("a", {kGpu}), Listed("b", {kGpu})});
  charges_.Upsert(NodeId(5), Model("a"), {}, book_);
  const NodeKindId kind = charges_.KindOf(NodeId(5));
  charges_.Remove(NodeId(5));
  charges_.Remove(NodeId(5));
  EXPECT_TRUE(charges_.Upsert(NodeId(5), Model("b"), {}, book_));
  EXPECT_NE(charges_.KindOf(NodeId(5)), kind);
  EXPECT_EQ(book_.FlavorName(charges_.FlavorOf(kind)), "a");
  EXPECT_TRUE(charges_.Upsert(NodeId(5), Model("a"), {}, book_));
  EXPECT_EQ(charges_.KindOf(NodeId(5)), kind);
}

TEST_F(NodeChargesTest, AnEntryForTheRestHasNoPriceOfNodesThatAreNotThere) {
  AddFlavor("a");
  AddQueue({Listed("", {kGpuMilliResource})});
  charges_.Upsert(NodeId(0), Model("a"), SharedBy(4), book_);
  const std::vector<QuotaOption> options = OptionsFor(Asking(1, 0));
  ASSERT_THAT(options, SizeIs(1));
  EXPECT_EQ(options[0].each[0].amount, Amount(250));
}

}  // namespace
}  // namespace maniple::loop_node_charges_test
