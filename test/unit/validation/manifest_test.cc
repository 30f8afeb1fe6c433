// `maniple validate`: findings name file, line and path; references among the files are checked;
// examples are sound.
#include "api/validation/manifest.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> Lines(const std::vector<ManifestFile>& files) {
  std::vector<std::string> lines;
  for (const ManifestFinding& finding : ValidateManifests(files)) {
    const bool error = finding.severity == ManifestFinding::Severity::kError;
    lines.push_back(absl::StrCat(error ? "error " : "note ", finding.file, ":", finding.line, ": ",
                                 finding.path, ": ", finding.message));
  }
  return lines;
}

std::vector<std::string> LinesOf(const std::string& text) { return Lines({{"f.yaml", text}}); }

// Without the notes on kinds that nobody checks.
std::vector<std::string> CheckedLinesOf(const std::string& text) {
  std::vector<std::string> lines = LinesOf(text);
  std::erase_if(lines,
                [](const std::string& line) { return absl::StrContains(line, "are not checked"); });
  return lines;
}

// A document of our group; `rest` follows "kind: …".
std::string Ours(const std::string& kind, const std::string& name, const std::string& rest) {
  return absl::StrCat("---\napiVersion: scheduling.maniple.dev/v1alpha1\nkind: ", kind,
                      "\nmetadata: {name: ", name, "}\n", rest, "\n");
}

TEST(Manifest, AFindingNamesFileLineAndPath) {
  EXPECT_THAT(
      LinesOf(Ours("PodGroup", "a", "spec:\n  queue: \"\"\n  minMember: 0")),
      ElementsAre("error f.yaml:7: spec.minMember: Invalid value: 0: spec.minMember in body should "
                  "be greater than or equal to 1"));
}

TEST(Manifest, WhatHasNoPlaceIsSaidOnlyWhenNothingElseIs) {
  EXPECT_THAT(LinesOf(Ours("PodGroup", "a", "spec: {minMember: 2147483648}")),
              ElementsAre(HasSubstr("spec.minMember: Invalid value: 2147483648")));
  EXPECT_THAT(LinesOf(Ours("Queue", "a", "spec: {ordering: FIFO}")),
              ElementsAre(HasSubstr("spec.ordering: Unsupported value")));
  EXPECT_THAT(LinesOf(Ours("ResourceFlavor", "a", "spec: {priority: 2147483648}")),
              ElementsAre(HasSubstr("with format int32 in spec.priority")));
}

TEST(Manifest, UnknownFieldsAreErrorsAtTheirLine) {
  EXPECT_THAT(LinesOf(Ours("PodGroup", "a", "spec:\n  minMember: 1\n  minMembers: 2")),
              ElementsAre("error f.yaml:7: spec.minMembers: unknown field"));
}

TEST(Manifest, UnknownKindAndVersionOfOurGroupAreErrors) {
  EXPECT_THAT(LinesOf("apiVersion: scheduling.maniple.dev/v1\nkind: Queue\nmetadata: {name: a}"),
              ElementsAre(HasSubstr(
                  "f.yaml:1: apiVersion: version v1 of scheduling.maniple.dev is unknown")));
  EXPECT_THAT(
      LinesOf("apiVersion: scheduling.maniple.dev/v1alpha1\nkind: Gang\nmetadata: {name: a}"),
      ElementsAre("error f.yaml:2: kind: scheduling.maniple.dev has no kind Gang"));
}

TEST(Manifest, NamesAreNeededAndAreDnsNames) {
  EXPECT_THAT(LinesOf(Ours("Queue", "Team_A", "")),
              ElementsAre(HasSubstr("must be a DNS subdomain name")));
  EXPECT_THAT(LinesOf("apiVersion: scheduling.maniple.dev/v1alpha1\nkind: Queue"),
              ElementsAre(HasSubstr("metadata.name: Required value")));
  EXPECT_THAT(LinesOf("apiVersion: scheduling.maniple.dev/v1alpha1\nkind: PodGroup\n"
                      "metadata: {generateName: a-}"),
              IsEmpty());
}

