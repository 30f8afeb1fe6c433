// Trees of queues as Cohorts and Queues, told directly. Fears: what a queue is called decides what
// it gets; an amount is promised twice, or to nobody; what is reserved is lent; a tree without
// amounts, or with more than the nodes have, is written wrongly.
#include "scheduler/import/queue_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/codec/quantity.h"

namespace maniple::import_queue_tree_test {
namespace {

using ::testing::HasSubstr;

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr char kTop[] = "root";

struct Planned {
  int parent = -1;  // an earlier one; -1: on top
  int64_t nominal = 0;
  int64_t limit = -1;     // none
  int64_t reserved = -1;  // none
};
using Plan = std::vector<Planned>;

// In whatever order of names.
using Names = std::vector<std::string>;

Names Shuffled(size_t count, Random& random) {
  Names names;
  for (size_t i = 0; i < count; ++i) names.push_back(absl::StrCat("q", i));
  for (size_t i = count; i > 1; --i) std::swap(names[i - 1], names[random.Below(i)]);
  return names;
}

Imported Import(const Plan& plan, const Names& names, int64_t capacity) {
  ForeignManifests objects;
  for (const std::string& name : names) {
    objects.emplace_back(Json::Object({{"metadata", Json::Object({{"name", name}})}}), "f", 1);
  }
  std::map<std::string, TreeQueue> queues;
  for (size_t i = 0; i < plan.size(); ++i) {
    TreeQueue& queue = queues[names[i]];
    queue.from = &objects[i];
    if (plan[i].parent >= 0) queue.parent = names[static_cast<size_t>(plan[i].parent)];
    TreeQueue::Line& line = queue.lines[kGpu];
    line.nominal = Amount(plan[i].nominal);
    if (plan[i].limit >= 0) line.limit = Amount(plan[i].limit);
    if (plan[i].reserved >= 0) line.reserved = Amount(plan[i].reserved);
  }
  Imported out;
  ImportTree(std::move(queues), kTop, {{kGpu, Amount(capacity)}}, out);
  return out;
}

Json SpecOf(const Imported& result, const std::string& name) {
  for (const Json& object : result.objects) {
    if (object.At("metadata.name").AsString() == name) return object["spec"];
  }
  return {};
}

// -1: it has none.
int64_t AmountIn(const Json& spec, const std::string& field) {
  if (spec["quotas"].items().empty()) return -1;
  const Json& line = spec["quotas"].items()[0]["resources"].items()[0];
  const absl::StatusOr<Amount> amount = ParseAmount(kGpu, line[field].AsString());
  return amount.ok() ? amount->units() : -1;
}

std::vector<size_t> ChildrenOf(const Plan& plan, int parent) {
  std::vector<size_t> children;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].parent == parent) children.push_back(i);
  }
  return children;
}

int64_t TotalOf(const Plan& plan, size_t queue) {
  int64_t below = 0;
  for (const size_t child : ChildrenOf(plan, static_cast<int>(queue))) {
    below += TotalOf(plan, child);
  }
  return std::max(plan[queue].nominal, below);
}

Plan Drawn(Random& random) {
  Plan plan(1 + random.Below(8));
  for (size_t i = 0; i < plan.size(); ++i) {
    if (i > 0 && random.OneIn(2)) plan[i].parent = static_cast<int>(random.Below(i));
    plan[i].nominal = static_cast<int64_t>(random.Below(9));
    if (random.OneIn(2)) plan[i].reserved = static_cast<int64_t>(random.Below(12));
    if (random.OneIn(2)) plan[i].limit = 100 + static_cast<int64_t>(random.Below(9));
  }
  return plan;
}

void CheckQueue(const Plan& plan, size_t index, const Names& names, const Imported& result) {
  const Planned& planned = plan[index];
  const Json spec = SpecOf(result, names[index]);
  int64_t below = 0;
  const std::vector<size_t> children = ChildrenOf(plan, static_cast<int>(index));
  for (const size_t child : children) below += TotalOf(plan, child);
  const int64_t total = TotalOf(plan, index);
  const auto parent = static_cast<size_t>(planned.parent);
  EXPECT_EQ(spec[children.empty() ? "cohort" : "parent"].AsString(),
            planned.parent >= 0 ? names[parent] : kTop);
  EXPECT_EQ(AmountIn(spec, "nominal"), total - below);
  EXPECT_EQ(AmountIn(spec, "borrowingLimit"), planned.limit < 0 ? -1 : planned.limit - total);
  const bool reserves = planned.reserved >= 0;
  EXPECT_EQ(AmountIn(spec, "lendingLimit"),
            reserves ? std::max<int64_t>(0, total - planned.reserved) : -1);
}

TEST(ImportQueueTree, EqualsANaiveTreeWhateverItsQueuesAreCalled) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Plan plan = Drawn(random);
    const Names names = Shuffled(plan.size(), random);
    const auto capacity = static_cast<int64_t>(random.Below(60));
    const Imported result = Import(plan, names, capacity);
    ASSERT_EQ(result.objects.size(), plan.size() + 1);
    for (size_t i = 0; i < plan.size(); ++i) CheckQueue(plan, i, names, result);
    int64_t promised = 0;
    for (const size_t child : ChildrenOf(plan, -1)) promised += TotalOf(plan, child);
    EXPECT_EQ(AmountIn(SpecOf(result, kTop), "nominal"),
              capacity > promised ? capacity - promised : -1);
    EXPECT_EQ(result.findings.size(), promised > capacity ? 1 : 0);
    if (testing::Test::HasFailure()) return;
  }
}

