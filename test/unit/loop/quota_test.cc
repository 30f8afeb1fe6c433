// Quota as a user meets it: the loop with a well-behaved API server. Usage is what a Queue's status
// says, so a charge that is forgotten, doubled or put in the wrong flavor shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "queue/gpu_milli.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kModel[] = "example.com/model";

class LoopQuotaTest : public ::testing::Test {
 protected:
  struct Given {
    std::string name, flavor;
    std::string resource = "cpu";
    int64_t nominal = 0;
  };
  // One entry per flavor, in this order.
  void PutQueue(const std::string& name, const std::vector<Given>& quotas,
                const std::string& cohort = "") {
    Queue queue = NewQueue(name, quotas);
    queue.cohort = cohort;
    d_.api.Put(queue);
  }
  Queue NewQueue(const std::string& name, const std::vector<Given>& quotas) {
    Queue queue;
    queue.meta.name = name;
    queue.meta.uid = absl::StrCat("uid-", name);
    queue.meta.generation = ++generation_;
    for (const Given& quota : quotas) {
      queue.quotas.push_back(
          {.flavor = quota.flavor,
           .resources = {{.resource = quota.resource, .nominal = Amount(quota.nominal)}}});
    }
    return queue;
  }
  static Given In(const std::string& flavor, const std::string& resource, int64_t nominal) {
    return {.flavor = flavor, .resource = resource, .nominal = nominal};
  }
  // A flavor, and a node of it that carries its name.
  void PutFlavor(const std::string& name) {
    ResourceFlavor flavor;
    flavor.meta.name = name;
    flavor.meta.generation = ++generation_;
    flavor.node_labels =
        StringMap(std::vector<std::pair<std::string, std::string>>{{kModel, name}});
    d_.api.Put(flavor);
  }
  void PutNode(const std::string& name, const std::string& model, int64_t cpu = 100) {
    d_.api.Put(MakeNode(name).Cpu(cpu).Gpu(8).Label(kModel, model));
  }
  // Flavors a and b, with a node each.
  void TwoFlavors(int64_t cpu_of_b = 100) {
    for (const char* model : {"a", "b"}) PutFlavor(model);
    PutNode("on-a", "a");
    PutNode("on-b", "b", cpu_of_b);
  }
  void Submit(const std::string& gang, const std::string& queue, const std::vector<MakePod>& pods,
              int min_member = 0) {
    PodGroup group =
        MakePodGroup(gang).MinMember(min_member > 0 ? min_member : static_cast<int>(pods.size()));
    group.spec.queue = queue;
    group.meta.created = d_.now;
    d_.api.Put(group);
    for (Pod pod : pods) {
      pod.meta.uid.clear();
      pod.meta.created = d_.now;
      d_.api.Put(pod);
    }
  }
  static std::vector<MakePod> Pods(const std::string& gang, int count, int64_t milli_cpu) {
    std::vector<MakePod> pods;
    for (int i = 0; i < count; ++i) {
      pods.push_back(MakePod(absl::StrCat(gang, "-", i)).Group(gang).Cpu(milli_cpu));
    }
    return pods;
  }
  void Settle() { d_.Settle(absl::Seconds(2)); }  // the status of a Queue is written once a second
  // "?": the queue's status has no such row.
  std::string Used(const std::string& queue, const std::string& flavor,
                   const std::string& resource = "cpu") {
    for (const Json& row : d_.api.QueueStatus(queue)["usage"].items()) {
      if (row["flavor"].AsString() != flavor || row["name"].AsString() != resource) continue;
      return row["used"].is_string() ? row["used"].AsString() : absl::StrCat(row["used"].AsInt());
    }
    return "?";
  }
  std::string ReasonOf(const std::string& gang) { return d_.StatusOf(gang).reason; }

  LoopDriver d_;
  int64_t generation_ = 0;
};

TEST_F(LoopQuotaTest, TheFirstFlavorInTheQueuesOrderIsTakenInWhichAllMembersFit) {
  TwoFlavors();
  PutQueue("q", {In("b", "cpu", 3000), In("a", "cpu", 8000)});
  Submit("two", "q", Pods("two", 2, 1000));
  d_.Settle();
  EXPECT_EQ(d_.NodeOf("two-0"), "on-b");
  Submit("more", "q", Pods("more", 2, 1000));  // one would fit in b, both only in a
  Settle();
  EXPECT_EQ(d_.NodeOf("more-0"), "on-a");
  EXPECT_EQ(d_.NodeOf("more-1"), "on-a");
  EXPECT_EQ(Used("q", "b"), "2");
  EXPECT_EQ(Used("q", "a"), "2");
}

