// YuniKorn's queues as Cohorts and Queues. Fears: a team may use more than before, or less than it
// was promised; a queue is lost without a word; a job's queue has another name here.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/import/import.h"
#include "test/unit/import/notes.h"

namespace maniple::import_yunikorn_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kNode[] =
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n"
    "status: {allocatable: {nvidia.com/gpu: '16', cpu: '96'}}\n";

// Of the partitions, as they stand in the ConfigMap.
ImportResult Imported(const std::string& partitions) {
  const std::string text = absl::StrCat("partitions:\n", partitions);
  return ImportObjects(
      ImportFrom::kYuniKorn,
      {{"y.yaml", absl::StrCat("apiVersion: v1\nkind: ConfigMap\n"
                               "metadata: {name: yunikorn-configs, namespace: yunikorn}\n"
                               "data:\n  log.level: INFO\n  queues.yaml: |\n    ",
                               absl::StrReplaceAll(text, {{"\n", "\n    "}}), "\n", kNode)}});
}

std::vector<std::string> Names(const ImportResult& result) {
  std::vector<std::string> out;
  for (const Json& object : result.objects) {
    out.push_back(
        absl::StrCat(object["kind"].AsString(), " ", object.At("metadata.name").AsString()));
  }
  return out;
}

TEST(ImportYuniKorn, GuaranteedIsNominalMaxIsALimitAndNamesAreWholePaths) {
  const ImportResult result = Imported(
      "- name: default\n"
      "  queues:\n"
      "  - name: root\n"
      "    submitacl: '*'\n"
      "    queues:\n"
      "    - name: lab\n"
      "      resources: {guaranteed: {nvidia.com/gpu: 10}, max: {nvidia.com/gpu: 12}}\n"
      "      queues:\n"
      "      - name: train\n"
      "        resources:\n"
      "          guaranteed: {nvidia.com/gpu: 6, vcore: 500m}\n"
      "          max: {nvidia.com/gpu: 8, memory: 100G}\n"
      "        properties: {preemption.policy: fence}\n"
      "    - name: rest\n");
  EXPECT_THAT(NotesOf(result), IsEmpty());
  ASSERT_THAT(Names(result), ElementsAre("Cohort root", "Cohort root.lab", "Queue root.lab.train",
                                         "Queue root.rest"));
  EXPECT_EQ(result.objects[0]["spec"].Dump(),
            R"({"quotas":[{"flavor":"","resources":[{"name":"cpu","nominal":"95500m"},)"
            R"({"name":"nvidia.com/gpu","nominal":"6"}]}]})");
  EXPECT_EQ(result.objects[1].At("spec.parent").AsString(), "root");
  const Json& train = result.objects[2]["spec"];
  EXPECT_EQ(train["cohort"].AsString(), "root.lab");
  EXPECT_EQ(train["quotas"].items()[0]["resources"].Dump(),
            R"([{"name":"cpu","nominal":"500m"},)"
            R"({"name":"memory","nominal":"0","borrowingLimit":"100G"},)"
            R"({"name":"nvidia.com/gpu","nominal":"6","borrowingLimit":"2"}])");
  EXPECT_EQ(train["preemption"].Dump(), R"({"withinQueue":"Never","reclaimWithinCohort":"Never"})");
  EXPECT_EQ(result.objects[3].At("spec.preemption.reclaimWithinCohort").AsString(), "Any");
}

TEST(ImportYuniKorn, WhatIsNotCarriedOverIsTold) {
  const ImportResult result = Imported(
      "- name: default\n"
      "  preemption: {enabled: false}\n"
      "  placementrules: [{name: tag, value: namespace, create: true}]\n"
      "  queues:\n"
      "  - name: Team_A\n"
      "    parent: true\n"
      "    maxapplications: 3\n"
      "    limits: [{limit: each, users: ['*'], maxapplications: 1}]\n"
      "    surprise: 1\n"
      "    resources: {guaranteed: {vcore: many}, max: {}}\n"
      "    properties: {application.sort.policy: fair, priority.offset: '5', odd: x,\n"
      "                 preemption.policy: disabled}\n"
      "  - name: team_a\n"
      "- name: second\n"
      "  queues: [{name: root}]\n");
  ASSERT_THAT(Names(result), ElementsAre("Cohort root", "Queue root.team-a"));
  EXPECT_EQ(result.objects[1].At("spec.preemption.reclaimWithinCohort").AsString(), "Never");
  const std::vector<std::string> told = NotesOf(result);
  for (const char* line : {
           "note placementrules Partition default: not carried over: a job is charged",
           "note partitions ConfigMap yunikorn/yunikorn-configs: second: skipped",
           "note maxapplications Queue root.Team_A: not carried over",
           "note limits Queue root.Team_A: not carried over",
           "note surprise Queue root.Team_A: not carried over: the field is not known here",
           "error resources.guaranteed.vcore Queue root.Team_A: \"many\" is no quantity",
           "note properties[application.sort.policy] Queue root.Team_A",
           "note properties[priority.offset] Queue root.Team_A",
           "note properties[odd] Queue root.Team_A: not carried over: the property is not known",
           "note properties[preemption.policy] Queue root.Team_A",
           "note parent Queue root.Team_A",
           "note name Queue root.Team_A: is called root.team-a here; for jobs that name it: "
           "`producers.queues: {\"root.Team_A\": root.team-a}`",
           "error name Queue root.team_a: the queue is there twice",
       }) {
    EXPECT_THAT(told, Contains(HasSubstr(line)));
  }
}

TEST(ImportYuniKorn, AFenceAroundOtherQueuesIsToldOf) {
  const std::string queues =
      "  queues:\n"
      "  - name: root\n"
      "    submitacl: '*'\n"
      "    properties: {preemption.policy: fence}\n"
      "    queues:\n"
      "    - name: dept\n"
      "      properties: {preemption.policy: fence}\n"
      "      queues: [{name: a}, {name: b, properties: {preemption.policy: fence}}]\n";
  const ImportResult result = Imported("- name: default\n" + queues);
  EXPECT_THAT(NotesOf(result),
              ElementsAre(HasSubstr("note properties[preemption.policy] Queue root.dept: not "
                                    "carried over: a Cohort is no fence")));
  ASSERT_THAT(Names(result), ElementsAre("Cohort root", "Cohort root.dept", "Queue root.dept.a",
                                         "Queue root.dept.b"));
  const auto reclaims = [&result](size_t i) {
    return result.objects[i].At("spec.preemption.reclaimWithinCohort").AsString();
  };
  EXPECT_EQ(reclaims(2), "Any");
  EXPECT_EQ(reclaims(3), "Never");
  // Where nobody gets anything back, no fence is missed.
  EXPECT_THAT(NotesOf(Imported("- name: default\n  preemption: {enabled: false}\n" + queues)),
              IsEmpty());
}

TEST(ImportYuniKorn, AConfigThatCannotBeReadIsNamed) {
  const ImportResult result = ImportObjects(
      ImportFrom::kYuniKorn,
      {{"y.yaml",
        absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
                     "data: {queues.yaml: '{a: [', other: 'x: 1'}\n",
                     kNode, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: bare}\n")}});
  EXPECT_THAT(result.objects, IsEmpty());
  EXPECT_THAT(
      NotesOf(result),
      AllOf(Contains(HasSubstr("error data[queues.yaml] ConfigMap c: ")),
            Contains(HasSubstr("note data ConfigMap bare: skipped: it has no partitions"))));
}

}  // namespace
}  // namespace maniple::import_yunikorn_test
