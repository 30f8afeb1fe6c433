#include "api/codec/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::codec_quantity_test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Quantity Parsed(absl::string_view text) {
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  EXPECT_TRUE(quantity.ok()) << quantity.status();
  return quantity.value_or(Quantity());
}

struct Case {
  absl::string_view text;
  int64_t milli;
  int64_t units;
};

TEST(Quantity, ReadsEverySuffixExactlyAndRoundsUp) {
  const Case cases[] = {
      {"0", 0, 0},
      {"1", 1000, 1},
      {"100m", 100, 1},
      {"1500m", 1500, 2},
      {"1.5", 1500, 2},
      {".5", 500, 1},
      {"5.", 5000, 5},
      {"+2", 2000, 2},
      {"0001", 1000, 1},
      {"0.1", 100, 1},
      {"1n", 1, 1},
      {"1u", 1, 1},
      {"999999u", 1000, 1},
      {"1000001u", 1001, 2},
      {"2k", 2'000'000, 2000},
      {"3M", 3'000'000'000, 3'000'000},
      {"1G", 1'000'000'000'000, 1'000'000'000},
      {"1T", 1'000'000'000'000'000, 1'000'000'000'000},
      {"1P", 1'000'000'000'000'000'000, 1'000'000'000'000'000},
      {"1E", kMost, 1'000'000'000'000'000'000},
      {"1Ki", 1'024'000, 1024},
      {"1.5Gi", 1'610'612'736'000, 1'610'612'736},
      {"0.5Gi", 536'870'912'000, 536'870'912},
      {"0.1Ki", 102'400, 103},
      {"1Mi", 1'048'576'000, 1'048'576},
      {"1Ti", 1'099'511'627'776'000, 1'099'511'627'776},
      {"1Pi", 1'125'899'906'842'624'000, 1'125'899'906'842'624},
      {"7Ei", kMost, 8'070'450'532'247'928'832},
      {"1e3", 1'000'000, 1000},
      {"1E3", 1'000'000, 1000},
      {"1e+3", 1'000'000, 1000},
      {"2e-3", 2, 1},
      {"1.25e2", 125'000, 125},
      {"12345678901e-10", 1235, 2},
      {"9007199254740993", 9'007'199'254'740'993'000, 9'007'199'254'740'993},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Parsed(c.text).Milli(), Amount(c.milli)) << c.text;
    EXPECT_EQ(Parsed(c.text).Units(), Amount(c.units)) << c.text;
  }
}

TEST(Quantity, NegativeAmountsRoundAwayFromZero) {
  EXPECT_EQ(Parsed("-100m").Milli(), Amount(-100));
  EXPECT_EQ(Parsed("-100m").Units(), Amount(-1));
  EXPECT_EQ(Parsed("-1.5").Units(), Amount(-2));
  EXPECT_EQ(Parsed("-1n").Milli(), Amount(-1));
  EXPECT_LT(Parsed("-1.5"), Parsed("-1"));
  EXPECT_LT(Parsed("-0.5"), Parsed("0"));
}

TEST(Quantity, FinerThanNanoBecomesOneNanoAwayFromZero) {
  EXPECT_EQ(Parsed("0.0000000001"), Parsed("1n"));
  EXPECT_EQ(Parsed("1e-30"), Parsed("1n"));
  EXPECT_EQ(Parsed("1e-99999999999999999999"), Parsed("1n"));
  EXPECT_EQ(Parsed("-1e-30"), Parsed("-1n"));
  EXPECT_EQ(Parsed("1.0000000001"), Parsed("1000000001n"));
  EXPECT_EQ(Parsed("0e-30"), Parsed("0"));
  EXPECT_EQ(Parsed("0.00000000000000000001Ei"), Parsed("11529216n"));
}

TEST(Quantity, SaturatesAtTheLargestAmount) {
  for (const absl::string_view text :
       {"9223372036854775807", "9223372036854775808", "8Ei", "100E", "1e19", "1e400",
        "1e99999999999999999999", "99999999999999999999999999999999999999999999",
        "9223372036854775807.9999999999"}) {
    EXPECT_EQ(Parsed(text).Units(), Amount(kMost)) << text;
    EXPECT_EQ(Parsed(text).Milli(), Amount(kMost)) << text;
  }
  EXPECT_EQ(Parsed("-8Ei").Units(), Amount(-kMost));
  EXPECT_EQ(Parsed("-1e400").Milli(), Amount::Min());
}

TEST(Quantity, ALongRunOfDigitsStaysExact) {
  const std::string zeros(100'000, '0');
  EXPECT_EQ(Parsed(absl::StrCat(zeros, "5")), Parsed("5"));
  EXPECT_EQ(Parsed(absl::StrCat("0.", zeros, "5")), Parsed("1n"));
  EXPECT_EQ(Parsed(absl::StrCat("5.", zeros)), Parsed("5"));
  EXPECT_EQ(Parsed(absl::StrCat("5", zeros, "e-100000")), Parsed("5"));
  EXPECT_EQ(Parsed(absl::StrCat("0.5", zeros, "Ki")), Parsed("512"));
}

TEST(Quantity, RefusesWhatTheGrammarDoesNotHave) {
  for (const absl::string_view text :
       {"",    " ",    "1 ",   " 1",  "+",   "-",     ".",     "m",     "Ki",  "1K",
        "1ki", "1mi",  "1i",   "1ee", "1e",  "1e+",   "1e1.5", "1.1.1", "--1", "0x10",
        "1,5", "1Mib", "1 Gi", "NaN", "inf", "1_000", "٣",     "1e3m",  "1mm", "1KiKi"}) {
    const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
    EXPECT_EQ(quantity.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Quantity, TheErrorQuotesAtMostSixtyFourPrintableCharacters) {
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(std::string(1'000'000, 'x'));
  EXPECT_LT(quantity.status().message().size(), 200u);
  EXPECT_THAT(std::string(Quantity::Parse("a\n\x01").status().message()), HasSubstr("\"a  \""));
}

TEST(Quantity, OnlyWholeUnitsAreWhole) {
  EXPECT_TRUE(Parsed("2").IsWhole());
  EXPECT_TRUE(Parsed("2000m").IsWhole());
  EXPECT_TRUE(Parsed("1Ki").IsWhole());
  EXPECT_FALSE(Parsed("1500m").IsWhole());
  EXPECT_FALSE(Parsed("0.1Ki").IsWhole());
}

// Oracle: with at most nine digits and exponents all values fit 128-bit arithmetic on whole nanos.
TEST(Quantity, AgreesWithPlainArithmeticOnRandomDecimals) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto whole = static_cast<int64_t>(random.Below(1'000'000));
    const auto micros = static_cast<int64_t>(random.Below(1'000'000));
    std::string fraction = std::to_string(micros);
    fraction.insert(0, 6 - fraction.size(), '0');
    const std::string text = absl::StrCat(whole, ".", fraction, "Mi");
    const __int128 scaled = (static_cast<__int128>(whole) * 1'000'000 + micros) * (1 << 20);
    const auto up = [&](int64_t per) { return static_cast<int64_t>((scaled + per - 1) / per); };
    EXPECT_EQ(Parsed(text).Units(), Amount(up(1'000'000))) << text;
    EXPECT_EQ(Parsed(text).Milli(), Amount(up(1000))) << text;
  }
}

TEST(ParseAmount, CountsCpuInMilliAndTheRestInUnits) {
  EXPECT_EQ(*ParseAmount("cpu", "1.5"), Amount(1500));
  EXPECT_EQ(*ParseAmount("memory", "1.5"), Amount(2));
  EXPECT_EQ(*ParseAmount("nvidia.com/gpu", "8"), Amount(8));
  EXPECT_FALSE(ParseAmount("cpu", "lots").ok());
}

TEST(FormatAmount, IsReadBackAsTheSameAmount) {
  EXPECT_EQ(FormatAmount("cpu", Amount(1500)), "1500m");
  EXPECT_EQ(FormatAmount("cpu", Amount(2000)), "2");
  EXPECT_EQ(FormatAmount("cpu", Amount(-500)), "-500m");
  EXPECT_EQ(FormatAmount("memory", Amount(1536)), "1536");
  EXPECT_EQ(FormatAmount("memory", Amount(int64_t{1536} << 20)), "1536Mi");
  EXPECT_EQ(FormatAmount("memory", Amount(100'000'000'000)), "100G");
  EXPECT_EQ(FormatAmount("ephemeral-storage", Amount(int64_t{-2} << 60)), "-2Ei");
  EXPECT_EQ(FormatAmount("hugepages-2Mi", Amount(0)), "0");
  EXPECT_EQ(FormatAmount("nvidia.com/gpu", Amount(1024)), "1024");
  for (const int64_t units :
       {int64_t{0}, int64_t{1}, int64_t{999}, int64_t{-1}, int64_t{3} << 40, kMost}) {
    for (const absl::string_view resource : {"cpu", "memory"}) {
      EXPECT_EQ(*ParseAmount(resource, FormatAmount(resource, Amount(units))), Amount(units));
    }
  }
}

}  // namespace
}  // namespace maniple::codec_quantity_test
