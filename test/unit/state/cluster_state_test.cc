#include "scheduler/state/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"

namespace maniple::state_cluster_state_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class ClusterStateTest : public ::testing::Test {
 protected:
  // Applies one event, checks every invariant, and returns what changed.
  Delta Apply(ObjectEvent event) {
    Delta delta;
    state_.Apply(event, kNow, delta);
    EXPECT_EQ(state_.CheckInvariants().message(), "");
    return delta;
  }
  NodeId NodeIdOf(absl::string_view name) { return state_.NodeNamed(name).value(); }
  PodId PodIdOf(absl::string_view name) {
    return state_.PodWithUid(absl::StrCat("uid-", name)).value();
  }
  const Gang& GangOf(absl::string_view name, GangDialect dialect = GangDialect::kManiple) {
    return *state_.FindGang(
        state_
            .GangNamed({.dialect = dialect, .namespace_name = "default", .name = std::string(name)})
            .value());
  }
  int64_t FreeOn(absl::string_view node, absl::string_view resource = kGpuResource) {
    const SnapshotPtr snapshot = state_.Publish();
    const NodeId id = NodeIdOf(node);
    for (uint32_t r = 0; r < snapshot->tables->resources.size(); ++r) {
      if (snapshot->tables->resources[r].name != resource) continue;
      return snapshot->blocks[BlockOf(id)]->Free(ResourceId(r))[RowOf(id)];
    }
    return 0;
  }
  std::vector<std::string> MembersOf(absl::string_view gang) {
    std::vector<std::string> names;
    for (const Member& member : GangOf(gang).members) names.push_back(member.name);
    return names;
  }

  ClusterState state_{ClusterStateOptions{.default_queue = "fallback"}};
};

TEST_F(ClusterStateTest, PodsOfEverySchedulerTakeRoom) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("ours").Gpu(2).On("n1"));
  Apply(MakePod("theirs").Scheduler("default-scheduler").Gpu(3).On("n1"));
  EXPECT_EQ(FreeOn("n1"), 3);
  EXPECT_EQ(FreeOn("n1", "pods"), 108);
}

TEST_F(ClusterStateTest, ATerminatingPodStillTakesRoomAndATerminalOneDoesNot) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(2).On("n1"));
  EXPECT_THAT(Apply(MakePod("a").Gpu(2).On("n1").Deleting()).room_grew, IsEmpty());
  EXPECT_EQ(FreeOn("n1"), 6);
  EXPECT_THAT(Apply(MakePod("a").Gpu(2).On("n1").Phase(PodPhase::kFailed)).room_grew,
              ElementsAre(NodeIdOf("n1")));
  EXPECT_EQ(FreeOn("n1"), 8);
  EXPECT_EQ(GangOf("a", GangDialect::kSingleton).members[0].node, NodeIdOf("n1"));
}

TEST_F(ClusterStateTest, PodsOnAnUnknownNodeAreChargedWhenItAppears) {
  Apply(MakePod("a").Gpu(2).On("late"));
  EXPECT_FALSE(GangOf("a", GangDialect::kSingleton).members[0].node.valid());
  Apply(MakeNode("late").Gpu(8));
  EXPECT_EQ(FreeOn("late"), 6);
  EXPECT_EQ(GangOf("a", GangDialect::kSingleton).members[0].node, NodeIdOf("late"));
}

TEST_F(ClusterStateTest, ANodeThatGoesAndReturnsFindsItsPodsAgain) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(2).On("n1"));
  Apply(MakePod("done").Gpu(1).On("n1").Phase(PodPhase::kSucceeded));
  const NodeId old = NodeIdOf("n1");
  const Delta gone = Apply(DeletionOf(ResourceKind::kNode, "n1"));
  EXPECT_THAT(gone.nodes_gone, ElementsAre(old));
  EXPECT_FALSE(state_.FindPod(PodIdOf("a"))->node.valid());
  EXPECT_FALSE(state_.FindPod(PodIdOf("done"))->node.valid());
  Apply(MakeNode("other").Gpu(4));  // takes the row
  EXPECT_EQ(FreeOn("other"), 4);
  Apply(MakeNode("n1").Gpu(8).Uid("another"));
  EXPECT_EQ(FreeOn("n1"), 6);
}

