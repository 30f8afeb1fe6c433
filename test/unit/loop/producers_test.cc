// Gangs that other projects' objects declare: placed as ours are, known by a PodGroup of ours, and
// never a write to what is not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(LoopProducers, AGroupOfAnotherProjectStartsWholeOrNotAtAll) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":4})"});
  SubmitXk8s("train", 0, 3);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 0);
  SubmitXk8s("train", 3, 4);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 4);
}

TEST_F(LoopProducers, APodGroupOfOursStandsForItAndSaysWhyItWaits) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":4})"});
  SubmitXk8s("train", 0, 3);
  d_.Settle(absl::Seconds(5));
  const std::vector<PodGroup> groups = StandingFor("train");
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].spec.min_member, 4);
  EXPECT_EQ(groups[0].spec.source.kind, "PodGroup");
  EXPECT_EQ(groups[0].spec.source.uid, "u-train");
  EXPECT_EQ(groups[0].status.phase, "Waiting");
  EXPECT_EQ(groups[0].status.reason, "WaitingForMembers");
  EXPECT_THAT(groups[0].status.message, HasSubstr("3 of 4"));
}

TEST_F(LoopProducers, AForeignGangCostsOneWriteMoreThanOneOfOurs) {
  Put({.kind = kJobs,
       .name = "train",
       .spec = R"({"completionMode":"Indexed","completions":2,"parallelism":2})"});
  Submit({.prefix = "train",
          .from = 0,
          .to = 2,
          .owner = OwnerReference{"Job", "train", "u-train", "batch/v1"}});
  d_.Settle(absl::Seconds(60));
  EXPECT_EQ(BoundOf("train"), 2);
  EXPECT_EQ(d_.api.Count("POST /apis/scheduling.maniple.dev"), 1);
  EXPECT_EQ(d_.api.Count("PATCH /apis"), 1);
}

TEST_F(LoopProducers, ThePhaseOfAnXk8sGroupIsForWhoeverLists) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  SubmitXk8s("train", 0, 1);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(PhaseOf(kXk8s, "train"), "Pending");
  SubmitXk8s("train", 1, 2);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(PhaseOf(kXk8s, "train"), "Running");
}

TEST_F(LoopProducers, AForeignUpdateWithoutAChangeCostsNoWrite) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":4})"});
  SubmitXk8s("train", 0, 3);
  d_.Settle(absl::Seconds(5));
  const int writes = d_.api.Count("");
  for (int i = 0; i < 5; ++i) {
    Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":4})", .metadata = ""});
    d_.Settle(absl::Seconds(5));
  }
  // The producer's PUT takes our phase away each time; it is put back.
  EXPECT_EQ(d_.api.Count("") - writes, d_.api.Count("PATCH /apis/scheduling.x-k8s.io") - 1);
}

TEST_F(LoopProducers, AForeignGangIsRememberedThroughARestart) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":3})"});
  SubmitXk8s("train", 0, 3);
  d_.Settle(absl::Seconds(5));
  d_.api.Delete(ResourceKind::kPod, "train-1");
  d_.api.Delete(ResourceKind::kPod, "train-2");
  d_.Restart();
  d_.Settle(absl::Seconds(5));
  SubmitXk8s("train", 2, 3);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2) << "a member that comes back later is no new gang";
  EXPECT_THAT(StandingFor("train"), SizeIs(1));
}

TEST_F(LoopProducers, WhoDeletesAStandInDoesNotRenewTheUseOfItsInitialShare) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  SubmitXk8s("train", 0, 2);
  d_.Settle(absl::Seconds(5));
  ASSERT_THAT(StandingFor("train"), SizeIs(1));
  PodGroup stand_in = StandingFor("train").front();
  stand_in.status.initial_share_preemption_used = true;
  d_.api.Put(stand_in);
  d_.Restart();
  d_.Settle(absl::Seconds(5));
  d_.api.Delete(ResourceKind::kPodGroup, stand_in.meta.name);
  d_.Settle(absl::Seconds(30));
  ASSERT_THAT(StandingFor("train"), SizeIs(1));
  EXPECT_TRUE(StandingFor("train").front().status.initial_share_preemption_used);
}

TEST_F(LoopProducers, TheSameNameWithAnotherUidIsAnotherGang) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  SubmitXk8s("train", 0, 2);
  d_.Settle(absl::Seconds(5));
  d_.api.Delete(KindNamed(kXk8s), "train");
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})", .uid = "u-second"});
  SubmitXk8s("train", 2, 3);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2) << "one pod of the new gang is no quorum";
  SubmitXk8s("train", 3, 4);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 4);
}

