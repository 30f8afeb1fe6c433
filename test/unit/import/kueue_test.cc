// Kueue's objects as ours. Fears: something of theirs is lost in silence; a Queue is opened to more
// namespaces than before; a broken object takes the others with it.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/import/import.h"

namespace maniple {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::string Theirs(const std::string& kind, const std::string& name, const std::string& spec) {
  return absl::StrCat("---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ", kind,
                      "\nmetadata: {name: ", name, "}\nspec: {", spec, "}\n");
}

std::string Local(const std::string& name, const std::string& ns, const std::string& queue) {
  return absl::StrCat(
      "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: ", name,
      ", namespace: ", ns, "}\nspec: {clusterQueue: ", queue, "}\n");
}

ImportResult Import(const std::string& text) {
  return ImportObjects(ImportFrom::kKueue, {{"kueue.yaml", text}});
}

Json Named(const ImportResult& result, const std::string& kind, const std::string& name) {
  for (const Json& object : result.objects) {
    if (object["kind"].AsString() == kind && object.At("metadata.name").AsString() == name) {
      return object;
    }
  }
  return {};
}

constexpr char kCovers[] =
    "namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: all, "
    "resources: [{name: cpu, nominalQuota: 8}]}]}]";

std::vector<std::string> Told(const ImportResult& result) {
  std::vector<std::string> out;
  for (const ManifestFinding& found : result.findings) {
    const bool error = found.severity == ManifestFinding::Severity::kError;
    out.push_back(
        absl::StrCat(error ? "error " : "note ", found.line, " ", found.path, " ", found.message));
  }
  return out;
}

TEST(ImportKueue, AClusterQueueIsAQueueFieldByField) {
  const ImportResult result = Import(
      Theirs("ClusterQueue", "team-a",
             "cohortName: research, namespaceSelector: {matchLabels: {team: a}}, "
             "queueingStrategy: StrictFIFO, stopPolicy: HoldAndDrain, fairSharing: {weight: '2'}, "
             "preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any, "
             "borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 7}}, "
             "resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: ["
             "{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 4, "
             "lendingLimit: 2}]}, {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: "
             "16}]}]}]") +
      Local("default", "ns-a", "team-a"));
  EXPECT_EQ(Named(result, "Queue", "team-a")["spec"],
            *Json::Parse(
                R"({"cohort":"research","namespaceSelector":{"matchLabels":{"team":"a"},
              "matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In","values":["ns-a"]}]},
              "quotas":[{"flavor":"h100","resources":[{"name":"nvidia.com/gpu","nominal":8,
                "borrowingLimit":4,"lendingLimit":2}]},
                {"flavor":"a100","resources":[{"name":"nvidia.com/gpu","nominal":16}]}],
              "fairShare":{"weight":"2"},"ordering":"StrictFIFO","stopPolicy":"HoldAndDrain",
              "preemption":{"withinQueue":"LowerPriority","reclaimWithinCohort":"Any",
                "borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":7}}})"));
  EXPECT_THAT(Told(result), IsEmpty());
}

// The fear: a queue for processors alone becomes one for any number of GPUs.
TEST(ImportKueue, WhatAClusterQueueDoesNotCoverIsNotAdmitted) {
  const ImportResult result = Import(
      Theirs("ClusterQueue", "cpus", kCovers) +
      Theirs("ClusterQueue", "gpus",
             "namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu, nvidia.com/gpu], "
             "flavors: [{name: h100, resources: [{name: cpu, nominalQuota: 8}, {name: "
             "nvidia.com/gpu, nominalQuota: 8}]}]}]") +
      Theirs("ClusterQueue", "nothing", "namespaceSelector: {}"));
  EXPECT_EQ(Named(result, "Queue", "cpus").At("spec.quotas"),
            *Json::Parse(R"([{"flavor":"all","resources":[{"name":"cpu","nominal":8},
                {"name":"nvidia.com/gpu","nominal":0,"borrowingLimit":0}]}])"));
  EXPECT_EQ(Named(result, "Queue", "gpus").At("spec.quotas").items()[0]["resources"].size(), 2u);
  EXPECT_EQ(Named(result, "Queue", "nothing").At("spec.stopPolicy").AsString(), "Hold");
  EXPECT_THAT(Told(result),
              Contains(HasSubstr("ClusterQueue cpus: does not cover nvidia.com/gpu")));
  EXPECT_THAT(Told(result), Contains(HasSubstr("ClusterQueue nothing: not there: nothing is")));
}

