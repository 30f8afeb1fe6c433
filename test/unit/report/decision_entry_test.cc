// Entries of the decision log as text and as JSON. Fears: the text begins with a separator; an
// entry that is about no gang names one; a character of a name breaks the line of JSON.
#include "scheduler/report/decision_entry.h"

#include <gtest/gtest.h>

#include <string>

#include "api/codec/json.h"

namespace maniple::report_decision_entry_test {
namespace {

const GangKey kGang = {.namespace_name = "d", .name = "a"};

TEST(DecisionEntries, ALineNamesTheGangOrTheSubject) {
  EXPECT_EQ(LineOf({.what = "place", .gang = kGang, .rest = " quorum: a-0=n1"}),
            "place d/a quorum: a-0=n1");
  EXPECT_EQ(LineOf({.what = "node", .subject = "n1", .rest = ": gone"}), "node n1: gone");
  EXPECT_EQ(LineOf({.what = "left", .gang = kGang}), "left d/a");
}

TEST(DecisionEntries, TextIsTheRestWithoutItsSeparator) {
  for (const auto& [rest, text] : {std::pair<std::string, std::string>(" quorum", "quorum"),
                                   {": why", "why"},
                                   {"", ""},
                                   {":why", ":why"},
                                   {": : x", ": x"},
                                   {"  x", " x"}}) {
    const DecisionEntry entry{.what = "park", .gang = kGang, .rest = rest};
    EXPECT_EQ(TextOf(entry), text) << rest;
  }
}

TEST(DecisionEntries, JsonHoldsWhatTheLineHoldsAndNoEmptyField) {
  const DecisionEntry entry{.at = absl::FromUnixMillis(1500),
                            .what = "park",
                            .gang = kGang,
                            .queue = "q\"\n\xc3\xa9",
                            .rest = ": why",
                            .steps = 7};
  const std::string line = JsonLineOf(entry);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const absl::StatusOr<Json> json = Json::Parse(line);
  ASSERT_TRUE(json.ok()) << line;
  EXPECT_EQ((*json)["at"].AsString(), "1970-01-01T00:00:01.5Z");
  EXPECT_EQ((*json)["queue"].AsString(), entry.queue);
  EXPECT_EQ((*json)["text"].AsString(), "why");
  EXPECT_EQ((*json)["steps"].AsInt(), 7);
  EXPECT_FALSE(json->Has("subject"));
  EXPECT_FALSE(json->Has("refused"));
}

}  // namespace
}  // namespace maniple::report_decision_entry_test