TEST_F(LoopQuotaTest, AFlavorWithQuotaAndNoRoomIsPassedOver) {
  TwoFlavors(1);
  PutQueue("q", {In("b", "cpu", 8000), In("a", "cpu", 8000)});
  Submit("two", "q", Pods("two", 2, 1000));
  d_.Settle();
  EXPECT_EQ(d_.NodeOf("two-0"), "on-a");
  EXPECT_EQ(d_.NodeOf("two-1"), "on-a");
}

TEST_F(LoopQuotaTest, ShapesOfOneGangMayUseDifferentFlavors) {
  TwoFlavors();
  PutQueue("q", {In("a", "cpu", 2000), In("b", "cpu", 9000)});
  std::vector<MakePod> pods = Pods("mix", 2, 1000);
  pods.push_back(MakePod("mix-big").Group("mix").Cpu(8000));
  Submit("mix", "q", pods);
  Settle();
  EXPECT_EQ(d_.Bound("mix"), 3);
  EXPECT_EQ(Used("q", "a"), "2");
  EXPECT_EQ(Used("q", "b"), "8");
}

TEST_F(LoopQuotaTest, AReplacementKeepsToTheFlavorOfThoseThatStand) {
  TwoFlavors();
  PutQueue("q", {In("a", "cpu", 2000), In("b", "cpu", 9000)});
  Submit("first", "q", Pods("first", 2, 1000));
  d_.Settle();
  Submit("g", "q", Pods("g", 2, 1000));
  d_.Settle();
  ASSERT_EQ(d_.NodeOf("g-0"), "on-b");
  for (const char* pod : {"first-0", "first-1"}) d_.api.SetPhase(pod, PodPhase::kSucceeded);
  d_.Settle();
  d_.api.Delete(ResourceKind::kPod, "g-1");
  Pod spare = MakePod("g-9").Group("g").Cpu(1000);
  spare.meta.uid.clear();
  d_.api.Put(spare);
  d_.Settle();
  EXPECT_EQ(d_.NodeOf("g-9"), "on-b");  // though a, which comes first, is free
}

TEST_F(LoopQuotaTest, PodsThatAreLeavingAreChargedUntilTheyAreGone) {
  PutNode("n", "");
  PutQueue("q", {In("", "cpu", 2000)});
  d_.api.KeepTerminating();
  Submit("old", "q", Pods("old", 2, 1000));
  d_.Settle();
  Pod leaving = *d_.api.FindPod("old-0");
  leaving.meta.deleted = d_.now;
  d_.api.Put(leaving);
  Submit("new", "q", Pods("new", 1, 1000));
  Settle();
  EXPECT_EQ(Used("q", ""), "2");
  EXPECT_EQ(ReasonOf("new"), "QuotaExceeded");
}

TEST_F(LoopQuotaTest, SurplusIsChargedOneByOneUpToTheQuota) {
  PutNode("n", "");
  PutQueue("q", {In("", "cpu", 3000)});
  Submit("g", "q", Pods("g", 5, 1000), 2);
  Settle();
  EXPECT_EQ(d_.Bound("g"), 3);
  EXPECT_EQ(Used("q", ""), "3");
}

TEST_F(LoopQuotaTest, UsageFollowsTheLabelsOfTheNodeAndTheFlavorObjects) {
  for (const char* model : {"a", "b"}) PutFlavor(model);
  PutNode("n", "a");
  PutQueue("q", {In("a", "cpu", 4000), In("b", "cpu", 4000), In("", "cpu", 4000)});
  Submit("g", "q", Pods("g", 2, 1000));
  Settle();
  EXPECT_EQ(Used("q", "a"), "2");
  PutNode("n", "b");
  Settle();
  EXPECT_EQ(Used("q", "a"), "0");
  EXPECT_EQ(Used("q", "b"), "2");
  PutNode("n", "else");
  Settle();
  EXPECT_EQ(Used("q", "b"), "0");
  EXPECT_EQ(Used("q", ""), "2");
  EXPECT_EQ(d_.Bound("g"), 2);  // nobody is evicted by it
}