// The fear: one ClusterQueue counts pods, and nothing starts any more in all others.
TEST(ImportKueue, AClusterQueueThatDoesNotCountPodsAdmitsAnyNumberOfThem) {
  const ImportResult result = Import(
      Theirs("ClusterQueue", "cpus", kCovers) +
      Theirs("ClusterQueue", "counts",
             "namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu, pods], flavors: "
             "[{name: all, resources: [{name: cpu, nominalQuota: 8}, {name: pods, nominalQuota: "
             "3}]}]}]"));
  EXPECT_EQ(Named(result, "Queue", "cpus").At("spec.quotas"),
            *Json::Parse(R"([{"flavor":"all","resources":[{"name":"cpu","nominal":8}]}])"));
  EXPECT_THAT(Named(result, "Queue", "counts").At("spec.quotas").Dump(),
              HasSubstr(R"({"name":"pods","nominal":3})"));
  EXPECT_THAT(Told(result), Not(Contains(HasSubstr("does not cover"))));
}

TEST(ImportKueue, ANamespaceGetsItsDefaultQueueAndOthersAreTold) {
  const ImportResult result =
      Import(Theirs("ClusterQueue", "q", "namespaceSelector: {}") + Local("only", "one", "q") +
             Local("a", "two", "q") + Local("b", "two", "q"));
  EXPECT_EQ(Named(result, "Namespace", "one").At("metadata.labels"),
            *Json::Parse(R"({"scheduling.maniple.dev/default-queue":"q"})"));
  EXPECT_TRUE(Named(result, "Namespace", "two").is_null());
  EXPECT_THAT(Told(result), Contains(HasSubstr("LocalQueue two/b: gangs of namespace two that used "
                                               "it name the Queue: spec.queue: q")));
}

TEST(ImportKueue, ALocalQueueThatLeadsNowhereMakesNoNamespaceADefault) {
  const ImportResult result = Import(Local("default", "one", "''"));
  EXPECT_TRUE(Named(result, "Namespace", "one").is_null());
  EXPECT_THAT(Told(result), Contains(HasSubstr("spec.clusterQueue LocalQueue one/default")));
}

// The API server takes no label of more than 63 characters, but queues of up to 253.
TEST(ImportKueue, AQueueWhoseNameIsNoLabelIsNamedByGangs) {
  const auto namespaces = [](size_t length) {
    const std::string queue(length, 'q');
    const ImportResult result =
        Import(Theirs("ClusterQueue", queue, kCovers) + Local("l", "one", queue));
    const bool labelled = !Named(result, "Namespace", "one").is_null();
    EXPECT_EQ(Told(result).size(), labelled ? 0 : 1);
    return labelled;
  };
  EXPECT_TRUE(namespaces(63));
  EXPECT_FALSE(namespaces(64));
}

TEST(ImportKueue, ALocalQueueWithoutNamespaceIsInTheDefaultOne) {
  const ImportResult result = Import(Theirs("ClusterQueue", "q", "namespaceSelector: {}") +
                                     Theirs("LocalQueue", "l", "clusterQueue: q"));
  EXPECT_FALSE(Named(result, "Namespace", "default").is_null());
  EXPECT_THAT(Named(result, "Queue", "q").At("spec.namespaceSelector").Dump(),
              HasSubstr(R"("values":["default"])"));
}

// The API server writes this default into every LocalQueue.
TEST(ImportKueue, ALocalQueueThatIsNotStoppedLosesNothing) {
  const auto told = [](const std::string& policy) {
    return Told(Import(Theirs("ClusterQueue", "q", kCovers) +
                       Theirs("LocalQueue", "l", "clusterQueue: q, stopPolicy: " + policy)));
  };
  EXPECT_THAT(told("None"), IsEmpty());
  EXPECT_THAT(told("Hold"), ElementsAre(HasSubstr("spec.stopPolicy")));
}

