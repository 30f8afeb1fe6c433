// The invariants that are asked after every turn of every scenario. The fear: one of them cannot
// fail, so each is shown a healthy state and then broken ones, which it alone must name.
#include "test/support/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/loop_driver.h"
#include "test/support/quota_facts.h"
#include "test/support/turn_audit.h"

namespace maniple::invariants {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Facts of a cluster in which everything is as it should be, to be broken by hand: what is shown
// follows from what was told, until Show() has been called.
class World final {
 public:
  TurnFacts facts;

  World& Told(const ObjectEvent& event) {
    facts.told.Hear(event);
    return *this;
  }
  World& Node(absl::string_view name, int64_t gpu) { return Told(MakeNode(name).Gpu(gpu)); }
  // Pods of 4 GPUs, "<gang>-0" …, on these nodes; "" waits.
  World& Gang(absl::string_view name, const std::vector<std::string>& nodes,
              absl::string_view queue = "") {
    GangView gang{.namespace_name = "default",
                  .name = std::string(name),
                  .queue = std::string(queue),
                  .phase = "Running",
                  .reason = "Bound",
                  .min_member = static_cast<int32_t>(nodes.size()),
                  .created = absl::FromUnixSeconds(++gangs_)};
    Told(MakePodGroup(name).MinMember(gang.min_member).Queue(queue));
    for (const std::string& node : nodes) {
      const std::string pod = absl::StrCat(name, "-", gang.pods.size());
      gang.pods.push_back({pod, node, node.empty() ? "pending" : "running"});
      Told(MakePod(pod).Group(name).Gpu(4).On(node));
      if (node.empty()) gang.phase = "Pending", gang.reason = "NoFit", gang.stage = "nodes";
    }
    facts.charged_to[GangName(gang)] = gang.queue;
    facts.view.gangs.push_back(std::move(gang));
    return *this;
  }
  World& Queue(const std::string& name, const std::string& cohort, int64_t gpu) {
    maniple::Queue queue;
    queue.meta.name = name;
    queue.cohort = cohort;
    queue.quotas = {{.flavor = "",
                     .resources = {{.resource = kGpuResource,
                                    .nominal = Amount(gpu),
                                    .borrowing_limit = {},
                                    .lending_limit = {}}}}};
    return Told(ObjectUpserted{queue});
  }
  // Nodes and Queues as a sound loop would show them.
  World& Show() {
    std::map<std::string, std::map<std::string, int64_t>> taken;
    for (const PodOnNode& pod : PodsOnNodes(facts)) {
      for (const auto& [resource, amount] : RoomOf(*pod.pod)) taken[pod.node][resource] += amount;
    }
    for (const auto& [name, node] : facts.told.nodes) {
      NodeRow row{.name = name, .taints = {}, .resources = {}, .gangs = {}};
      for (const ResourceAmount& offer : node.allocatable) {
        const Amount free(offer.amount.units() - taken[name][offer.resource]);
        row.resources.push_back({offer.resource, offer.amount, free});
      }
      facts.view.nodes.push_back(std::move(row));
    }
    const QuotaFacts quotas(facts.told);
    const QuotaFacts::Usage usage = UsageByPods(facts, quotas);
    for (const auto& [name, queue] : facts.told.queues) {
      const auto used = usage.find({name, {"", kGpuResource}});
      const int64_t amount = used == usage.end() ? 0 : static_cast<int64_t>(used->second);
      QueueView view{.name = name, .cohort = queue.cohort, .stop_policy = "", .problem = ""};
      view.usage = {{.flavor = "", .resource = kGpuResource, .used = Amount(amount)}};
      facts.view.queues.push_back(std::move(view));
    }
    return *this;
  }
  World& Placed(const std::string& gang, const std::string& item,
                std::map<std::string, std::string> node_of) {
    facts.placed.push_back({.gang = gang, .item = item, .node_of = std::move(node_of)});
    return *this;
  }
  GangView& View(absl::string_view name) {
    for (GangView& gang : facts.view.gangs) {
      if (gang.name == name) return gang;
    }
    ADD_FAILURE() << "no gang " << name;
    return facts.view.gangs.front();
  }

