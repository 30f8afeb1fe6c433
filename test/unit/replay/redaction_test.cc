// Fears: a snapshot that somebody hands on tells what his jobs are called, or what they know; or it
// is decided otherwise than the cluster (that fear's test is replay_oracle_test).
#include "scheduler/replay/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace maniple::replay_redaction_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json Parsed(const std::string& text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status() << text;
  return json.ok() ? *std::move(json) : Json();
}

std::string Redacted(const std::vector<Json>& objects, const std::vector<std::string>& kept = {}) {
  const Redaction redaction(objects, kept);
  std::string text;
  for (const Json& object : objects) absl::StrAppend(&text, redaction.Of(object).Dump(), "\n");
  return text;
}

// Each PLANT becomes a secret word of its own.
constexpr char kPod[] = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"PLANT-0",
  "namespace":"PLANT","uid":"PLANT","generateName":"PLANT-","labels":{"PLANT":"x","team":"PLANT",
  "PLANT.example.com/a":"b","node-role.kubernetes.io/PLANT":"",
  "scheduling.maniple.dev/pod-group":"PLANT"},
  "annotations":{"note":"PLANT","PLANT":"1","kubectl.kubernetes.io/last-applied-configuration":
  "{\"a\":\"PLANT\"}","scheduling.maniple.dev/queue":"PLANT",
  "yunikorn.apache.org/task-groups":"[{\"name\":\"PLANT\",\"minMember\":2}]"},
  "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"PLANT","uid":"PLANT"}]},
  "spec":{"schedulerName":"maniple","nodeName":"PLANT.internal","priorityClassName":"PLANT",
  "serviceAccountName":"PLANT","imagePullSecrets":[{"name":"PLANT"}],"hostname":"PLANT",
  "containers":[{"name":"PLANT","image":"PLANT.io/PLANT/app:PLANT","env":[{"name":"PLANT","value":
  "PLANT"}],"envFrom":[{"secretRef":{"name":"PLANT"}}],"command":["PLANT"],"args":["--k=PLANT"],
  "workingDir":"PLANT","livenessProbe":{"exec":{"command":["PLANT"]}},
  "resources":{"requests":{"PLANT.com/npu":"1","nvidia.com/gpu":"8"}}}],
  "volumes":[{"name":"PLANT","secret":{"secretName":"PLANT"}},
  {"name":"d","persistentVolumeClaim":{"claimName":"PLANT"}}],
  "nodeSelector":{"PLANT":"PLANT"},
  "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
  "nodeSelectorTerms":[{"matchExpressions":[{"key":"PLANT","operator":"In","values":["PLANT"]}]}]}}},
  "tolerations":[{"key":"PLANT","operator":"Equal","value":"PLANT","effect":"NoSchedule"}]},
  "status":{"phase":"Running","message":"PLANT","podIP":"PLANT","conditions":[{"type":
  "PodScheduled","status":"False","reason":"PLANT","message":"PLANT"}],
  "containerStatuses":[{"imageID":"PLANT"}]}})";

constexpr char kNode[] = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"PLANT.internal",
  "labels":{"kubernetes.io/hostname":"PLANT","topology.kubernetes.io/zone":"PLANT",
  "nvidia.com/gpu.clique":"PLANT.0"}},"spec":{"providerID":"PLANT","taints":[{"key":"PLANT",
  "value":"PLANT","effect":"NoSchedule"}]},"status":{"addresses":[{"address":"PLANT"}],
  "nodeInfo":{"machineID":"PLANT"},"images":[{"names":["PLANT/PLANT:1"],"sizeBytes":5}],
  "allocatable":{"PLANT.com/npu":"8"}}})";

constexpr char kForeign[] = R"({"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":
  "SparkApplication","metadata":{"name":"PLANT"},"spec":{"sparkConf":{"k":"PLANT"},"mainClass":
  "PLANT","deps":{"jars":["s3://PLANT/x.jar"]},"PLANT-x":1,"arguments":["PLANT"],
  "password":"PLANT","phone":"4915112345678"}})";

