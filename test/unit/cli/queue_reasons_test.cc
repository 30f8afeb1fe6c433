// The reasons of Queues. Fears: a Queue that stands alone borrows from a Cohort without a name; a
// Queue that uses nothing beyond its own borrows; a limit that keeps it full is not told.
#include "scheduler/cli/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace maniple::cli_queue_reasons_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ReasonsOf(const std::string& cohort, const std::string& borrowed) {
  Json usage = Json::Object(
      {{"name", "gpu"}, {"used", "8"}, {"nominal", "4"}, {"borrowed", borrowed}, {"lent", "0"}});
  Json queue = Json::Object(
      {{"name", "team"}, {"cohort", cohort}, {"usage", Json::Array({std::move(usage)})}});
  return QueueReasons(Json::Object({{"items", Json::Array({std::move(queue)})}}));
}

TEST(QueueReasons, AQueueInACohortBorrowsFromIt) {
  EXPECT_THAT(ReasonsOf("all", "4"), HasSubstr(", 4 of what it uses is borrowed from cohort all"));
  EXPECT_THAT(ReasonsOf("all", "0"), Not(HasSubstr("borrowed")));
}

TEST(QueueReasons, AQueueAloneBorrowsFromNobody) {
  // Its quota was cut while its gangs ran on.
  const std::string text = ReasonsOf("", "4");
  EXPECT_THAT(text, HasSubstr("uses 8, its own quota is 4, 4 more than that"));
  EXPECT_THAT(text, Not(HasSubstr("cohort")));
}

TEST(QueueReasons, LimitsOfBorrowingAndLendingAreTold) {
  const auto reasons = [](Json usage) {
    Json queue = Json::Object(
        {{"name", "team"}, {"cohort", "all"}, {"usage", Json::Array({std::move(usage)})}});
    return QueueReasons(Json::Object({{"items", Json::Array({std::move(queue)})}}));
  };
  Json usage = Json::Object({{"name", "gpu"}, {"used", "8"}, {"nominal", "8"}});
  EXPECT_THAT(reasons(usage), Not(HasSubstr("at most")));
  usage.Set("borrowingLimit", "0");
  usage.Set("lendingLimit", "2");
  EXPECT_THAT(reasons(usage),
              HasSubstr("its own quota is 8, it borrows at most 0, it lends at most 2\n"));
}

}  // namespace
}  // namespace maniple::cli_queue_reasons_test