 private:
  int64_t gangs_ = 0;
};

// What is found, all of it by this invariant.
testing::Matcher<Violations> OnlyNames(const std::string& invariant, const std::string& text) {
  return AllOf(Each(StartsWith(invariant + ": ")), Contains(HasSubstr(text)));
}

WriteCommand Bind(const std::string& pod) {
  HttpRequest request{.method = HttpMethod::kPost,
                      .target = absl::StrCat("/api/v1/namespaces/default/pods/", pod, "/binding")};
  request.body = "{\"metadata\":{\"uid\":\"x\"}}";
  return {.request = std::move(request)};
}

TEST(Invariants, AHealthyClusterBreaksNone) {
  World world;
  world.Node("n1", 8)
      .Node("n2", 8)
      .Queue("q", "", 16)
      .Gang("a", {"n1", "n1"}, "q")
      .Gang("b", {"n2"});
  world.Show().Placed("default/a", "quorum", {{"default/a-0", "n1"}, {"default/a-1", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, EachHasANameOfItsOwn) {
  std::vector<std::string> names;
  for (const Invariant& invariant : All()) names.push_back(invariant.name);
  EXPECT_THAT(
      names, ElementsAre("NeverOversubscribed", "GangAllOrNothing", "BoundAtMostOnce", "QuotaLegal",
                         "ReservationsMatchState", "NoStarvation", "NoPreemptionLoop",
                         "NothingRunnableWaits", "DomainsHold", "EveryWriteHasAPrecondition"));
}

TEST(Invariants, DomainsHoldNamesAMemberOutsideTheDomainOfTheOthers) {
  World world;
  for (const char* node : {"n1", "n2"}) {
    world.Told(MakeNode(node).Gpu(8).Label("nvidia.com/gpu.clique", node));
  }
  world.Gang("a", {"n1", "n2"});
  world.Told(MakePod("a-0").Group("a").Index(0).Gpu(4).On("n1"));
  world.Told(MakePod("a-1").Group("a").Index(1).Gpu(4).On("n2"));
  world.Placed("default/a", "quorum", {{"default/a-0", "n1"}, {"default/a-1", "n2"}});
  world.Show();
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  world.Told(MakePodGroup("a").MinMember(2).Slice(1, "nvlink"));
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  world.Told(MakePodGroup("a").MinMember(2).Slice(2, "nvlink"));
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("DomainsHold", "default/a-1 was placed on n2"));
  world.Told(MakePodGroup("a").MinMember(2).Required("nvlink"));
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("DomainsHold", "default/a-1 was placed on n2"));
}

TEST(Invariants, NeverOversubscribedNamesANodeThatWasGivenTooMuch) {
  World world;
  world.Node("n1", 8).Gang("a", {"n1", "n1"}).Gang("b", {"n1"}).Show();
  EXPECT_THAT(CheckAll(world.facts), IsEmpty()) << "others may have put them there";
  world.Placed("default/b", "quorum", {{"default/b-0", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("NeverOversubscribed", "n1 offers 8"));
}

TEST(Invariants, NeverOversubscribedCountsPodsThatLeaveAndThoseOfOthers) {
  for (const ObjectEvent& other :
       {ObjectEvent(MakePod("x").Scheduler("other").Gpu(4).On("n1")),
        ObjectEvent(MakePod("x").Scheduler("other").Gpu(4).On("n1").Deleting())}) {
    World world;
    world.Node("n1", 4).Told(other).Gang("b", {"n1"}).Show();
    world.Placed("default/b", "quorum", {{"default/b-0", "n1"}});
    EXPECT_THAT(CheckAll(world.facts), OnlyNames("NeverOversubscribed", "8 are taken"));
  }
}

TEST(Invariants, GangAllOrNothingNamesAQuorumThatWasPlacedInPart) {
  World world;
  world.Node("n1", 8)
      .Gang("a", {"n1", ""})
      .Show()
      .Placed("default/a", "quorum", {{"default/a-0", "n1"}});
  world.View("a").phase = "Binding";
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("GangAllOrNothing", "with 1 of 2 members"));
}

TEST(Invariants, GangAllOrNothingNamesASubGroupThatWasLeftOut) {
  World world;
  world.Node("n1", 8).Gang("a", {"n1", "n1"});
  world.Told(MakePodGroup("a").MinMember(2).SubGroup("leader", 1)).Show();
  world.Placed("default/a", "quorum", {{"default/a-0", "n1"}, {"default/a-1", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("GangAllOrNothing", "0 of 1 members of sub-group"));
}

TEST(Invariants, GangAllOrNothingNamesAHalfGangThatNobodyIsAbout) {
  World world;
  world.Node("n1", 4).Gang("a", {"n1", ""}).Show();
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("GangAllOrNothing", "a holds 1 pods"));
  world.View("a").reason = "QuorumLost";
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, BoundAtMostOnceNamesAPodThatMoved) {
  World world;
  world.Node("n1", 8).Node("n2", 8).Gang("a", {"n2"}).Show();
  world.facts.first_node["uid-a-0"] = "n1";
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("BoundAtMostOnce", "moved from n1 to n2"));
}

TEST(Invariants, BoundAtMostOnceNamesBindsOfPodsThatAreBoundLeavingOrGone) {
  World world;
  world.Node("n1", 16).Gang("a", {"n1"}).Told(MakePod("b-0").Group("b").Deleting()).Show();
  world.facts.writes = {Bind("a-0"), Bind("b-0"), Bind("c-0")};
  EXPECT_THAT(CheckAll(world.facts), ElementsAre(HasSubstr("default/a-0, which is bound to n1"),
                                                 HasSubstr("default/b-0, which is ending"),
                                                 HasSubstr("default/c-0, which is gone")));
}

TEST(Invariants, QuotaLegalNamesUsageThatIsNotTheSumOverItsPods) {
  World world;
  world.Node("n1", 8).Queue("q", "", 8).Gang("a", {"n1"}, "q").Show();
  world.facts.view.queues[0].usage[0].used = Amount(3);
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("QuotaLegal", "shows 3"));
  world.facts.view.queues[0].usage[0].used = Amount(8);
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("QuotaLegal", "its pods take 4"));
}

TEST(Invariants, QuotaLegalNamesAnAdmissionBeyondWhatMayBeBorrowed) {
  for (const int64_t lent : {0, 4}) {
    World world;
    world.Node("n1", 8).Queue("q", "pool", 4).Queue("lender", "pool", lent);
    world.Gang("a", {"n1", "n1"}, "q").Show();
    EXPECT_THAT(CheckAll(world.facts), IsEmpty()) << "a quota that was cut evicts nobody";
    world.Placed("default/a", "quorum", {{"default/a-0", "n1"}, {"default/a-1", "n1"}});
    EXPECT_THAT(CheckAll(world.facts),
                lent == 4 ? testing::Matcher<Violations>(IsEmpty())
                          : OnlyNames("QuotaLegal", "cohort pool is 4 of nvidia.com/gpu beyond"));
  }
}

TEST(Invariants, QuotaLegalNamesAStartFromAQueueThatIsStoppedOrBroken) {
  World world;
  world.Node("n1", 8).Queue("q", "c1", 8).Gang("a", {"n1"}, "q").Show();
  world.Placed("default/a", "quorum", {{"default/a-0", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  TurnFacts stopped = world.facts;
  stopped.told.queues.at("q").stop = StopPolicy::kHold;
  EXPECT_THAT(CheckAll(stopped), OnlyNames("QuotaLegal", "which is not open"));
  for (const auto& [name, parent] : {std::pair("c1", "c2"), std::pair("c2", "c1")}) {
    Cohort cohort{.meta = {.name = name}, .parent = parent, .quotas = {}};
    world.Told(ObjectUpserted{cohort});
  }
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("QuotaLegal", "which is not open"));
}

TEST(Invariants, QuotaLegalNamesAFlavorThatIsNotForTheQueue) {
  World world;
  ResourceFlavor flavor;
  flavor.meta.name = "h100";
  flavor.node_labels.Set("rack", "h");
  world.Told(MakeNode("n1").Gpu(8)).Told(ObjectUpserted{flavor}).Queue("q", "", 8);
  world.facts.told.queues.at("q").quotas[0].flavor = "h100";
  world.Gang("a", {"n1"}, "q").Show();
  world.facts.view.queues.clear();
  world.Placed("default/a", "quorum", {{"default/a-0", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("QuotaLegal", "uses flavor \"\", which it may not"));
  world.Told(MakeNode("n1").Gpu(8).Label("rack", "h"));
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, ReservationsMatchStateNamesRoomThatIsLostOrGivenTwice) {
  World world;
  world.Node("n1", 8).Gang("a", {"n1"}).Show();
  NodeResourceView& gpus = *std::ranges::find(world.facts.view.nodes[0].resources, kGpuResource,
                                              &NodeResourceView::resource);
  gpus.free = Amount(3);
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("ReservationsMatchState", "nothing is held"));
  world.View("a").reason = "QuorumLost";
  EXPECT_THAT(CheckAll(world.facts), IsEmpty()) << "the room of a lost member is held";
  gpus.free = Amount(5);
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("ReservationsMatchState", "shows 5 of 8"));
  gpus = {.resource = kGpuResource, .allocatable = Amount(9), .free = Amount(5)};
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("ReservationsMatchState", "it offers 8"));
}

TEST(Invariants, ReservationsMatchStateNamesANodeThatIsNotShown) {
  World world;
  world.Node("n1", 8).Show().Node("n2", 8);
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("ReservationsMatchState", "n2 is not shown"));
}

TEST(Invariants, NoStarvationNamesAGangThatALaterOnePasses) {
  World world;
  world.Node("n1", 8).Queue("q", "", 8).Gang("early", {"", ""}, "q").Gang("late", {"n1"}, "q");
  world.Show().Placed("default/late", "quorum", {{"default/late-0", "n1"}});
  EXPECT_THAT(CheckAll(world.facts),
              OnlyNames("NoStarvation", "default/late passes default/early"));
  world.View("early").priority = -1;
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, NoStarvationDoesNotSpeakOfWhatWasPlacedBeforeHeldRoomMoved) {
  World world;
  world.Node("n1", 8).Queue("q", "", 8).Gang("early", {"", ""}, "q").Gang("late", {"n1"}, "q");
  world.Show().Placed("default/late", "quorum", {{"default/late-0", "n1"}});
  world.facts.placed[0].held_room_moved = true;
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, NoStarvationNamesAQuorumThatSurplusPasses) {
  World world;
  world.Node("n1", 8).Gang("elastic", {"n1"}).Gang("late", {"", ""}).Show();
  world.Placed("default/elastic", "surplus", {{"default/elastic-0", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("NoStarvation", "passes default/late"));
  world.facts.placed[0].item = "repair";
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, NoStarvationDoesNotSpeakForWhoeverWouldBorrow) {
  World world;
  world.Node("n1", 8).Queue("q", "pool", 4).Queue("lender", "pool", 4);
  world.Gang("early", {"", ""}, "q").Gang("late", {"n1"}, "q").Show();
  world.Placed("default/late", "quorum", {{"default/late-0", "n1"}});
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, NoPreemptionLoopNamesAReversal) {
  World world;
  world.facts.preempted = {{.victim = "b", .preemptor = "a"}, {.victim = "a", .preemptor = "b"}};
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("NoPreemptionLoop", "b makes a leave"));
  world.facts.preempted[1].limits = 1;
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  world.facts.preempted[1].limits = 0;
  world.facts.preempted[1].preemptor_priority = 1;
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  world.facts.reversals = 1;
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("NoPreemptionLoop", "1 reversals"));
}

TEST(Invariants, NothingRunnableWaitsNamesAGangThatHasRoomAndQuota) {
  World world;
  world.Node("n1", 8).Queue("q", "", 8).Gang("a", {"", ""}, "q").Show();
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("NothingRunnableWaits", "default/a needs 2"));
  world.facts.more = true;
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  world.facts.more = false;
  world.facts.told.queues.at("q").quotas[0].resources[0].nominal = Amount(7);
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
}

