// The domains of a level. Fears: equal names under two parents are one domain; a node that lacks a
// label of the path is inside; a layout tears a domain apart; a store answers by labels that have
// changed since, or are now in a column.
#include "scheduler/cycle/topology/domain_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_domain_level_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const LevelKey kBlocks{.name = "block", .steps = {{"block"}}};
const LevelKey kRacks{.name = "rack", .steps = {{"block"}, {"rack"}}};
const LevelKey kLinked{.name = "nvlink", .steps = {{"block"}, {"clique", "rack"}}};
const LevelKey kEverything{.name = "all", .steps = {}};

// Labels of each node by its name, kept beside the cluster.
class World final {
 public:
  using Labels = std::map<std::string, std::string>;
  // One label and value: which of the step it is counts, not only its value.
  using Step = std::pair<size_t, std::string>;

  World() {
    Topology topology;  // so that the cluster keeps these labels
    topology.meta.name = "default";
    topology.levels = {{.name = "block", .node_label = "block"},
                       {.name = "rack", .node_label = "rack"},
                       {.name = "clique", .node_label = "clique"}};
    cluster_.Add(ObjectUpserted{topology});
  }
  void Set(const std::string& name, Labels labels) {
    MakeNode node(name);
    for (const auto& [key, value] : labels) node.Label(key, value);
    cluster_.Add(node);
    nodes_[name] = std::move(labels);
  }
  void Remove(const std::string& name) {
    cluster_.Add(DeletionOf(ResourceKind::kNode, name));
    nodes_.erase(name);
  }
  void Change(Random& random) {
    const std::string name = absl::StrCat("n", random.Below(9));
    if (random.OneIn(4) && nodes_.contains(name)) return Remove(name);
    Labels labels;
    for (const char* key : {"block", "rack", "clique"}) {
      if (!random.OneIn(4)) labels[key] = absl::StrCat("v", random.Below(3));
    }
    Set(name, labels);
  }
  [[nodiscard]] SnapshotPtr Publish() { return cluster_.state().Publish(); }

  // The path of a node by hand; none: it is outside.
  [[nodiscard]] static std::optional<std::vector<Step>> PathOf(const Labels& labels,
                                                               const LevelKey& key) {
    std::vector<Step> path;
    for (const std::vector<std::string>& step : key.steps) {
      const auto has = [&labels](const std::string& label) { return labels.contains(label); };
      const auto label = std::ranges::find_if(step, has);
      if (label == step.end()) return std::nullopt;
      path.emplace_back(label - step.begin(), labels.at(*label));
    }
    return path;
  }
  void Expect(const Snapshot& snapshot, const DomainLevel& level, const LevelKey& key) {
    std::map<std::vector<Step>, uint32_t> domains;
    std::set<uint32_t> seen;
    for (const auto& [name, labels] : nodes_) {
      const NodeId node = cluster_.state().NodeNamed(name).value();
      const uint32_t domain = level.DomainOf(node);
      const std::optional<std::vector<Step>> path = PathOf(labels, key);
      EXPECT_EQ(domain == DomainLevel::kOutside, !path.has_value()) << name;
      if (!path.has_value() || domain == DomainLevel::kOutside) continue;
      const auto [known, is_new] = domains.try_emplace(*path, domain);
      EXPECT_EQ(known->second, domain) << name;
      EXPECT_EQ(is_new, seen.insert(domain).second) << name << " joins others of another path";
      EXPECT_EQ(level.paths[domain],
                absl::StrJoin(*path, "/",
                              [](std::string* out, const Step& step) { *out += step.second; }));
      EXPECT_TRUE(level.NodesOf(snapshot, domain)[BlockOf(node)].Test(RowOf(node)));
    }
    EXPECT_EQ(level.paths.size(), key.steps.empty() ? 1 : domains.size());
    EXPECT_TRUE(std::ranges::is_sorted(level.paths));
  }
  // Nodes in the order of their values, step by step, then of their names.
  [[nodiscard]] std::vector<std::string> LaidOut(const LevelKey& key) const {
    std::vector<std::pair<std::vector<std::pair<bool, std::string>>, std::string>> order;
    for (const auto& [name, labels] : nodes_) {
      auto& values = order.emplace_back().first;
      for (const std::vector<std::string>& step : key.steps) {
        const auto path = PathOf(labels, {.name = "", .steps = {step}});
        values.emplace_back(!path.has_value(), path.has_value() ? path->front().second : "");
      }
      order.back().second = name;
    }
    std::ranges::sort(order);
    std::vector<std::string> names;
    for (const auto& [values, name] : order) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::vector<std::string> InOrderOf(const NodeLayout& layout) {
    std::vector<std::string> names(nodes_.size());
    for (const auto& [name, labels] : nodes_) {
      names[layout[cluster_.state().NodeNamed(name)->index()]] = name;
    }
    return names;
  }

 private:
  TestCluster cluster_;
  std::map<std::string, Labels> nodes_;
};

TEST(DomainLevel, AnswersAndTheStoreFollowTheLabelsOfTheNodes) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    World world;
    LevelStore store;
    for (int step = 0; step < 30; ++step) {
      if (step > 0 && !random.OneIn(4)) world.Change(random);
      const SnapshotPtr snapshot = world.Publish();
      for (const LevelKey& key : {kBlocks, kRacks, kLinked, kEverything}) {
        const DomainLevel level = LevelOf(*snapshot, key);
        world.Expect(*snapshot, level, key);
        EXPECT_EQ(level.name, key.name);
        const DomainLevelPtr stored = store.Level(*snapshot, key);
        EXPECT_EQ(stored->paths, level.paths);
        EXPECT_EQ(stored->domain_of, level.domain_of);
        EXPECT_EQ(world.InOrderOf(LayoutOf(*snapshot, key)), world.LaidOut(key));
        EXPECT_EQ(*store.Layout(*snapshot, key), LayoutOf(*snapshot, key));
      }
    }
  }
}