// There, nobody may use a ClusterQueue without a selector; here, everybody a Queue without one.
TEST(ImportKueue, WhoMayUseTheQueueIsNeverMoreThanBefore) {
  const auto selector = [](const std::string& text) {
    return Named(Import(text), "Queue", "q").At("spec.namespaceSelector").Dump();
  };
  EXPECT_THAT(selector(Theirs("ClusterQueue", "q", "")), HasSubstr("DoesNotExist"));
  EXPECT_THAT(
      selector(Theirs("ClusterQueue", "q", "namespaceSelector: {}") + Local("x", "ns", "q")),
      HasSubstr(R"("values":["ns"])"));
  const ImportResult open = Import(Theirs("ClusterQueue", "q", "namespaceSelector: {}"));
  EXPECT_TRUE(Named(open, "Queue", "q").At("spec.namespaceSelector").is_null());
  EXPECT_THAT(Told(open), Contains(HasSubstr("every namespace that it selects may use the Queue")));
}

TEST(ImportKueue, WhatHasNoCounterpartIsToldByItsPath) {
  const ImportResult result =
      Import(Theirs("ClusterQueue", "q",
                    "namespaceSelector: {}, admissionChecks: [x], newField: {deep: 1}, preemption: "
                    "{another: Never}, flavorFungibility: {whenCanPreempt: Preempt}") +
             Theirs("ResourceFlavor", "f", "nodeLabels: {gpu: a}, tolerations: [{key: gpu}]") +
             Theirs("AdmissionCheck", "x", "") + Theirs("Workload", "w1", "") +
             Theirs("Workload", "w2", ""));
  EXPECT_THAT(
      Told(result),
      AllOf(Contains(HasSubstr("note 1 spec.admissionChecks ClusterQueue q: not carried over: ")),
            Contains(HasSubstr("spec.newField ClusterQueue q: not carried over: the field is not")),
            Contains(HasSubstr("spec.preemption.another ClusterQueue q: not carried over")),
            Contains(HasSubstr("spec.flavorFungibility ClusterQueue q: not carried over")),
            Contains(HasSubstr("spec.tolerations ResourceFlavor f: not carried over")),
            Contains(HasSubstr("AdmissionCheck x: skipped: ")),
            Contains(HasSubstr("Workload w1: and 1 more skipped: "))));
}

// Two groups count resources of the same nodes by different flavors.
TEST(ImportKueue, ASecondGroupOfResourcesIsToldInsteadOfForbiddingTheNodes) {
  const ImportResult result = Import(
      Theirs("ClusterQueue", "q",
             "namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu, memory], flavors: "
             "[{name: any, resources: [{name: cpu, nominalQuota: 9}]}]}, {coveredResources: "
             "[nvidia.com/gpu], flavors: [{name: a, resources: [{name: nvidia.com/gpu, "
             "nominalQuota: 8}]}]}]"));
  EXPECT_THAT(Named(result, "Queue", "q").At("spec.quotas").Dump(),
              AllOf(HasSubstr("nvidia.com/gpu"), Not(HasSubstr("cpu"))));
  EXPECT_THAT(Told(result),
              Contains(HasSubstr("spec.resourceGroups[0] ClusterQueue q: not carried over: cpu, "
                                 "memory is not limited now")));
}

// A node is of one flavor: that which says more about it, not that which comes first by its name.
TEST(ImportKueue, TheFlavorThatNamesMoreLabelsGoesFirst) {
  const ImportResult result = Import(Theirs("ResourceFlavor", "a-any", "") +
                                     Theirs("ResourceFlavor", "z-gpu", "nodeLabels: {gpu: z}") +
                                     Theirs("ResourceFlavor", "z-spot", "nodeLabels: {gpu: z}"));
  EXPECT_EQ(Named(result, "ResourceFlavor", "a-any").At("spec.priority").AsInt(), 0);
  EXPECT_EQ(Named(result, "ResourceFlavor", "z-gpu").At("spec.priority").AsInt(), 1);
  EXPECT_THAT(Told(result),
              ElementsAre(HasSubstr("ResourceFlavor z-spot: selects the same nodes as "
                                    "ResourceFlavor z-gpu")));
}