TEST(Invariants, NothingRunnableWaitsLeavesAloneWhatPlainCountingCannotTell) {
  const std::vector<void (*)(World&)> reasons = {
      [](World& w) { w.Told(MakeNode("n1").Gpu(8).Cordoned()); },
      [](World& w) { w.Told(MakeNode("n1").Gpu(8).WithTaint("dedicated")); },
      [](World& w) {
        w.Told(MakeNode("n1").Gpu(8).Label("nvidia.com/gpu.sharing-strategy", "mps"));
      },
      [](World& w) { w.Told(MakePod("a-0").Group("a").Gpu(4).Selector("zone", "x")); },
      [](World& w) { w.Told(MakePodGroup("a").MinMember(2).Queue("q").Required("rack")); },
      [](World& w) { w.Told(MakePod("x").Scheduler("other").Nominated("n2")); },
      [](World& w) { w.facts.doubtful_nodes = {"n1"}; },
      [](World& w) { w.facts.troubled = {"default/a"}; },
      [](World& w) { w.View("a").stage = "backoff"; },
      [](World& w) {
        w.facts.told.queues.at("q").quotas[0].resources[0].resource = kDerivedResource;
      }};
  for (size_t i = 0; i < reasons.size(); ++i) {
    World world;
    world.Node("n1", 8).Queue("q", "", 8).Gang("a", {"", ""}, "q").Show();
    world.facts.view.queues.clear();
    ASSERT_THAT(CheckAll(world.facts), OnlyNames("NothingRunnableWaits", "default/a"));
    reasons[i](world);
    EXPECT_THAT(CheckAll(world.facts), IsEmpty()) << i;
  }
}

