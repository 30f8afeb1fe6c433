// What a Queue has used, when a lead begins while the Queue cannot be read. Fears: the new leader
// wipes out in the Queue's status what earlier ones told; it begins anew once the Queue is
// repaired.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/loop/quota/queue_directory.h"
#include "test/support/builders.h"

namespace maniple::loop_usage_unread_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(LoopUsageUnread, StandsUntilTheQueueIsReadAndIsAddedThen) {
  QueueDirectory directory(absl::Seconds(1), WithoutQueue::kAllow);
  QuotaBook book;
  book.Rebuild();
  directory.Note(ObjectInvalid{.key = {ResourceKind::kQueue, "", "q"}, .uid = "u", .problem = "x"},
                 kNow);
  directory.BeginLeading();
  directory.meter().Set(GangId(1), {"q", "a"}, {{"", kGpuResource, 2}}, kNow);
  const absl::Time later = kNow + absl::Seconds(10);
  const auto unread = directory.TakeDue(later, book);
  ASSERT_EQ(unread.size(), 1u);
  EXPECT_EQ(unread[0].status.used, UsageRecord()) << "nothing is told, so that all stands";
  Queue queue;
  queue.meta.name = "q";
  queue.meta.uid = "u";
  queue.used = {.as_of = kNow - absl::Seconds(50), .rows = {{"a", "", kGpuResource, 1000, 1000}}};
  directory.Note(ObjectUpserted{queue}, later);
  const auto read = directory.TakeDue(later + absl::Seconds(90), book);
  ASSERT_EQ(read.size(), 1u);
  ASSERT_EQ(read[0].status.used.rows.size(), 1u);
  EXPECT_EQ(read[0].status.used.rows[0].total, 1000 + 2 * 100);
  // Whoever could read it all the time does not add it a second time.
  directory.Note(ObjectUpserted{queue}, later + absl::Seconds(90));
  EXPECT_EQ(directory.Views(book, later + absl::Seconds(90))[0].used[0].total, 1200);
}

}  // namespace
}  // namespace maniple::loop_usage_unread_test
