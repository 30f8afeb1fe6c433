// Affinity, topology spread and volumes of pods: what is refused, in the words of kube-apiserver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/devcluster/cluster.h"

namespace maniple::devcluster::devcluster_pod_terms_test {
namespace {

constexpr absl::string_view kContainer = "'containers':[{'name':'main','image':'i:1'}]";
constexpr absl::string_view kWorkloads = "/apis/apps/v1/namespaces/default/";

// "FIELD: MESSAGE" for each cause, a line each; "" when it was accepted.
std::string CausesIn(const Answer& answer) {
  std::string causes;
  for (const Json& cause : answer.At("details.causes").items()) {
    absl::StrAppend(&causes, causes.empty() ? "" : "\n", cause["field"].AsString(), ": ",
                    cause["message"].AsString());
  }
  EXPECT_EQ(answer.code, causes.empty() ? 201 : 422) << answer.message();
  return causes;
}

std::string RefusalOf(absl::string_view spec) {
  TestCluster cluster;
  return CausesIn(cluster.Post(
      TestCluster::kPods, FromText(absl::StrCat("{'metadata':{'name':'p'},'spec':{", spec, "}}"))));
}

std::string RefusalOfSpread(absl::string_view constraints) {
  return RefusalOf(absl::StrCat(kContainer, ",'topologySpreadConstraints':[", constraints, "]"));
}

std::string RefusalOfNodeTerms(absl::string_view terms) {
  return RefusalOf(absl::StrCat(kContainer,
                                ",'affinity':{'nodeAffinity':{"
                                "'requiredDuringSchedulingIgnoredDuringExecution':"
                                "{'nodeSelectorTerms':[",
                                terms, "]}}}"));
}

std::string RefusalOfRequirement(absl::string_view requirement) {
  return RefusalOfNodeTerms(absl::StrCat("{'matchExpressions':[{", requirement, "}]}"));
}

std::string RefusalOfPodTerm(absl::string_view term) {
  return RefusalOf(absl::StrCat(kContainer,
                                ",'affinity':{'podAntiAffinity':{"
                                "'requiredDuringSchedulingIgnoredDuringExecution':[{",
                                term, "}]}}"));
}

constexpr absl::string_view kNodeTerm =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
    "nodeSelectorTerms[0].";
constexpr absl::string_view kPodTerm =
    "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].";
constexpr absl::string_view kName =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

TEST(PodTerms, WhatIsRightIsAccepted) {
  EXPECT_EQ(RefusalOfSpread("{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':"
                            "'DoNotSchedule','minDomains':2,'nodeTaintsPolicy':'Honor',"
                            "'matchLabelKeys':['a'],'labelSelector':{'matchExpressions':["
                            "{'key':'a','operator':'DoesNotExist'}]}},"
                            "{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':"
                            "'ScheduleAnyway'}"),
            "");
  EXPECT_EQ(RefusalOfNodeTerms("{},{'matchExpressions':[{'key':'a','operator':'Gt','values':"
                               "['b']}],'matchFields':[{'key':'metadata.name','operator':'In',"
                               "'values':['n1']}]}"),
            "");
  EXPECT_EQ(RefusalOfPodTerm("'topologyKey':'zone','labelSelector':{},'namespaces':['a'],"
                             "'namespaceSelector':{'matchLabels':{'a':'b'}}"),
            "");
}

TEST(PodTerms, ARequirementOnNodesHasAnOperatorWithItsValues) {
  const std::string at = absl::StrCat(kNodeTerm, "matchExpressions[0].");
  EXPECT_EQ(RefusalOfRequirement("'key':'a','operator':'Is','values':['b']"),
            at + "operator: Invalid value: \"Is\": not a valid selector operator");
  EXPECT_EQ(RefusalOfRequirement("'key':'a','operator':'In'"),
            at + "values: Required value: must be specified when `operator` is 'In' or 'NotIn'");
  EXPECT_EQ(RefusalOfRequirement("'key':'a','operator':'Exists','values':['b']"),
            at + "values: Forbidden: may not be specified when `operator` is 'Exists' or "
                 "'DoesNotExist'");
  EXPECT_EQ(RefusalOfRequirement("'key':'a','operator':'Gt','values':['1','2']"),
            at + "values: Required value: must be specified single value when `operator` is 'Lt' "
                 "or 'Gt'");
  EXPECT_EQ(RefusalOfRequirement("'key':'a b','operator':'Exists'"),
            absl::StrCat(at, "key: Invalid value: \"a b\": ", kName));
  EXPECT_THAT(RefusalOfRequirement("'key':'a','operator':'In','values':['x y']"),
              testing::StartsWith(at + "values[0]: Invalid value: \"x y\": a valid label must"));
}

TEST(PodTerms, ARequiredNodeAffinityHasATerm) {
  EXPECT_EQ(RefusalOfNodeTerms(""),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms: Required value: must have at least one node selector term");
}

TEST(PodTerms, TheNameIsTheOnlyFieldOfANode) {
  const std::string at = absl::StrCat(kNodeTerm, "matchFields[0].");
  EXPECT_EQ(RefusalOfNodeTerms("{'matchFields':[{'key':'metadata.name','operator':'In','values':"
                               "['a','b']}]}"),
            at + "values: Required value: must be only one value when `operator` is 'In' or "
                 "'NotIn' for node field selector");
  EXPECT_EQ(RefusalOfNodeTerms("{'matchFields':[{'key':'spec','operator':'Exists'}]}"),
            at + "operator: Invalid value: \"Exists\": not a valid selector operator\n" + at +
                "key: Invalid value: \"spec\": not a valid field selector key");
}

TEST(PodTerms, APreferenceHasAWeightFromOneToAHundred) {
  EXPECT_EQ(RefusalOf(absl::StrCat(
                kContainer,
                ",'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':"
                "[{'weight':1000,'preference':{'matchExpressions':[{'key':'a','operator':'In',"
                "'values':['any text']}]}}]}}")),
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
            "Invalid value: 1000: must be in the range 1-100");
  EXPECT_EQ(RefusalOf(absl::StrCat(
                kContainer,
                ",'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':"
                "[{'podAffinityTerm':{'topologyKey':'zone'}}]}}")),
            "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
            "Invalid value: 0: must be in the range 1-100");
}

TEST(PodTerms, ATermAboutPodsHasATopologyAndASelector) {
  const std::string key = absl::StrCat(kPodTerm, "topologyKey: ");
  EXPECT_EQ(RefusalOfPodTerm("'topologyKey':''"),
            absl::StrCat(key, "Required value: can not be empty\n", key,
                         "Invalid value: \"\": name part must be non-empty\n", key,
                         "Invalid value: \"\": ", kName));
  EXPECT_EQ(RefusalOfPodTerm("'topologyKey':'z','labelSelector':{'matchExpressions':["
                             "{'key':'a','operator':'Gt','values':['1']}]}"),
            absl::StrCat(kPodTerm,
                         "labelSelector.matchExpressions[0].operator: Invalid value: "
                         "\"Gt\": not a valid selector operator"));
  EXPECT_EQ(
      RefusalOfPodTerm("'topologyKey':'z','namespaceSelector':{'matchLabels':{'a b':'c'}}"),
      absl::StrCat(kPodTerm, "namespaceSelector.matchLabels: Invalid value: \"a b\": ", kName));
  EXPECT_THAT(RefusalOfPodTerm("'topologyKey':'z','namespaces':['A_']"),
              testing::StartsWith(absl::StrCat(kPodTerm, "namespace: Invalid value: \"A_\": a")));
  EXPECT_EQ(RefusalOfPodTerm("'topologyKey':'z','mismatchLabelKeys':['a b']"),
            absl::StrCat(kPodTerm,
                         "mismatchLabelKeys: Forbidden: must not be specified when "
                         "labelSelector is not set"));
}

TEST(PodTerms, ASpreadHasASkewATopologyAndAnAction) {
  EXPECT_EQ(RefusalOfSpread("{'whenUnsatisfiable':'Maybe'}"),
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than "
            "zero\n"
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty\n"
            "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Maybe\": "
            "supported values: \"DoNotSchedule\", \"ScheduleAnyway\"");
}

TEST(PodTerms, TheRestOfASpreadIsCheckedToo) {
  const std::string zone = "'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':";
  const std::string hard = zone + "'DoNotSchedule'";
  const std::string at = "spec.topologySpreadConstraints[0].";
  EXPECT_EQ(RefusalOfSpread(absl::StrCat("{", hard, "},{", hard, "}")),
            at + "{topologyKey, whenUnsatisfiable}: Duplicate value: \"{zone, DoNotSchedule}\"");
  EXPECT_EQ(RefusalOfSpread(absl::StrCat("{", hard, ",'minDomains':0}")),
            at + "minDomains: Invalid value: 0: must be greater than zero");
  EXPECT_EQ(RefusalOfSpread(absl::StrCat("{", zone, "'ScheduleAnyway','minDomains':2}")),
            at + "minDomains: Invalid value: 2: can only use minDomains if "
                 "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway");
  EXPECT_EQ(RefusalOfSpread(absl::StrCat("{", hard, ",'nodeTaintsPolicy':'Bar'}")),
            at + "nodeTaintsPolicy: Unsupported value: \"Bar\": supported values: \"Honor\", "
                 "\"Ignore\"");
  EXPECT_EQ(RefusalOfSpread(absl::StrCat("{", hard, ",'matchLabelKeys':['a']}")),
            at + "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set");
  EXPECT_EQ(RefusalOfSpread(absl::StrCat("{", hard,
                                         ",'labelSelector':{'matchExpressions':[{'key':'a',"
                                         "'operator':'Foo'}]}}")),
            at + "labelSelector.matchExpressions[0].operator: Invalid value: \"Foo\": not a valid "
                 "selector operator");
}

TEST(PodVolumes, HaveNamesOfTheirOwnThatMountsName) {
  EXPECT_EQ(RefusalOf(absl::StrCat(kContainer, ",'volumes':[{'name':'v'},{'name':'v'},{}]")),
            "spec.volumes[1].name: Duplicate value: \"v\"\n"
            "spec.volumes[2].name: Required value");
  EXPECT_EQ(RefusalOf("'volumes':[{'name':'v'}],'containers':[{'name':'c','image':'i',"
                      "'volumeMounts':[{'name':'v','mountPath':'/a'},"
                      "{'name':'w','mountPath':'/a'},{'name':'v'}]}]"),
            "spec.containers[0].volumeMounts[1].name: Not found: \"w\"\n"
            "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique\n"
            "spec.containers[0].volumeMounts[2].mountPath: Required value");
}

TEST(PodVolumes, OfAStatefulSetAreItsClaimsToo) {
  constexpr absl::string_view kSpec =
      "{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
      "'volumeClaimTemplates':[{'metadata':{'name':'data'}}],"
      "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c',"
      "'image':'i','volumeMounts':[{'name':'data','mountPath':'/d'}]}]}}}}";
  TestCluster cluster;
  Json set = FromText(kSpec);
  EXPECT_EQ(CausesIn(cluster.Post(absl::StrCat(kWorkloads, "statefulsets"), set)), "");
  set.Mutable("spec").Erase("volumeClaimTemplates");
  EXPECT_EQ(CausesIn(cluster.Post(absl::StrCat(kWorkloads, "deployments"), set)),
            "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\"");
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_pod_terms_test
