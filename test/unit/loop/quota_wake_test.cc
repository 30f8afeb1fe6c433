// Who is asked again when usage falls. The fears: everybody who waits for quota, each time that
// anybody ends; or not the one whose turn it is, because what it needs, where it may go or what is
// held has changed since it was refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/oracle/loop/reservation_world.h"
#include "test/support/loop_driver.h"

namespace maniple::loop_quota_wake_test {
namespace {

constexpr char kModel[] = "example.com/model";

// Queues of one Cohort, each with GPUs of its own in some flavors; none lends or borrows.
class QuotaWake : public ::testing::Test {
 protected:
  struct Given {
    std::string flavor;
    int64_t gpus = 0;
    std::string resource = "nvidia.com/gpu";
  };
  void PutQueue(const std::string& name, const std::vector<Given>& quotas,
                int64_t borrowing_limit = 0) {
    Queue queue;
    queue.meta = {.name = name, .uid = absl::StrCat("uid-", name), .generation = ++generation_};
    queue.cohort = "cohort";
    for (const Given& given : quotas) {
      queue.quotas.push_back({.flavor = given.flavor,
                              .resources = {{.resource = given.resource,
                                             .nominal = Amount(given.gpus),
                                             .borrowing_limit = Amount(borrowing_limit)}}});
    }
    d_.api.Put(queue);
  }
  void PutFlavor(const std::string& name) {
    ResourceFlavor flavor;
    flavor.meta.name = name;
    flavor.meta.generation = ++generation_;
    flavor.node_labels =
        StringMap(std::vector<std::pair<std::string, std::string>>{{kModel, name}});
    d_.api.Put(flavor);
  }
  void PutNode(const std::string& name, const std::string& model) {
    d_.api.Put(MakeNode(name).Cpu(100).Gpu(64).Label(kModel, model));
  }
  void Submit(const std::string& gang, const std::string& queue, int pods, int64_t gpu = 1) {
    d_.Submit({.gang = gang, .pods = pods, .gpu = gpu, .queue = queue});
    d_.Settle();
  }
  void End(const std::string& gang, int pods) {
    for (int i = 0; i < pods; ++i) {
      d_.api.SetPhase(absl::StrCat(gang, "-", i), PodPhase::kSucceeded);
    }
    d_.Settle();
  }
  int64_t Decisions() { return d_.loop().counters().decisions; }

