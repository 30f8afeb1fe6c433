// The page as plain tables, against the lists of the command line. Fears: a Queue without limits is
// left out, as though there were none; so is a gang that misses members; a reader of one namespace
// is told of the gangs of others; a row with a number of cells that its head has not.
#include "scheduler/page/page_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace maniple::page_tables_test {
namespace {

using ::testing::HasSubstr;

size_t CellsOf(absl::string_view row) {
  const std::vector<absl::string_view> parts = absl::StrSplit(row, "</t");
  return parts.size() - 2;  // before the first cell's end, and behind the row's own
}

TEST(PageTables, AQueueWithoutLimitsIsListed) {
  ClusterView view;
  view.queues = {{.name = "free", .pending = 2, .running = 1}};
  EXPECT_THAT(PageTables(view, {}),
              HasSubstr("<tr><td>free</td><td></td><td>1</td><td>2</td><td></td>"));
}

TEST(PageTables, AGangThatMissesMembersWaitsBehindThoseWithAPlace) {
  ClusterView view;
  view.gangs = {{.namespace_name = "a", .name = "misses", .phase = "Waiting"},
                {.namespace_name = "a", .name = "second", .phase = "Pending", .position = 2},
                {.namespace_name = "a", .name = "first", .phase = "Pending", .position = 1},
                {.namespace_name = "a", .name = "runs", .phase = "Running"}};
  const std::string html = PageTables(view, {});
  EXPECT_THAT(html, HasSubstr("Waiting (3)"));
  EXPECT_LT(html.find("a/first"), html.find("a/second"));
  EXPECT_LT(html.find("a/second"), html.find("a/misses"));
}

TEST(PageTables, GangsOfOtherNamespacesOnANodeAreOneNumber) {
  ClusterView view;
  view.nodes = {{.name = "n",
                 .resources = {{"nvidia.com/gpu", Amount(8), Amount(1), true}},
                 .uses = {{.gang = "a/mine", .resource = "nvidia.com/gpu", .amount = 4},
                          {.gang = "ab/theirs", .resource = "nvidia.com/gpu", .amount = 2},
                          {.gang = "b/more", .resource = "nvidia.com/gpu", .amount = 1}}}};
  EXPECT_THAT(PageTables(view, {.namespace_name = "a"}), HasSubstr("<td>a/mine 4, others 3</td>"));
  EXPECT_THAT(PageTables(view, {}), HasSubstr("<td>a/mine 4, ab/theirs 2, b/more 1</td>"));
}

TEST(PageTables, WhatIsNotFreeIsToldInFull) {
  ClusterView view;
  view.nodes = {
      {.name = "n",
       .resources = {{"nvidia.com/gpu", Amount(8), Amount(0), true}},
       .uses = {{.gang = "a/train", .resource = "nvidia.com/gpu", .amount = 4, .leaving = 1}},
       .held = {{.gang = "a/next", .resource = "nvidia.com/gpu", .amount = 3}}}};
  EXPECT_THAT(
      PageTables(view, {}),
      HasSubstr(
          "<td>8</td><td>0</td><td>a/train 3, a/train 1 leaving, a/next 3 held, others 1</td>"));
}

TEST(PageTables, ANodeThatIsClosedIsToldWithWhatClosesIt) {
  ClusterView view;
  const std::vector<NodeResourceView> gpus = {{"nvidia.com/gpu", Amount(8), Amount(8), true}};
  view.nodes = {{.name = "a", .schedulable = false, .closed = "cordoned", .resources = gpus},
                {.name = "b", .closed = "not ready", .resources = gpus},
                {.name = "c", .closed = "no room for another pod", .resources = gpus},
                {.name = "d", .taints = {{.key = "team"}}, .resources = gpus}};
  const std::string html = PageTables(view, {});
  EXPECT_THAT(html, HasSubstr("<td>a</td><td>cordoned</td>"));
  EXPECT_THAT(html, HasSubstr("<td>b</td><td>not ready</td>"));
  EXPECT_THAT(html, HasSubstr("<td>c</td><td>no room for another pod</td>"));
  EXPECT_THAT(html, HasSubstr("<td>d</td><td></td>"));
}

TEST(PageTables, EveryRowHasTheCellsOfItsHead) {
  ClusterView view;
  view.gangs = {{.namespace_name = "a", .name = "g", .position = 1}};
  view.queues = {{.name = "free"}, {.name = "tight", .usage = {{.resource = "cpu"}}}};
  view.nodes = {{.name = "n", .resources = {{"nvidia.com/gpu", Amount(8), Amount(8), true}}}};
  size_t head = 0;
  int rows = 0;
  const std::string html = PageTables(view, {});
  for (const absl::string_view line : absl::StrSplit(html, '\n')) {
    if (!absl::StartsWith(line, "<tr>")) continue;
    if (absl::StartsWith(line, "<tr><th>")) head = CellsOf(line);
    EXPECT_EQ(CellsOf(line), head) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 7);
}

}  // namespace
}  // namespace maniple::page_tables_test
