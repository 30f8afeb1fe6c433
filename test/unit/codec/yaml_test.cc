#include "api/codec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::codec_yaml_test {
namespace {

using ::testing::HasSubstr;

std::vector<YamlDocument> Parsed(absl::string_view text) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  EXPECT_TRUE(documents.ok()) << documents.status() << " in " << text;
  return documents.ok() ? *std::move(documents) : std::vector<YamlDocument>();
}

// The only document as JSON.
std::string AsJson(absl::string_view text) {
  const std::vector<YamlDocument> documents = Parsed(text);
  EXPECT_EQ(documents.size(), 1u) << text;
  return documents.empty() ? "" : documents[0].value.Dump();
}

std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  EXPECT_EQ(documents.status().code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 200);
  return std::string(documents.status().message());
}

TEST(ParseYaml, ReadsAManifest) {
  EXPECT_EQ(
      AsJson(R"(
apiVersion: v1
kind: Pod
metadata:
  name: p   # a comment
  labels: {a: b, "c.d/e": 'f'}
spec:
  containers:
  - name: main
    command: [sh, -c, "echo hi"]
    resources:
      limits:
        nvidia.com/gpu: 8
)"),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b","c.d/e":"f"}},)"
      R"("spec":{"containers":[{"name":"main","command":["sh","-c","echo hi"],)"
      R"("resources":{"limits":{"nvidia.com/gpu":8}}}]}})");
}

TEST(ParseYaml, PlainScalarsFollowTheCoreSchemaAndQuotedOnesStayText) {
  const std::pair<absl::string_view, absl::string_view> cases[] = {
      {"true", "true"},
      {"False", "false"},
      {"yes", "\"yes\""},
      {"off", "\"off\""},
      {"y", "\"y\""},
      {"~", "null"},
      {"null", "null"},
      {"7", "7"},
      {"-7", "-7"},
      {"+7", "7"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"1.5", "1.5"},
      {"1e3", "1000.0"},
      {".5", "0.5"},
      {"1.", "1.0"},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "9223372036854775808.0"},
      {"\"7\"", "\"7\""},
      {"'true'", "\"true\""},
      {"\"\"", "\"\""},
      {"1.2.3", "\"1.2.3\""},
      {"100m", "\"100m\""},
      {"1Gi", "\"1Gi\""},
      {"2024-01-02", "\"2024-01-02\""},
      {"1_000", "\"1_000\""},
      {"e3", "\"e3\""},
      {"!!str 7", "\"7\""},
      {"!!int \"7\"", "7"},
      {"!!float 7", "7.0"},
      {"\"\\u00e9\\n\"", "\"\xC3\xA9\\n\""},
      {"|\n  two\n  lines\n", "\"two\\nlines\\n\""},
      {">-\n  two\n  lines\n", "\"two lines\""},
  };
  for (const auto& [text, json] : cases) {
    EXPECT_EQ(AsJson(absl::StrCat("k: ", text)), absl::StrCat("{\"k\":", json, "}")) << text;
  }
}

TEST(ParseYaml, RefusesNumbersWithoutAJsonFormAndUnknownTags) {
  for (const absl::string_view text :
       {"k: .inf", "k: -.Inf", "k: .nan", "k: 1e999", "k: !!int x", "k: !!bool 1",
        "k: !!binary aGk=", "k: !custom x", "k: !!python/object:os.system {}", "k: !!set [a]"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("line 1, column ")) << text;
  }
}

TEST(ParseYaml, ReadsEveryNonEmptyDocumentWithItsLine) {
  const std::vector<YamlDocument> documents =
      Parsed("# head\n---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n");
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].value.Dump(), R"({"a":1})");
  EXPECT_EQ(documents[1].value.Dump(), R"({"b":2})");
  EXPECT_EQ(documents[0].line, 2);
  EXPECT_EQ(documents[1].line, 7);
  EXPECT_TRUE(Parsed("").empty());
  EXPECT_TRUE(Parsed("# only a comment\n").empty());
}

TEST(ParseYaml, KnowsTheLineOfEveryPathOrOfItsNearestAncestor) {
  const std::vector<YamlDocument> documents = Parsed(
      "kind: Topology\nspec:\n  levels:\n  - name: zone\n    nodeLabel: z\n  - name: rack\n");
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0].LineOf("kind"), 1);
  EXPECT_EQ(documents[0].LineOf("spec.levels[0].nodeLabel"), 5);
  EXPECT_EQ(documents[0].LineOf("spec.levels[1].name"), 6);
  EXPECT_EQ(documents[0].LineOf("spec.levels[1].nodeLabel"), 6);
  EXPECT_EQ(documents[0].LineOf("spec.levels[7].x"), documents[0].LineOf("spec.levels"));
  EXPECT_EQ(documents[0].LineOf("status.nothing"), 1);
}