TEST_F(ClusterStateTest, ANominationOfAForeignPodTakesRoomUntilItIsBoundElsewhere) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakeNode("n2").Gpu(8));
  Apply(MakePod("theirs").Scheduler("other").Gpu(5).Nominated("n1"));
  EXPECT_EQ(FreeOn("n1"), 3);
  const Delta delta = Apply(MakePod("theirs").Scheduler("other").Gpu(5).Nominated("n1").On("n2"));
  EXPECT_EQ(FreeOn("n1"), 8);
  EXPECT_EQ(FreeOn("n2"), 3);
  EXPECT_THAT(delta.room_grew, ElementsAre(NodeIdOf("n1")));
}

TEST_F(ClusterStateTest, OnlyNominationsOfEqualOrHigherPriorityTakeRoomFromAGang) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("theirs").Scheduler("other").Gpu(5).Nominated("n1").Priority(7));
  Apply(MakePod("theirs-too").Scheduler("other").Gpu(1).Nominated("elsewhere").Priority(1));
  EXPECT_THAT(state_.PromisedBelow(7), IsEmpty());
  const std::vector<PromisedRoom> promised = state_.PromisedBelow(8);
  ASSERT_EQ(promised.size(), 1u);
  EXPECT_EQ(promised[0].node, NodeIdOf("n1"));
  // Once it is bound it is there.
  Apply(MakePod("theirs").Scheduler("other").Gpu(5).On("n1").Priority(7));
  EXPECT_THAT(state_.PromisedBelow(8), IsEmpty());
}

TEST_F(ClusterStateTest, APlaceStillFitsBesideANominationThatItsGangOutranks) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("ours").Gpu(8).Priority(7));
  const PodId ours = *state_.PodWithUid("uid-ours");
  state_.Reserve(ours, NodeIdOf("n1"));
  Apply(MakePod("theirs").Scheduler("other").Gpu(5).Nominated("n1").Priority(6));
  const ShapeId shape = state_.FindPod(ours)->shape;
  EXPECT_TRUE(state_.StillFits(shape, NodeIdOf("n1"), 7));
  EXPECT_FALSE(state_.StillFits(shape, NodeIdOf("n1"), 6));
  EXPECT_TRUE(state_.MayFit(shape, NodeIdOf("n1"))) << "who outranks whom is not asked of a hint";
}

TEST_F(ClusterStateTest, ANodeThatIsBeingRepartitionedMayTakePodsWithoutGpusOnly) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("gpu").Gpu(1));
  Apply(MakePod("cpu").Cpu(1000));
  const ShapeId gpu = state_.FindPod(*state_.PodWithUid("uid-gpu"))->shape;
  const ShapeId cpu = state_.FindPod(*state_.PodWithUid("uid-cpu"))->shape;
  EXPECT_TRUE(state_.MayFit(gpu, NodeIdOf("n1")));
  const Delta delta = Apply(MakeNode("n1").Gpu(8).Label("nvidia.com/mig.config.state", "pending"));
  EXPECT_THAT(delta.nodes_changed, ElementsAre(NodeIdOf("n1")));
  EXPECT_FALSE(state_.MayFit(gpu, NodeIdOf("n1")));
  EXPECT_TRUE(state_.MayFit(cpu, NodeIdOf("n1")));
  EXPECT_EQ(state_.CheckInvariants(), absl::OkStatus());
}

TEST_F(ClusterStateTest, FreeGoesNegativeWhenDevicesFailAndRoomGrowsWhenTheyReturn) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(8).On("n1"));
  EXPECT_THAT(Apply(MakeNode("n1").Gpu(6)).room_grew, IsEmpty());
  EXPECT_EQ(FreeOn("n1"), -2);
  EXPECT_THAT(Apply(MakeNode("n1").Gpu(8)).room_grew, ElementsAre(NodeIdOf("n1")));
}

