// Volcano's and KAI's trees of queues as Cohorts and Queues. Fears: a team may use more than
// before, or less than it was promised; the whole promises more than there is; a ring of parents
// hangs.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/quantity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/import/import.h"
#include "test/unit/import/notes.h"

namespace maniple::import_tree_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kGpu[] = "nvidia.com/gpu";

std::string Node(const std::string& name, const std::string& allocatable,
                 const std::string& labels = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name, ", labels: {",
                      labels, "}}\nstatus: {allocatable: {", allocatable, "}}\n");
}

std::string Volcano(const std::string& name, const std::string& spec) {
  return absl::StrCat(
      "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: ", name,
      "}\nspec: {", spec, "}\n");
}

std::string Kai(const std::string& name, const std::string& spec) {
  return absl::StrCat("---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: ", name,
                      "}\nspec: {", spec, "}\n");
}

Json Find(const ImportResult& result, const std::string& kind, const std::string& name) {
  for (const Json& object : result.objects) {
    if (object["kind"].AsString() == kind && object.At("metadata.name").AsString() == name) {
      return object["spec"];
    }
  }
  return {};
}

// The line of the resource in the only entry of the object's quotas; null without one.
Json LineOf(const Json& spec, const std::string& resource) {
  for (const Json& entry : spec["quotas"].items()) {
    for (const Json& line : entry["resources"].items()) {
      if (line["name"].AsString() == resource) return line;
    }
  }
  return {};
}

int64_t Units(const Json& line, const std::string& field) {
  const absl::StatusOr<Amount> amount = ParseAmount(kGpu, line[field].AsString());
  return amount.ok() ? amount->units() : -1;
}

TEST(ImportVolcano, DeservedIsNominalCapabilityALimitAndAGuaranteeIsNeverLent) {
  const ImportResult result = ImportObjects(
      ImportFrom::kVolcano,
      {{"v.yaml", Volcano("team",
                          "weight: 3, capability: {nvidia.com/gpu: 24, cpu: '2'}, deserved: "
                          "{nvidia.com/gpu: 16}, guarantee: {resource: {nvidia.com/gpu: 4}}, "
                          "dequeueStrategy: fifo, reclaimable: true") +
                      Volcano("root", "weight: 1") +
                      Node("n1", "nvidia.com/gpu: '8', cpu: '96', pods: '110'") +
                      Node("n2", "nvidia.com/gpu: '16', cpu: '96'")}});
  const Json team = Find(result, "Queue", "team");
  EXPECT_EQ(team["cohort"].AsString(), "root");
  EXPECT_EQ(team.At("fairShare.weight").AsInt(), 3);
  EXPECT_EQ(team["ordering"].AsString(), "StrictFIFO");
  EXPECT_EQ(LineOf(team, kGpu).Dump(),
            R"({"name":"nvidia.com/gpu","nominal":"16","borrowingLimit":"8","lendingLimit":"12"})");
  EXPECT_EQ(LineOf(team, "cpu").Dump(), R"({"name":"cpu","nominal":"0","borrowingLimit":"2"})");
  const Json root = Find(result, "Cohort", "root");
  EXPECT_EQ(Units(LineOf(root, kGpu), "nominal"), 8) << "24 of the nodes, 16 deserved";
  EXPECT_EQ(LineOf(root, "cpu")["nominal"].AsString(), "192");
  EXPECT_TRUE(LineOf(root, "pods").is_null());
  EXPECT_THAT(NotesOf(result), IsEmpty());
}