TEST(ParseYaml, ErrorsNameLineAndColumn) {
  EXPECT_THAT(ErrorOf("a: 1\nb: [1, 2\n"), HasSubstr("line 3"));
  EXPECT_THAT(ErrorOf("a: 1\n\tb: 2\n"), HasSubstr("line 2"));
  EXPECT_THAT(ErrorOf("a: 1\nb: 2\na: 3\n"),
              HasSubstr("line 3, column 1: the key \"a\" stands twice"));
  EXPECT_THAT(ErrorOf("? [a, b]\n: 1\n"), HasSubstr("a key must be a scalar"));
  EXPECT_THAT(ErrorOf("k: \"\xff\""), HasSubstr("UTF-8"));
}

TEST(ParseYaml, AKeyThatStandsTwiceIsAnErrorInJsonAsWell) {
  EXPECT_THAT(ErrorOf(R"({"a": 1, "b": {"c": 2, "c": 3}})"),
              HasSubstr("the key \"c\" stands twice"));
}

TEST(ParseYaml, OfABinaryFileTheErrorSaysThatItIsNoText) {
  EXPECT_THAT(ErrorOf(absl::string_view("\x7f"
                                        "ELF\x02\0\0: \"\\q\"",
                                        13)),
              HasSubstr("is no text"));
}

TEST(ParseYaml, AStrayTokenIsAnErrorAndNoEndlessStreamOfDocuments) {
  for (const absl::string_view text : {"]", "}", ",", "a: 1\n]", "[a]\n]\n", "{a: 1}}", "---\n]"}) {
    ErrorOf(text);
  }
}

TEST(ParseYaml, ResolvesAnchorsAndMergeKeys) {
  EXPECT_EQ(AsJson("a: &x {k: 1}\nb: *x\n"), R"({"a":{"k":1},"b":{"k":1}})");
  EXPECT_EQ(AsJson("base: &b {k: 1, l: 2}\nd:\n  <<: *b\n  l: 3\n"),
            R"({"base":{"k":1,"l":2},"d":{"l":3,"k":1}})");
  EXPECT_EQ(AsJson("- &a {k: 1}\n- &b {k: 2, m: 3}\n- <<: [*a, *b]\n"),
            R"([{"k":1},{"k":2,"m":3},{"k":1,"m":3}])");
  EXPECT_EQ(AsJson("\"<<\": 1\n"), R"({"<<":1})");
  EXPECT_THAT(ErrorOf("<<: 1\n"), HasSubstr("merges maps only"));
  EXPECT_THAT(ErrorOf("a: &x [1, *x]\n"), HasSubstr("alias inside"));
  ErrorOf("a: *nowhere\n");
}

TEST(ParseYaml, RefusesABillionLaughs) {
  std::string text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 20; ++i) {
    absl::StrAppend(&text, "a", i, ": &a", i, " [");
    for (int j = 0; j < 9; ++j) absl::StrAppend(&text, j > 0 ? ", " : "", "*a", i - 1);
    text += "]\n";
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("expand to more than"));
}

