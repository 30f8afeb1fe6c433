// The memo of answers by fingerprint. Fears: an answer is found for another print of the same
// place; a memo that holds nothing answers; an answer that is zero, negative or extreme is lost;
// a newer answer does not take the place of an older one.
#include "plugins/framework/answer_memo.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

#include "api/base/random.h"

namespace maniple::framework_answer_memo_test {
namespace {

AnswerPrint PrintOf(std::initializer_list<uint64_t> words) {
  AnswerPrint print;
  for (const uint64_t word : words) print.Add(word);
  return print;
}

TEST(AnswerMemoTest, FindsNothingBeforeAnythingIsPut) {
  const AnswerMemo memo(1);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(memo.Find(PrintOf({i})), std::nullopt);
  EXPECT_EQ(memo.Find({.place = 0, .check = 0}), std::nullopt);
}

TEST(AnswerMemoTest, TellsEveryAnswerAsItWasPut) {
  const AnswerMemo memo(4);
  for (const int64_t answer :
       {int64_t{0}, int64_t{1}, int64_t{-1}, std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max()}) {
    memo.Put(PrintOf({7}), answer);
    EXPECT_EQ(memo.Find(PrintOf({7})), answer);
  }
}

// The last print that was put at a place is found, or another one of it; never a wrong answer.
TEST(AnswerMemoTest, AnswersForNoOtherPrintHoweverFewPlacesThereAre) {
  for (const uint32_t bits : {1U, 3U, 10U}) {
    const AnswerMemo memo(bits);
    Random random(bits);
    for (int step = 0; step < 5000; ++step) {
      const uint64_t word = random.Below(500);
      const std::optional<int64_t> found = memo.Find(PrintOf({word, 1}));
      ASSERT_EQ(found.value_or(static_cast<int64_t>(word * word)), word * word);
      memo.Put(PrintOf({word, 1}), static_cast<int64_t>(word * word));
      ASSERT_TRUE(memo.Find(PrintOf({word, 1})).has_value());
    }
  }
}

TEST(AnswerMemoTest, TellsTheOrderOfWordsAndTheirNumberApart) {
  const std::vector<AnswerPrint> prints = {PrintOf({}),     PrintOf({0}),    PrintOf({0, 0}),
                                           PrintOf({1, 2}), PrintOf({2, 1}), PrintOf({1}),
                                           PrintOf({1, 0}), PrintOf({0, 1})};
  for (size_t a = 0; a < prints.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      EXPECT_NE(prints[a].place, prints[b].place);
      EXPECT_NE(prints[a].check | 1, prints[b].check | 1);
    }
  }
}

}  // namespace
}  // namespace maniple::framework_answer_memo_test
