// Numbers of CEL: arithmetic, order and conversions. Fears: NaN is equal to something, or ordered;
// an overflow wraps; a text that Go does not read as a number is one; a number loses digits as
// text.
#include "api/validation/cel_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/validation/cel.h"

namespace maniple::validation_cel_numbers_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
using Wide = __int128;

// "true", "false", the text, or "error".
std::string Of(const std::string& rule) {
  const absl::StatusOr<CelProgram> program = CelProgram::Compile(rule);
  if (!program.ok()) return absl::StrCat("refused: ", program.status().message());
  const Json self = Json::Object();
  CelBudget budget;
  const absl::StatusOr<CelValue> value = program->Evaluate({.self = &self}, budget);
  if (!value.ok()) return "error";
  if (const bool* truth = value->As<bool>()) return *truth ? "true" : "false";
  if (const auto text = value->AsText()) return std::string(*text);
  return std::string(value->Type());
}

Wide Exactly(CelArithmetic operation, Wide a, Wide b) {
  switch (operation) {
    case CelArithmetic::kAdd:
      return a + b;
    case CelArithmetic::kSubtract:
      return a - b;
    case CelArithmetic::kMultiply:
      return a * b;
    case CelArithmetic::kDivide:
      return a / b;
    case CelArithmetic::kModulo:
      // -2^63 % -1 is an overflow of Go's too.
      return a == kLeast && b == -1 ? Wide{kMost} + 1 : a % b;
  }
  return 0;
}

TEST(CelNumbers, IntegersAreExactOrAnError) {
  const std::vector<int64_t> numbers = {
      kLeast, kLeast + 1, -3'037'000'500, -7,        -2,   -1, 0, 1, 2, 7, 10,
      63,     kMost / 2,  kMost / 2 + 1,  kMost - 1, kMost};
  for (const auto operation :
       {CelArithmetic::kAdd, CelArithmetic::kSubtract, CelArithmetic::kMultiply,
        CelArithmetic::kDivide, CelArithmetic::kModulo}) {
    const bool divides = operation == CelArithmetic::kDivide || operation == CelArithmetic::kModulo;
    for (const int64_t a : numbers) {
      for (const int64_t b : numbers) {
        const auto got = CelCompute(operation, CelValue::Int(a), CelValue::Int(b));
        const Wide want = divides && b == 0 ? Wide{kMost} + 1 : Exactly(operation, a, b);
        const bool fits = want >= kLeast && want <= kMost;
        ASSERT_EQ(got.ok(), fits) << a << " and " << b;
        if (!fits) continue;
        EXPECT_EQ(*got->As<int64_t>(), static_cast<int64_t>(want)) << a << " and " << b;
      }
    }
  }
}

TEST(CelNumbers, IntegersAndDecimalsHaveOneOrder) {
  const std::vector<double> decimals = {-1e300, -0x1p63, -1.5, -1, -0.5,   -0.0,   0.0,
                                        0.5,    1,       1.5,  7,  0x1p53, 0x1p63, 1e300};
  const std::vector<int64_t> integers = {kLeast, -2, -1, 0, 1, 2, 7, int64_t{1} << 53, kMost};
  for (const double decimal : decimals) {
    for (const int64_t integer : integers) {
      const auto exact = static_cast<long double>(integer);
      const int want = exact < decimal ? -1 : (exact > decimal ? 1 : 0);
      const CelValue a = CelValue::Int(integer), b = CelValue::Double(decimal);
      EXPECT_EQ(*CelCompare(a, b), want) << integer << " and " << decimal;
      EXPECT_EQ(*CelCompare(b, a), -want) << decimal << " and " << integer;
      EXPECT_EQ(CelEquals(a, b), want == 0) << integer << " and " << decimal;
    }
  }
}

TEST(CelNumbers, NanIsEqualToNothing) {
  const CelValue nan = CelValue::Double(std::nan(""));
  for (const CelValue& other : {CelValue::Int(0), CelValue::Int(kLeast), CelValue::Double(1.0),
                                CelValue::Double(std::nan("")), CelValue::Text("nan")}) {
    EXPECT_FALSE(CelEquals(nan, other)) << other.Type();
    EXPECT_FALSE(CelEquals(other, nan)) << other.Type();
  }
  EXPECT_EQ(Of("0.0 / 0.0 in [1.0, 2]"), "false");
  EXPECT_EQ(Of("1.0 == 0.0 / 0.0"), "false");
}

// As cel-go says: "NaN values cannot be ordered".
TEST(CelNumbers, NanHasNoOrder) {
  for (const std::string order : {"<", "<=", ">", ">="}) {
    for (const std::string other : {"1.0", "1", "0.0 / 0.0"}) {
      EXPECT_EQ(Of(absl::StrCat("0.0 / 0.0 ", order, " ", other)), "error") << order << other;
      EXPECT_EQ(Of(absl::StrCat(other, " ", order, " 0.0 / 0.0")), "error") << order << other;
    }
  }
  EXPECT_EQ(Of("[1.0, 0.0 / 0.0].isSorted()"), "error");
}

TEST(CelNumbers, OnlyTextThatGoReadsIsANumber) {
  EXPECT_EQ(Of("double('1.5') == 1.5 && double('-1e3') == -1000.0"), "true");
  EXPECT_EQ(Of("int('-12') == -12 && int('9223372036854775807') > 0"), "true");
  for (const std::string text : {"", " 1", "1 ", "1\\n", "1x", "--1", "1 2"}) {
    EXPECT_EQ(Of(absl::StrCat("double('", text, "') == 1.0")), "error") << text;
    EXPECT_EQ(Of(absl::StrCat("int('", text, "') == 1")), "error") << text;
  }
  EXPECT_EQ(Of("int('9223372036854775808') > 0"), "error");
  EXPECT_EQ(Of("double('1e999') > 0.0"), "error");
  EXPECT_EQ(Of("int(0.0 / 0.0) == 0"), "error");
  EXPECT_EQ(Of("int(9223372036854775808.0) == 0"), "error");
}

TEST(CelNumbers, BooleansAreReadAsGoReadsThem) {
  for (const std::string yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    EXPECT_EQ(Of(absl::StrCat("bool('", yes, "')")), "true") << yes;
  }
  for (const std::string no : {"0", "f", "F", "FALSE", "false", "False"}) {
    EXPECT_EQ(Of(absl::StrCat("bool('", no, "')")), "false") << no;
  }
  for (const std::string other : {"", "yes", "tRUE", " 1"}) {
    EXPECT_EQ(Of(absl::StrCat("bool('", other, "')")), "error") << other;
  }
}

TEST(CelNumbers, ASpanKeepsItsDigitsAsText) {
  EXPECT_EQ(Of("string(duration('90s'))"), "90s");
  EXPECT_EQ(Of("string(duration('300h'))"), "1080000s");
  EXPECT_EQ(Of("string(duration('1234567.5s'))"), "1234567.5s");
  EXPECT_EQ(Of("string(duration('1ms'))"), "0.001s");
  EXPECT_EQ(Of("string(duration('-1m'))"), "-60s");
}

}  // namespace
}  // namespace maniple::validation_cel_numbers_test