// Whoever only follows hears late of a group made anew, and of whom the leader binds for it.
TEST_F(LoopProducers, WhatAStandbySawBoundUnderAGroupMadeAnewIsOfTheNewOne) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  SubmitXk8s("train", 0, 1);
  d_.Settle(absl::Seconds(5));
  d_.loop().SetRole(SchedulingLoop::Role::kStandby);
  d_.Settle(absl::Seconds(5));
  d_.api.BindAsSomebodyElse("train-0", "n0");
  d_.Settle(absl::Seconds(5));
  d_.api.Delete(KindNamed(kXk8s), "train");
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})", .uid = "u-second"});
  d_.Settle(absl::Seconds(5));
  d_.loop().SetRole(SchedulingLoop::Role::kLeader);
  SubmitXk8s("train", 1, 2);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2) << "one runs already, and would be waited for";
}

TEST_F(LoopProducers, PodsWaitForAGroupThatIsNotThereYet) {
  SubmitXk8s("train", 0, 2);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 0);
  EXPECT_THAT(d_.api.FindPod("train-0")->scheduled_condition->message,
              HasSubstr("PodGroup train (scheduling.x-k8s.io) does not exist"));
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2);
}

TEST_F(LoopProducers, AGangStartsThoughNothingMayStandForIt) {
  d_.api.Break({.on = "POST /apis/scheduling.maniple.dev", .times = -1, .code = 403});
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  SubmitXk8s("train", 0, 2);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2);
  EXPECT_THAT(StandingFor("train"), IsEmpty());
}

TEST_F(LoopProducers, ThatNothingCanStandForAGangIsToldOnceAndTakenBack) {
  const auto says = [this] {
    return absl::StrContains(d_.api.FindPod("train-0")->scheduled_condition->message,
                             "no PodGroup can be made for it");
  };
  d_.api.Break({.on = "POST /apis/scheduling.maniple.dev", .times = -1, .code = 403});
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":3})"});
  SubmitXk8s("train", 0, 1);
  d_.Settle(absl::Minutes(10));
  EXPECT_TRUE(says());
  EXPECT_LE(d_.api.Count("PATCH /api/v1/namespaces/default/pods/train-0/status"), 2);
  EXPECT_EQ(std::ranges::count_if(d_.api.events_created(),
                                  [](const std::string& event) {
                                    return absl::StartsWith(event, "PodGroupRefused");
                                  }),
            1);
  d_.api.Mend();
  d_.Settle(absl::Minutes(1));
  EXPECT_THAT(StandingFor("train"), SizeIs(1));
  EXPECT_FALSE(says());
}

TEST_F(LoopProducers, SomebodyElsesPodGroupOfTheSameNameIsNotAdopted) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":3})"});
  SubmitXk8s("train", 0, 2);
  d_.Settle(absl::Seconds(5));
  const std::vector<PodGroup> made = StandingFor("train");
  ASSERT_THAT(made, SizeIs(1));
  d_.api.Delete(ResourceKind::kPodGroup, made[0].meta.name);
  d_.api.Put(MakePodGroup(made[0].meta.name).MinMember(1));
  d_.Settle(absl::Seconds(30));
  EXPECT_EQ(BoundOf("train"), 0) << "its quorum of one is not the gang's";
  EXPECT_EQ(d_.StatusOf(made[0].meta.name).phase, "") << "it is not ours to write";
  EXPECT_TRUE(std::ranges::any_of(d_.api.events_created(), [](const std::string& event) {
    return absl::StartsWith(event, "PodGroupRefused");
  }));
}

TEST_F(LoopProducers, AnIndexedJobIsAGangAndAPlainOneIsNot) {
  constexpr char kIndexed[] = R"({"completionMode":"Indexed","completions":3,"parallelism":3})";
  Put({.kind = kJobs, .name = "indexed", .spec = kIndexed});
  Put({.kind = kJobs, .name = "plain", .spec = R"({"parallelism":3,"completions":3})"});
  Submit({.prefix = "indexed",
          .to = 2,
          .owner = OwnerReference{"Job", "indexed", "u-indexed", "batch/v1"}});
  Submit(
      {.prefix = "plain", .to = 1, .owner = OwnerReference{"Job", "plain", "u-plain", "batch/v1"}});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("plain"), 1);
  EXPECT_EQ(BoundOf("indexed"), 0);
  ASSERT_THAT(StandingFor("indexed"), SizeIs(1));
  EXPECT_THAT(StandingFor("indexed")[0].status.message, HasSubstr("2 of 3"));
  EXPECT_THAT(StandingFor("plain"), IsEmpty());
}