TEST_F(ClusterStateTest, AbsurdAmountsNeitherWrapNorStick) {
  Apply(MakeNode("n1").Gpu(8));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 3; ++i) Apply(MakePod(absl::StrCat("p", i)).Gpu(kMost).On("n1"));
  EXPECT_LT(FreeOn("n1"), -kMostAmount);
  for (int i = 0; i < 3; ++i) Apply(DeletionOf(ResourceKind::kPod, absl::StrCat("p", i)));
  EXPECT_EQ(FreeOn("n1"), 8);
  Apply(MakePod("negative").Gpu(-5).On("n1"));
  EXPECT_EQ(FreeOn("n1"), 8);
}

TEST_F(ClusterStateTest, TheSameNameWithAnotherUidIsAnotherPod) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePodGroup("a"));
  Apply(MakePod("a-0").Group("a").Gpu(8).On("n1").Uid("old"));
  const Delta delta = Apply(MakePod("a-0").Group("a").Gpu(8).Uid("new"));
  EXPECT_THAT(delta.room_grew, ElementsAre(NodeIdOf("n1")));
  EXPECT_FALSE(state_.PodWithUid("old").has_value());
  EXPECT_EQ(FreeOn("n1"), 8);
  // Word of the old one's deletion comes late.
  Apply(DeletionOf(ResourceKind::kPod, "a-0", "old"));
  EXPECT_TRUE(state_.PodWithUid("new").has_value());
  EXPECT_THAT(MembersOf("a"), ElementsAre("a-0"));
}

TEST_F(ClusterStateTest, AUidUnderAnotherNameReplacesTheOlderPod) {
  Apply(MakePod("a").Uid("u"));
  Apply(MakePod("b").Uid("u"));
  EXPECT_EQ(state_.FindPod(state_.PodWithUid("u").value())->name, "b");
}

TEST_F(ClusterStateTest, AnUnreadablePodIsGoneUnlessItStandsOnANode) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(8).On("n1"));
  Apply(MakePod("b").Gpu(8));
  const auto refuse = [this](const char* name, const char* uid) {
    const ObjectKey key{.kind = ResourceKind::kPod, .namespace_name = "default", .name = name};
    return Apply(ObjectInvalid{.key = key, .uid = uid, .problem = "metadata.labels: absurd"});
  };
  EXPECT_THAT(refuse("a", "uid-a").gangs_gone, IsEmpty());
  EXPECT_EQ(FreeOn("n1"), 0) << "it goes on using what it has";
  EXPECT_EQ(refuse("b", "uid-b").gangs_gone.size(), 1u);
  EXPECT_EQ(refuse("a", "another").gangs_gone.size(), 1u);
  EXPECT_EQ(FreeOn("n1"), 8);
}

TEST_F(ClusterStateTest, AnUnreadableNodeKeepsItsPodsAndTakesNoMore) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(2).On("n1"));
  Apply(ObjectInvalid{.key = {.kind = ResourceKind::kNode, .namespace_name = "", .name = "n1"},
                      .uid = "uid-n1",
                      .problem = "status"});
  EXPECT_EQ(FreeOn("n1"), -2);
  EXPECT_EQ(state_.FindPod(PodIdOf("a"))->node, NodeIdOf("n1"));
  EXPECT_THAT(Apply(MakeNode("n1").Gpu(8)).room_grew, ElementsAre(NodeIdOf("n1")));
  EXPECT_EQ(FreeOn("n1"), 6);
}

TEST_F(ClusterStateTest, AReservationIsChargedOnceAndOutlivedByTheBind) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(8));
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  EXPECT_EQ(FreeOn("n1"), 0);
  EXPECT_THAT(Apply(MakePod("a").Gpu(8).On("n1")).room_grew, IsEmpty());
  EXPECT_EQ(FreeOn("n1"), 0);
  EXPECT_FALSE(GangOf("a", GangDialect::kSingleton).members[0].started_elsewhere);
  Delta delta;
  state_.Release(PodIdOf("a"), delta);
  state_.Release(PodIdOf("a"), delta);
  EXPECT_THAT(delta.room_grew, IsEmpty());
  EXPECT_EQ(FreeOn("n1"), 0);
}

