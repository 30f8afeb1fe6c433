// Delimited text with a line of names on top. Fears: a short row is read from its neighbour; an
// empty line shifts the lines that errors name; what is no number is one.
#include "scheduler/simulate/trace_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace maniple::simulate_trace_table_test {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = " a,b ,a\r\n1, 2 ,3\r\n\n4\nx,nan\n0.5,1e3,,";

TEST(TraceTable, FieldsAreThoseOfTheirRowAndColumn) {
  const auto table = TraceTable::Read(kText, ',');
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->size(), 4u);
  EXPECT_EQ(table->At(0, "a"), "1") << "the first of a name";
  EXPECT_EQ(table->At(0, "b"), "2");
  EXPECT_EQ(table->At(1, "a"), "4");
  EXPECT_EQ(table->At(1, "b"), "");
  EXPECT_EQ(table->At(3, "c"), "");
  EXPECT_TRUE(table->Has("b"));
  EXPECT_FALSE(table->Has("b "));
}

TEST(TraceTable, NumbersAreWithinTheirBoundsOrAnErrorNamesTheLine) {
  const auto table = TraceTable::Read(kText, ',');
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(*table->Number(0, "a", 1, 1), 1);
  EXPECT_THAT(table->Number(0, "a", 2, 3).status().ToString(), HasSubstr("line 2, a: \"1\""));
  EXPECT_THAT(table->Number(1, "b", 0, 9).status().ToString(), HasSubstr("line 4, b"));
  EXPECT_FALSE(table->Number(2, "a", 0, 9).ok());
  EXPECT_FALSE(table->Number(2, "b", -9, 9).ok()) << "nan";
  EXPECT_EQ(*table->Whole(3, "b", 0, 1000, 7), 1000);
  EXPECT_EQ(*table->Whole(1, "b", 0, 1000, 7), 7) << "left out";
  EXPECT_THAT(table->Whole(3, "a", 0, 1000, 7).status().ToString(), HasSubstr("whole number"));
}

// As spreadsheets and data frames write: the quotes are no part of a name.
TEST(TraceTable, FieldsMayStandInQuotes) {
  const auto table = TraceTable::Read("\"a\",b\n\"x,y\",\"say \"\"no\"\"\"\n\"\",7\n", ',');
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->At(0, "a"), "x,y");
  EXPECT_EQ(table->At(0, "b"), "say \"no\"");
  EXPECT_EQ(table->At(1, "a"), "");
  EXPECT_EQ(table->At(1, "b"), "7");
  EXPECT_THAT(TraceTable::Read("a,b\n\"x,y\n", ',').status().ToString(),
              HasSubstr("line 2: a quote is opened and not closed"));
  EXPECT_THAT(TraceTable::Read("a,b\n\"x\"y,1\n", ',').status().ToString(),
              HasSubstr("a comma is missing after a quoted field"));
}

TEST(TraceTable, OfNothingHasNoRows) {
  for (const char* text : {"", "\n\r\n", "a,b"}) {
    const auto table = TraceTable::Read(text, ',');
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(table->size(), 0u);
  }
}

}  // namespace
}  // namespace maniple::simulate_trace_table_test
