// Preemption where room on nodes is what is lacking: the fears are victims that do not help, gangs
// torn apart, budgets overdrawn, and work evicted for nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/cycle/victims/preemption.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_preemption_room_test {
namespace {

using testing::HasSubstr;

// Gangs of GPU pods on nodes of 8 GPUs, all in one Queue with more quota than GPUs.
class RoomWorld {
 public:
  RoomWorld() {
    QuotaNodeSpec queue;
    queue.limits.push_back({.cell = QuotaCellId(0), .nominal = Amount(1000)});
    tree_ = QuotaTree({queue}, {0});
    allowed = {0, 1, 2};
  }

  void Nodes(const std::vector<std::string>& names, const std::string& rack = "") {
    for (const std::string& name : names) {
      MakeNode node(name);
      node.Gpu(8);
      if (!rack.empty()) node.Label("rack", rack);
      cluster.Add(node);
    }
  }
  // One pod on each of the nodes; the gang can do without `surplus` of them.
  RunningGang& Run(const std::string& name, int32_t priority, int64_t gpus,
                   const std::vector<std::string>& nodes, int64_t surplus = 0) {
    RunningGang gang{.name = name, .queue = QuotaNodeId(0), .priority = priority};
    gang.queued = gang.started = cluster.now - absl::Hours(1);
    cluster.Add(MakePodGroup(name).MinMember(1));
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::string pod = absl::StrCat(name, "-", i);
      cluster.Add(MakePod(pod).Group(name).Gpu(gpus).Index(static_cast<int64_t>(i)).On(nodes[i]));
    }
    const Gang& model = cluster.GangOf(name);
    gang.gang = model.id;
    gang.surplus.members = surplus;
    for (const Member& member : model.members) {
      VictimPod pod{.pod = member.pod, .node = member.node, .shape = member.shape};
      pod.charge = {{.cell = QuotaCellId(0), .amount = Amount(gpus)}};
      tree_.Add(gang.queue, pod.charge);
      gang.members.push_back(pod);
    }
    running.push_back(std::move(gang));
    return running.back();
  }
  void Submit(int pods, int64_t gpus, const std::string& required = "") {
    MakePodGroup group("in");
    group.MinMember(pods);
    if (!required.empty()) group.Required(required);
    cluster.Add(group);
    for (int i = 0; i < pods; ++i) {
      cluster.Add(MakePod(absl::StrCat("in-", i)).Group("in").Gpu(gpus).Index(i));
    }
    gpus_ = gpus;
  }

  // The pods evicted, in order of gang; or why there are none.
  std::string Preempt(int32_t priority) {
    GangRequest request = cluster.RequestOf("in");
    QuotaAsk ask{.tree = &tree_, .queue = QuotaNodeId(0), .options = {}};
    for (const Want& want : request.wants) {
      ask.options[want.shape] = {
          {.nodes = {}, .each = {{.cell = QuotaCellId(0), .amount = Amount(gpus_)}}, .flavor = ""}};
    }
    const SnapshotPtr snapshot = cluster.state().Publish();
    const DecideInput decide{.snapshot = *snapshot,
                             .request = request,
                             .now = cluster.now,
                             .quota = in_queue ? &ask : nullptr};
    const auto answer = PlanPreemption({.decide = decide,
                                        .profile = cluster.profile(),
                                        .priority = priority,
                                        .queued = cluster.now,
                                        .policy = policy,
                                        .strategies = {},
                                        .ignore_pdb = ignore_pdb,
                                        .running = running,
                                        .allowed = allowed});
    if (const auto* no = std::get_if<NoPreemption>(&answer)) return no->message;
    const auto& plan = std::get<PreemptionPlan>(answer);
    EXPECT_EQ(plan.plan.placements.size(), request.wants.size());
    std::vector<std::string> pods;
    for (const Victim& victim : plan.victims) {
      for (const PodId pod : victim.pods) pods.push_back(cluster.state().FindPod(pod)->name);
    }
    return absl::StrJoin(pods, " ");
  }

  TestCluster cluster;
  std::vector<RunningGang> running;
  std::vector<int32_t> allowed;
  bool in_queue = true;
  IgnorePdb ignore_pdb = IgnorePdb::kNever;
  PreemptionPolicy policy = {.within = WithinQueuePreemption::kLowerPriority};

