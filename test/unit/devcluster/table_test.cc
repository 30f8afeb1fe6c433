#include "api/devcluster/rest/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/devcluster/rest/json_path.h"
#include "api/devcluster/types/time_text.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json Parsed(absl::string_view text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *json : Json();
}

std::vector<std::string> Texts(const std::vector<const Json*>& found) {
  std::vector<std::string> out;
  for (const Json* one : found) out.push_back(one->is_string() ? one->AsString() : one->Dump());
  return out;
}

TEST(JsonPath, ReadsWhatPrinterColumnsUse) {
  const Json object = Parsed(R"({"spec": {"queue": "q", "n": 3},
    "metadata": {"labels": {"a.b/c": "x"}},
    "items": [{"name": "one"}, {"name": "two"}],
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]}})");
  const auto at = [&](absl::string_view path) { return Texts(FindByJsonPath(object, path)); };
  EXPECT_THAT(at(".spec.queue"), ElementsAre("q"));
  EXPECT_THAT(at("{.spec.n}"), ElementsAre("3"));
  EXPECT_THAT(at("$.spec.n"), ElementsAre("3"));
  EXPECT_THAT(at(R"(.status.conditions[?(@.type=="Ready")].status)"), ElementsAre("True"));
  EXPECT_THAT(at(R"(.status.conditions[?(@.type == 'Other')].status)"), ElementsAre("False"));
  EXPECT_THAT(at(".metadata.labels['a.b/c']"), ElementsAre("x"));
  EXPECT_THAT(at(R"(.metadata.labels.a\.b/c)"), ElementsAre("x"));
  EXPECT_THAT(at(".items[*].name"), ElementsAre("one", "two"));
  EXPECT_THAT(at(".items[-1].name"), ElementsAre("two"));
}

TEST(JsonPath, WhatIsNotThereOrNotAPathFindsNothing) {
  const Json object = Parsed(R"({"a": {"b": 1}, "l": [1]})");
  for (const char* path : {".x", ".a.b.c", ".l[7]", ".l[", ".l[?(", ".l[?(@.x)]", "..a", ".a[b]",
                           ".l[99999999999999999999]", "[", "]", ".a['"}) {
    EXPECT_THAT(FindByJsonPath(object, path), IsEmpty()) << path;
  }
}

TEST(HumanDuration, IsWrittenAsKubectlDoes) {
  EXPECT_EQ(HumanDuration(absl::Seconds(0)), "0s");
  EXPECT_EQ(HumanDuration(absl::Seconds(119)), "119s");
  EXPECT_EQ(HumanDuration(absl::Seconds(120)), "2m");
  EXPECT_EQ(HumanDuration(absl::Seconds(185)), "3m5s");
  EXPECT_EQ(HumanDuration(absl::Minutes(10)), "10m");
  EXPECT_EQ(HumanDuration(absl::Minutes(181)), "3h1m");
  EXPECT_EQ(HumanDuration(absl::Hours(8)), "8h");
  EXPECT_EQ(HumanDuration(absl::Hours(47)), "47h");
  EXPECT_EQ(HumanDuration(absl::Hours(48)), "2d");
  EXPECT_EQ(HumanDuration(absl::Hours(51)), "2d3h");
  EXPECT_EQ(HumanDuration(absl::Hours(24 * 100)), "100d");
  EXPECT_EQ(HumanDuration(absl::Hours(24 * 365 * 3)), "3y");
  EXPECT_EQ(HumanDuration(-absl::Hours(1)), "<unknown>");
}

class TableTest : public testing::Test {
 protected:
  // The one row of the object, cells as text by column name.
  std::string Cell(const ResourceType& type, const Json& object, absl::string_view column) {
    const Json* const objects[] = {&object};
    const Json table = ToTable(type, objects, object["metadata"], {.now = now_});
    const std::vector<Json>& columns = table["columnDefinitions"].items();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i]["name"].AsString() != column) continue;
      const Json& cell = table["rows"].items().at(0)["cells"].items().at(i);
      return cell.is_string() ? cell.AsString() : cell.Dump();
    }
    return "no such column";
  }
  const ResourceType& Type(absl::string_view api_version, absl::string_view kind) {
    const ResourceType* type = registry_.FindByKind(api_version, kind);
    EXPECT_NE(type, nullptr);
    return *type;
  }

  TypeRegistry registry_;
  const absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
};

