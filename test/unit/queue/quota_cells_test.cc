// The cells of quota that exist. Fear: one that nobody names any more is charged all the same, so
// that shares hang on what Queues once said, and change when the scheduler starts anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "queue/quota_book.h"
#include "test/support/builders.h"

namespace maniple::queue_quota_cells_test {
namespace {

ObjectEvent QueueWith(const std::string& flavor) {
  Queue queue;
  queue.meta.name = "q";
  queue.meta.uid = "u";
  queue.quotas = {
      {.flavor = flavor, .resources = {{.resource = kGpuResource, .nominal = Amount(8)}}}};
  return ObjectUpserted{queue};
}

TEST(QueueQuotaCells, OneThatNobodyNamesAnyMoreIsChargedToNobody) {
  QuotaBook book;
  ResourceFlavor flavor;
  flavor.meta.name = "h100";
  flavor.node_labels.Set("gpu", "h100");
  (void)book.Note(ObjectUpserted{flavor});
  (void)book.Note(QueueWith(""));
  book.Rebuild();
  ASSERT_TRUE(book.CellNamed("", kGpuResource).valid());
  (void)book.Note(QueueWith("h100"));
  book.Rebuild();
  EXPECT_FALSE(book.CellNamed("", kGpuResource).valid());
  // As in a process that has heard of the newest Queue only.
  const CellAnswer elsewhere = book.CellFor(book.QueueNamed("q"), kGpuResource, FlavorId());
  EXPECT_EQ(elsewhere.rule, CellRule::kForbidden);
  EXPECT_FALSE(elsewhere.cell.valid());
  (void)book.Note(QueueWith(""));
  book.Rebuild();
  EXPECT_TRUE(book.CellNamed("", kGpuResource).valid());
}

}  // namespace
}  // namespace maniple::queue_quota_cells_test