TEST(ImportVolcano, AClosedQueueStartsNothingAndStrangeFieldsAreTold) {
  const ImportResult result = ImportObjects(
      ImportFrom::kVolcano,
      {{"v.yaml", Volcano("q",
                          "reclaimable: false, priority: 5, surprise: 1, deserved: {cpu: "
                          "many}}\nstatus: {state: Closed") +
                      Node("n", "cpu: '4'") +
                      "---\napiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: "
                      "{name: h}\n"}});
  EXPECT_EQ(Find(result, "Queue", "q")["stopPolicy"].AsString(), "Hold");
  EXPECT_THAT(
      NotesOf(result),
      AllOf(Contains(HasSubstr("note spec.reclaimable")), Contains(HasSubstr("note spec.priority")),
            Contains(HasSubstr("note spec.surprise")),
            Contains(HasSubstr("error spec.deserved.cpu")),
            Contains(HasSubstr("HyperNode h: skipped: the scheduler reads it"))));
}

// Queues there share what the nodes have. Without the nodes nobody could borrow anything.
TEST(ImportVolcano, WithoutNodesNothingIsWrittenAndTheErrorSaysWhatIsMissing) {
  const ImportResult result =
      ImportObjects(ImportFrom::kVolcano, {{"v.yaml", Volcano("q", "weight: 1")}});
  EXPECT_THAT(result.objects, IsEmpty());
  EXPECT_THAT(NotesOf(result), Contains(HasSubstr("error  Queue q: no nodes are among the files")));
}

// Every Queue lists a resource that one of them names, so the nodes' amount of it is shared, too:
// each pod takes one of "pods", and without them nothing would start.
TEST(ImportVolcano, WhatOneQueueLimitsTheOthersStillHave) {
  const ImportResult result = ImportObjects(
      ImportFrom::kVolcano,
      {{"v.yaml", Volcano("a", "capability: {pods: 20, ephemeral-storage: '5'}") +
                      Volcano("b", "weight: 1") +
                      Node("n", "cpu: '4', pods: '110', ephemeral-storage: '9', hugepages: '1'")}});
  const Json root = Find(result, "Cohort", "root");
  EXPECT_EQ(LineOf(root, "pods")["nominal"].AsString(), "110");
  EXPECT_EQ(LineOf(root, "ephemeral-storage")["nominal"].AsString(), "9");
  EXPECT_EQ(LineOf(Find(result, "Queue", "a"), "pods")["borrowingLimit"].AsString(), "20");
  EXPECT_TRUE(LineOf(Find(result, "Queue", "b"), "pods")["borrowingLimit"].is_null());
  EXPECT_TRUE(LineOf(root, "hugepages").is_null());
}

// Its gangs were charged to nobody: their projects write its name where users say nothing.
TEST(ImportVolcano, WhoImportsTheDefaultQueueHearsHowItIsCharged) {
  const auto told = [](const char* queue) {
    return NotesOf(
        ImportObjects(ImportFrom::kVolcano,
                      {{"v.yaml", Volcano(queue, "weight: 1") + Node("n", "cpu: '4'") +
                                      "spec: {podCIDR: 10.0.0.0/24, unschedulable: true}\n"}}));
  };
  EXPECT_THAT(told("default"), ElementsAre(HasSubstr("producers.queues: {default: default}")));
  EXPECT_THAT(told("other"), IsEmpty());
}

TEST(ImportVolcano, ALimitOfTheRootIsToldOf) {
  const ImportResult result = ImportObjects(
      ImportFrom::kVolcano, {{"v.yaml", Volcano("root", "capability: {cpu: 2}, deserved: {}") +
                                            Volcano("q", "weight: 1") + Node("n", "cpu: '4'")}});
  EXPECT_THAT(NotesOf(result),
              ElementsAre(HasSubstr("note spec.capability Queue root: not carried over: ")));
}

TEST(ImportVolcano, ParentsInARingOrMissingEndOnTop) {
  const ImportResult result =
      ImportObjects(ImportFrom::kVolcano,
                    {{"v.yaml", Volcano("a", "parent: b") + Volcano("b", "parent: a") +
                                    Volcano("c", "parent: nobody") + Node("n", "cpu: '4'")}});
  EXPECT_THAT(NotesOf(result), AllOf(Contains(HasSubstr("go in a ring")),
                                     Contains(HasSubstr("queue nobody is not among the files"))));
  EXPECT_EQ(Find(result, "Queue", "c")["cohort"].AsString(), "root");
  EXPECT_EQ(result.objects.size(), 4);
}