TEST_F(LoopQuotaTest, APodThatOthersBoundOutsideOfItsQueuesFlavorsIsChargedWhereItIs) {
  for (const char* model : {"a", "b"}) PutFlavor(model);
  PutNode("on-b", "b");
  PutQueue("q", {In("a", "cpu", 4000)}, "pool");
  PutQueue("owner", {In("b", "cpu", 4000)}, "pool");
  Submit("g", "q", Pods("g", 1, 3000));
  d_.Settle();
  ASSERT_EQ(d_.Bound("g"), 0);
  d_.api.BindAsSomebodyElse("g-0", "on-b");
  Submit("h", "owner", Pods("h", 1, 2000));
  d_.Settle();
  EXPECT_EQ(d_.Bound("h"), 0);
  EXPECT_EQ(ReasonOf("h"), "QuotaExceeded");
}

TEST_F(LoopQuotaTest, TerminatingPodsAndThoseWhoseGroupIsGoneStayCharged) {
  PutNode("n", "");
  PutQueue("q", {In("", "cpu", 4000)});
  Submit("g", "q", Pods("g", 2, 2000));
  Settle();
  d_.api.KeepTerminating();
  d_.api.Delete(ResourceKind::kPodGroup, "g");
  Submit("h", "q", Pods("h", 1, 1000));
  Settle();
  EXPECT_EQ(Used("q", ""), "4");
  EXPECT_EQ(ReasonOf("h"), "QuotaExceeded");
  for (const char* pod : {"g-0", "g-1"}) d_.api.Delete(ResourceKind::kPod, pod);
  Settle();
  EXPECT_EQ(d_.Bound("h"), 1);
}

TEST_F(LoopQuotaTest, ANewLeaderChargesWhatStands) {
  PutNode("n", "");
  PutQueue("q", {In("", "cpu", 4000)});
  Submit("g", "q", Pods("g", 3, 1000));
  d_.Settle();
  Submit("h", "q", Pods("h", 2, 1000));
  d_.Restart();
  Settle();
  EXPECT_EQ(Used("q", ""), "3");
  EXPECT_EQ(ReasonOf("h"), "QuotaExceeded");
}

// A new leader cannot tell whom it lets in before it can be read.
TEST_F(LoopQuotaTest, WhatRunsInAQueueThatANewLeaderCouldNotReadIsChargedOnceItIsMended) {
  PutNode("n", "");
  const auto put = [this] { PutQueue("q", {In("", "cpu", 4000)}); };
  put();
  Submit("g", "q", Pods("g", 3, 1000));
  Settle();
  ASSERT_EQ(Used("q", ""), "3");
  d_.api.Delete(ResourceKind::kQueue, "q");
  d_.Restart();
  Settle();
  d_.loop().Accept(ObjectInvalid{{ResourceKind::kQueue, "", "q"}, "uid-q", "spec: bad"});
  Settle();
  put();
  Settle();
  EXPECT_EQ(Used("q", ""), "3");
}

TEST_F(LoopQuotaTest, TheQuotaOfALostMemberIsKeptForItsReplacement) {
  PutNode("n", "");
  PutQueue("q", {In("", "cpu", 2000)});
  Submit("g", "q", Pods("g", 2, 1000));
  d_.Settle();
  d_.api.SetPhase("g-1", PodPhase::kFailed, "OutOfcpu");
  Submit("thief", "q", Pods("thief", 1, 1000));
  Settle();
  EXPECT_EQ(d_.Bound("thief"), 0);
  Pod spare = MakePod("g-9").Group("g").Cpu(1000);
  spare.meta.uid.clear();
  d_.api.Put(spare);
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("g"), 2);
  EXPECT_EQ(d_.Bound("thief"), 0);
}

