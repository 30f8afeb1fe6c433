// The JSONPath of printer columns. Fears: a path that is cut short crashes or loops; quotes and
// brackets in names mislead it; a negative index runs off the list.
#include "api/devcluster/rest/json_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"

namespace maniple::devcluster::devcluster_json_path_test {
namespace {

const Json& Document() {
  static const auto& document = *new Json(*Json::Parse(R"({
      "a": {"b": 1, "c.d": 2, "e]f": 3},
      "list": [{"type": "Ready", "status": "True", "n": 1},
               {"type": "a]b", "status": "False", "n": 2},
               {"status": "Unknown"}],
      "numbers": [10, 20, 30]})"));
  return document;
}

std::string At(absl::string_view path) {
  return absl::StrJoin(FindByJsonPath(Document(), path), " ",
                       [](std::string* out, const Json* value) { *out += value->Dump(); });
}

TEST(JsonPathWalk, LeadsToWhatItNames) {
  EXPECT_EQ(At(".a.b"), "1");
  EXPECT_EQ(At("a.b"), "1");
  EXPECT_EQ(At("{.a.b}"), "1");
  EXPECT_EQ(At("$.a['b']"), "1");
  EXPECT_EQ(At(".a['c.d']"), "2");
  EXPECT_EQ(At(".a.c\\.d"), "2");
  EXPECT_EQ(At(".a[\"e]f\"]"), "3");
  EXPECT_EQ(At(".a.*"), "1 2 3");
  EXPECT_EQ(At(".numbers[*]"), "10 20 30");
  EXPECT_EQ(At(".list[?(@.type==\"Ready\")].status"), "\"True\"");
  EXPECT_EQ(At(".list[?(@.type == 'a]b')].status"), "\"False\"");
  EXPECT_EQ(At(".list[?(@.n==2)].type"), "\"a]b\"");
  EXPECT_EQ(At(".list[*].n"), "1 2");
}

TEST(JsonPathWalk, AnIndexCountsFromEitherEnd) {
  const std::vector<int> numbers = {10, 20, 30};
  for (int index = -6; index <= 6; ++index) {
    const int at = index < 0 ? 3 + index : index;
    const std::string wanted = at >= 0 && at < 3 ? absl::StrCat(numbers[at]) : "";
    EXPECT_EQ(At(absl::StrCat(".numbers[", index, "]")), wanted) << index;
  }
  EXPECT_EQ(At(".numbers[-9223372036854775808]"), "");
  EXPECT_EQ(At(".numbers[9223372036854775808]"), "");
}

TEST(JsonPathWalk, WhatIsNoPathLeadsNowhere) {
  for (const std::string path :
       {"..b", ".a..b", ".list[", ".list[?(", ".list[?(@.type=='x'", ".list[?(type=='Ready')]",
        ".numbers[]", ".numbers[x]", ".a.b.c", ".numbers.b", ".a['b"}) {
    EXPECT_EQ(At(path), "") << path;
  }
}

TEST(JsonPathWalk, AnyTextEnds) {
  constexpr absl::string_view kParts[] = {".", "[",  "]", "?(", ")",    "@",  "==", "'", "\"",
                                          "*", "\\", "a", "b",  "list", "-1", "{",  "}", "$"};
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    std::string path;
    for (uint64_t size = random.Below(12); size > 0; --size) {
      absl::StrAppend(&path, kParts[random.Below(std::size(kParts))]);
    }
    for (const Json* found : FindByJsonPath(Document(), path)) ASSERT_NE(found, nullptr) << path;
  }
}

}  // namespace
}  // namespace maniple::devcluster::devcluster_json_path_test