TEST(ImportKai, AmountsHaveTheirUnitsAndMinusOneHasNoLimit) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai,
      {{"k.yaml",
        Kai("dept",
            "resources: {gpu: {quota: 12, limit: -1, overQuotaWeight: 1}, cpu: {quota: 0, "
            "limit: -1, overQuotaWeight: 1}, memory: {quota: 0, limit: -1, "
            "overQuotaWeight: 1}}") +
            Kai("team",
                "parentQueue: dept, preemptMinRuntime: 1h, reclaimMinRuntime: 10m, "
                "resources: {gpu: {quota: 1.5, limit: 4, overQuotaWeight: 0.5}, cpu: "
                "{quota: 8000, limit: 8000, overQuotaWeight: 0}, memory: {quota: -1}}") +
            Node("whole", "nvidia.com/gpu: '8', cpu: '96', memory: 1Gi") +
            Node("divided", "nvidia.com/mig-1g.10gb: '56', cpu: '96'",
                 "nvidia.com/gpu.count: '8'")}});
  const Json team = Find(result, "Queue", "team"), dept = Find(result, "Cohort", "dept");
  EXPECT_EQ(
      LineOf(team, "scheduling.maniple.dev/gpu-milli").Dump(),
      R"({"name":"scheduling.maniple.dev/gpu-milli","nominal":"1500","borrowingLimit":"2500"})");
  EXPECT_EQ(LineOf(team, "cpu").Dump(), R"({"name":"cpu","nominal":"8","borrowingLimit":"0"})");
  EXPECT_TRUE(LineOf(team, "memory").is_null());
  EXPECT_EQ(team.At("fairShare.weight").AsString(), "0.5");
  EXPECT_EQ(team.At("preemption.minRuntimeSeconds").AsInt(), 3600);
  EXPECT_EQ(LineOf(dept, "scheduling.maniple.dev/gpu-milli")["nominal"].AsString(), "10500");
  EXPECT_EQ(LineOf(Find(result, "Cohort", "root"), "scheduling.maniple.dev/gpu-milli")["nominal"]
                .AsString(),
            "4000");
  EXPECT_THAT(NotesOf(result), Contains(HasSubstr("spec.resources.memory.quota")));
}

// A department's guarantee is that of its teams, unless a team has one of its own.
TEST(ImportKai, ATeamHasTheMinimumRuntimeOfTheNearestQueueThatNamesOne) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai,
      {{"k.yaml", Kai("dept", "preemptMinRuntime: 1h, reclaimMinRuntime: 2h") +
                      Kai("group", "parentQueue: dept") + Kai("silent", "parentQueue: group") +
                      Kai("own", "parentQueue: group, preemptMinRuntime: 3h") +
                      Kai("none",
                          "parentQueue: dept, preemptMinRuntime: 0s, "
                          "reclaimMinRuntime: 0s") +
                      Kai("ring", "parentQueue: ring") + Node("n", "cpu: '4'")}});
  const auto seconds = [&result](const char* queue) {
    return Find(result, "Queue", queue).At("preemption.minRuntimeSeconds").AsInt();
  };
  EXPECT_EQ(seconds("silent"), 7200);
  EXPECT_EQ(seconds("own"), 10800);
  EXPECT_EQ(seconds("none"), 0);
  EXPECT_EQ(seconds("ring"), 0);
}