TEST(Invariants, EveryWriteHasAPreconditionNamesTheOneThatHasNone) {
  World world;
  world.Node("n1", 8).Gang("a", {""}).Show();
  world.facts.more = true;
  world.facts.writes = {Bind("a-0")};
  EXPECT_THAT(CheckAll(world.facts), IsEmpty());
  world.facts.writes[0].request.body = "{\"metadata\":{\"name\":\"a-0\"}}";
  EXPECT_THAT(CheckAll(world.facts), OnlyNames("EveryWriteHasAPrecondition", "a-0/binding"));
}

// ---- the audit, which gathers the facts

class TurnAuditTest : public testing::Test {
 protected:
  // One turn of a loop that is told everything, and an audit that is told this besides.
  std::vector<std::string> TurnWith(const std::vector<ObjectEvent>& lies) {
    for (const ObjectEvent& lie : lies) audit_.Hear(lie);
    driver_.Settle();
    const TurnOutput out = driver_.loop().Turn(driver_.now);
    return audit_.AfterTurn(driver_.loop(), out, driver_.log(), driver_.now);
  }
  void Tell(const ObjectEvent& event) {
    audit_.Hear(event);
    driver_.Put(event);
  }

  LoopDriver driver_;
  TurnAudit audit_;
};

TEST_F(TurnAuditTest, FindsNothingWhereTheLoopKnowsEverything) {
  Tell(MakeNode("n1").Gpu(8));
  EXPECT_THAT(TurnWith({}), IsEmpty());
  EXPECT_EQ(audit_.turns(), 1);
}