TEST_F(LoopQuotaTest, AHeadThatNoFlavorCanEverTakeBlocksNobody) {
  for (const char* model : {"a", "b"}) PutFlavor(model);
  PutNode("on-a", "a", 2);  // the quota would do, the room never
  PutNode("on-b", "b");     // the room would do, the quota never
  Queue queue = NewQueue("q", {In("a", "cpu", 90000), In("b", "cpu", 3000)});
  queue.ordering = QueueOrdering::kStrictFifo;
  d_.api.Put(queue);
  Submit("head", "q", Pods("head", 4, 1000));
  Submit("next", "q", Pods("next", 1, 1000));
  d_.Settle();
  EXPECT_EQ(ReasonOf("head"), "ExceedsMaxQuota");
  EXPECT_THAT(d_.StatusOf("head").message, HasSubstr("4 of cpu of flavor b"));
  EXPECT_EQ(d_.Bound("next"), 1);
}

TEST_F(LoopQuotaTest, NeverFitsIsToldBeforeQuotaThatIsMerelyUsedUp) {
  PutNode("n", "", 4);
  PutQueue("q", {In("", "cpu", 9000)});
  Submit("g", "q", Pods("g", 1, 3000));
  d_.Settle();
  Submit("wide", "q", Pods("wide", 1, 8000));  // 6 left of the quota, and no node of 8
  Submit("late", "q", Pods("late", 7, 1000));  // one more than is left
  Submit("huge", "q", Pods("huge", 1, 10000));
  d_.Settle();
  EXPECT_EQ(ReasonOf("wide"), "NeverFits");
  EXPECT_EQ(ReasonOf("late"), "NeverFits");
  EXPECT_EQ(ReasonOf("huge"), "ExceedsMaxQuota");  // of an earlier stage
}

TEST_F(LoopQuotaTest, WhatAGpuCostsDependsOnTheNodesThatThePodMayUse) {
  d_.Put(MakeNode("whole").Gpu(8).Label(kModel, "whole"));
  d_.Put(MakeNode("sliced").Gpu(7).Label("nvidia.com/gpu.product", "NVIDIA-A100-MIG-1g.5gb"));
  PutQueue("q", {In("", kGpuMilliResource, 1500)});
  const auto pods = [](const std::string& gang, int count) {
    std::vector<MakePod> made;
    for (int i = 0; i < count; ++i) {
      made.push_back(MakePod(absl::StrCat(gang, "-", i)).Group(gang).Gpu(1));
    }
    return made;
  };
  Submit("three", "q", pods("three", 3));  // 3000 as whole GPUs, 426 as slices
  Settle();
  EXPECT_EQ(d_.NodeOf("three-0"), "sliced");
  EXPECT_EQ(Used("q", "", kGpuMilliResource), "426");
  Submit("eleven", "q", pods("eleven", 11));
  std::vector<MakePod> picky = pods("picky", 2);
  for (MakePod& pod : picky) pod.Selector(kModel, "whole");
  Submit("picky", "q", picky);
  d_.Settle();
  EXPECT_EQ(ReasonOf("eleven"), "ExceedsMaxQuota");
  EXPECT_THAT(d_.StatusOf("eleven").message, HasSubstr("needs 1562 of"));
  EXPECT_EQ(ReasonOf("picky"), "ExceedsMaxQuota");
  EXPECT_THAT(d_.StatusOf("picky").message, HasSubstr("needs 2000 of"));
}

TEST_F(LoopQuotaTest, NobodyIsChargedTwiceByAskingForADerivedResource) {
  d_.Put(MakeNode("n").Cpu(100).Gpu(8).Has(kGpuMilliResource, 1'000'000));
  PutQueue("q", {In("", kGpuMilliResource, 2000)});
  Submit("g", "q",
         {MakePod("g-0").Group("g").Gpu(1).Wants(kGpuMilliResource, 900),
          MakePod("g-1").Group("g").Gpu(1).Wants(kGpuMilliResource, 900)});
  Settle();
  EXPECT_EQ(d_.Bound("g"), 2);
  EXPECT_EQ(Used("q", "", kGpuMilliResource), "2000");
}

TEST_F(LoopQuotaTest, AbsurdAmountsNeitherWrapNorStopTheOthers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  PutNode("n", "");
  PutQueue("endless", {In("", kGpuResource, kMost)}, "pool");
  PutQueue("more", {In("", kGpuResource, kMost)}, "pool");
  PutQueue("small", {In("", kGpuResource, 1)}, "pool");
  Submit("absurd", "endless", {MakePod("absurd-0").Group("absurd").Gpu(1'000'000'000'000'000'000)});
  Submit("most", "more", {MakePod("most-0").Group("most").Gpu(kMost)});
  Submit("plain", "small", {MakePod("plain-0").Group("plain").Gpu(2)});
  d_.Settle();
  EXPECT_EQ(ReasonOf("absurd"), "NeverFits");
  EXPECT_EQ(ReasonOf("most"), "NeverFits");
  EXPECT_EQ(d_.Bound("plain"), 1);
}

