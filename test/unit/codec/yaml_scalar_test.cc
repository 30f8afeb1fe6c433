// Which YAML scalar is which value. Fears: a text is written without quotes, and read as a number,
// a truth value or nothing; a number is read as a text; a number that JSON cannot hold passes.
#include "api/codec/yaml_scalar.h"

#include <gtest/gtest.h>

#include <string>

#include "api/base/random.h"
#include "api/codec/yaml.h"

namespace maniple::codec_yaml_scalar_test {
namespace {

void ComesBack(const std::string& text) {
  const Json list = Json::Array({Json(text), Json::Object({{text, text}})});
  const std::string yaml = DumpYaml(list);
  const absl::StatusOr<std::vector<YamlDocument>> read = ParseYaml(yaml);
  ASSERT_TRUE(read.ok()) << yaml << read.status();
  ASSERT_EQ(read->size(), 1);
  ASSERT_EQ(read->front().value.Dump(), list.Dump()) << yaml;
  if (!IsPlainYamlText(text)) return;
  const absl::StatusOr<Json> plain = ResolveYamlScalar("?", text);
  ASSERT_TRUE(plain.ok() && plain->is_string() && plain->AsString() == text) << text;
}

TEST(YamlScalar, EachShortTextOfOddCharactersComesBack) {
  const std::string odd = "ay1.:-#+~ \"'[{,?&*!|>%@`=<\n\t\\/_eE0xo";
  for (const char a : odd) {
    ASSERT_NO_FATAL_FAILURE(ComesBack(std::string(1, a)));
    for (const char b : odd) ASSERT_NO_FATAL_FAILURE(ComesBack({a, b}));
  }
}

TEST(YamlScalar, WordsAndNumbersInAnyCaseComeBackAsTexts) {
  for (const char* text : {"",
                           "null",
                           "Null",
                           "NULL",
                           "true",
                           "True",
                           "TRUE",
                           "yes",
                           "No",
                           "on",
                           "OFF",
                           "y",
                           "N",
                           "~",
                           "0x1F",
                           "0o17",
                           "017",
                           "1e3",
                           "1E+3",
                           ".5",
                           "+1",
                           "-1",
                           "1_0",
                           ".inf",
                           "-.Inf",
                           ".nan",
                           "NaN",
                           "1:30",
                           "---",
                           "...",
                           "2026-01-01",
                           "<<",
                           "=",
                           "\xC2\x85",
                           "a\xE2\x80\xA8",
                           "\xEF\xBB\xBFz",
                           "\xC3\xA9",
                           "\xF0\x9F\x98\x80"}) {
    ASSERT_NO_FATAL_FAILURE(ComesBack(text));
  }
}

TEST(YamlScalar, NoWordThatAnyReaderTakesForAValueIsPlain) {
  for (const char* text :
       {"y", "Y", "n", "yes", "No", "on", "OFF", "true", "null", "~", "1", "."}) {
    EXPECT_FALSE(IsPlainYamlText(text)) << text;
  }
  EXPECT_TRUE(IsPlainYamlText("only"));
}

// Numbers of digits, as the core schema of YAML 1.2 has them.
TEST(YamlScalar, APlainNumberIsTheNumberThatItsDigitsMake) {
  Random random(4);
  for (int round = 0; round < 500; ++round) {
    int64_t value = 0;
    std::string digits(1 + random.Below(17), '0');
    for (char& digit : digits) {
      digit = static_cast<char>('0' + random.Below(10));
      value = value * 10 + (digit - '0');
    }
    const absl::StatusOr<Json> plus = ResolveYamlScalar("?", "+" + digits);
    const absl::StatusOr<Json> minus = ResolveYamlScalar("?", "-" + digits);
    ASSERT_TRUE(plus.ok() && plus->is_int() && plus->AsInt() == value) << digits;
    ASSERT_TRUE(minus.ok() && minus->is_int() && minus->AsInt() == -value) << digits;
    ASSERT_TRUE(ResolveYamlScalar("!", digits)->is_string());
    ASSERT_FALSE(ResolveYamlScalar("?", digits + "e400").ok() && value != 0) << digits;
  }
}

TEST(YamlScalar, ATagThatTheTextDoesNotFitIsRefused) {
  const std::string prefix = "tag:yaml.org,2002:";
  EXPECT_FALSE(ResolveYamlScalar(prefix + "int", "x").ok());
  EXPECT_FALSE(ResolveYamlScalar(prefix + "int", "1.5").ok());
  EXPECT_FALSE(ResolveYamlScalar(prefix + "float", ".inf").ok());
  EXPECT_FALSE(ResolveYamlScalar(prefix + "bool", "yes").ok());
  EXPECT_FALSE(ResolveYamlScalar(prefix + "null", "0").ok());
  EXPECT_FALSE(ResolveYamlScalar(prefix + "binary", "AAAA").ok());
  EXPECT_FALSE(ResolveYamlScalar("!ours", "1").ok());
  EXPECT_EQ(ResolveYamlScalar(prefix + "str", "1")->AsString(), "1");
}

}  // namespace
}  // namespace maniple::codec_yaml_scalar_test
