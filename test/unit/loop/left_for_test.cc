// What is remembered of whom a gang had to leave for reads the same after a restart.
#include "scheduler/loop/records/left_for.h"

#include <gtest/gtest.h>

#include "scheduler/loop/records/eviction.h"

namespace maniple {
namespace {

TEST(LeftFor, WhatIsWrittenIsReadAgain) {
  const std::vector<LeftFor> all = {{.name = "default/a", .queue = "", .uid = "u-1", .terms = 7},
                                    {.name = "ml/b", .queue = "of queue", .uid = "u-2", .terms = 9},
                                    {.name = "ml/c", .queue = "q", .uid = "u-3", .terms = ~0ULL}};
  EXPECT_EQ(LeftForText(all),
            "default/a (uid=u-1, terms=7); ml/b of queue of queue (uid=u-2, terms=9); "
            "ml/c of queue q (uid=u-3, terms=ffffffffffffffff)");
  EXPECT_EQ(ParseLeftFor(LeftForText({all[0], all[2]})), (std::vector<LeftFor>{all[0], all[2]}));
}

TEST(LeftFor, WhatNamesNoUidSaysNothing) {
  for (const char* text : {"", "default/other", "default/b of queue y", "default/b (uid=, terms=1)",
                           "default/b (uid=u, terms=)", "default/b (uid=u, terms=xyz)", ")", "; ;",
                           "default/b (terms=1, uid=u)"}) {
    EXPECT_TRUE(ParseLeftFor(text).empty()) << text;
  }
}

TEST(LeftFor, OnlyTheNewestAreKeptAndEachOnce) {
  std::vector<LeftFor> all;
  for (const char* uid : {"1", "2", "3", "1", "4", "5"}) Remember({.name = "n/g", .uid = uid}, all);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all.front().uid, "3");
  EXPECT_EQ(all.back().uid, "5");
}

TEST(LeftFor, TermsDifferInEveryPart) {
  const LeavingTerms terms{.quotas = 1,
                           .priority = 2,
                           .preemptor_priority = 3,
                           .queued = absl::FromUnixMillis(4'700),
                           .preemptor_queued = absl::FromUnixSeconds(5)};
  LeavingTerms same = terms;
  same.queued = absl::FromUnixMillis(4'100);  // statuses keep whole seconds
  EXPECT_EQ(TermsOf(same), TermsOf(terms));
  for (auto change : {+[](LeavingTerms& t) { ++t.quotas; }, +[](LeavingTerms& t) { ++t.priority; },
                      +[](LeavingTerms& t) { --t.preemptor_priority; },
                      +[](LeavingTerms& t) { t.queued += absl::Seconds(1); },
                      +[](LeavingTerms& t) { t.preemptor_queued += absl::Seconds(1); }}) {
    LeavingTerms other = terms;
    change(other);
    EXPECT_NE(TermsOf(other), TermsOf(terms));
  }
}

// The fear: a gang that cannot start where room was made for it evicts the same one for ever.
TEST(StartsInVain, PauseTheNextPreemptionForLongerEachTime) {
  EXPECT_EQ(PauseAfter(1), absl::ZeroDuration()) << "the cluster may have changed";
  EXPECT_EQ(PauseAfter(2), absl::Seconds(15));
  EXPECT_EQ(PauseAfter(3), absl::Seconds(30));
  for (const int many : {9, 10, 1'000'000}) EXPECT_EQ(PauseAfter(many), absl::Minutes(30));
}

}  // namespace
}  // namespace maniple