 private:
  QuotaTree tree_;
  int64_t gpus_ = 0;
};

TEST(PreemptionRoom, OnlyOccupantsOfNodesThatThenTakeTheGangAreEvicted) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  world.Run("half-1", 0, 4, {"n1"});
  world.Run("half-2", 0, 4, {"n2"});
  world.Run("mid", 5, 8, {"n3"});
  world.Run("top-1", 100, 4, {"n1"});
  world.Run("top-2", 100, 4, {"n2"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "mid-0");
}

TEST(PreemptionRoom, NobodyIsEvictedWhereThatWouldNotHelp) {
  RoomWorld world;
  world.Nodes({"n1", "n2"});
  world.Run("low", 0, 4, {"n1", "n2"});
  world.Run("top", 100, 4, {"n1", "n2"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10),
            "1 gang may be evicted, and even without them room would be lacking");
}

TEST(PreemptionRoom, AGangGoesWhole) {
  RoomWorld world;
  world.Nodes({"n1", "n2"});
  world.Run("low", 0, 8, {"n1", "n2"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "low-0 low-1");
}

TEST(PreemptionRoom, SurplusGoesBeforeAnyQuorumAndTheLastMemberFirst) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3", "n4"});
  world.Run("elastic", 1, 8, {"n1", "n2", "n3"}, 2);
  world.Run("rigid", 0, 8, {"n4"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "elastic-2");
}

TEST(PreemptionRoom, OfSurplusOnlyTheMembersThatStandInTheWayGo) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  world.Run("elastic", 0, 4, {"n1", "n2", "n3"}, 2);
  world.Run("top", 100, 4, {"n1", "n3"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "elastic-1");
}

TEST(PreemptionRoom, AnyMemberIsSurplusThatTheQuorumCanDoWithout) {
  for (const std::string free : {"n1", "n2", "n3"}) {
    RoomWorld world;
    world.Nodes({"n1", "n2", "n3"});
    world.Run("elastic", 0, 4, {"n1", "n2", "n3"}, 1);
    for (const std::string node : {"n1", "n2", "n3"}) {
      if (node != free) world.Run(absl::StrCat("top-", node), 100, 4, {node});
    }
    world.Submit(1, 8);
    EXPECT_EQ(world.Preempt(10), absl::StrCat("elastic-", free == "n1" ? 0 : free == "n2" ? 1 : 2));
  }
}

TEST(PreemptionRoom, TheWholeGangGoesWhereItsSurplusIsNotEnough) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  world.Run("elastic", 0, 8, {"n1", "n2", "n3"}, 1);
  world.Submit(2, 8);
  EXPECT_EQ(world.Preempt(10), "elastic-0 elastic-1 elastic-2");
}

TEST(PreemptionRoom, OfMembersOnOneNodeTheLastInRankGoFirst) {
  RoomWorld world;
  world.Nodes({"n1"});
  world.Run("elastic", 0, 2, {"n1", "n1", "n1", "n1"}, 3);
  world.Submit(1, 4);
  EXPECT_EQ(world.Preempt(10), "elastic-3 elastic-2");
}

TEST(PreemptionRoom, NoSubGroupLosesMoreThanItCanSpare) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  RunningGang& gang = world.Run("elastic", 1, 8, {"n1", "n2", "n3"}, 1);
  gang.surplus.sub_groups = {1, 0};
  gang.members[0].sub_group = gang.members[1].sub_group = 0;
  gang.members[2].sub_group = 1;
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "elastic-1") << "the last one is all that its sub-group has";
  gang.surplus.sub_groups = {0, 0};
  EXPECT_EQ(world.Preempt(10), "elastic-0 elastic-1 elastic-2");
}