TEST(Manifest, OtherKindsAreSkippedWithOneNote) {
  EXPECT_THAT(LinesOf("{apiVersion: v1, kind: ConfigMap, data: {a: b}}\n---\n{apiVersion: v1, "
                      "kind: ConfigMap}"),
              ElementsAre("note f.yaml:1: : objects of kind ConfigMap are not checked"));
}

TEST(Manifest, WhatIsCheckedOfPodsAndJobsIsSaidEachTime) {
  const std::string job =
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: two}}\n";
  EXPECT_THAT(
      LinesOf(job + "---\n" + job),
      ElementsAre(
          "note f.yaml:1: : objects of kind Job are not checked, except for names and gangs",
          HasSubstr("Job default/j is defined twice")));
}

TEST(Manifest, ObjectsOfAllKindsHaveNames) {
  const auto said = [](const std::string& head, const std::string& metadata) {
    return CheckedLinesOf(absl::StrCat("{apiVersion: ", head, metadata, "}"));
  };
  for (const char* head : {"v1, kind: Pod", "v1, kind: ConfigMap", "batch/v1, kind: Job"}) {
    EXPECT_THAT(said(head, ", metadata: {name: Bad_Name}"),
                ElementsAre(HasSubstr("metadata.name: Invalid value: \"Bad_Name\"")));
    EXPECT_THAT(said(head, ", metadata: {namespace: a}"),
                ElementsAre(HasSubstr("metadata.name: Required value")));
    EXPECT_THAT(said(head, ", metadata: {generateName: a-}"), IsEmpty());
  }
  EXPECT_THAT(said("v1, kind: Pod", ""), ElementsAre(HasSubstr("metadata.name: Required value")));
  EXPECT_THAT(said("kustomize.config.k8s.io/v1beta1, kind: Kustomization", ""), IsEmpty());
  EXPECT_THAT(said("rbac.authorization.k8s.io/v1, kind: ClusterRole",
                   ", metadata: {name: \"system:node\"}"),
              IsEmpty());
}

TEST(Manifest, ItemsOfAListAreChecked) {
  EXPECT_THAT(
      LinesOf("apiVersion: v1\nkind: List\nitems:\n- apiVersion: scheduling.maniple.dev/v1alpha1\n"
              "  kind: PodGroup\n  metadata: {name: a}\n  spec:\n    minMember: -1\n"),
      ElementsAre(StartsWith("error f.yaml:8: spec.minMember: Invalid value: -1")));
}

TEST(Manifest, AnObjectDefinedTwiceIsAnError) {
  EXPECT_THAT(
      Lines({{"a.yaml", Ours("Queue", "q", "")}, {"b.yaml", Ours("Queue", "q", "")}}),
      ElementsAre("error b.yaml:4: metadata.name: Queue q is defined twice, first at a.yaml:4"));
}

TEST(Manifest, ACycleOfCohortsIsOneError) {
  const std::string text =
      Ours("Cohort", "a", "spec: {parent: b}") + Ours("Cohort", "b", "spec: {parent: c}") +
      Ours("Cohort", "c", "spec: {parent: b}") + Ours("Cohort", "d", "spec: {parent: a}");
  EXPECT_THAT(LinesOf(text),
              ElementsAre("error f.yaml:10: spec.parent: the parents form a cycle: b -> c -> b"));
}

TEST(Manifest, ACohortThatIsItsOwnParentIsACycle) {
  EXPECT_THAT(LinesOf(Ours("Cohort", "a", "spec: {parent: a}")),
              ElementsAre("error f.yaml:5: spec.parent: the parents form a cycle: a -> a"));
}

TEST(Manifest, WhatIsNotAmongTheFilesIsANote) {
  EXPECT_THAT(
      LinesOf(Ours("Queue", "q", "spec:\n  cohort: c\n  quotas: [{flavor: x, resources: []}]")),
      ElementsAre(
          "note f.yaml:6: spec.cohort: Cohort c is not among these files",
          "note f.yaml:7: spec.quotas[0].flavor: ResourceFlavor x is not among these files"));
  EXPECT_THAT(
      LinesOf(
          Ours("PodGroup", "g", "spec:\n  queue: q\n  topology: {topologyName: t, required: r}")),
      ElementsAre(
          "note f.yaml:6: spec.queue: Queue q is not among these files",
          "note f.yaml:7: spec.topology.topologyName: Topology t is not among these files"));
}