TEST_F(TurnAuditTest, HoldsTheLoopToWhatItWasTold) {
  Tell(MakeNode("n1").Gpu(8));
  EXPECT_THAT(TurnWith({MakePod("x").Scheduler("other").Gpu(4).On("n1")}),
              Contains(StartsWith("ReservationsMatchState: node n1")));
}

TEST_F(TurnAuditTest, RemembersWhereAPodWasBound) {
  EXPECT_THAT(TurnWith({MakePod("x").On("n1"), MakePod("x").On("n2")}),
              Contains(HasSubstr("BoundAtMostOnce: default/x moved from n1 to n2")));
}

TEST_F(TurnAuditTest, FindsAParkedGangThatCouldStart) {
  driver_.Nodes(2, 8);
  driver_.api.Break({.on = "a-1/binding", .times = -1, .code = 403});
  driver_.Submit({.gang = "a", .pods = 2});
  driver_.Settle();
  driver_.Submit({.gang = "a", .pods = 1});
  driver_.Settle();
  ASSERT_EQ(driver_.loop().View(driver_.now)->gangs.at(0).reason, "BackingOff");
  EXPECT_EQ(driver_.loop().CheckParkedCannotStart(driver_.now).message(), "");
  // Without a turn its backoff ends unseen.
  EXPECT_THAT(driver_.loop().CheckParkedCannotStart(driver_.now + absl::Hours(1)).message(),
              HasSubstr("default/a is parked"));
}

TEST_F(TurnAuditTest, ReadsReversalsFromTheDecisionLog) {
  const std::vector<std::string> there = {"preempt default/a: default/b"};
  const std::vector<std::string> back = {"preempt default/b: default/c, default/a"};
  const std::vector<std::string> partly = {"preempt default/b: 2 surplus pods of default/a"};
  for (const char* gang : {"a", "b", "c"}) Tell(MakePodGroup(gang));
  driver_.Settle();
  const auto turn = [&](const std::vector<std::string>& lines) {
    return audit_.AfterTurn(driver_.loop(), {}, lines, driver_.now);
  };
  EXPECT_THAT(turn(there), IsEmpty());
  EXPECT_THAT(turn(partly), IsEmpty());
  EXPECT_THAT(turn(back), Contains(StartsWith("NoPreemptionLoop: default/b")));
}

TEST_F(TurnAuditTest, ForgivesAReversalAfterAQuotaHasChanged) {
  for (const char* gang : {"a", "b"}) Tell(MakePodGroup(gang));
  driver_.Settle();
  EXPECT_THAT(audit_.AfterTurn(driver_.loop(), {}, {"preempt default/a: default/b"}, driver_.now),
              IsEmpty());
  audit_.Hear(ObjectDeleted{{ResourceKind::kQueue, "", "q"}, ""});
  EXPECT_THAT(audit_.AfterTurn(driver_.loop(), {}, {"preempt default/b: default/a"}, driver_.now),
              IsEmpty());
}

}  // namespace
}  // namespace maniple::invariants