TEST_F(LoopProducers, ALauncherThatWaitsForTheWorkersIsNotWaitedFor) {
  constexpr char kSpec[] = R"({"launcherCreationPolicy":"WaitForWorkersReady",
      "mpiReplicaSpecs":{"Launcher":{"replicas":1},"Worker":{"replicas":2}}})";
  Put({.kind = kMpiJobs, .name = "mpi", .spec = kSpec});
  SubmitMpi("worker", "worker", 1);
  EXPECT_EQ(BoundOf("worker"), 0);
  SubmitMpi("worker", "worker", 2);
  EXPECT_EQ(BoundOf("worker"), 2);
  SubmitMpi("launcher", "launcher", 1);
  EXPECT_EQ(BoundOf("launcher"), 1);
  ASSERT_THAT(StandingFor("mpi"), SizeIs(1));
  EXPECT_EQ(StandingFor("mpi")[0].spec.min_member, 3);
}

class LoopLeaderWorkers : public LoopProducers {
 protected:
  void SubmitMember(int index) {
    Pod pod = MakePod(absl::StrCat("lws-", index)).Gpu(8);
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"name", "lws"},
             {"group-index", "0"},
             {"worker-index", absl::StrCat(index)},
             {"template-revision-hash", "r1"}}) {
      pod.meta.labels.Set(absl::StrCat("leaderworkerset.sigs.k8s.io/", key), value);
    }
    pod.meta.annotations.Set("leaderworkerset.sigs.k8s.io/size", "3");
    pod.meta.uid.clear();
    d_.api.Put(pod);
    d_.Settle(absl::Seconds(5));
  }
};

TEST_F(LoopLeaderWorkers, WorkersThatFollowTheirLeaderStartTogether) {
  Put({.kind = kLws,
       .name = "lws",
       .spec = R"({"startupPolicy":"LeaderReady","leaderWorkerTemplate":{"size":3}})"});
  SubmitMember(0);
  EXPECT_EQ(BoundOf("lws"), 1);
  SubmitMember(1);
  EXPECT_EQ(BoundOf("lws"), 1) << "half of the workers is no stage";
  d_.api.Delete(ResourceKind::kPod, "lws-0");
  d_.Settle(absl::Seconds(5));
  SubmitMember(0);
  EXPECT_EQ(BoundOf("lws"), 1) << "nor is it beside a leader that was made anew";
  SubmitMember(2);
  EXPECT_EQ(BoundOf("lws"), 3);
}

// It waited for ever: workers are made only once their leader runs, whatever quorum is asked for.
TEST_F(LoopLeaderWorkers, ALeaderStartsAheadOfItsWorkersAlsoWhenPeopleAskForAllOfThem) {
  Put({.kind = kLws,
       .name = "lws",
       .spec = R"({"startupPolicy":"LeaderReady","leaderWorkerTemplate":{"size":3}})",
       .metadata = R"(,"annotations":{"scheduling.maniple.dev/min-member":"3"})"});
  SubmitMember(0);
  EXPECT_EQ(BoundOf("lws"), 1);
  SubmitMember(1);
  EXPECT_EQ(BoundOf("lws"), 1) << "half of the workers is no stage";
  SubmitMember(2);
  EXPECT_EQ(BoundOf("lws"), 3);
}

// As its controller does when one pod of it fails: all go, and then all are made again.
TEST_F(LoopLeaderWorkers, AReplicaThatIsMadeAnewStartsWholeOrNotAtAll) {
  Put({.kind = kLws, .name = "lws", .spec = R"({"leaderWorkerTemplate":{"size":3}})"});
  for (int index = 0; index < 3; ++index) SubmitMember(index);
  ASSERT_EQ(BoundOf("lws"), 3);
  for (int index = 0; index < 3; ++index) {
    d_.api.Delete(ResourceKind::kPod, absl::StrCat("lws-", index));
  }
  d_.Settle(absl::Seconds(5));
  for (const char* node : {"n3", "n4"}) {
    d_.Put(MakePod(absl::StrCat("busy-", node)).Gpu(8).On(node).Phase(PodPhase::kRunning));
  }
  for (int index = 0; index < 3; ++index) {
    SubmitMember(index);
    EXPECT_EQ(BoundOf("lws"), 0) << "there is room for two";
  }
  d_.api.Delete(ResourceKind::kPod, "busy-n3");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("lws"), 3);
}