TEST_F(ClusterStateTest, AReservedPodThatIsBoundElsewhereMovesItsCharge) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakeNode("n2").Gpu(8));
  Apply(MakePod("a").Gpu(8));
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  EXPECT_THAT(Apply(MakePod("a").Gpu(8).On("n2")).room_grew, ElementsAre(NodeIdOf("n1")));
  EXPECT_EQ(FreeOn("n1"), 8);
  EXPECT_EQ(FreeOn("n2"), 0);
  EXPECT_TRUE(GangOf("a", GangDialect::kSingleton).members[0].started_elsewhere);
}

TEST_F(ClusterStateTest, AReservationEndsWithItsNode) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(8));
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  Apply(DeletionOf(ResourceKind::kNode, "n1"));
  EXPECT_FALSE(state_.FindPod(PodIdOf("a"))->reserved.valid());
}

TEST_F(ClusterStateTest, AClaimThatIsWrittenTheSameConcernsThoseWhoAreBindingItAlone) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(2).Claim("data"));
  Apply(MakePod("b").Gpu(2).Claim("data"));
  Apply(MakeClaim("data"));
  EXPECT_THAT(Apply(MakeClaim("data")).gangs_changed, IsEmpty());
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  EXPECT_THAT(Apply(MakeClaim("data")).gangs_changed,
              ElementsAre(GangOf("a", GangDialect::kSingleton).id));
}

TEST_F(ClusterStateTest, AReservationFindsANodeThatReturnsUnderItsName) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(2));
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  Apply(DeletionOf(ResourceKind::kNode, "n1"));
  Apply(MakePod("a").Gpu(2));  // still unbound as far as the watch shows
  Apply(MakeNode("n1").Gpu(8).Uid("another"));
  EXPECT_EQ(FreeOn("n1"), 6) << "its bind names the node and may be under way";
  Apply(MakePod("a").Gpu(2).On("n1"));
  EXPECT_EQ(FreeOn("n1"), 6);
  EXPECT_FALSE(GangOf("a", GangDialect::kSingleton).members[0].started_elsewhere);
}

TEST_F(ClusterStateTest, APodThatTheServerSaysIsBoundElsewhereTakesRoomThereAheadOfTheWatch) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakeNode("n2").Gpu(8));
  Apply(MakePod("a").Gpu(2));
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  Delta delta;
  state_.NoteBound(PodIdOf("a"), "n2", delta);
  EXPECT_EQ(FreeOn("n1"), 8);
  EXPECT_EQ(FreeOn("n2"), 6);
  EXPECT_THAT(delta.room_grew, ElementsAre(NodeIdOf("n1")));
  state_.NoteBound(PodIdOf("a"), "late", delta);
  EXPECT_EQ(FreeOn("n2"), 8);
  Apply(MakeNode("late").Gpu(8));
  EXPECT_EQ(FreeOn("late"), 6);
  Apply(MakePod("a").Gpu(2).On("late"));
  EXPECT_EQ(FreeOn("late"), 6);
}

TEST_F(ClusterStateTest, AReleasedReservationDoesNotReturnWithItsNode) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(2));
  state_.Reserve(PodIdOf("a"), NodeIdOf("n1"));
  Apply(DeletionOf(ResourceKind::kNode, "n1"));
  Delta delta;
  state_.Release(PodIdOf("a"), delta);
  Apply(MakeNode("n1").Gpu(8).Uid("another"));
  EXPECT_EQ(FreeOn("n1"), 8);
}

TEST_F(ClusterStateTest, AHoldTakesRoomUntilItIsReleased) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakePod("a").Gpu(3));
  const HoldId hold = state_.Hold(NodeIdOf("n1"), state_.FindPod(PodIdOf("a"))->shape);
  EXPECT_EQ(FreeOn("n1"), 5);
  EXPECT_NE(state_.Publish()->FindHold(hold), nullptr);
  Delta delta;
  state_.ReleaseHold(hold, delta);
  state_.ReleaseHold(hold, delta);
  EXPECT_EQ(FreeOn("n1"), 8);
  EXPECT_THAT(delta.room_grew, ElementsAre(NodeIdOf("n1")));
  EXPECT_EQ(state_.CheckInvariants().message(), "");
}