  LoopDriver d_;
  int64_t generation_ = 0;
};

TEST_F(QuotaWake, NobodyIsAskedWhileItsQuotaCannotCoverIt) {
  d_.Nodes(4, 64);
  PutQueue("full", {{"", 4}});
  PutQueue("other", {{"", 100}});
  Submit("runs", "full", 4);
  Submit("waits", "full", 1);
  const int64_t before = Decisions();
  for (int i = 0; i < 5; ++i) {
    Submit(absl::StrCat("live", i), "other", 2);
    End(absl::StrCat("live", i), 2);
  }
  EXPECT_EQ(Decisions() - before, 5) << "only the live ones";
  End("runs", 4);
  EXPECT_EQ(d_.Bound("waits"), 1);
}

TEST_F(QuotaWake, ItIsAskedOnceEnoughHasEndedPieceByPiece) {
  d_.Nodes(4, 64);
  PutQueue("q", {{"", 4}});
  for (const char* gang : {"a", "b", "c", "d"}) Submit(gang, "q", 1);
  Submit("waits", "q", 3);
  const int64_t before = Decisions();
  End("a", 1);
  End("b", 1);
  EXPECT_EQ(Decisions(), before);
  End("c", 1);
  EXPECT_EQ(d_.Bound("waits"), 3);
}

TEST_F(QuotaWake, WhatAnotherQueueNoLongerBorrowsWakesIt) {
  d_.Nodes(4, 64);
  PutQueue("lends", {{"", 4}});
  PutQueue("borrows", {{"", 0}}, 8);
  Submit("guest", "borrows", 3);
  Submit("waits", "lends", 2);
  EXPECT_EQ(d_.Bound("waits"), 0);
  End("guest", 3);
  EXPECT_EQ(d_.Bound("waits"), 2);
}

TEST_F(QuotaWake, MoreQuotaWakesItAndSoDoesBorrowingAllowed) {
  d_.Nodes(4, 64);
  PutQueue("q", {{"", 1}});
  PutQueue("idle", {{"", 8}});
  Submit("runs", "q", 1);
  Submit("one", "q", 1);
  PutQueue("q", {{"", 2}});
  d_.Settle();
  EXPECT_EQ(d_.Bound("one"), 1);
  Submit("two", "q", 1);
  PutQueue("q", {{"", 2}}, 1);
  d_.Settle();
  EXPECT_EQ(d_.Bound("two"), 1);
}

TEST_F(QuotaWake, WhoAsksForLessIsAskedAgain) {
  d_.Nodes(4, 64);
  PutQueue("q", {{"", 4}});
  Submit("runs", "q", 2);
  Submit("waits", "q", 4);
  EXPECT_EQ(d_.Bound("waits"), 0);
  d_.api.Put(MakePodGroup("waits").MinMember(2).Queue("q"));
  d_.Settle();
  EXPECT_GE(d_.Bound("waits"), 2);
}

// The one that was asked when the flavor was added, and that spoke for both, is gone when there is
// quota in it.
TEST_F(QuotaWake, AFlavorAddedSinceIsKnownOfThoseWhoWereNotAsked) {
  for (const char* model : {"a", "b"}) {
    PutFlavor(model);
    PutNode(absl::StrCat("on-", model), model);
  }
  PutQueue("taker", {{"b", 0}}, 4);
  PutQueue("q", {{"a", 1}});
  Submit("runs", "q", 1);
  Submit("first", "q", 1);
  Submit("second", "q", 1);
  PutQueue("q", {{"a", 1}, {"b", 1}}, 0);
  Submit("spare", "q", 1);
  EXPECT_EQ(d_.Bound("first"), 1) << "in b";
  Submit("third", "q", 1);
  d_.api.Delete(ResourceKind::kPod, "second-0");
  d_.api.Delete(ResourceKind::kPodGroup, "second");
  d_.Settle();
  EXPECT_EQ(d_.Bound("spare") + d_.Bound("third"), 0);
  End("first", 1);
  EXPECT_EQ(d_.Bound("spare"), 1);
  End("spare", 1);
  EXPECT_EQ(d_.Bound("third"), 1);
}

TEST_F(QuotaWake, ANodeThatJoinsAFlavorWakesWhoHasQuotaThere) {
  PutFlavor("a");
  PutFlavor("b");
  PutNode("on-a", "a");
  PutNode("moves", "c");
  PutQueue("q", {{"a", 1}, {"b", 1}});
  PutQueue("other", {{"a", 10}, {"b", 0}});
  Submit("runs", "q", 1);
  Submit("waits", "q", 1);
  EXPECT_EQ(d_.Bound("waits"), 0);
  PutNode("moves", "b");
  d_.Settle();
  EXPECT_EQ(d_.NodeOf("waits-0"), "moves");
}

// One flavor, and more than one resource: what falls may be the one that was not short.
TEST_F(QuotaWake, EveryResourceMustBeCovered) {
  d_.Nodes(4, 64);
  PutQueue("q", {{"", 4}, {"", 2, "pods"}});
  Submit("all-gpus", "q", 1, 4);
  Submit("waits", "q", 2, 1);
  const int64_t before = Decisions();
  End("all-gpus", 1);
  EXPECT_EQ(d_.Bound("waits"), 2);
  EXPECT_EQ(Decisions() - before, 1);
}

// Usage falls in the Cohort while quota is held for a later start: what is held counts for those
// who may be let in, and for them alone.
TEST(QuotaWakeBesideHolds, WhoMayUseHeldQuotaIsAskedWhenItComesFree) {
  ReservationWorld w(3);
  w.Queue("q", 24, "cohort");
  w.Queue("lent", 0, "cohort");
  w.Submit({.name = "long", .queue = "q", .says = absl::Hours(3)});
  w.Submit({.name = "guest", .queue = "lent", .takes = absl::Minutes(30)});
  w.Play(absl::ZeroDuration());
  w.Submit({.name = "big", .pods = 3, .queue = "q", .says = absl::Hours(1)});
  w.Submit({.name = "short", .pods = 2, .queue = "lent", .says = absl::Hours(1)});
  w.Submit({.name = "too-long", .pods = 2, .queue = "lent", .says = absl::Hours(9)});
  w.Play(absl::Minutes(20));
  EXPECT_TRUE(w.PlannedStartOf("big").has_value());
  EXPECT_EQ(w.MinuteOf("short"), -1);
  w.Play(absl::Minutes(20));
  EXPECT_EQ(w.MinuteOf("short"), 30);
  w.Play(absl::Hours(3));
  EXPECT_EQ(w.MinuteOf("big"), 180);
  EXPECT_EQ(w.MinuteOf("too-long"), -1);
  w.Play(absl::Hours(2));
  EXPECT_EQ(w.MinuteOf("too-long"), 240);
}

}  // namespace
}  // namespace maniple::loop_quota_wake_test