constexpr char kDefinition[] = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":
  "CustomResourceDefinition","metadata":{"name":"jobs.batch.volcano.sh","annotations":{"by":
  "PLANT"}},"spec":{"group":"batch.volcano.sh","names":{"kind":"Job","plural":"jobs"},"scope":
  "Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
  {"description":"PLANT","type":"object"}}}]}})";

TEST(Redaction, NoSecretThatIsPlantedAnywhereStays) {
  std::vector<Json> objects;
  int plants = 0;
  for (std::string text : {kPod, kNode, kForeign, kDefinition}) {
    for (size_t at = text.find("PLANT"); at != std::string::npos; at = text.find("PLANT")) {
      text.replace(at, 5, absl::StrCat("Swordfish", plants++, "Q"));
    }
    objects.push_back(Parsed(text));
  }
  ASSERT_GT(plants, 60);
  const std::string text = absl::AsciiStrToLower(Redacted(objects));
  EXPECT_THAT(text, Not(HasSubstr("swordfish")));
  EXPECT_THAT(text, Not(HasSubstr("4915112345678")));
}

TEST(Redaction, WhatDecisionsRestOnStays) {
  const std::vector<Json> objects = {
      Parsed(kPod), Parsed(kNode),
      Parsed(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","creationTimestamp":
        "2026-01-01T12:00:00Z","labels":{"nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3",
        "example.com/model":"H200"}},"status":{"allocatable":{"memory":"137438953472"}}})")};
  const std::string text = Redacted(objects, {"example.com/model"});
  for (const char* stays :
       {R"("kind":"Pod")", R"("schedulerName":"maniple")", R"("nvidia.com/gpu":"8")",
        R"("operator":"In")", R"("effect":"NoSchedule")", R"("phase":"Running")",
        R"("scheduling.maniple.dev/pod-group":)", R"(\"minMember\":2)",
        R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3")", R"("example.com/model":"H200")",
        R"("memory":"137438953472")", R"("creationTimestamp":"2026-01-01T12:00:00Z")",
        R"("sizeBytes":5)"}) {
    EXPECT_THAT(text, HasSubstr(stays));
  }
}

// Whatever names a label that stays, or asks for its value, still finds it.
TEST(Redaction, WhoAsksForALabelThatStaysAsksForTheSame) {
  const auto asks = [](const std::string& key, const std::string& value) {
    return Parsed(absl::StrCat(
        R"({"kind":"Pod","metadata":{"name":"p"},"spec":{"affinity":{"nodeAffinity":{"x":[)",
        R"({"key":")", key, R"(","operator":"In","values":[")", value, R"("]}]}}}})"));
  };
  const std::string text = Redacted(
      {asks("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"), asks("example.com/model", "H200"),
       asks("example.com/secret", "secret"),
       Parsed(R"({"kind":"Topology","spec":{"levels":[{"nodeLabel":"example.com/model"}]}})")},
      {"example.com/model"});
  EXPECT_THAT(text, HasSubstr(R"("values":["NVIDIA-H100-80GB-HBM3"])"));
  EXPECT_THAT(text, HasSubstr(R"({"key":"example.com/model","operator":"In","values":["H200"]})"));
  EXPECT_THAT(text, HasSubstr(R"("nodeLabel":"example.com/model")"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
}

// Pods whose marks were lost were gangs no more.
TEST(Redaction, WhatNamesTheGangOfAPodStays) {
  for (const char* mark :
       {"scheduling.x-k8s.io/pod-group", "kueue.x-k8s.io/pod-group-name", "grove.io/podgang",
        "pod-group.scheduling.sigs.k8s.io", "applicationId", "scheduling.k8s.io/group-name",
        "pod-group-name", "jobset.sigs.k8s.io/jobset-name", "leaderworkerset.sigs.k8s.io/name"}) {
    for (const char* place : {"labels", "annotations"}) {
      const std::string text =
          Redacted({Parsed(absl::StrCat(R"({"kind":"Pod","metadata":{"name":"secret",")", place,
                                        R"(":{")", mark, R"(":"secret"}}})"))});
      EXPECT_THAT(text, HasSubstr(absl::StrCat("\"", mark, "\":\"")));
      EXPECT_THAT(text, Not(HasSubstr("secret")));
    }
  }
}

// Volcano's tasks are keys of a map, and values of the pods' annotations.
TEST(Redaction, ATaskHasOneNameWhereverItStands) {
  const Json group = Parsed(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
    "metadata":{"name":"g"},"spec":{"minMember":2,"minTaskMember":{"swordfish":2}}})");
  const Json pod = Parsed(R"({"kind":"Pod","metadata":{"name":"p","annotations":
    {"volcano.sh/task-spec":"swordfish"}}})");
  const Redaction redaction({group, pod}, {});
  const std::string task =
      redaction.Of(pod)["metadata"]["annotations"]["volcano.sh/task-spec"].AsString();
  EXPECT_EQ(redaction.Of(group)["spec"]["minTaskMember"][task].AsInt(), 2);
  EXPECT_THAT(redaction.Of(group).Dump(), Not(HasSubstr("swordfish")));
}