// The fear: half a replica leaves, and the other half holds its GPUs for nothing.
TEST(PreemptionRoom, SurplusHostsOfOneReplicaLeaveTogether) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3", "n4", "n5"});
  RunningGang& gang = world.Run("ray", 0, 8, {"n1", "n2", "n3", "n4", "n5"}, 3);
  gang.members[1].unit = gang.members[2].unit = 1;
  gang.members[3].unit = gang.members[4].unit = 2;
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "ray-0") << "one that is of no replica is enough";
  gang.surplus.sub_groups = {0, 3};
  gang.members[0].sub_group = 0;
  for (size_t i = 1; i < 5; ++i) gang.members[i].sub_group = 1;
  EXPECT_EQ(world.Preempt(10), "ray-4 ray-3");
  gang.surplus.sub_groups = {0, 1};
  EXPECT_EQ(world.Preempt(10), "ray-0 ray-1 ray-2 ray-3 ray-4") << "no replica can be spared";
}

TEST(PreemptionRoom, ABudgetOverOneSurplusMemberProtectsThatOneOnly) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  RunningGang& gang = world.Run("elastic", 0, 8, {"n1", "n2", "n3"}, 2);
  gang.members[2].budgets = {0};
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "elastic-1");
}

// More candidates than are searched exactly.
TEST(PreemptionRoom, OfManyElasticGangsThoseMembersGoThatStandTogether) {
  RoomWorld world;
  std::vector<std::string> nodes;
  for (int n = 10; n < 30; ++n) nodes.push_back(absl::StrCat("n", n));
  world.Nodes(nodes);
  for (size_t n = 0; n < nodes.size(); ++n) {
    world.Run(absl::StrCat("elastic-", 10 + n), 0, 4, {nodes[n], nodes[(n + 1) % nodes.size()]}, 1);
  }
  world.Submit(3, 8);
  const std::vector<std::string> pods = absl::StrSplit(world.Preempt(10), ' ');
  EXPECT_EQ(pods.size(), 6u) << absl::StrJoin(pods, " ");
}

TEST(PreemptionRoom, ARequiredDomainIsFreedAsAWhole) {
  RoomWorld world;
  Topology topology{.levels = {{.name = "rack", .node_label = "rack"}}};
  topology.meta.name = "default";
  world.cluster.Add(ObjectUpserted{topology});
  world.Nodes({"n1", "n2"}, "r1");
  world.Nodes({"n3", "n4"}, "r2");
  world.Run("a", 0, 8, {"n1"});
  world.Run("b", 3, 8, {"n2"});
  world.Run("c", 0, 8, {"n3"});
  world.Run("d", 2, 8, {"n4"});
  world.Submit(2, 8, "rack");
  EXPECT_EQ(world.Preempt(10), "c-0 d-0");
}

TEST(PreemptionRoom, ABudgetIsNeverOverdrawnByThePlanAsAWhole) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  for (const std::string name : {"a", "b"}) {
    world.Run(name, 0, 8, {name == "a" ? "n1" : "n2"}).members.front().budgets = {1};
  }
  world.Run("dear", 5, 8, {"n3"});
  world.Submit(2, 8);
  EXPECT_EQ(world.Preempt(10), "a-0 dear-0");
  world.running[2].members.front().budgets = {0};
  EXPECT_THAT(world.Preempt(10), HasSubstr("no legal choice of them makes room"));
}

TEST(PreemptionRoom, SurplusMayGoWhereTheBudgetForbidsTheRest) {
  RoomWorld world;
  world.Nodes({"n1", "n2"});
  RunningGang& gang = world.Run("elastic", 0, 8, {"n1", "n2"}, 1);
  gang.members.front().budgets = {1};
  gang.members.back().budgets = {1};
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "elastic-1");
}

TEST(PreemptionRoom, ABudgetThatNobodyToldOfForbids) {
  RoomWorld world;
  world.Nodes({"n1"});
  world.Run("low", 0, 8, {"n1"}).members.front().budgets = {77};
  world.Submit(1, 8);
  EXPECT_THAT(world.Preempt(10),
              HasSubstr("no running gang may be evicted: 1 is kept by a PodDisruptionBudget"));
}