TEST_F(ClusterStateTest, APodWithoutItsGroupWaitsForIt) {
  Apply(MakePod("a-0").Group("a"));
  EXPECT_FALSE(GangOf("a").group_exists);
  EXPECT_THAT(Apply(MakePodGroup("a").MinMember(2)).gangs_changed, ElementsAre(GangOf("a").id));
  EXPECT_TRUE(GangOf("a").group_exists);
  EXPECT_EQ(GangOf("a").spec.min_member, 2);
}

// Seed 7002466 of the simulation: a Queue paid for a pod that was bound under none.
TEST_F(ClusterStateTest, WhoHasEndedDoesNotTellUnderWhichQueueOthersWereAdmitted) {
  Apply(MakeNode("n1").Gpu(8));
  Pod first = MakePod("a-0").Group("a").Gpu(1).On("n1");
  first.meta.annotations.Set(kAdmittedQueueAnnotation, "old");
  Apply(ObjectUpserted{first});
  EXPECT_EQ(GangOf("a").told_queue, "old");
  Apply(MakePod("a-1").Group("a").Gpu(1).On("n1"));
  first.phase = PodPhase::kSucceeded;
  Apply(ObjectUpserted{first});
  EXPECT_EQ(GangOf("a").told_queue, "old") << "another that was admitted with it still runs";
  Apply(MakePod("a-1").Group("a").Gpu(1).On("n1").Phase(PodPhase::kSucceeded));
  EXPECT_EQ(GangOf("a").told_queue, "");
  Apply(MakePod("a-2").Group("a").Gpu(1).On("n1"));
  EXPECT_EQ(GangOf("a").told_queue, "");
}

TEST_F(ClusterStateTest, AGangIsGoneWithItsGroupAndItsLastPod) {
  Apply(MakePodGroup("a"));
  Apply(MakePod("a-0").Group("a"));
  const GangId gang = GangOf("a").id;
  EXPECT_THAT(Apply(DeletionOf(ResourceKind::kPodGroup, "a")).gangs_gone, IsEmpty());
  EXPECT_FALSE(GangOf("a").group_exists);
  EXPECT_THAT(Apply(DeletionOf(ResourceKind::kPod, "a-0")).gangs_gone, ElementsAre(gang));
  EXPECT_EQ(state_.FindGang(gang), nullptr);
  Apply(MakePodGroup("a"));
  EXPECT_NE(GangOf("a").id, gang);
}

TEST_F(ClusterStateTest, MembersStandInRankOrderAlsoWhenTheGroupComesLate) {
  Apply(MakePod("w-1").Group("a").SubGroup("worker").Index(1));
  Apply(MakePod("plain").Group("a"));
  Apply(MakePod("l").Group("a").SubGroup("leader"));
  Apply(MakePod("w-0").Group("a").SubGroup("worker").Index(0));
  Apply(MakePodGroup("a").SubGroup("leader", 1).SubGroup("worker", 2));
  EXPECT_THAT(MembersOf("a"), ElementsAre("l", "w-0", "w-1", "plain"));
}

TEST_F(ClusterStateTest, APodThatChangesItsGroupLeavesTheOldOne) {
  Apply(MakePodGroup("a"));
  Apply(MakePodGroup("b"));
  Apply(MakePod("p").Group("a"));
  const Delta delta = Apply(MakePod("p").Group("b"));
  EXPECT_THAT(MembersOf("a"), IsEmpty());
  EXPECT_THAT(MembersOf("b"), ElementsAre("p"));
  EXPECT_EQ(delta.gangs_changed.size(), 2u);
}