TEST(Redaction, NamesAreTheSameEverywhereAndKeepTheirOrder) {
  const std::vector<std::string> names = {"alpha",  "alpha-1", "alpha-10", "alpha-beta", "alpha.b",
                                          "alpha2", "beta",    "default",  "delta-x",    "zeta"};
  std::vector<Json> objects;
  for (const std::string& name : names) {
    objects.push_back(
        Json::Object({{"kind", "Pod"}, {"metadata", Json::Object({{"name", name}})}}));
  }
  const Redaction redaction(objects, {});
  std::vector<std::string> after;
  for (const Json& object : objects) {
    after.push_back(redaction.Of(object)["metadata"]["name"].AsString());
  }
  EXPECT_TRUE(std::ranges::is_sorted(after)) << absl::StrCat(after[0], " ", after[1]);
  EXPECT_TRUE(std::ranges::adjacent_find(after) == after.end());
  EXPECT_EQ(redaction.NameOf("default"), "default");
  EXPECT_EQ(redaction.NameOf("zeta/alpha-10"), absl::StrCat(after.back(), "/", after[2]));
  EXPECT_EQ(redaction.NameOf("nobody-1"), "unknown-1");
}

// "storage" is a word of the API, and a namespace of many clusters.
TEST(Redaction, ANameInANamespaceIsTheNameOfItsObject) {
  for (const char* space : {"storage", "memory", "research", "default", "30m"}) {
    const Json pod = Parsed(absl::StrCat(
        R"({"kind":"Pod","metadata":{"name":"alpha-0","namespace":")", space, R"("}})"));
    const Redaction redaction({pod}, {});
    const Json meta = redaction.Of(pod)["metadata"];
    EXPECT_EQ(redaction.NameOf(absl::StrCat(space, "/alpha-0")),
              absl::StrCat(meta["namespace"].AsString(), "/", meta["name"].AsString()));
  }
}

// The members of a gang are told apart by such words, and ranked by name.
TEST(Redaction, WordsBesideNamesKeepTheirPlaceAmongThem) {
  std::vector<std::string> names;
  for (const char* part : {"driver", "exec", "gpu", "head", "launcher", "master", "small", "worker",
                           "zone", "delta", "beta"}) {
    names.push_back(absl::StrCat("job-", part, "-0"));
  }
  std::ranges::sort(names);
  std::vector<Json> objects;
  for (const std::string& name : names) {
    objects.push_back(
        Json::Object({{"kind", "Pod"}, {"metadata", Json::Object({{"name", name}})}}));
  }
  const Redaction redaction(objects, {});
  std::vector<std::string> after;
  for (const std::string& name : names) after.push_back(redaction.NameOf(name));
  EXPECT_TRUE(std::ranges::is_sorted(after)) << ::testing::PrintToString(after);
}