TEST(Manifest, LevelsMustExistInTheTopologyThatIsMeant) {
  const std::string topology =
      Ours("Topology", "default",
           "spec: {levels: [{name: block, nodeLabel: e.com/b}, {name: rack, nodeLabel: e.com/r}]}");
  const auto group = [&](const std::string& request) {
    return LinesOf(topology + Ours("PodGroup", "g", "spec: {topology: {" + request + "}}"));
  };
  EXPECT_THAT(group("required: rack, preferred: nvlink, slice: {size: 2, level: e.com/r}"),
              IsEmpty());
  EXPECT_THAT(group("required: tier-2, preferred: tier-1"), IsEmpty());
  EXPECT_THAT(
      group("required: row"),
      ElementsAre(
          "error f.yaml:10: spec.topology.required: Topology default has no level row; it has "
          "block, rack"));
  EXPECT_THAT(group("required: e.com/links"),
              ElementsAre(AllOf(HasSubstr("note f.yaml:10: "), HasSubstr("nvlinkDomainLabels"))));
  const std::string hyper_node =
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: s0}\n"
      "spec: {tier: 1, tierName: leaf}\n---\n";
  EXPECT_THAT(
      LinesOf(hyper_node + topology + Ours("PodGroup", "g", "spec: {topology: {required: leaf}}")),
      ElementsAre(HasSubstr("objects of kind HyperNode are not checked")));
  EXPECT_THAT(group("required: rack, slice: {size: 2, level: block}"),
              ElementsAre(HasSubstr(
                  "spec.topology.slice.level: level block is broader than the required rack")));
  EXPECT_THAT(LinesOf(topology + Ours("PodGroup", "g",
                                      "spec: {subGroups: [{name: w, topology: {required: x}}]}")),
              ElementsAre(HasSubstr(
                  "spec.subGroups[0].topology.required: Topology default has no level x")));
}

std::string Member(const std::string& group, const std::string& more, const std::string& spec) {
  return absl::StrCat("---\n{apiVersion: v1, kind: Pod, metadata: {name: p-", group,
                      ", labels: {scheduling.maniple.dev/pod-group: ", group, more, "}}, spec: {",
                      spec, "}}\n");
}

TEST(Manifest, PodsThatJoinAGangAreHeldAgainstIt) {
  const std::string group = Ours("PodGroup", "g", "spec: {minMember: 1, subGroups: [{name: w}]}");
  const std::string worker = ", scheduling.maniple.dev/sub-group: w";
  EXPECT_THAT(CheckedLinesOf(group + Member("g", worker, "schedulerName: maniple")), IsEmpty());
  EXPECT_THAT(LinesOf(group + Member("g", ", scheduling.maniple.dev/sub-group: x",
                                     "schedulerName: maniple")),
              Contains(HasSubstr("PodGroup default/g has no sub-group x")));
  EXPECT_THAT(CheckedLinesOf(group + Member("h", "", "schedulerName: maniple")),
              ElementsAre(HasSubstr(
                  "note f.yaml:7: metadata.labels.scheduling.maniple.dev/pod-group: PodGroup "
                  "default/h is not among these files")));
  EXPECT_THAT(CheckedLinesOf(group + Member("g", worker, "")),
              ElementsAre(HasSubstr("without schedulerName maniple is left to another scheduler")));
  const std::vector<ManifestFile> gold = {
      {"f.yaml", group + Member("g", worker, "schedulerName: maniple-gold")}};
  // One is the note that no Pods are checked.
  EXPECT_THAT(ValidateManifests(gold), SizeIs(2));
  EXPECT_THAT(ValidateManifests(gold, {"maniple", "maniple-gold"}), SizeIs(1));
  EXPECT_THAT(CheckedLinesOf(Member("h", "", "schedulerName: maniple")), IsEmpty());
}

