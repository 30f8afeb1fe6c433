// Gangs that their Queue does not let start. Fear: the reason changes, one of them hears of it,
// and all others go on telling the old one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/support/loop_driver.h"

namespace maniple::loop_queue_refusal_test {
namespace {

constexpr int kGangs = 3;

Queue OneThatRefuses() {
  Queue queue;
  queue.meta.name = "q";
  queue.meta.uid = "uid-q";
  queue.namespace_selector = Labelled("team", "x");
  queue.quotas = {{.flavor = "", .resources = {{.resource = kGpuResource, .nominal = Amount(8)}}}};
  return queue;
}

void ExpectAllSay(LoopDriver& d, const std::string& reason) {
  for (int i = 0; i < kGangs; ++i) {
    const GangView* gang = d.ViewOf(absl::StrCat("g", i));
    ASSERT_NE(gang, nullptr);
    EXPECT_EQ(gang->reason, reason) << gang->name << ": " << gang->message;
  }
}

TEST(LoopQueueRefusal, EveryGangHearsOfANewReason) {
  LoopDriver d;
  d.Nodes(1, 8);
  Queue queue = OneThatRefuses();
  d.Put(ObjectUpserted{queue});
  for (int i = 0; i < kGangs; ++i) d.Submit({.gang = absl::StrCat("g", i), .queue = "q"});
  d.Settle(absl::Seconds(20));
  ExpectAllSay(d, "NamespaceNotAllowed");
  queue.stop = StopPolicy::kHold;
  d.Put(ObjectUpserted{queue});
  d.Settle(absl::Seconds(20));
  ExpectAllSay(d, "QueueStopped");
  d.api.Delete(ResourceKind::kQueue, "q");
  d.Settle(absl::Seconds(20));
  ExpectAllSay(d, "QueueNotFound");
}

}  // namespace
}  // namespace maniple::loop_queue_refusal_test