// A pattern would choose nobody among the new names, and tells of the old ones.
TEST(Redaction, HyperNodesHaveTheSameMembersByName) {
  const auto named = [](const std::string& head, const std::string& name, const std::string& spec) {
    return Parsed(
        absl::StrCat("{", head, R"(,"metadata":{"name":")", name, R"("},"spec":)", spec, "}"));
  };
  const std::string node = R"("apiVersion":"v1","kind":"Node")";
  const std::string hyper_node =
      R"("apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode")";
  const std::vector<Json> objects = {
      named(node, "gpu-1", "{}"), named(node, "gpu-2", "{}"), named(node, "other-1", "{}"),
      named(hyper_node, "leaf-7",
            R"({"tier":1,"tierName":"leaf","members":[)"
            R"({"type":"Node","selector":{"regexMatch":{"pattern":"^gpu-\\d$"}}},)"
            R"({"type":"Node","selector":{"exactMatch":{"name":"other-1"}}}]})"),
      named(hyper_node, "top",
            R"({"tier":2,"members":[)"
            R"({"type":"HyperNode","selector":{"regexMatch":{"pattern":"^le"}}}]})")};
  const Redaction redaction(objects, {});
  const auto members_of = [&](const Json& object) {
    std::vector<std::string> members;
    const Json redacted = redaction.Of(object);
    for (const Json& member : redacted.At("spec.members").items()) {
      members.push_back(absl::StrCat(member["type"].AsString(), " ",
                                     member.At("selector.exactMatch.name").AsString()));
    }
    return members;
  };
  const auto name = [&](const char* of) { return redaction.NameOf(of); };
  EXPECT_THAT(members_of(objects[3]),
              ::testing::ElementsAre("Node " + name("gpu-1"), "Node " + name("gpu-2"),
                                     "Node " + name("other-1")));
  EXPECT_THAT(members_of(objects[4]), ::testing::ElementsAre("HyperNode " + name("leaf-7")));
  EXPECT_EQ(redaction.Of(objects[3]).At("spec.tier").AsInt(), 1);
}

TEST(Redaction, AHundredThousandNamesStayShortAndApart) {
  std::vector<Json> objects;
  for (int i = 0; i < 100'000; ++i) {
    objects.push_back(Json::Object({{"metadata", Json::Object({{"name", absl::StrCat("x", i)}})}}));
  }
  const Redaction redaction(objects, {});
  std::vector<std::string> after;
  for (int i = 0; i < 100'000; ++i) after.push_back(redaction.NameOf(absl::StrCat("x", i)));
  std::ranges::sort(after);
  EXPECT_TRUE(std::ranges::adjacent_find(after) == after.end());
  EXPECT_LE(after[0].size(), 5u);
}

// A number of a name stays, and four of them may be an address.
TEST(Redaction, NoAddressStays) {
  const std::string text = Redacted(
      {Parsed(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"10.186.59.23","annotations":
        {"alpha.kubernetes.io/provided-node-ip":"10.186.59.23"}},"spec":{"podCIDR":
        "172.30.4.0/24"}})"),
       Parsed(R"({"kind":"PersistentVolume","metadata":{"name":"v"},"spec":{"nfs":{"server":
        "192.168.7.250"}}})"),
       Parsed(R"({"kind":"Pod","metadata":{"name":"llama-3"},"spec":{"nodeName":
        "ip-10-186-59-24.ec2.internal"}})")});
  for (const char* number : {"186", "172", "168", "250"}) EXPECT_THAT(text, Not(HasSubstr(number)));
  EXPECT_THAT(text, HasSubstr("-3\""));
}

}  // namespace
}  // namespace maniple::replay_redaction_test
