// The subset of CEL: values, errors, and that hostile expressions and data cost no more than their
// bounds.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/codec/json.h"
#include "api/validation/cel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maniple {
namespace {

using testing::HasSubstr;

Json Parsed(absl::string_view text) {
  absl::StatusOr<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return *json;
}

// "true", "false", another value's type, or the error.
std::string Outcome(const std::string& rule, const Json& self, const Json* old = nullptr) {
  const absl::StatusOr<CelProgram> program = CelProgram::Compile(rule);
  if (!program.ok()) return absl::StrCat("refused: ", program.status().message());
  CelBudget budget;
  const absl::StatusOr<CelValue> value =
      program->Evaluate({.self = &self, .old_self = old}, budget);
  if (!value.ok()) return absl::StrCat("error: ", value.status().message());
  if (const bool* truth = value->As<bool>()) return *truth ? "true" : "false";
  return std::string(value->Type());
}

struct Row {
  std::string rule;
  std::string outcome;
};

void ExpectAll(const std::vector<Row>& rows, const Json& self) {
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.rule, self), row.outcome) << row.rule;
}

TEST(Cel, ArithmeticFollowsTheLanguage) {
  ExpectAll({{"1 + 2 * 3 == 7", "true"},
             {"(1 + 2) * 3 == 9", "true"},
             {"-7 / 2 == -3 && -7 % 2 == -1", "true"},
             {"7.0 / 2.0 == 3.5", "true"},
             {"2 - -3 == 5", "true"},
             {"--5 == 5", "true"},
             {"1 == 1.0 && 1 < 1.5 && 2.5 > 2", "true"},
             {"9223372036854775807 > 9223372036854775806.0", "false"},
             {"0x10 == 16 && 1e3 == 1000.0 && .5 < 1", "true"},
             {"-9223372036854775808 < 0", "true"},
             {"1 / 0 == 1", "error: division by zero"},
             {"1 % 0 == 1", "error: modulus by zero"},
             {"9223372036854775807 + 1 > 0", "error: integer overflow"},
             {"-9223372036854775808 / -1 > 0", "error: integer overflow"},
             {"-(-9223372036854775808) > 0", "error: integer overflow"},
             {"1 + 'a' == ''", "error: no such overload: arithmetic on int and string"},
             {"'a' < 1", "error: no such overload: string compared with int"}},
            Json());
}