// What is absent is 0 there: quota, limit and weight, also of a resource that is not named.
TEST(ImportKai, WhatIsAbsentOpensNothingThatWasClosed) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai, {{"k.yaml", Kai("team", "resources: {gpu: {quota: 2}}") +
                                        Node("n", "nvidia.com/gpu: '8', cpu: '96'")}});
  const Json team = Find(result, "Queue", "team");
  EXPECT_EQ(LineOf(team, "scheduling.maniple.dev/gpu-milli")["borrowingLimit"].AsString(), "0");
  EXPECT_EQ(LineOf(team, "cpu").Dump(), R"({"name":"cpu","nominal":"0","borrowingLimit":"0"})");
  EXPECT_THAT(NotesOf(result),
              AllOf(Contains(HasSubstr("spec.resources.gpu.limit Queue team: not there")),
                    Contains(HasSubstr("spec.resources.cpu Queue team: not there"))));
}

TEST(ImportKai, AQueueWithoutWeightHasNothingBeyondItsQuota) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai, {{"k.yaml", Kai("team", "resources: {gpu: {quota: 4, limit: -1}}") +
                                        Node("n", "nvidia.com/gpu: '8'")}});
  EXPECT_EQ(
      LineOf(Find(result, "Queue", "team"), "scheduling.maniple.dev/gpu-milli")["borrowingLimit"]
          .AsString(),
      "0");
  EXPECT_THAT(NotesOf(result),
              Contains(HasSubstr("spec.resources.gpu.overQuotaWeight Queue team")));
}

TEST(ImportKai, AnAmountAsTextIsToldOfAndNeverTakenForNothing) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai,
      {{"k.yaml", Kai("team", "resources: {gpu: {quota: '2', limit: 4, overQuotaWeight: '1'}}") +
                      Node("n", "nvidia.com/gpu: '8'")}});
  EXPECT_THAT(
      NotesOf(result),
      AllOf(Contains("error spec.resources.gpu.quota Queue team: \"2\" is no number"),
            Contains("error spec.resources.gpu.overQuotaWeight Queue team: \"1\" is no number")));
}

TEST(ImportKai, AQuotaWithoutEndKeepsItsLimit) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai, {{"k.yaml", Kai("team", "resources: {gpu: {quota: -1, limit: 4}}") +
                                        Node("n", "nvidia.com/gpu: '8'")}});
  EXPECT_EQ(LineOf(Find(result, "Queue", "team"), "scheduling.maniple.dev/gpu-milli").Dump(),
            R"({"name":"scheduling.maniple.dev/gpu-milli","nominal":"4000","borrowingLimit":"0"})");
}

// A Queue without an amount is held to no limit here, that of its department included.
TEST(ImportKai, ALimitAboveAQueueWithoutEndIsToldOf) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai,
      {{"k.yaml",
        Kai("dept",
            "resources: {gpu: {quota: 4, limit: 8, overQuotaWeight: 1}, cpu: {quota: 0, limit: -1, "
            "overQuotaWeight: 1}}") +
            Kai("team", "parentQueue: dept, resources: {gpu: {quota: -1, limit: -1}}") +
            Node("n", "nvidia.com/gpu: '8'")}});
  EXPECT_THAT(NotesOf(result),
              Contains(HasSubstr("Queue team: the limit of queue dept of 8000 "
                                 "scheduling.maniple.dev/gpu-milli does not hold for it")));
  EXPECT_THAT(NotesOf(result), Not(Contains(HasSubstr("limit of queue dept of 0 cpu"))));
}

TEST(ImportKai, TheCohortAboveAllHasANameOfItsOwn) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai, {{"k.yaml", Kai("root", "") + Kai("all-queues", "parentQueue: root") +
                                        Node("n", "nvidia.com/gpu: '8'")}});
  EXPECT_EQ(Find(result, "Cohort", "root")["parent"].AsString(), "all-all-queues");
  EXPECT_EQ(Find(result, "Queue", "all-queues")["cohort"].AsString(), "root");
  EXPECT_EQ(result.objects.size(), 3);
}