// Replicas of two hosts that Ray's autoscaler has asked for, beyond the least.
class LoopRay : public LoopProducers {
 protected:
  LoopRay() {
    Put({.kind = kRay,
         .name = "ray",
         .spec = R"({"enableInTreeAutoscaling":true,"workerGroupSpecs":[)"
                 R"({"groupName":"w","minReplicas":1,"maxReplicas":4,"numOfHosts":2}]})"});
    SubmitHost("head-0", "headgroup", 0, 0);
    SubmitReplica("first", 0);
    d_.Settle(absl::Seconds(5));
  }
  void SubmitHost(const std::string& name, const char* group, int replica, int host) {
    Pod pod = MakePod(name).Gpu(group == std::string("w") ? 8 : 0);
    pod.meta.controller = OwnerReference{"RayCluster", "ray", "u-ray", "ray.io/v1"};
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"cluster", "ray"},
             {"group", group},
             {"is-ray-node", "yes"},
             {"worker-group-replica-index", absl::StrCat(replica)},
             {"replica-host-index", absl::StrCat(host)}}) {
      pod.meta.labels.Set(absl::StrCat("ray.io/", key), value);
    }
    pod.meta.uid.clear();
    d_.api.Put(pod);
  }
  void SubmitReplica(const std::string& name, int replica) {
    for (int host = 0; host < 2; ++host) {
      SubmitHost(absl::StrCat(name, "-", host), "w", replica, host);
    }
  }
};

TEST_F(LoopRay, AReplicaOfSeveralHostsBeyondTheQuorumStartsWholeOrNotAtAll) {
  ASSERT_EQ(BoundOf("first"), 2) << "the quorum; two of four nodes are left";
  d_.Put(MakePod("busy").Gpu(8).On("n4").Phase(PodPhase::kRunning));
  d_.Settle();
  SubmitReplica("second", 1);
  SubmitHost("third-0", "w", 2, 0);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("second"), 0) << "there is room for one of its hosts";
  EXPECT_EQ(BoundOf("third"), 0) << "its other host is not made yet";
  d_.api.Delete(ResourceKind::kPod, "busy");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("second"), 2);
  d_.Nodes(2, 8, "m");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("third"), 0);
  SubmitHost("third-1", "w", 2, 1);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("third"), 2);
}

TEST_F(LoopRay, AReplicaOfSeveralHostsBeyondTheQuorumLeavesWhole) {
  d_.Nodes(2, 8, "m");
  SubmitReplica("second", 1);
  SubmitReplica("third", 2);
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(BoundOf("second") + BoundOf("third"), 4);
  d_.Submit({.gang = "urgent", .pods = 1, .priority = 10});
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(d_.Bound("urgent"), 1);
  EXPECT_EQ(BoundOf("first"), 2);
  EXPECT_EQ(BoundOf("second"), 2);
  EXPECT_EQ(d_.api.FindPod("third-0"), nullptr);
  EXPECT_EQ(d_.api.FindPod("third-1"), nullptr);
}

// With exclusive placement a webhook binds a leader's workers to its rack, and keeps others away.
class LoopExclusive : public LoopProducers {
 protected:
  LoopExclusive() {
    for (const char* rack : {"r1", "r2", "r3"}) {
      for (const char* node : {"a", "b"}) {
        d_.Put(MakeNode(absl::StrCat(rack, node)).Gpu(8).Label("rack", rack));
      }
    }
  }
  void Use(const char* node, int64_t gpus) {
    d_.Put(MakePod(absl::StrCat("busy-", node)).Gpu(gpus).On(node).Phase(PodPhase::kRunning));
  }
  void PutSet(absl::string_view replica, absl::string_view size = "3") {
    Put({.kind = kLws,
         .name = "lws",
         .spec = absl::StrCat(R"({"leaderWorkerTemplate":{"size":3)", replica, "}}"),
         .metadata =
             R"(,"annotations":{"leaderworkerset.sigs.k8s.io/exclusive-topology":"rack"})"});
    const LabelSelector mine{
        {{.key = "group-key", .op = SelectorOperator::kIn, .values = {"one"}}}};
    Pod leader = MakePod("lws-0").Gpu(4).Label("group-key", "one").Near("rack", mine);
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"name", "lws"},
             {"group-index", "0"},
             {"worker-index", "0"},
             {"template-revision-hash", "r1"}}) {
      leader.meta.labels.Set(absl::StrCat("leaderworkerset.sigs.k8s.io/", key), value);
    }
    leader.meta.annotations.Set("leaderworkerset.sigs.k8s.io/size", std::string(size));
    leader.meta.uid.clear();
    d_.api.Put(leader);
    d_.Settle(absl::Seconds(5));
  }
  // Nodes are filled up one after the other, so the fullest rack is taken unless something speaks
  // against it.
  [[nodiscard]] std::string RackOfLeader() {
    return d_.api.FindPod("lws-0")->node_name.substr(0, 2);
  }
};