TEST_F(ClusterStateTest, APodGroupLowersButNeverRaisesPriority) {
  PriorityClass high, low;
  high.meta.name = "high";
  high.value = 1000;
  low.meta.name = "low";
  low.value = 10;
  Apply(ObjectUpserted{high});
  Apply(ObjectUpserted{low});
  Apply(MakePodGroup("a").PriorityClass("high"));
  Apply(MakePod("a-0").Group("a").Priority(100));
  EXPECT_EQ(GangOf("a").priority, 100);
  Apply(MakePodGroup("a").PriorityClass("low"));
  EXPECT_EQ(GangOf("a").priority, 10);
  low.value = 5;
  EXPECT_THAT(Apply(ObjectUpserted{low}).gangs_changed, ElementsAre(GangOf("a").id));
  EXPECT_EQ(GangOf("a").priority, 5);
  Apply(MakePodGroup("a"));
  EXPECT_EQ(GangOf("a").priority, 100);
}

TEST_F(ClusterStateTest, QueueComesFromSpecThenLabelThenNamespaceThenDefault) {
  Apply(MakePodGroup("a"));
  Apply(MakePod("single").Label(kQueueLabel, "mine"));
  EXPECT_EQ(GangOf("a").queue, "fallback");
  EXPECT_EQ(GangOf("single", GangDialect::kSingleton).queue, "mine");
  Namespace space;
  space.meta.name = "default";
  space.meta.labels.Set(kDefaultQueueLabel, "of-namespace");
  EXPECT_THAT(Apply(ObjectUpserted{space}).gangs_changed, ElementsAre(GangOf("a").id));
  EXPECT_EQ(GangOf("a").queue, "of-namespace");
  Apply(MakePodGroup("a").Queue("own"));
  EXPECT_EQ(GangOf("a").queue, "own");
}

TEST_F(ClusterStateTest, AnUnreadablePodGroupIsAProblemOfItsGang) {
  Apply(MakePodGroup("a").MinMember(3));
  Apply(ObjectInvalid{
      .key = {.kind = ResourceKind::kPodGroup, .namespace_name = "default", .name = "a"},
      .uid = "uid-group-a",
      .problem = "spec.minMember: must be at least 1"});
  EXPECT_EQ(GangOf("a").problem, "spec.minMember: must be at least 1");
  EXPECT_EQ(GangOf("a").spec.min_member, 3);
  Apply(MakePodGroup("a").MinMember(3));
  EXPECT_EQ(GangOf("a").problem, "");
}

TEST_F(ClusterStateTest, RepeatedEventsChangeNothing) {
  const std::vector<ObjectEvent> events = {MakeNode("n1").Gpu(8), MakePodGroup("a"),
                                           MakePod("a-0").Group("a").Gpu(1).On("n1")};
  for (const ObjectEvent& event : events) Apply(event);
  const SnapshotPtr before = state_.Publish();
  for (const ObjectEvent& event : events) {
    const Delta delta = Apply(event);
    EXPECT_THAT(delta.gangs_changed, IsEmpty());
    EXPECT_THAT(delta.nodes_changed, IsEmpty());
    EXPECT_THAT(delta.room_grew, IsEmpty());
  }
  EXPECT_EQ(state_.Publish(), before);
}

TEST_F(ClusterStateTest, NodesDifferInClassOnlyByWhatSomeSelectorUses) {
  for (int i = 0; i < 10; ++i) {
    Apply(MakeNode(absl::StrCat("n", i))
              .Gpu(8)
              .Label("id", absl::StrCat(i))
              .Label("zone", i < 5 ? "a" : "b"));
  }
  const auto classes = [this] {
    absl::btree_set<uint32_t> ids;
    for (const NodeId node : state_.Publish()->order->by_name) {
      const SnapshotPtr snapshot = state_.Publish();
      ids.insert(snapshot->blocks[BlockOf(node)]->rows().classes[RowOf(node)].index());
    }
    return ids.size();
  };
  EXPECT_EQ(classes(), 1u);
  Apply(MakePod("p").Selector("zone", "a"));
  EXPECT_EQ(classes(), 2u);
  Apply(MakePod("foreign").Scheduler("other").Selector("id", "3"));
  EXPECT_EQ(classes(), 2u);
  Apply(MakeNode("n3").Gpu(8).Label("id", "3").Label("zone", "a").Cordoned());
  EXPECT_EQ(classes(), 3u);
}