TEST_F(TableTest, APodShowsReadinessStatusRestartsAgeAndNode) {
  const Json pod =
      Parsed(R"({"metadata": {"name": "p", "creationTimestamp": "2023-11-14T22:10:00Z"},
    "spec": {"nodeName": "n1", "containers": [{"name": "a"}, {"name": "b"}]},
    "status": {"phase": "Running", "containerStatuses": [
      {"name": "a", "ready": true, "restartCount": 2, "state": {"running": {}}},
      {"name": "b", "ready": false, "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}})");
  const ResourceType& type = Type("v1", "Pod");
  EXPECT_EQ(Cell(type, pod, "Name"), "p");
  EXPECT_EQ(Cell(type, pod, "Ready"), "1/2");
  EXPECT_EQ(Cell(type, pod, "Status"), "CrashLoopBackOff");
  EXPECT_EQ(Cell(type, pod, "Restarts"), "3");
  EXPECT_EQ(Cell(type, pod, "Age"), "3m20s");
  EXPECT_EQ(Cell(type, pod, "Node"), "n1");
  EXPECT_EQ(Cell(type, pod, "Nominated Node"), "<none>");
}

TEST_F(TableTest, APodThatLeavesIsTerminatingAndAGatedOneSaysSo) {
  const ResourceType& type = Type("v1", "Pod");
  EXPECT_EQ(
      Cell(type, Parsed(R"({"metadata": {"name": "p", "deletionTimestamp": "2023-11-14T22:10:00Z"},
                                  "status": {"phase": "Running"}})"),
           "Status"),
      "Terminating");
  EXPECT_EQ(
      Cell(type,
           Parsed(R"({"metadata": {"name": "p"}, "status": {"phase": "Pending", "conditions": [
                 {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}})"),
           "Status"),
      "SchedulingGated");
  EXPECT_EQ(Cell(type, Parsed(R"({"metadata": {"name": "p"}, "status": {"phase": "Failed",
                 "reason": "OutOfcpu"}})"),
                 "Status"),
            "OutOfcpu");
}

TEST_F(TableTest, ANodeShowsItsReadinessRolesAndWhetherItIsCordoned) {
  const Json node =
      Parsed(R"({"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": ""}},
    "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})");
  const ResourceType& type = Type("v1", "Node");
  EXPECT_EQ(Cell(type, node, "Status"), "Ready,SchedulingDisabled");
  EXPECT_EQ(Cell(type, node, "Roles"), "worker");
}

TEST_F(TableTest, ACustomKindShowsItsPrinterColumnsAndWideOnesHavePriority) {
  ResourceType type;
  type.group = "example.com";
  type.kind = "Toy";
  type.custom = true;
  type.printer_columns = Parsed(R"([
    {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
    {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}])");
  const Json toy =
      Parsed(R"({"metadata": {"name": "t", "creationTimestamp": "2023-11-14T22:13:10Z"},
    "spec": {"count": 4}})");
  EXPECT_EQ(Cell(type, toy, "Name"), "t");
  EXPECT_EQ(Cell(type, toy, "Phase"), "null");
  EXPECT_EQ(Cell(type, toy, "Count"), "4");
  EXPECT_EQ(Cell(type, toy, "Age"), "10s");
  const Json* const objects[] = {&toy};
  const Json table = ToTable(type, objects, Json(), {.now = now_});
  EXPECT_EQ(table["columnDefinitions"].items().at(2)["priority"].AsInt(), 1);
  EXPECT_EQ(table["rows"].items().at(0)["object"]["kind"].AsString(), "PartialObjectMetadata");
}

TEST_F(TableTest, TheListsMetadataAndTheChosenFormOfRowsAreKept) {
  const Json pod = Parsed(R"({"kind": "Pod", "metadata": {"name": "p"}})");
  const Json* const objects[] = {&pod};
  const Json metadata =
      Parsed(R"({"resourceVersion": "9", "continue": "c", "name": "not of a list"})");
  const Json none = ToTable(Type("v1", "Pod"), objects, metadata, {RowObject::kNone, now_});
  EXPECT_EQ(none["metadata"].Dump(), R"({"resourceVersion":"9","continue":"c"})");
  EXPECT_TRUE(none["rows"].items().at(0)["object"].is_null());
  const Json full = ToTable(Type("v1", "Pod"), objects, metadata, {RowObject::kFull, now_});
  EXPECT_EQ(full["rows"].items().at(0)["object"]["kind"].AsString(), "Pod");
  EXPECT_EQ(ParseRowObject("nonsense"), RowObject::kMetadata);
}

TEST_F(TableTest, EveryBuiltinKindCanShowAnObjectWithoutAnyFields) {
  const Json empty = Json::Object();
  const Json* const objects[] = {&empty};
  for (const ResourceType* type : registry_.All()) {
    const Json table = ToTable(*type, objects, Json(), {.now = now_});
    EXPECT_EQ(table["rows"].items().at(0)["cells"].size(), table["columnDefinitions"].size())
        << type->kind;
  }
}

}  // namespace
}  // namespace maniple::devcluster