TEST_F(LoopExclusive, ALeaderStartsWhereItsWorkersFindRoomToo) {
  Use("r1a", 4);
  Use("r1b", 8);  // r1 has room for the leader alone
  Use("r2b", 4);  // r2 for all three
  PutSet("");
  EXPECT_EQ(RackOfLeader(), "r2");
}

TEST_F(LoopExclusive, ALeaderStartsAllTheSameWhereNoRackHasRoomForAll) {
  for (const char* node : {"r1b", "r2b", "r3b"}) Use(node, 8);
  Use("r1a", 4);
  PutSet("");
  EXPECT_EQ(RackOfLeader(), "r1");
}

TEST_F(LoopExclusive, AMillionFollowersCostNoMoreThanNone) {
  Use("r1a", 4);
  Use("r1b", 8);
  PutSet("", "1000000");
  EXPECT_EQ(RackOfLeader(), "r1");
}

TEST_F(LoopExclusive, OfWorkersThatMayAskForOtherThingsNothingIsKnown) {
  Use("r1a", 4);
  Use("r1b", 8);
  PutSet(R"(,"leaderTemplate":{})");
  EXPECT_EQ(RackOfLeader(), "r1");
}

TEST_F(LoopProducers, OfSeveralMarksTheFirstDecidesAndOneEventSaysSo) {
  Put({.kind = kXk8s, .name = "first", .spec = R"({"minMember":2})"});
  Put({.kind = kVolcano, .name = "second", .spec = R"({"minMember":9})"});
  Submit({.prefix = "both",
          .to = 2,
          .label = "scheduling.x-k8s.io/pod-group",
          .value = "first",
          .annotation = "scheduling.k8s.io/group-name",
          .text = "second"});
  d_.Settle(absl::Seconds(60));
  EXPECT_EQ(BoundOf("both"), 2);
  const auto told = [this] {
    return std::ranges::count_if(d_.api.events_created(), [](const std::string& event) {
      return absl::StartsWith(event, "MarksPassedOver");
    });
  };
  EXPECT_EQ(told(), 1);
  d_.Restart();
  d_.Settle(absl::Seconds(60));
  EXPECT_EQ(told(), 1) << "the next leader knows that it has been told";
}

TEST_F(LoopProducers, APodGroupThatClaimsASourceWhichNobodyDeclaresStartsNothing) {
  PodGroup forged = MakePodGroup("forged").MinMember(1);
  forged.spec.source = {.api_version = "batch/v1", .kind = "Job", .name = "big", .uid = "u-big"};
  d_.api.Put(forged);
  d_.Submit({.gang = "forged", .pods = 1});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(d_.Bound("forged"), 0);
  EXPECT_EQ(d_.StatusOf("forged").reason, "InvalidSpec");
  EXPECT_THAT(d_.StatusOf("forged").message, HasSubstr("spec.source"));
}

TEST_F(LoopProducers, WhatStandsForMarksAloneGoesTenMinutesAfterTheLastPod) {
  for (int i = 0; i < 2; ++i) {
    Pod pod = MakePod(absl::StrCat("plain-", i)).Gpu(8);
    pod.meta.labels.Set("kueue.x-k8s.io/pod-group-name", "plain");
    pod.meta.annotations.Set("kueue.x-k8s.io/pod-group-total-count", "2");
    pod.meta.uid.clear();
    d_.api.Put(pod);
  }
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("plain"), 2);
  EXPECT_THAT(StandingFor("plain"), SizeIs(1));
  for (const char* pod : {"plain-0", "plain-1"}) d_.api.Delete(ResourceKind::kPod, pod);
  d_.Settle(absl::Minutes(9));
  EXPECT_THAT(StandingFor("plain"), SizeIs(1));
  d_.Settle(absl::Minutes(2));
  EXPECT_THAT(StandingFor("plain"), IsEmpty());
}

TEST_F(LoopProducers, PodsOfAGroupThatIsGoneStayWhereTheyRun) {
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})"});
  SubmitXk8s("train", 0, 2);
  d_.Settle(absl::Seconds(5));
  d_.api.Uninstall(KindNamed(kXk8s));
  d_.Settle(absl::Seconds(600));
  EXPECT_EQ(BoundOf("train"), 2);
  SubmitXk8s("train", 2, 3);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2) << "a member that comes late is no gang of one";
  EXPECT_THAT(d_.api.FindPod("train-2")->scheduled_condition->message,
              HasSubstr("PodGroup train (scheduling.x-k8s.io) does not exist"));
}

}  // namespace
}  // namespace maniple