TEST_F(ClusterStateTest, ALabelWithManyValuesBecomesAColumn) {
  for (int i = 0; i < 70; ++i) {
    Apply(MakeNode(absl::StrCat("n", i)).Label("host", absl::StrCat("h", i)));
  }
  Apply(MakePod("p").Selector("host", "h3"));
  const SnapshotPtr snapshot = state_.Publish();
  EXPECT_THAT(snapshot->tables->label_columns, ElementsAre("host"));
  const NodeId node = NodeIdOf("n3");
  const LabelValueId value = snapshot->blocks[0]->rows().label_columns[0].values[RowOf(node)];
  EXPECT_EQ(snapshot->tables->label_values[value.index()], "h3");
}

TEST_F(ClusterStateTest, ASelectorSeenBeforeItsNodesTurnsIntoAColumnAsTheyCome) {
  Apply(MakePod("p").Selector("host", "h3"));
  for (int i = 0; i < 70; ++i) {
    Apply(MakeNode(absl::StrCat("n", i)).Label("host", absl::StrCat("h", i)));
  }
  EXPECT_THAT(state_.Publish()->tables->label_columns, ElementsAre("host"));
}

TEST_F(ClusterStateTest, ALabelThatATermAsksAboutBecomesAColumnWithTheFirstNodeThatCarriesIt) {
  Apply(MakeNode("bare"));
  Apply(MakePod("p").Near("zone", Labelled("app", "x")));
  EXPECT_THAT(state_.Publish()->tables->label_columns, ::testing::IsEmpty());
  Apply(MakeNode("bare").Label("zone", "a"));
  EXPECT_THAT(state_.Publish()->tables->label_columns, ElementsAre("zone"));
  EXPECT_TRUE(state_.CheckInvariants().ok()) << state_.CheckInvariants();
}

TEST_F(ClusterStateTest, MayFitLooksAtRoomAndTaints) {
  Apply(MakeNode("free").Gpu(8));
  Apply(MakeNode("full").Gpu(8));
  Apply(MakeNode("tainted").Gpu(8).WithTaint("gpu"));
  Apply(MakePod("x").Gpu(8).On("full"));
  Apply(MakePod("p").Gpu(4));
  const ShapeId shape = state_.FindPod(PodIdOf("p"))->shape;
  EXPECT_TRUE(state_.MayFit(shape, NodeIdOf("free")));
  EXPECT_FALSE(state_.MayFit(shape, NodeIdOf("full")));
  EXPECT_FALSE(state_.MayFit(shape, NodeIdOf("tainted")));
}

TEST_F(ClusterStateTest, AFloodOfResourceNamesIsBoundedAndPromisesNothing) {
  MakeNode node("n1");
  for (int i = 0; i < 3000; ++i) node.Has(absl::StrCat("example.com/r", i), 1);
  Apply(node);
  EXPECT_LE(state_.Publish()->tables->resources.size(), 1025u);
  Apply(MakePod("known").Wants("example.com/r0", 1));
  Apply(MakePod("beyond").Wants("example.com/r999", 1));
  EXPECT_TRUE(state_.MayFit(state_.FindPod(PodIdOf("known"))->shape, NodeIdOf("n1")));
  EXPECT_FALSE(state_.MayFit(state_.FindPod(PodIdOf("beyond"))->shape, NodeIdOf("n1")));
}

TEST_F(ClusterStateTest, ANodeWithoutANameIsIgnored) {
  Apply(MakeNode(""));
  EXPECT_EQ(state_.Publish()->node_count(), 0);
}

TEST_F(ClusterStateTest, KindsAreSyncedOneByOne) {
  EXPECT_FALSE(state_.Synced(ResourceKind::kPod));
  Apply(KindSynced{.kind = ResourceKind::kPod});
  EXPECT_TRUE(state_.Synced(ResourceKind::kPod));
  EXPECT_FALSE(state_.Synced(ResourceKind::kNode));
}

}  // namespace
}  // namespace maniple::state_cluster_state_test