TEST(Manifest, AGangWithTooFewMembersInItsFilesIsNoted) {
  const std::string job =
      "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 3, "
      "template: {metadata: "
      "{labels: {scheduling.maniple.dev/pod-group: g}}, spec: {schedulerName: maniple}}}}\n";
  EXPECT_THAT(CheckedLinesOf(Ours("PodGroup", "g", "spec: {minMember: 3}") + job), IsEmpty());
  EXPECT_THAT(CheckedLinesOf(Ours("PodGroup", "g", "spec: {minMember: 4}") + job),
              ElementsAre("note f.yaml:5: spec.minMember: 3 of 4 members are among these files"));
}

TEST(Manifest, PriorityClassesNeedAWholeNumber) {
  const std::string head =
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p}, value: ";
  EXPECT_THAT(LinesOf(head + "5}"), IsEmpty());
  EXPECT_THAT(LinesOf(head + "high}"), ElementsAre(HasSubstr("value: Required value")));
  EXPECT_THAT(LinesOf(head + "2000000000}"), ElementsAre(HasSubstr("Invalid value: 2000000000")));
  const std::string of_system =
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "
      "system-node-critical}, value: ";
  EXPECT_THAT(LinesOf(of_system + "2000001000}"), IsEmpty());
  EXPECT_THAT(LinesOf(of_system + "5}"), ElementsAre(HasSubstr("metadata.name: Forbidden")));
}

TEST(Manifest, BrokenTextIsAnErrorAtItsLineAndTheOtherFilesAreStillRead) {
  EXPECT_THAT(
      Lines({{"bad.yaml", "a: b\nc: [1,\n"},
             {"good.yaml", Ours("PodGroup", "g", "spec: {minMember: 0}")}}),
      ElementsAre(StartsWith("error bad.yaml:"), StartsWith("error good.yaml:5: spec.minMember")));
}

TEST(Manifest, HostileFilesAreRefusedAndNeverCrash) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs += absl::StrCat("a", i, ": &a", i, " [");
    for (int j = 0; j < 10; ++j) laughs += absl::StrCat(j == 0 ? "" : ",", "*a", i - 1);
    laughs += "]\n";
  }
  const std::vector<std::string> hostile = {
      laughs,
      std::string(100'000, '['),
      std::string(100'000, '{'),
      std::string("\0\xff\xfe", 3),
      "- 1\n- 2\n",
      "just text",
      "42",
      "apiVersion: 1\nkind: 2\n",
      "apiVersion: scheduling.maniple.dev/v1alpha1\nkind: [Queue]\n",
      Ours("PodGroup", "[1]", "spec: text\nmetadata: 7"),
      Ours("Topology", "t", "spec: {levels: {a: b}}"),
      Ours("Cohort", "c", "spec: {quotas: [[[]]], parent: {a: 1}}")};
  for (const std::string& text : hostile) {
    EXPECT_THAT(LinesOf(text), Contains(StartsWith("error "))) << text.substr(0, 60);
  }
  EXPECT_THAT(LinesOf(""), ElementsAre(HasSubstr("holds no object")));
}

std::vector<ManifestFile> FilesIn(const std::string& folder) {
  std::vector<ManifestFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    files.push_back({.name = entry.path().filename(), .text = text.str()});
  }
  return files;
}

TEST(Examples, AllTogetherAreSoundAndComplete) {
  const std::vector<ManifestFile> files = FilesIn("deploy/examples");
  ASSERT_GE(files.size(), 6u);
  for (const std::string& line : Lines(files)) {
    EXPECT_THAT(line,
                HasSubstr("are not checked"));  // Service, Namespace: nothing is missing or wrong
  }
}

TEST(Examples, EachAloneHasNoError) {
  for (const ManifestFile& file : FilesIn("deploy/examples")) {
    for (const std::string& line : Lines({file})) EXPECT_THAT(line, StartsWith("note "));
  }
}

}  // namespace
}  // namespace maniple