// The eviction API refuses such a pod whatever the budgets allow.
TEST(PreemptionRoom, APodThatTwoBudgetsCoverIsNoVictimAndNeitherIsItsGang) {
  RoomWorld world;
  world.Nodes({"n1", "n2", "n3"});
  world.Run("twice", 0, 8, {"n1", "n2"}).members.back().budgets = {1, 2};
  world.Run("dear", 5, 8, {"n3"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "dear-0");
  world.running[0].surplus.members = 1;
  EXPECT_EQ(world.Preempt(10), "twice-0") << "the other one is surplus as well as it";
  world.running.pop_back();
  world.running[0].surplus.members = 0;
  EXPECT_THAT(world.Preempt(10), HasSubstr("1 is kept by a PodDisruptionBudget"));
}

TEST(PreemptionRoom, BudgetsArePassedOnlyWhereNobodyElseCanLeave) {
  RoomWorld world;
  world.ignore_pdb = IgnorePdb::kAlways;
  world.Nodes({"n1", "n2"});
  world.Run("kept", 0, 8, {"n1"}).members.front().budgets = {0};
  world.Run("dear", 5, 8, {"n2"});
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "dear-0");
  EXPECT_EQ(world.Preempt(3), "kept-0");
  world.ignore_pdb = IgnorePdb::kReclaim;
  EXPECT_THAT(world.Preempt(3), HasSubstr("1 is kept by a PodDisruptionBudget"))
      << "nothing is taken back within a queue";
}

TEST(PreemptionRoom, WhereBudgetsArePassedTheFewestPodsPassThem) {
  RoomWorld world;
  world.ignore_pdb = IgnorePdb::kAlways;
  world.Nodes({"n1", "n2", "n3", "n4"});
  for (VictimPod& pod : world.Run("low", 0, 8, {"n1", "n2"}).members) pod.budgets = {0};
  for (VictimPod& pod : world.Run("dear", 5, 8, {"n3", "n4"}).members) pod.budgets = {1};
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "dear-0 dear-1") << "their budget bears one of the two";
  world.running[1].members.back().budgets = {1, 2};
  EXPECT_EQ(world.Preempt(10), "dear-0 dear-1") << "that one can never be evicted";
  world.running[1].members.front().budgets = {0};
  EXPECT_EQ(world.Preempt(10), "low-0 low-1");
}

TEST(PreemptionRoom, ProtectedGangsAreLeftAloneUntilTheirTimeIsOver) {
  RoomWorld world;
  world.Nodes({"n1"});
  world.Run("low", 0, 8, {"n1"}).protected_until = world.cluster.now + absl::Seconds(1);
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "no running gang may be evicted: 1 is protected");
  world.cluster.now += absl::Seconds(1);
  EXPECT_EQ(world.Preempt(10), "low-0");
}

TEST(PreemptionRoom, WithoutAQueueOnlyLowerPriorityWithoutAQueueIsEvicted) {
  RoomWorld world;
  world.in_queue = false;
  world.Nodes({"n1", "n2", "n3"});
  world.Run("queued", -5, 8, {"n1"});
  world.Run("equal", 10, 8, {"n2"}).queue = QuotaNodeId();
  world.Run("low", 9, 8, {"n3"}).queue = QuotaNodeId();
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "low-0");
  EXPECT_THAT(world.Preempt(9), HasSubstr("2 have no lower priority, 1 has a queue"));
}

TEST(PreemptionRoom, AGangWithoutAQueueGivesWayToHigherPriorityWhateverThePolicies) {
  RoomWorld world;
  world.policy = {};
  world.Nodes({"n1", "n2", "n3"});
  world.Run("queued", -5, 8, {"n1"});
  world.Run("equal", 10, 8, {"n2"}).queue = QuotaNodeId();
  world.Run("low", 9, 8, {"n3"}).queue = QuotaNodeId();
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "low-0");
  EXPECT_THAT(world.Preempt(9),
              HasSubstr("2 have no lower priority, 1 is out of reach of the queue's"));
}

TEST(PreemptionRoom, WorkOfOthersWithoutAQueueGoesBeforeOnesOwn) {
  RoomWorld world;
  world.Nodes({"n1", "n2"});
  world.Run("own", -5, 8, {"n1"});
  world.Run("loose", 5, 8, {"n2"}).queue = QuotaNodeId();
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "loose-0");
}

TEST(PreemptionRoom, FewerGangsAreBetterThanFewerPods) {
  RoomWorld world;
  world.in_queue = false;
  world.Nodes({"n1", "n2"});
  world.Run("big", 0, 2, {"n1", "n1", "n1", "n1"}).queue = QuotaNodeId();
  world.Run("half-1", 0, 4, {"n2"}).queue = QuotaNodeId();
  world.Run("half-2", 0, 4, {"n2"}).queue = QuotaNodeId();
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "big-0 big-1 big-2 big-3");
}