// By names and parents: which stands in which, and what is told.
std::string Connected(const std::map<std::string, std::string>& parents) {
  ForeignManifests objects;
  objects.reserve(parents.size());
  std::map<std::string, TreeQueue> queues;
  for (const auto& [name, parent] : parents) {
    objects.emplace_back(Json::Object(), "f", 1);
    queues[name] = {.from = &objects.back(), .parent = parent};
  }
  Imported result;
  ImportTree(std::move(queues), kTop, {{kGpu, Amount(8)}}, result);
  std::string out;
  for (const auto& [name, parent] : parents) {
    const Json spec = SpecOf(result, name);
    absl::StrAppend(&out, name, ":", spec["parent"].AsString(), spec["cohort"].AsString(), " ");
  }
  return absl::StrCat(out, "errors ", result.findings.size());
}

TEST(ImportQueueTree, WhoStandsInAQueueWhoseParentIsMissingStaysThere) {
  EXPECT_EQ(Connected({{"a", "b"}, {"b", "nobody"}}), "a:b b:root errors 1");
  EXPECT_EQ(Connected({{"b", "nobody"}, {"c", "b"}}), "b:root c:b errors 1");
}

TEST(ImportQueueTree, ARingIsOpenedOnceAndWhoHangsOnItStaysThere) {
  EXPECT_EQ(Connected({{"a", "b"}, {"b", "c"}, {"c", "b"}}), "a:b b:root c:b errors 1");
  EXPECT_EQ(Connected({{"b", "c"}, {"c", "b"}, {"d", "c"}}), "b:root c:b d:c errors 1");
  EXPECT_EQ(Connected({{"a", "a"}}), "a:root errors 1");
}

TEST(ImportQueueTree, NobodyIsPromisedMoreThanItsLimit) {
  const Imported result = Import({{.nominal = 6, .limit = 4}}, {"q"}, 8);
  EXPECT_EQ(AmountIn(SpecOf(result, "q"), "nominal"), 4);
  EXPECT_EQ(AmountIn(SpecOf(result, "q"), "borrowingLimit"), 0);
  EXPECT_EQ(AmountIn(SpecOf(result, kTop), "nominal"), 4);
  ASSERT_EQ(result.findings.size(), 1);
  EXPECT_THAT(result.findings[0].message, HasSubstr("is more than its limit, and counts as 4 "));
}

TEST(ImportQueueTree, WhatOnlyAQueueCanSayIsToldOfACohort) {
  ForeignManifests objects;
  objects.reserve(2);
  std::map<std::string, TreeQueue> queues;
  for (const auto& [name, parent] : {std::pair("dept", ""), std::pair("team", "dept")}) {
    objects.emplace_back(Json::Object(), "f", 1);
    queues[name] = {.from = &objects.back(),
                    .parent = parent,
                    .own_spec = Json::Object({{"stopPolicy", "Hold"}})};
  }
  Imported result;
  ImportTree(std::move(queues), kTop, {{kGpu, Amount(8)}}, result);
  ASSERT_EQ(result.findings.size(), 1);
  EXPECT_THAT(result.findings[0].message, HasSubstr("give stopPolicy: Hold to these"));
  EXPECT_FALSE(SpecOf(result, "dept").Has("stopPolicy"));
}

TEST(ImportQueueTree, ALimitBelowWhatIsPromisedBelowItIsToldOf) {
  const Plan plan = {{.limit = 4}, {.parent = 0, .nominal = 3}, {.parent = 0, .nominal = 3}};
  const Imported result = Import(plan, {"q", "a", "b"}, 8);
  ASSERT_EQ(result.findings.size(), 1);
  EXPECT_NE(result.findings[0].message.find("its limit of 4"), std::string::npos);
}

TEST(ImportQueueTree, NoQueuesAreNoTree) {
  Imported out;
  ImportTree({}, kTop, {{kGpu, Amount(8)}}, out);
  EXPECT_TRUE(out.objects.empty());
  EXPECT_TRUE(out.findings.empty());
}

TEST(ImportQueueTree, ANodeOffersWhatIsAnAmountAndMoreThanNothing) {
  ForeignManifests objects;
  const auto node = [&objects](const char* allocatable) {
    const absl::StatusOr<Json> value = Json::Parse(
        absl::StrCat(R"({"kind": "Node", "status": {"allocatable": )", allocatable, "}}"));
    ASSERT_TRUE(value.ok());
    objects.emplace_back(*value, "f", 1);
  };
  node(R"({"cpu": "1500m", "memory": "1Ki", "pods": "110", "ephemeral-storage": "5"})");
  node(R"({"cpu": "500m", "nvidia.com/gpu": "8", "rdma/hca": "0", "x/y": "many"})");
  const std::map<std::string, Amount> capacity = CapacityOf(objects);
  EXPECT_EQ(capacity.size(), 5);
  EXPECT_EQ(capacity.at("cpu"), Amount(2000));
  EXPECT_EQ(capacity.at("memory"), Amount(1024));
  EXPECT_EQ(capacity.at(kGpu), Amount(8));
  EXPECT_EQ(capacity.at("pods"), Amount(110));
}

}  // namespace
}  // namespace maniple::import_queue_tree_test
