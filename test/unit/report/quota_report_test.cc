// The rows of quota that status, views and messages are made from. Fears: use of a queue is told at
// a Cohort twice, or not at all; the sum of what Queues borrow is more than is lent; a queue is
// named as a borrower that has but its own, or the queue itself; a number is negative.
#include "scheduler/report/quota_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::report_quota_report_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Queue QueueOf(const std::string& name, const std::string& cohort, int64_t nominal) {
  Queue queue;
  queue.meta.name = name;
  queue.cohort = cohort;
  queue.quotas = {{.resources = {{.resource = "gpus", .nominal = Amount(nominal)}}}};
  return queue;
}

// Queues q0 … of Cohorts c0 …, each of which stands below another, or at the top.
struct RandomBook {
  explicit RandomBook(Random& random) {
    for (int i = 0; i < 3; ++i) {
      Cohort cohort;
      cohort.meta.name = absl::StrCat("c", i);
      if (i > 0) cohort.parent = absl::StrCat("c", random.Below(static_cast<uint64_t>(i)));
      parent[cohort.meta.name] = cohort.parent;
      cohort.quotas = {{.resources = {{.resource = "gpus",
                                       .nominal = Amount(static_cast<int64_t>(random.Below(4)))}}}};
      book.Note(ObjectUpserted{cohort});
    }
    for (int i = 0; i < 4; ++i) {
      const std::string name = absl::StrCat("q", i), cohort = absl::StrCat("c", random.Below(3));
      queues.push_back(QueueOf(name, cohort, static_cast<int64_t>(random.Below(5))));
      parent[name] = cohort;
      book.Note(ObjectUpserted{queues.back()});
    }
    book.Rebuild();
    cell = book.CellNamed("", "gpus");
    for (const Queue& queue : queues) {
      const auto amount = static_cast<int64_t>(random.Below(7));
      used[queue.meta.name] = amount;
      const Demand demand = {{cell, Amount(amount)}};
      book.tree().Add(book.QueueNamed(queue.meta.name), demand);
    }
  }
  [[nodiscard]] bool IsWithin(std::string node, const std::string& cohort) const {
    while (!node.empty() && node != cohort) node = parent.at(node);
    return node == cohort;
  }

  QuotaBook book;
  std::vector<Queue> queues;
  std::map<std::string, std::string> parent;
  std::map<std::string, int64_t> used;  // by queue
  QuotaCellId cell;
};

TEST(QuotaRows, AddUpToWhatTheQueuesUse) {
  Random random(9);
  for (int round = 0; round < 200; ++round) {
    const RandomBook with(random);
    for (const Queue& queue : with.queues) {
      const std::vector<QuotaUsageView> rows = UsageOfQueue(queue, with.book);
      ASSERT_EQ(rows.size(), 1u);
      const int64_t used = with.used.at(queue.meta.name);
      const int64_t nominal = queue.quotas[0].resources[0].nominal.units();
      EXPECT_EQ(rows[0].used, Amount(used));
      EXPECT_EQ(rows[0].borrowed, Amount(std::max<int64_t>(0, used - nominal)));
      EXPECT_GE(rows[0].lent, Amount());
      EXPECT_LE(rows[0].lent, Amount(std::max<int64_t>(0, nominal - used)));
    }
    for (const std::string cohort : {"c0", "c1", "c2"}) {
      int64_t used = 0;
      for (const auto& [queue, amount] : with.used) {
        used += with.IsWithin(queue, cohort) ? amount : 0;
      }
      const std::vector<QuotaUsageView> rows = UsageOfCohort(cohort, with.book);
      if (rows.empty()) {
        EXPECT_EQ(used, 0);
      } else {
        EXPECT_EQ(rows[0].used, Amount(used)) << cohort;
      }
    }
  }
}

TEST(QuotaRows, BorrowersAreTheOtherQueuesOfTheTreeTheLargestFirst) {
  Random random(10);
  for (int round = 0; round < 200; ++round) {
    const RandomBook with(random);
    const std::vector<BorrowerView> borrowers =
        BorrowersOf({.queue = "q0", .resource = "gpus"}, with.book);
    Amount before = Amount(1'000'000);
    std::map<std::string, int64_t> named;
    for (const BorrowerView& borrower : borrowers) {
      EXPECT_LE(borrower.amount, before);
      before = borrower.amount;
      named[borrower.queue] = borrower.amount.units();
    }
    std::map<std::string, int64_t> naive;
    for (const Queue& queue : with.queues) {
      const int64_t over =
          with.used.at(queue.meta.name) - queue.quotas[0].resources[0].nominal.units();
      if (over > 0 && queue.meta.name != "q0") naive[queue.meta.name] = over;
    }
    EXPECT_EQ(named, naive) << round;
  }
}

// Its Queues borrow from each other what a Queue elsewhere could not have.
TEST(QuotaRows, ABorrowerOfWhatACohortDoesNotLendIsNotNamedElsewhere) {
  for (const int64_t used : {4, 5}) {
    QuotaBook book;
    for (const std::string name : {"root", "closed"}) {
      Cohort cohort;
      cohort.meta.name = name;
      cohort.parent = name == "closed" ? "root" : "";
      cohort.quotas = {{.resources = {{.resource = "gpus", .nominal = Amount(4)}}}};
      if (name == "closed") cohort.quotas[0].resources[0].lending_limit = Amount(0);
      book.Note(ObjectUpserted{cohort});
    }
    book.Note(ObjectUpserted{QueueOf("q", "root", 0)});
    book.Note(ObjectUpserted{QueueOf("r", "closed", 0)});
    book.Rebuild();
    const Demand demand = {{book.CellNamed("", "gpus"), Amount(used)}};
    book.tree().Add(book.QueueNamed("r"), demand);
    EXPECT_EQ(BorrowersOf({.queue = "q", .resource = "gpus"}, book).size(), used > 4 ? 1u : 0u);
  }
}

TEST(QuotaRows, ALineNamesAtMostFiveBorrowersAndCountsTheRest) {
  QuotaLineView line{.queue = "q",
                     .resource = "gpus",
                     .needs = Amount(3),
                     .available = Amount(1),
                     .most = Amount(6),
                     .nominal = Amount(4),
                     .used = Amount(3)};
  EXPECT_THAT(QuotaText(line), Not(HasSubstr("borrowed by")));
  for (int i = 0; i < 6; ++i) {
    line.borrowers.push_back({.queue = absl::StrCat("b", i), .amount = Amount(1)});
  }
  EXPECT_THAT(QuotaText(line), HasSubstr("b4 (1), and 1 more"));
  line.needs = Amount(7);
  EXPECT_THAT(QuotaText(line), HasSubstr("can have at most 6"));
  line.needs = line.most;
  EXPECT_THAT(QuotaText(line), HasSubstr("has 1 left"));
}

}  // namespace
}  // namespace maniple::report_quota_report_test