TEST(Cel, TextFunctionsCountCodePointsAndKnowEscapes) {
  ExpectAll(
      {{R"('a' + "b" == 'ab')", "true"},
       {R"(size('é') == 1 && 'é'.size() == 1)", "true"},
       {R"('\u00e9\x41\101\n' == 'éAA' + "\n")", "true"},
       {R"(r'\n'.size() == 2)", "true"},
       {R"('''it's "quoted"'''.contains("'s"))", "true"},
       {R"('abc'.startsWith('ab') && 'abc'.endsWith('bc') && !'abc'.contains('x'))", "true"},
       {R"('a-1'.matches('^[a-z]-[0-9]$') && matches('xay', 'a'))", "true"},
       {R"('x'.matches(self.pattern))", "true"},
       {R"('A b'.lowerAscii() == 'a b' && ' x '.trim() == 'x')", "true"},
       {R"('a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b')", "true"},
       {R"('x'.split('') == [])", "error: split by an empty separator"},
       {R"(string(1) == '1' && int('-5') == -5 && double('1.5') == 1.5 && int(1.9) == 1)", "true"},
       {R"(int('five') == 5)", "error: type conversion error from 'string' to 'int'"},
       {R"(1.matches('x'))", "error: no such overload: matches of int"}},
      Parsed(R"({"pattern": "^x$"})"));
}

TEST(Cel, FieldsAreReadAndTheirAbsenceIsAnError) {
  ExpectAll(
      {{"self.a.b == 1", "true"},
       {"has(self.a) && !has(self.z) && !has(self.a.z)", "true"},
       {"self.z == 1", "error: no such key: z"},
       {"self['a']['b'] == 1", "true"},
       {"self.list[1] == 'y' && self.list[0] in self.list && !('q' in self.list)", "true"},
       {"self.list[2] == 'y'", "error: index out of bounds"},
       {"self.list[-1] == 'y'", "error: index out of bounds"},
       {"'a' in self && !('z' in self)", "true"},
       {"self.a__dash__b == 5 && self.a__dot__b == 6 && self.__in__ == 7", "true"},
       {"self.list.z == 1", "error: no such overload: field z of list"},
       {"has(self)", "refused: the argument of has() must be a field selection"},
       {"self.?a.?b.orValue(9) == 1 && self.?z.?b.orValue(9) == 9", "true"},
       {"self.?z.hasValue()", "false"},
       {"self.?z.value() == 1", "error: optional.none() dereference"},
       {"self.n == null && self.a != null", "true"},
       {"type(self.list) == list && type(1) == int && type('') != int", "true"},
       {"{'k': 1}.k == 1 && {'k': [1]} == {'k': [1]} && {'a': 1} != {'a': 2}", "true"}},
      Parsed(R"({"a": {"b": 1}, "list": ["x", "y"], "a-b": 5, "a.b": 6, "in": 7, "n": null})"));
}

TEST(Cel, AndAndOrAbsorbErrorsOnEitherSide) {
  ExpectAll({{"self.z == 1 || true", "true"},
             {"true || self.z == 1", "true"},
             {"self.z == 1 && false", "false"},
             {"false && self.z == 1", "false"},
             {"self.z == 1 || false", "error: no such key: z"},
             {"true && self.z == 1", "error: no such key: z"},
             {"1 || true", "true"},
             {"1 && true", "error: no such overload: a condition of int"},
             {"true ? 1 == 1 : self.z", "true"},
             {"self.z ? true : false", "error: no such key: z"}},
            Parsed("{}"));
}

TEST(Cel, MacrosRunOverListsAndKeys) {
  ExpectAll(
      {{"self.l.all(x, x > 0)", "true"},
       {"self.l.exists(x, x == 3) && !self.l.exists(x, x == 9)", "true"},
       {"self.l.exists_one(x, x == 2)", "false"},
       {"self.l.exists_one(x, x == 3)", "true"},
       {"self.l.filter(x, x > 1).size() == 3", "true"},
       {"self.l.map(x, x * 2) == [2, 4, 4, 6]", "true"},
       {"self.l.map(x, x > 2, x * 2) == [6]", "true"},
       {"self.l.all(x, self.l.exists(y, y == x && self.l.exists(z, z == y)))", "true"},
       {"self.l.all(x, [x].all(x, x > 0)) && self.l.all(x, x > 0)", "true"},
       {"self.m.all(k, self.m[k] > 0)", "true"},
       {"self.l.exists(x, 1 / (x - 1) == 1)", "true"},
       {"self.l.all(x, 1 / (x - 1) == 1)", "false"},
       {"self.l.isSorted() && self.l.sum() == 8 && self.l.min() == 1 && self.l.max() == 3", "true"},
       {"[].all(x, false) && ![].exists(x, true)", "true"},
       {"self.l.all(x)", "refused: at byte 12: expected ','"},
       {"self.n.all(x, true)", "error: no such overload: a macro of int"},
       {"x > 0", "refused: at byte 0: the name x"}},
      Parsed(R"({"l": [1, 2, 2, 3], "m": {"a": 1, "b": 2}, "n": 5})"));
}

TEST(Cel, QuantitiesAndTimesCompareByValue) {
  ExpectAll(
      {{"quantity('1Gi').isGreaterThan(quantity('1G'))", "true"},
       {"quantity('500m').compareTo(quantity('0.5')) == 0", "true"},
       {"quantity('1') == quantity('1000m')", "true"},
       {"isQuantity('5Mi') && !isQuantity('many')", "true"},
       {"quantity('-1').sign() == -1 && quantity('3').asInteger() == 3", "true"},
       {"!quantity('1.5').isInteger()", "true"},
       {"duration('1h') > duration('59m') && duration('90s').getMinutes() == 1", "true"},
       {"timestamp('2026-01-01T00:00:00Z') + duration('1h') == timestamp('2026-01-01T01:00:00Z')",
        "true"},
       {"timestamp('2026-01-01T00:00:00Z') - timestamp('2025-12-31T23:00:00Z') == duration('1h')",
        "true"},
       {"duration('soon') > duration('1s')",
        "error: type conversion error from 'string' to 'duration'"}},
      Json());
}

TEST(Cel, OldSelfIsKnownToTheProgram) {
  const Json now = Parsed("5"), before = Parsed("4");
  EXPECT_EQ(Outcome("self > oldSelf", now, &before), "true");
  EXPECT_TRUE(CelProgram::Compile("self == oldSelf")->UsesOldSelf());
  EXPECT_FALSE(CelProgram::Compile("self == 1")->UsesOldSelf());
}

TEST(Cel, WhatIsOutsideTheSubsetIsRefusedAndNamed) {
  ExpectAll({{"url(self).getHost() == 'x'", "refused: function url with 1 operands"},
             {"self.find('x') == ''", "refused: function find with 2 operands"},
             {"b'x' == b'x'", "refused: bytes literals"},
             {"5u == 5u", "refused: unsigned literals"},
             {"request.user == ''", "refused: at byte 0: the name request"},
             {"[?self.a] == []", "refused: optional items"},
             {"", "refused: the expression ends too early"},
             {"1 +", "refused: the expression ends too early"},
             {"(1", "refused: at byte 2: expected ')'"},
             {"1 2", "refused: at byte 2: unexpected '2'"},
             {"'open", "refused: at byte 0: the string does not end"},
             {"'\\q'", "refused: at byte 1: unknown escape"},
             {"'\\ud800'", "refused: at byte 1: no such code point"},
             {"99999999999999999999 > 1", "refused: at byte 0: the number is out of range"},
             {"self # 1", "refused: at byte 5: unexpected character"},
             {"self.x.matches('(')", "refused: pattern (: missing ): ("}},
            Parsed("{}"));
}

TEST(Cel, DeepNestingIsRefusedWithoutExhaustingTheStack) {
  constexpr int kDepth = 10'000;
  const std::string open(kDepth, '('), close(kDepth, ')');
  EXPECT_THAT(Outcome(absl::StrCat(open, "1", close), Json()), HasSubstr("nested more than"));
  EXPECT_THAT(Outcome(std::string(kDepth, '['), Json()), HasSubstr("nested more than"));
  EXPECT_THAT(Outcome(absl::StrCat(std::string(kDepth, '!'), "true"), Json()),
              HasSubstr("too large"));
  EXPECT_THAT(Outcome(absl::StrCat(std::string(kDepth, '-'), "(1)"), Json()),
              HasSubstr("too large"));
  std::string chain = "self", sum = "1", conditions = "true";
  for (int i = 0; i < 5'000; ++i) {
    chain += ".a";
    sum += "+1";
    conditions += "?1:1";
  }
  EXPECT_THAT(Outcome(chain, Json()), HasSubstr("too large"));
  EXPECT_THAT(Outcome(sum, Json()), HasSubstr("too large"));
  EXPECT_THAT(Outcome(conditions, Json()), HasSubstr("refused"));
  EXPECT_THAT(Outcome(std::string(1 << 20, 'a'), Json()), HasSubstr("longer than"));
}

TEST(Cel, ALongChainOfAndIsNoDeepTree) {
  std::string rule = "true";
  for (int i = 0; i < 1'000; ++i) rule += " && true";
  EXPECT_EQ(Outcome(rule, Json()), "true");
}

TEST(Cel, AnEvaluationStopsAtItsCostBound) {
  Json list = Json::Array();
  for (int i = 0; i < 2'000; ++i) list.Append(i);
  EXPECT_THAT(Outcome("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))", list),
              HasSubstr("the cost limit is exceeded"));
  // Absorbing errors must not absorb this one.
  EXPECT_THAT(Outcome("self.all(a, self.all(b, self.all(c, a + b + c >= 0))) || true", list),
              HasSubstr("the cost limit is exceeded"));
}

TEST(Cel, WorkOnLargeTextIsPaidByItsLength) {
  const Json text(std::string(2 << 20, 'a'));
  EXPECT_EQ(Outcome("self.contains('b')", text), "false");
  EXPECT_THAT(Outcome("[1,2,3,4,5,6,7,8,9].all(i, self.contains('b') == false)", text),
              HasSubstr("the cost limit is exceeded"));
  EXPECT_THAT(Outcome("(self + self + self + self).size() > 0", text),
              HasSubstr("the cost limit is exceeded"));
  EXPECT_THAT(Outcome("[1,2,3,4,5,6,7,8,9].all(i, self.matches('(a*)*b') == false)", text),
              HasSubstr("the cost limit is exceeded"));
}

TEST(Cel, RulesOfOneObjectShareABudget) {
  Json list = Json::Array();
  for (int i = 0; i < 500; ++i) list.Append(i);
  const absl::StatusOr<CelProgram> program =
      CelProgram::Compile("self.all(a, self.all(b, a + b >= 0 || a + b < 0))");
  ASSERT_TRUE(program.ok()) << program.status();
  CelBudget budget = {.remaining = 1'500'000};
  int refused = 0;
  for (int i = 0; i < 4; ++i) {
    refused += program->Evaluate({.self = &list}, budget).ok() ? 0 : 1;
  }
  EXPECT_GE(refused, 2);
  EXPECT_EQ(budget.remaining, 0);
}

TEST(Cel, TruncatedAndSplicedExpressionsNeverCrash) {
  const std::string seed =
      "self.l.all(x, has(x.a) ? x.a[0] in ['q', r'\\d'] : -1 < 2.5e3 && {'k': x}.k != null || "
      "!x.?b.orValue('\\u00e9').matches('^[a-z]+$'))";
  const Json self = Parsed(R"({"l": [{"a": ["q"]}, {"b": "x"}]})");
  for (size_t cut = 0; cut < seed.size(); ++cut) {
    for (const char* splice : {"", "(", ")", "'", "\\", "[", "?", ".", "&&", "\xff"}) {
      const std::string rule = absl::StrCat(seed.substr(0, cut), splice, seed.substr(cut + 1));
      EXPECT_FALSE(Outcome(rule, self).empty());
      EXPECT_FALSE(Outcome(absl::StrCat(seed.substr(0, cut), splice), self).empty());
    }
  }
}

}  // namespace
}  // namespace maniple