TEST(ImportKueue, ABrokenObjectIsNamedAndTheRestGoesOn) {
  const ImportResult result =
      Import(Theirs("Cohort", "bad",
                    "resourceGroups: [{flavors: [{name: f, resources: [{name: cpu, "
                    "nominalQuota: lots}]}]}]") +
             Theirs("Cohort", "good", "parent: top") + Theirs("Cohort", "good", "parent: other") +
             Theirs("Cohort", "''", ""));
  EXPECT_EQ(Named(result, "Cohort", "good").At("spec.parent").AsString(), "top");
  EXPECT_EQ(result.objects.size(), 1);
  EXPECT_THAT(Told(result), AllOf(Contains(HasSubstr("Cohort bad is left out: ")),
                                  Contains(HasSubstr("Cohort good: the object is there twice")),
                                  Contains(HasSubstr("the object has no name"))));
  const ImportResult text = ImportObjects(ImportFrom::kKueue, {{"no.yaml", "a: [b"}});
  ASSERT_EQ(text.findings.size(), 1);
  EXPECT_EQ(text.findings[0].file, "no.yaml");
}

// No API server takes them.
TEST(ImportKueue, APriorityClassWithANameOfTheSystemIsLeftOut) {
  const std::string head =
      "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: WorkloadPriorityClass\nmetadata: {name: ";
  const ImportResult result =
      Import(head + "system-batch}\nvalue: 10\n" + head + "batch}\nvalue: 10\n");
  EXPECT_EQ(Named(result, "PriorityClass", "batch")["value"], Json(10));
  EXPECT_EQ(result.objects.size(), 1);
  EXPECT_THAT(Told(result), Contains(HasSubstr("PriorityClass system-batch is left out: ")));
}

TEST(ImportKueue, ACohortComesAfterItsParents) {
  const ImportResult result =
      Import(Theirs("ClusterQueue", "q", "cohort: a, namespaceSelector: {}") +
             Theirs("Cohort", "a", "parent: b") + Theirs("Cohort", "b", "parent: c") +
             Theirs("Cohort", "c", "parent: elsewhere") + Theirs("Cohort", "d", "parent: a"));
  std::vector<std::string> names;
  for (const Json& object : result.objects) names.push_back(object.At("metadata.name").AsString());
  EXPECT_THAT(names, ElementsAre("c", "b", "a", "d", "q"));
}

TEST(ImportKueue, LevelsHaveNamesOfTheirOwnWhateverTheirLabelsAre) {
  const ImportResult result = Import(Theirs("Topology", "t",
                                            "levels: [{nodeLabel: a/rack}, {nodeLabel: b/rack}, "
                                            "{nodeLabel: c/rack-2}, {nodeLabel: d/rack}]"));
  std::vector<std::string> names;
  for (const Json& level : Named(result, "Topology", "t").At("spec.levels").items()) {
    names.push_back(level["name"].AsString());
  }
  EXPECT_THAT(names, ElementsAre("rack", "rack-2", "rack-2-2", "rack-3"));
}

TEST(ImportKueue, ObjectsOfAListHaveTheirOwnLines) {
  const ImportResult result = Import(
      "apiVersion: v1\nkind: List\nitems:\n"
      "- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: t}, spec: {levels: "
      "[{nodeLabel: cloud/rack}, {nodeLabel: other/rack}]}}\n"
      "- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: "
      "{topologyName: t}}\n");
  EXPECT_EQ(
      Named(result, "Topology", "t").At("spec.levels").Dump(),
      R"([{"name":"rack","nodeLabel":"cloud/rack"},{"name":"rack-2","nodeLabel":"other/rack"}])");
  EXPECT_THAT(Told(result),
              UnorderedElementsAre(HasSubstr("Topology t: a PodGroup that names no Topology"),
                                   HasSubstr("note 5 spec.topologyName ResourceFlavor f")));
}

// The fear: in a cluster that has a Topology "default", the imported one is used by nobody, and
// nothing says so.
TEST(ImportKueue, ATopologyThatIsNotTheDefaultIsToldToBeNamed) {
  constexpr char kLevels[] = "levels: [{nodeLabel: cloud/rack}]";
  EXPECT_THAT(Told(Import(Theirs("Topology", "default", kLevels))), IsEmpty());
  EXPECT_THAT(Told(Import(Theirs("Topology", "t", kLevels))),
              ElementsAre(HasSubstr("name this one (spec.topology.topologyName)")));
}

}  // namespace
}  // namespace maniple