TEST(DomainLevel, TheSameRackUnderTwoBlocksIsTwoRacks) {
  World world;
  world.Set("n1", {{"block", "b2"}, {"rack", "r1"}});
  world.Set("n2", {{"block", "b1"}, {"rack", "r1"}});
  world.Set("n3", {{"rack", "r1"}});
  EXPECT_THAT(LevelOf(*world.Publish(), kRacks).paths, ElementsAre("b1/r1", "b2/r1"));
}

TEST(DomainLevel, ALabelWithManyValuesMakesAsManyDomains) {
  World world;
  for (int i = 0; i < 300; ++i) {
    world.Set(absl::StrCat("n", i), {{"block", absl::StrCat("b", i % 100)}, {"rack", "r"}});
  }
  const SnapshotPtr snapshot = world.Publish();
  ASSERT_THAT(snapshot->tables->label_columns, ::testing::Contains("block"));
  for (const LevelKey& key : {kBlocks, kRacks}) {
    world.Expect(*snapshot, LevelOf(*snapshot, key), key);
    EXPECT_EQ(world.InOrderOf(LayoutOf(*snapshot, key)), world.LaidOut(key));
  }
}

TEST(DomainLevel, ANodeOfALaterSnapshotIsOutside) {
  World world;
  const DomainLevel none = LevelOf(*world.Publish(), kRacks);
  EXPECT_THAT(none.paths, IsEmpty());
  EXPECT_EQ(none.DomainOf(NodeId(999)), DomainLevel::kOutside);
}

TEST(LevelStore, AnswersOnceForAllWhileNothingChanges) {
  World world;
  world.Set("n1", {{"block", "b1"}});
  LevelStore store;
  const DomainLevelPtr first = store.Level(*world.Publish(), kBlocks);
  EXPECT_EQ(store.Level(*world.Publish(), kBlocks), first);
  for (int other = 0; other < 64; ++other) {
    (void)store.Level(*world.Publish(), {.name = absl::StrCat(other), .steps = {{"rack"}}});
  }
  EXPECT_NE(store.Level(*world.Publish(), kBlocks), first) << "only so many are kept";
}

}  // namespace
}  // namespace maniple::cycle_domain_level_test