TEST(PreemptionRoom, LessRunTimeIsLostAmongEquals) {
  RoomWorld world;
  world.Nodes({"n1", "n2"});
  world.Run("a", 0, 8, {"n1"});
  world.Run("b", 0, 8, {"n2"}).started = world.cluster.now - absl::Minutes(1);
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "b-0");
}

// More candidates than are searched exactly.
TEST(PreemptionRoom, OfManyGangsThoseThatFreeWholeNodesGo) {
  RoomWorld world;
  std::vector<std::string> nodes;
  for (int n = 0; n < 30; ++n) nodes.push_back(absl::StrCat("n", 10 + n));
  world.Nodes(nodes);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (n % 3 == 0) {
      world.Run(absl::StrCat("whole-", 10 + n), 0, 8, {nodes[n]});
    } else {
      world.Run(absl::StrCat("half-", 10 + n), 0, 4, {nodes[n]});
      world.Run(absl::StrCat("other-", 10 + n), 0, 4, {nodes[n]});
    }
  }
  world.Submit(4, 8);
  EXPECT_EQ(world.Preempt(10), "whole-10-0 whole-13-0 whole-16-0 whole-19-0");
}

TEST(PreemptionRoom, OfManyGangsThatShareNodesThoseOfTheSameNodesGo) {
  RoomWorld world;
  for (const std::string row : {"x", "y"}) {
    for (int n = 10; n < 18; ++n) {
      const std::string left = absl::StrCat("left-", n), right = absl::StrCat("right-", n);
      if (row == "x") world.Nodes({left, right});
      world.Run(absl::StrCat(row, "-", n), 0, 4, {left, right});
    }
  }
  world.Submit(2, 8);
  EXPECT_EQ(world.Preempt(10), "x-10-0 x-10-1 y-10-0 y-10-1");
}

TEST(PreemptionRoom, ManyGangsGoWholeWhereTheirSurplusFreesNothing) {
  RoomWorld world;
  for (int n = 10; n < 24; ++n) {
    const std::string full = absl::StrCat("full-", n), half = absl::StrCat("half-", n);
    world.Nodes({full, half});
    RunningGang& gang = world.Run(absl::StrCat("elastic-", n), 0, 5, {full, half}, 1);
    gang.surplus.sub_groups = {0};
    gang.members.front().sub_group = 0;
    world.Run(absl::StrCat("top-", n), 100, 3, {half});
  }
  world.Submit(14, 6);
  const std::vector<std::string> pods = absl::StrSplit(world.Preempt(10), ' ');
  EXPECT_EQ(pods.size(), 28u);
}

TEST(PreemptionRoom, OfManyGangsSurplusReplicasLeaveWhole) {
  RoomWorld world;
  for (int n = 10; n < 24; ++n) {
    const std::string left = absl::StrCat("left-", n), right = absl::StrCat("right-", n);
    const std::string head = absl::StrCat("head-", n);
    world.Nodes({head, left, right});
    RunningGang& gang = world.Run(absl::StrCat("ray-", n), 0, 4, {head, left, left, right}, 3);
    for (size_t i = 1; i < 4; ++i) gang.members[i].unit = 1;
    world.Run(absl::StrCat("top-", n), 100, 4, {head, right});
  }
  world.Submit(14, 8);
  const std::vector<std::string> pods = absl::StrSplit(world.Preempt(10), ' ');
  EXPECT_EQ(pods.size(), 42u) << "three hosts of each";
}

TEST(PreemptionRoom, AVictimOnANodeThatIsGoneFreesNoRoom) {
  RoomWorld world;
  world.Nodes({"n1", "n2"});
  world.Run("low", 0, 8, {"n1"});
  world.Run("ghost", -5, 8, {"n2"}).members.front().node = NodeId(99'999);
  world.Submit(1, 8);
  EXPECT_EQ(world.Preempt(10), "low-0");
}

}  // namespace
}  // namespace maniple::cycle_preemption_room_test
