// Lists as their commands print them. Fears: the documents of a watched -o yaml run together, so
// that no program can read them; -o wide says nothing more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/app/admin_server.h"
#include "scheduler/cli/view_commands.h"
#include "test/support/temp_folder.h"

namespace maniple::cli_lists_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Takes one print, and then no more: so a watch ends.
class OnePrint final : public std::stringbuf {
 public:
  OnePrint() : before_(std::cout.rdbuf(this)) {}
  ~OnePrint() override {
    std::cout.rdbuf(before_);
    std::cout.clear();
  }

 protected:
  int sync() override { return -1; }

 private:
  std::streambuf* const before_;
};

ClusterView OneNode() {
  NodeRow node{.name = "n1", .path = {"hall", "rack-1"}};
  node.taints = {{.key = "gpu", .value = "only", .effect = TaintEffect::kNoSchedule}};
  node.resources = {{.resource = "memory",
                     .allocatable = Amount(int64_t{8} << 30),
                     .free = Amount(int64_t{6} << 30)}};
  node.closed = "its GPU driver is being upgraded";
  ClusterView view;
  view.nodes = {node};
  return view;
}

std::string Printed(const std::string& line, const std::string& output) {
  const TempFolder folder;
  const std::string address = absl::StrCat("unix:", folder.In("run/admin.sock"));
  const auto server =
      AdminServer::Start({.address = address},
                         {.view = [] { return std::make_shared<const ClusterView>(OneNode()); }});
  CLI::App app;
  const AdminClientOptions client{.admin = address};
  const std::string space;
  ViewRequest view;
  int result = 0;
  AddViewCommands(app, {client, output, space}, view, result);
  std::vector<std::string> words = absl::StrSplit(line, ' ');
  std::ranges::reverse(words);  // as CLI11 takes them
  OnePrint print;
  app.parse(words);
  return print.str();
}

TEST(Lists, EachDocumentOfAWatchedListBeginsWithItsMark) {
  EXPECT_THAT(Printed("queues -w", "yaml"), StartsWith("---\n"));
  EXPECT_THAT(Printed("queues -w", "json"), StartsWith("{"));
  EXPECT_THAT(Printed("queues", "yaml"), Not(StartsWith("---")));
}

TEST(Lists, NodesSayWhyNothingStartsThere) {
  EXPECT_THAT(Printed("nodes", ""), HasSubstr("n1    no: its GPU driver is being upgraded  "));
}

TEST(Lists, WideNodesSayMemoryDomainAndTaints) {
  EXPECT_THAT(Printed("nodes", "wide"),
              AllOf(HasSubstr("  FREE  MEMORY       DOMAIN       TAINTS               GANGS\n"),
                    HasSubstr("  -     6.0Gi/8.0Gi  hall/rack-1  gpu=only:NoSchedule  -\n")));
}

}  // namespace
}  // namespace maniple::cli_lists_test
