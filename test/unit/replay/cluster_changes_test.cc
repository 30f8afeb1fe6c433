// Changes of a cluster for the question what would be if. Fears: a copy of a node has its
// original's troubles; the second request for copies makes the first ones again; a
// name is not found and nobody hears of it; a quota changes in another unit, in two flavors, or
// falls below zero; the original changes as well.
#include "scheduler/replay/cluster_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/unit/replay/replay_objects.h"

namespace maniple::replay_cluster_changes_test {
namespace {

using replay_test::Parsed;
using ::testing::HasSubstr;

constexpr char kNode[] = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u",
  "labels":{"rack":"r1"}},"spec":{"unschedulable":true,"taints":[
  {"key":"node.kubernetes.io/not-ready","effect":"NoExecute"},
  {"key":"karpenter.sh/disrupted","effect":"NoSchedule"},
  {"key":"ToBeDeletedByClusterAutoscaler","effect":"NoSchedule"},
  {"key":"node.cloudprovider.kubernetes.io/uninitialized","effect":"NoSchedule"},
  {"key":"team","value":"a","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"4"}}})";

// Quotas of cpu in two flavors, and of GPUs in one.
constexpr char kQueue[] = R"({"kind":"Queue","metadata":{"name":"q"},"spec":{"quotas":[
  {"flavor":"x","resources":[{"name":"cpu","nominal":"4"},{"name":"nvidia.com/gpu","nominal":8}]},
  {"flavor":"y","resources":[{"name":"cpu","nominal":"1500m"}]}]}})";

std::string Nominal(const Json& queue, size_t flavor, size_t resource) {
  const Json& of = queue["spec"]["quotas"].items()[flavor]["resources"].items()[resource];
  return of["nominal"].is_int() ? absl::StrCat(of["nominal"].AsInt()) : of["nominal"].AsString();
}

TEST(ClusterChanges, CopiesOfANodeAreWithoutItsTroubles) {
  std::vector<Json> objects = {Parsed(kNode)};
  const Json before = objects[0];
  ASSERT_TRUE(AddNodes({.count = 2, .like = "n"}, objects).ok());
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[0], before);
  std::set<std::string> names, hosts, uids;
  for (const Json& node : objects) {
    names.insert(node.At("metadata.name").AsString());
    uids.insert(node.At("metadata.uid").AsString());
    hosts.insert(node["metadata"]["labels"]["kubernetes.io/hostname"].AsString());
  }
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(uids.size(), 3u);
  EXPECT_EQ(hosts.size(), 3u);
  EXPECT_FALSE(objects[1]["spec"].Has("unschedulable"));
  ASSERT_EQ(objects[1]["spec"]["taints"].size(), 1u);
  EXPECT_EQ(objects[1]["spec"]["taints"].items()[0]["key"].AsString(), "team");
  EXPECT_EQ(objects[1]["metadata"]["labels"]["rack"].AsString(), "r1");
  EXPECT_EQ(objects[1]["status"], before["status"]);
}

TEST(ClusterChanges, MoreCopiesOfTheSameNodeAreOtherNodes) {
  std::vector<Json> objects = {Parsed(kNode)};
  ASSERT_TRUE(AddNodes({.count = 2, .like = "n"}, objects).ok());
  ASSERT_TRUE(AddNodes({.count = 2, .like = "n"}, objects).ok());
  std::set<std::string> names;
  for (const Json& node : objects) names.insert(node.At("metadata.name").AsString());
  EXPECT_EQ(names.size(), 5u);
}

// The name of a node may be longer than a label's value.
TEST(ClusterChanges, ACopyOfANodeWithALongNameHasAHostNameThatKubernetesTakes) {
  const std::string name(60, 'n');
  std::vector<Json> objects = {Parsed(kNode)};
  objects[0].Mutable("metadata").Set("name", name);
  ASSERT_TRUE(AddNodes({.count = 3, .like = name}, objects).ok());
  std::set<std::string> hosts;
  for (size_t i = 1; i < objects.size(); ++i) {
    hosts.insert(objects[i]["metadata"]["labels"]["kubernetes.io/hostname"].AsString());
    EXPECT_LE(hosts.rbegin()->size(), 63u);
  }
  EXPECT_EQ(hosts.size(), 3u);
}

TEST(ClusterChanges, WhatIsNotThereIsNamed) {
  std::vector<Json> objects = {Parsed(kNode), Parsed(kQueue)};
  EXPECT_THAT(AddNodes({.count = 1, .like = "m"}, objects).ToString(), HasSubstr("\"m\""));
  EXPECT_THAT(AddNodes({.count = 1, .like = "q"}, objects).ToString(), HasSubstr("\"q\""));
  EXPECT_THAT(AddQuota({.queue = "n", .amount = 1}, objects).ToString(), HasSubstr("\"n\""));
  EXPECT_THAT(AddQuota({.queue = "q", .resource = "memory", .amount = 1}, objects).ToString(),
              HasSubstr("memory"));
  EXPECT_EQ(objects.size(), 2u);
}

TEST(ClusterChanges, AQuotaGrowsInItsFirstFlavorOnlyAndNeverBelowZero) {
  for (const int64_t by : {-9, -4, -1, 0, 1, 7}) {
    std::vector<Json> objects = {Parsed(kQueue)};
    ASSERT_TRUE(AddQuota({.queue = "q", .resource = "cpu", .amount = by}, objects).ok());
    EXPECT_EQ(Nominal(objects[0], 0, 0), absl::StrCat(std::max<int64_t>(0, 4 + by))) << by;
    EXPECT_EQ(Nominal(objects[0], 1, 0), "1500m");
    EXPECT_EQ(Nominal(objects[0], 0, 1), "8");
  }
}

TEST(ClusterChanges, AQuotaGrowsInTheFlavorThatIsNamed) {
  std::vector<Json> objects = {Parsed(kQueue)};
  const std::string flavor = objects[0].At("spec.quotas").items()[1]["flavor"].AsString();
  ASSERT_FALSE(flavor.empty());
  const AddedQuota more{.queue = "q", .resource = "cpu", .flavor = flavor, .amount = 1};
  ASSERT_TRUE(AddQuota(more, objects).ok());
  EXPECT_EQ(Nominal(objects[0], 0, 0), "4");
  EXPECT_EQ(Nominal(objects[0], 1, 0), "2500m");
  EXPECT_THAT(AddQuota({.queue = "q", .resource = "cpu", .flavor = "none", .amount = 1}, objects)
                  .ToString(),
              HasSubstr("no quota of cpu in flavor \"none\""));
}

TEST(ClusterChanges, WithoutAResourceTheGpusAreMeantOrTheOnlyOne) {
  std::vector<Json> objects = {Parsed(kQueue)};
  ASSERT_TRUE(AddQuota({.queue = "q", .resource = "", .amount = 3}, objects).ok());
  EXPECT_EQ(Nominal(objects[0], 0, 1), "11");
  objects = {Parsed(R"({"kind":"Queue","metadata":{"name":"q"},"spec":{"quotas":[
    {"resources":[{"name":"cpu","nominal":"500m"}]}]}})")};
  ASSERT_TRUE(AddQuota({.queue = "q", .resource = "", .amount = 1}, objects).ok());
  EXPECT_EQ(Nominal(objects[0], 0, 0), "1500m");
  objects = {Parsed(R"({"kind":"Queue","metadata":{"name":"q"}})")};
  EXPECT_THAT(AddQuota({.queue = "q", .resource = "", .amount = 1}, objects).ToString(),
              HasSubstr("name the resource"));
}

}  // namespace
}  // namespace maniple::replay_cluster_changes_test