TEST_F(LoopQuotaTest, GangsThatWereThereBeforeTheirQueueStandInItsOrder) {
  PutNode("n", "");
  Submit("second", "late", Pods("second", 1, 1000));
  d_.now += absl::Seconds(1);
  std::vector<MakePod> pods = Pods("first", 4, 1000);
  for (MakePod& pod : pods) pod.Priority(5);
  Submit("first", "late", pods);
  Submit("runs", "early", Pods("runs", 3, 1000));
  PutQueue("early", {In("", "cpu", 3000)}, "pool");
  d_.Settle();
  Queue queue = NewQueue("late", {In("", "cpu", 2000)});
  queue.ordering = QueueOrdering::kStrictFifo;
  queue.cohort = "pool";
  d_.api.Put(queue);
  d_.Settle(absl::Seconds(1));
  EXPECT_EQ(ReasonOf("first"), "QuotaExceeded");
  EXPECT_EQ(d_.Bound("second"), 0);  // held up by the head, which waits for what is borrowed
}

// Proof that it exceeds one flavor's quota rests on there being no node for it in the other.
TEST_F(LoopQuotaTest, MoreRoomInAnotherFlavorWakesWhoCouldNeverStartForQuota) {
  PutFlavor("a");
  PutFlavor("b");
  PutNode("a1", "a");
  PutNode("b1", "b", 2);
  PutQueue("q", {In("a", "cpu", 1000), In("b", "cpu", 100'000)});
  Submit("g", "q", Pods("g", 1, 4000));
  d_.Settle();
  ASSERT_EQ(d_.StatusOf("g").reason, "ExceedsMaxQuota");
  PutNode("b1", "b", 8);
  d_.Settle();
  EXPECT_EQ(d_.Bound("g"), 1);
}

TEST_F(LoopQuotaTest, GangsThatAQueueIsNotChargedForAreCountedThere) {
  d_.api.Put(MakeNode("n").Cpu(100));
  Queue queue = NewQueue("q", {In("", "cpu", 1000)});
  queue.namespace_selector = LabelSelector{
      .requirements = {{.key = "team", .op = SelectorOperator::kIn, .values = {"red"}}}};
  d_.api.Put(queue);
  Submit("theirs", "q", {MakePod("theirs-0").Group("theirs").Cpu(1000).On("n")});
  Submit("nobodys", "", {MakePod("nobodys-0").Group("nobodys").Cpu(1000).On("n")});
  Settle();
  EXPECT_EQ(d_.loop().View(d_.now)->queues.front().uncharged, 1);
  EXPECT_THAT(d_.StatusOf("theirs").message,
              testing::HasSubstr("it is charged to no Queue: queue \"q\" does not admit"));
  EXPECT_EQ(Used("q", ""), "0");
}

TEST_F(LoopQuotaTest, WhatRunsInADeletedQueueSaysThatNobodyIsCharged) {
  d_.api.Put(MakeNode("n").Cpu(100));
  PutQueue("q", {In("", "cpu", 9000)});
  Submit("g", "q", Pods("g", 2, 1000));
  d_.Settle(absl::Minutes(1));
  ASSERT_EQ(d_.Bound("g"), 2);
  constexpr char kNobody[] = "it is charged to no Queue: queue \"q\" does not exist";
  const auto told = [this] { return d_.StatusOf("g").message + "\n" + d_.ViewOf("g")->message; };
  EXPECT_THAT(told(), Not(HasSubstr("charged")));
  d_.api.Delete(ResourceKind::kQueue, "q");
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.StatusOf("g").reason, "Bound");
  EXPECT_THAT(d_.StatusOf("g").message, HasSubstr(kNobody));
  EXPECT_THAT(d_.ViewOf("g")->message, HasSubstr(kNobody));
  d_.Restart();
  d_.Settle(absl::Minutes(1));
  EXPECT_THAT(d_.ViewOf("g")->message, HasSubstr(kNobody));
  PutQueue("q", {In("", "cpu", 9000)});
  d_.Settle(absl::Minutes(1));
  EXPECT_THAT(told(), Not(HasSubstr("charged")));
  EXPECT_EQ(Used("q", ""), "2");
}

// A scheduler that was stopped for a while hears of both at once.
TEST_F(LoopQuotaTest, APodThatIsSeenOnANodeAfterItsPodGroupWentIsCharged) {
  d_.api.Put(MakeNode("n").Cpu(100));
  PutQueue("q", {In("", "cpu", 1000)});
  Submit("g", "q", Pods("g", 1, 4000));
  Settle();
  ASSERT_EQ(d_.Bound("g"), 0);
  d_.api.BindAsSomebodyElse("g-0", "n");
  d_.api.Delete(ResourceKind::kPodGroup, "g");
  Settle();
  EXPECT_EQ(Used("q", ""), "4");
}

// Only reasons of other stages had an event.
TEST_F(LoopQuotaTest, OneEventSaysThatAQueueIsTooSmallOrStopped) {
  d_.api.Put(MakeNode("n").Cpu(100));
  PutQueue("small", {In("", "cpu", 4000)});
  Queue stopped = NewQueue("stopped", {In("", "cpu", 4000)});
  stopped.stop = StopPolicy::kHold;
  d_.api.Put(stopped);
  Submit("huge", "small", Pods("huge", 1, 5000));
  Submit("kept", "stopped", Pods("kept", 1, 1000));
  d_.Settle(absl::Minutes(1));
  EXPECT_THAT(d_.api.events_created(), Contains(StartsWith("ExceedsMaxQuota on huge")).Times(1));
  EXPECT_THAT(d_.api.events_created(), Contains(StartsWith("QueueStopped on kept")).Times(1));
}

// They were told numbers alone, and that they could never start.
TEST_F(LoopQuotaTest, WhoWaitsBelowABrokenCohortIsToldOfIt) {
  PutFlavor("a");
  PutNode("on-a", "a");
  Cohort pool;
  pool.meta.name = "pool";
  pool.quotas = NewQueue("", {In("a", "cpu", 8000), In("typo", "cpu", 8000)}).quotas;
  d_.api.Put(pool);
  PutQueue("q", {In("a", "cpu", 0)}, "pool");
  Submit("g", "q", Pods("g", 1, 3000));
  Settle();
  EXPECT_EQ(d_.StatusOf("g").reason, "ExceedsMaxQuota");
  EXPECT_THAT(d_.StatusOf("g").message,
              HasSubstr("; Cohort \"pool\" above its queue is inactive: spec.quotas: flavor "
                        "\"typo\" does not exist"));
  const auto question = d_.loop().HelpFor({.namespace_name = "default", .name = "g"}, d_.now);
  ASSERT_NE(question, nullptr);
  ASSERT_EQ(question->quota_path.size(), 1u) << "more quota of the Cohort would not help";
  EXPECT_EQ(question->quota_path.front().name, "q");
  PutFlavor("typo");
  Settle();
  EXPECT_EQ(d_.Bound("g"), 1);
}

// Each seemed to ask for what is nominal (in a), and got a plan that borrows (in b).
TEST_F(LoopQuotaTest, TwoHeadsDoNotTakeTurnsInHoldingRoom) {
  TwoFlavors(8);
  d_.api.Put(MakeNode("on-a").Cpu(100).Gpu(8).Label(kModel, "a").Cordoned());
  PutQueue("rich", {In("b", "cpu", 16'000)}, "all");
  for (const char* name : {"one", "two"}) {
    Queue queue = NewQueue(name, {In("a", "cpu", 8000), In("b", "cpu", 0)});
    queue.cohort = "all";
    queue.ordering = QueueOrdering::kBackfill;
    d_.api.Put(queue);
  }
  Submit("runs", "rich", Pods("runs", 1, 8000));
  d_.Settle();
  ASSERT_EQ(d_.Bound("runs"), 1);
  Submit("first", "one", Pods("first", 1, 8000));
  Submit("second", "two", Pods("second", 1, 8000));
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.loop().counters().reservations, 1);
}

}  // namespace
}  // namespace maniple