TEST(ParseYaml, RefusesDeepNestingInEveryStyle) {
  ErrorOf(std::string(100'000, '['));
  EXPECT_THAT(ErrorOf(std::string(1000, '[') + std::string(1000, ']')), HasSubstr("nested deeper"));
  std::string flow;
  std::string compact;
  std::string block;
  for (int i = 0; i < 1000; ++i) {
    flow += "{a: ";
    compact += "- ";
    absl::StrAppend(&block, std::string(static_cast<size_t>(i), ' '), "a:\n");
  }
  EXPECT_THAT(ErrorOf(flow + "1" + std::string(1000, '}')), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf(compact), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf(block), HasSubstr("nested deeper"));
  std::string stacked = "a0: &a0 []\n";
  for (int i = 1; i < 400; ++i) absl::StrAppend(&stacked, "a", i, ": &a", i, " [*a", i - 1, "]\n");
  EXPECT_THAT(ErrorOf(stacked), HasSubstr("nested deeper"));
}

TEST(ParseYaml, ReadsJsonWithEscapesThatYamlLacks) {
  EXPECT_EQ(AsJson(R"({"a": "\ud83d\ude00", "b": "\/"})"),
            "{\"a\":\"\xF0\x9F\x98\x80\",\"b\":\"/\"}");
  EXPECT_EQ(AsJson("{\n\t\"a\": [\n\t\t1\n\t]\n}\n"), R"({"a":[1]})");
}

TEST(DumpYaml, WritesAsKubectlDoes) {
  const Json json = *Json::Parse(
      R"({"kind":"Pod","spec":{"list":[{"name":"a","count":1},"x",[1,2],{}],"empty":[],"none":null}})");
  EXPECT_EQ(DumpYaml(json),
            "kind: Pod\n"
            "spec:\n"
            "  list:\n"
            "  - name: a\n"
            "    count: 1\n"
            "  - x\n"
            "  - - 1\n"
            "    - 2\n"
            "  - {}\n"
            "  empty: []\n"
            "  none: null\n");
}

TEST(DumpYaml, AKeyThatIsTooLongForOneLineIsReadAgain) {
  for (const size_t length : {1022, 1023, 1024, 1025, 5000}) {
    const std::string key(length, 'k');
    Json map = Json::Object(
        {{key, 1}, {"\n" + key, Json::Array({1})}, {key + "m", Json::Object({{"a", 2}})}});
    const Json json = Json::Object({{"list", Json::Array({map})}, {"map", map}});
    const std::vector<YamlDocument> back = Parsed(DumpYaml(json));
    ASSERT_EQ(back.size(), 1u) << length;
    EXPECT_EQ(back[0].value, json) << length;
  }
}

TEST(ItemsOf, AreTheDocumentOrWhatAListHolds) {
  const std::vector<YamlDocument> documents = Parsed(
      "kind: Pod\n---\nkind: PodList\nitems:\n- a: 1\n- a: 2\n---\nkind: List\nitems: none\n");
  ASSERT_EQ(documents.size(), 3u);
  EXPECT_EQ(ItemsOf(documents[0]).size(), 1u);
  EXPECT_EQ(ItemsOf(documents[0])[0].path, "");
  const std::vector<ManifestItem> items = ItemsOf(documents[1]);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1].value["a"], Json(2));
  EXPECT_EQ(items[1].path, "items[1]");
  EXPECT_EQ(items[1].line, 6);
  EXPECT_EQ(ItemsOf(documents[2])[0].value, documents[2].value);
}

TEST(DumpYaml, QuotesEveryTextThatWouldReadAsSomethingElse) {
  for (const absl::string_view text : {"",
                                       "true",
                                       "No",
                                       "on",
                                       "null",
                                       "~",
                                       "7",
                                       "1e3",
                                       "0x1",
                                       ".5",
                                       "-",
                                       "- a",
                                       "a: b",
                                       "a #b",
                                       "#a",
                                       " a",
                                       "a ",
                                       "a:",
                                       "*a",
                                       "&a",
                                       "!a",
                                       "%a",
                                       "@a",
                                       "`a",
                                       "a\nb",
                                       "a\tb",
                                       "\x01",
                                       "{a",
                                       "[a",
                                       "'a",
                                       "\"a",
                                       "2024-01-02",
                                       "=",
                                       "<<",
                                       "?",
                                       "a\xC2\x85"
                                       "b",
                                       "\xE2\x80\xA8",
                                       "---",
                                       "...",
                                       "\x7F",
                                       "a\\b"}) {
    const Json json = Json::Object({{"k", text}, {std::string(text), 1}});
    const std::vector<YamlDocument> back = Parsed(DumpYaml(json));
    ASSERT_EQ(back.size(), 1u) << DumpYaml(json);
    EXPECT_EQ(back[0].value, json) << DumpYaml(json);
  }
}

// Other readers refuse a whole file for one of these (go-yaml: "control characters are not
// allowed"), or lose the spaces beside one, as beside an end of line.
TEST(DumpYaml, EscapesEveryCharacterThatReadersOfYamlDoNotTake) {
  for (const absl::string_view character :
       {"\x7F", "\xC2\x80", "\xC2\x85", "\xC2\x9F", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF",
        "\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    const Json json = Json::Object({{"k", absl::StrCat("a ", character, " b")}});
    const std::string text = DumpYaml(json);
    EXPECT_FALSE(absl::StrContains(text, character)) << text;
    EXPECT_TRUE(absl::StrContains(text, "\\u")) << text;
    ASSERT_EQ(Parsed(text).size(), 1u) << text;
    EXPECT_EQ(Parsed(text)[0].value, json) << text;
  }
  const Json plain = Json::Object({{"k", "\xC2\xA0\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}});
  EXPECT_FALSE(absl::StrContains(DumpYaml(plain), "\""));
}

// Oracle: what was dumped reads back as the same value.
Json RandomJson(Random& random, int depth) {
  switch (random.Below(depth > 0 ? 7 : 5)) {
    case 0:
      return Json();
    case 1:
      return Json(random.OneIn(2));
    case 2:
      return Json(static_cast<int64_t>(random.Next()));
    case 3:
      return Json(random.Unit() * 1e6);
    case 4: {
      static constexpr absl::string_view kAlphabet = "ab:- #\n\"'\\{}[]!&*%@,?|>~01.<=\t";
      std::string text;
      for (uint64_t i = random.Below(12); i > 0; --i)
        text += kAlphabet[random.Below(kAlphabet.size())];
      return Json(text);
    }
    case 5: {
      Json out = Json::Array();
      for (uint64_t i = random.Below(4); i > 0; --i) out.Append(RandomJson(random, depth - 1));
      return out;
    }
    default: {
      Json out = Json::Object();
      for (uint64_t i = random.Below(4); i > 0; --i) {
        out.Set(absl::StrCat("k", random.Below(100), ": "), RandomJson(random, depth - 1));
      }
      return out;
    }
  }
}

TEST(DumpYaml, RandomValuesSurviveTheRoundTrip) {
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    const Json json = Json::Object({{"root", RandomJson(random, 4)}});
    const std::string text = DumpYaml(json);
    const std::vector<YamlDocument> back = Parsed(text);
    ASSERT_EQ(back.size(), 1u) << text;
    ASSERT_EQ(back[0].value, json) << text;
  }
}

}  // namespace
}  // namespace maniple::codec_yaml_test