TEST(ImportKai, AFindingNamesItsOwnFieldOfTheParent) {
  const ImportResult result = ImportObjects(
      ImportFrom::kKai,
      {{"k.yaml", Kai("team", "parentQueue: nobody") + Node("n", "nvidia.com/gpu: '8'")}});
  EXPECT_THAT(NotesOf(result), Contains(HasSubstr("spec.parentQueue Queue team: queue nobody")));
}

// As people write them by hand.
TEST(ImportKai, WhatNodesOfferMayBeBareNumbers) {
  const ImportResult result =
      ImportObjects(ImportFrom::kKai, {{"k.yaml", Kai("team", "resources: {gpu: {quota: 2}}") +
                                                      Node("n", "nvidia.com/gpu: 8, cpu: 96")}});
  const Json root = Find(result, "Cohort", "root");
  EXPECT_EQ(LineOf(root, "scheduling.maniple.dev/gpu-milli")["nominal"].AsString(), "6000");
  EXPECT_EQ(LineOf(root, "cpu")["nominal"].AsString(), "96");
}

// In trees drawn at random: what a queue may use at most, and what it is promised, is what it was.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {
    const int count = Below(12) + 1;
    for (int i = 0; i < count; ++i) {
      Queue queue{.name = absl::StrCat("q", i), .deserved = Below(20)};
      if (i > 0 && Below(3) > 0) queue.parent = Below(i);
      if (Below(2) == 0) queue.limit = 200 + Below(50);  // above every sum of what is deserved
      queues_.push_back(queue);
    }
    for (int i = count - 1; i >= 0; --i) {
      Queue& queue = queues_[i];
      queue.promised = std::max(queue.deserved, queue.below);
      if (queue.parent >= 0) queues_[queue.parent].below += queue.promised;
    }
  }

  void Check() {
    std::string text = Node("n", "nvidia.com/gpu: '300'");
    for (const Queue& queue : queues_) {
      std::vector<std::string> fields = {
          absl::StrCat("deserved: {nvidia.com/gpu: ", queue.deserved, "}")};
      if (queue.limit >= 0) {
        fields.push_back(absl::StrCat("capability: {nvidia.com/gpu: ", queue.limit, "}"));
      }
      if (queue.parent >= 0) fields.push_back("parent: " + queues_[queue.parent].name);
      text += Volcano(queue.name, absl::StrJoin(fields, ", "));
    }
    const ImportResult result = ImportObjects(ImportFrom::kVolcano, {{"v.yaml", text}});
    ASSERT_EQ(result.objects.size(), queues_.size() + 1) << text;
    for (int i = static_cast<int>(queues_.size()) - 1; i >= 0; --i) CheckQueue(i, result);
  }

 private:
  struct Queue {
    std::string name;
    int deserved = 0;
    int limit = -1;
    int parent = -1;
    int below = 0;        // promised to its children
    int promised = 0;     // to its subtree
    int64_t subtree = 0;  // nominal of the subtree, as imported
  };

  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void CheckQueue(int index, const ImportResult& result) {
    Queue& queue = queues_[index];
    const bool inner = std::ranges::count(queues_, index, &Queue::parent) > 0;
    const Json line = LineOf(Find(result, inner ? "Cohort" : "Queue", queue.name), kGpu);
    queue.subtree += Units(line, "nominal");
    EXPECT_EQ(queue.subtree, queue.promised) << queue.name;
    EXPECT_EQ(line.Has("borrowingLimit"), queue.limit >= 0) << queue.name;
    if (queue.limit >= 0) {
      EXPECT_EQ(queue.subtree + Units(line, "borrowingLimit"), queue.limit) << queue.name;
    }
    if (queue.parent >= 0) queues_[queue.parent].subtree += queue.subtree;
  }

  std::mt19937 random_;
  std::vector<Queue> queues_;
};

TEST(ImportVolcano, EveryTreeKeepsItsPromisesAndLimits) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomTree(seed).Check();
  }
}

}  // namespace
}  // namespace maniple::import_tree_test
