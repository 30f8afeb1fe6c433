// Gangs that other projects' objects declare: placed as ours are, known by a PodGroup of ours, and
// never a write to what is not ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/codec/decode.h"
#include "api/producers/kinds.h"
#include "api/producers/reader.h"
#include "test/support/loop_driver.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "podgroups.scheduling.x-k8s.io"
ResourceKind KindNamed(absl::string_view resource_and_group) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(resource_and_group, absl::MaxSplits('.', 1));
  const ForeignKinds& kinds = BuiltinForeignKinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].resource == parts.first && kinds[i].group == parts.second) {
      return ForeignResource(i);
    }
  }
  ADD_FAILURE() << "no kind " << resource_and_group;
  return ForeignResource(0);
}

constexpr char kXk8s[] = "podgroups.scheduling.x-k8s.io";
constexpr char kVolcano[] = "podgroups.scheduling.volcano.sh";
constexpr char kJobs[] = "jobs.batch";
constexpr char kPyTorchJobs[] = "pytorchjobs.kubeflow.org";
constexpr char kMpiJobs[] = "mpijobs.kubeflow.org";
constexpr char kRay[] = "rayclusters.ray.io";
constexpr char kLws[] = "leaderworkersets.leaderworkerset.x-k8s.io";

class LoopProducers : public ::testing::Test {
 protected:
  LoopProducers() : d_({.producers = {.kinds = BuiltinForeignKinds()}}) {
    d_.Nodes(4, 8);
    for (size_t i = 0; i < BuiltinForeignKinds().size(); ++i) {
      const ResourceKind kind = ForeignResource(i);
      const bool served = std::ranges::any_of(
          std::initializer_list<const char*>{kXk8s, kVolcano, kJobs, kPyTorchJobs, kMpiJobs, kLws,
                                             kRay},
          [kind](const char* name) { return kind == KindNamed(name); });
      served ? d_.api.Serve(kind) : d_.api.Uninstall(kind);
    }
  }

  struct Foreign {
    const char* kind;
    std::string name;
    std::string spec = "{}";
    std::string uid = "";  // "" = made of the name
    std::string metadata = "";
  };
  void Put(const Foreign& foreign) {
    const ResourceKind kind = KindNamed(foreign.kind);
    const ForeignKind& known = BuiltinForeignKinds()[ForeignIndex(kind)];
    const std::string uid = foreign.uid.empty() ? absl::StrCat("u-", foreign.name) : foreign.uid;
    const std::string json = absl::StrCat(
        R"({"apiVersion":")", known.group, "/", known.versions.front(), R"(","kind":")", known.kind,
        R"(","metadata":{"name":")", foreign.name, R"(","namespace":"default","uid":")", uid, "\"",
        foreign.metadata, R"(},"spec":)", foreign.spec, "}");
    const std::unique_ptr<const ForeignReader> reader = MakeForeignReader(BuiltinForeignKinds());
    Decoder decoder(reader.get());
    absl::StatusOr<DecodedObject> decoded = decoder.Single(kind, json);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    auto* object = std::get_if<Object>(&decoded->what);
    ASSERT_NE(object, nullptr) << std::get<ObjectInvalid>(decoded->what).problem;
    d_.api.Put(std::move(*object));
  }

  struct Pods {
    std::string prefix;
    int from = 0, to = 0;
    std::string label, value;  // "" = none
    std::string annotation = "", text = "";
    std::optional<OwnerReference> owner = {};
    std::string queue = "";
    int32_t priority = 0;
  };
  void Submit(const Pods& pods) {
    for (int i = pods.from; i < pods.to; ++i) {
      MakePod made(absl::StrCat(pods.prefix, "-", i));
      made.Gpu(8).Priority(pods.priority);
      Pod pod = made;
      if (!pods.queue.empty()) pod.meta.labels.Set(kQueueLabel, pods.queue);
      if (!pods.label.empty()) pod.meta.labels.Set(pods.label, pods.value);
      if (!pods.annotation.empty()) pod.meta.annotations.Set(pods.annotation, pods.text);
      pod.meta.controller = pods.owner;
      pod.meta.created = d_.now;
      pod.meta.uid.clear();
      d_.api.Put(pod);
    }
  }
  void SubmitXk8s(const std::string& group, int from, int to) {
    Submit({.prefix = group,
            .from = from,
            .to = to,
            .label = "scheduling.x-k8s.io/pod-group",
            .value = group});
  }

  // Pods whose names begin so.
  [[nodiscard]] int BoundOf(const std::string& prefix) {
    int bound = 0;
    for (const Pod* pod : d_.api.Pods()) {
      bound += absl::StartsWith(pod->meta.name, prefix + "-") && !pod->node_name.empty() ? 1 : 0;
    }
    return bound;
  }

  // The PodGroups of ours that stand for the object.
  [[nodiscard]] std::vector<PodGroup> StandingFor(absl::string_view name) {
    std::vector<PodGroup> found;
    for (const ObjectEvent& event : d_.api.List()) {
      const auto* upserted = std::get_if<ObjectUpserted>(&event);
      const auto* group = upserted == nullptr ? nullptr : std::get_if<PodGroup>(&upserted->object);
      if (group != nullptr && group->spec.source.name == name) found.push_back(*group);
    }
    return found;
  }
  [[nodiscard]] std::string PhaseOf(const char* kind, absl::string_view name) {
    for (const ObjectEvent& event : d_.api.List()) {
      const auto* upserted = std::get_if<ObjectUpserted>(&event);
      const auto* object =
          upserted == nullptr ? nullptr : std::get_if<ForeignObject>(&upserted->object);
      if (object != nullptr && object->meta.name == name &&
          KindOf(upserted->object) == KindNamed(kind)) {
        return object->phase;
      }
    }
    return "gone";
  }

  LoopDriver d_;
};

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

TEST_F(LoopProducers, VolcanosPhaseOpensBeforeThereArePods) {
  Put({.kind = kVolcano, .name = "train", .spec = R"({"minMember":2})"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Inqueue");
  Submit(
      {.prefix = "train", .to = 2, .annotation = "scheduling.k8s.io/group-name", .text = "train"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("train"), 2);
  EXPECT_EQ(PhaseOf(kVolcano, "train"), "Running");
}

TEST_F(LoopProducers, AVolcanoGroupOfAQueueThatIsNotThereKeepsItsPodsBack) {
  Put({.kind = kVolcano, .name = "lost", .spec = R"({"minMember":1,"queue":"nowhere"})"});
  Submit({.prefix = "lost", .to = 1, .annotation = "scheduling.k8s.io/group-name", .text = "lost"});
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("lost"), 0);
  EXPECT_EQ(PhaseOf(kVolcano, "lost"), "Pending");
  ASSERT_THAT(StandingFor("lost"), SizeIs(1));
  EXPECT_EQ(StandingFor("lost")[0].status.reason, "QueueNotFound");
  EXPECT_THAT(StandingFor("lost")[0].status.message, HasSubstr("nowhere"));
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
  d_.loop().SetRole(SchedulingLoop::Role::kStandby, d_.now);
  d_.Settle(absl::Seconds(5));
  d_.api.BindAsSomebodyElse("train-0", "n0");
  d_.Settle(absl::Seconds(5));
  d_.api.Delete(KindNamed(kXk8s), "train");
  Put({.kind = kXk8s, .name = "train", .spec = R"({"minMember":2})", .uid = "u-second"});
  d_.Settle(absl::Seconds(5));
  d_.loop().SetRole(SchedulingLoop::Role::kLeader, d_.now);
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
  const auto submit = [this](const char* prefix, const char* role, int to) {
    Submit({.prefix = prefix,
            .to = to,
            .label = "training.kubeflow.org/job-role",
            .value = role,
            .owner = OwnerReference{"MPIJob", "mpi", "u-mpi", "kubeflow.org/v2beta1"}});
  };
  submit("worker", "worker", 1);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("worker"), 0);
  submit("worker", "worker", 2);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("worker"), 2);
  submit("launcher", "launcher", 1);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("launcher"), 1);
  ASSERT_THAT(StandingFor("mpi"), SizeIs(1));
  EXPECT_EQ(StandingFor("mpi")[0].spec.min_member, 3);
}

TEST_F(LoopProducers, WorkersThatFollowTheirLeaderStartTogether) {
  Put({.kind = kLws,
       .name = "lws",
       .spec = R"({"startupPolicy":"LeaderReady","leaderWorkerTemplate":{"size":3}})"});
  const auto submit = [this](int index) {
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
  };
  submit(0);
  EXPECT_EQ(BoundOf("lws"), 1);
  submit(1);
  EXPECT_EQ(BoundOf("lws"), 1) << "half of the workers is no stage";
  d_.api.Delete(ResourceKind::kPod, "lws-0");
  d_.Settle(absl::Seconds(5));
  submit(0);
  EXPECT_EQ(BoundOf("lws"), 1) << "nor is it beside a leader that was made anew";
  submit(2);
  EXPECT_EQ(BoundOf("lws"), 3);
}

// Replicas of two hosts that Ray's autoscaler has asked for, beyond the least.
TEST_F(LoopProducers, AReplicaOfSeveralHostsBeyondTheQuorumStartsWholeOrNotAtAll) {
  Put({.kind = kRay,
       .name = "ray",
       .spec = R"({"enableInTreeAutoscaling":true,"workerGroupSpecs":[)"
               R"({"groupName":"w","minReplicas":1,"maxReplicas":4,"numOfHosts":2}]})"});
  const auto submit = [this](const std::string& name, const char* group, int replica, int host) {
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
  };
  submit("head-0", "headgroup", 0, 0);
  for (int host = 0; host < 2; ++host) submit(absl::StrCat("first-", host), "w", 0, host);
  d_.Settle(absl::Seconds(5));
  ASSERT_EQ(BoundOf("first"), 2) << "the quorum; two of four nodes are left";
  d_.Put(MakePod("busy").Gpu(8).On("n4").Phase(PodPhase::kRunning));
  d_.Settle();
  for (int host = 0; host < 2; ++host) submit(absl::StrCat("second-", host), "w", 1, host);
  submit("third-0", "w", 2, 0);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("second"), 0) << "there is room for one of its hosts";
  EXPECT_EQ(BoundOf("third"), 0) << "its other host is not made yet";
  d_.api.Delete(ResourceKind::kPod, "busy");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("second"), 2);
  d_.Nodes(2, 8, "m");
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("third"), 0);
  submit("third-1", "w", 2, 1);
  d_.Settle(absl::Seconds(5));
  EXPECT_EQ(BoundOf("third"), 2);
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
  const std::vector<std::string>& events = d_.api.events_created();
  EXPECT_EQ(std::ranges::count_if(events,
                                  [](const std::string& event) {
                                    return absl::StartsWith(event, "MarksPassedOver");
                                  }),
            1);
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
}

// Six gangs of two whole nodes contend for four nodes and one Cohort, each declared in another way.
// The fear: who declares a gang changes its place in the order, its quota, or whom it evicts.
class Contention : public LoopProducers, public ::testing::WithParamInterface<int> {
 protected:
  Contention() {
    for (const char* name : {"red", "blue"}) {
      Queue queue;
      queue.meta.name = name;
      queue.cohort = "all";
      queue.within_queue = WithinQueuePreemption::kLowerPriority;
      queue.reclaim = ReclaimWithinCohort::kAny;
      queue.quotas = {{.resources = {{.resource = kGpuResource, .nominal = Amount(16)}}}};
      d_.api.Put(queue);
    }
    d_.Settle();
  }

  struct Slot {
    std::string name, queue;
    int32_t priority = 0;
  };
  static constexpr int kWays = 6;
  void SubmitIn(int way, const Slot& slot) {
    const std::string metadata = absl::StrCat(
        R"(,"labels":{")", kQueueLabel, R"(":")", slot.queue, R"("},"creationTimestamp":")",
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", d_.now, absl::UTCTimeZone()), "\"");
    Pods pods{.prefix = slot.name, .to = 2, .queue = slot.queue, .priority = slot.priority};
    const auto owned = [&](const char* kind, const char* named, const char* version,
                           const char* spec) {
      Put({.kind = kind, .name = slot.name, .spec = spec, .metadata = metadata});
      pods.owner = OwnerReference{named, slot.name, absl::StrCat("u-", slot.name), version};
    };
    switch (way) {
      case 0:
        d_.Submit({.gang = slot.name, .pods = 2, .queue = slot.queue, .priority = slot.priority});
        return;
      case 1:
        Put({.kind = kXk8s, .name = slot.name, .spec = R"({"minMember":2})", .metadata = metadata});
        pods.label = "scheduling.x-k8s.io/pod-group";
        pods.value = slot.name;
        break;
      case 2:
        Put({.kind = kVolcano,
             .name = slot.name,
             .spec = absl::StrCat(R"({"minMember":2,"queue":")", slot.queue, R"("})"),
             .metadata = metadata});
        pods.annotation = "scheduling.k8s.io/group-name";
        pods.text = slot.name;
        break;
      case 3:
        owned(kJobs, "Job", "batch/v1",
              R"({"completionMode":"Indexed","completions":2,"parallelism":2})");
        break;
      case 4:
        owned(kPyTorchJobs, "PyTorchJob", "kubeflow.org/v1",
              R"({"pytorchReplicaSpecs":{"Worker":{"replicas":2}}})");
        pods.label = "training.kubeflow.org/replica-type";
        pods.value = "worker";
        break;
      default:
        owned(kMpiJobs, "MPIJob", "kubeflow.org/v2beta1",
              R"({"launcherCreationPolicy":"WaitForWorkersReady",
                  "mpiReplicaSpecs":{"Launcher":{"replicas":1},"Worker":{"replicas":2}}})");
        pods.label = "training.kubeflow.org/job-role";
        pods.value = "worker";
    }
    Submit(pods);
  }
};

TEST_P(Contention, TreatsAllWhoDeclareGangsAlike) {
  const Slot slots[] = {{"own", "red"},       {"borrows", "red"}, {"late", "red"},
                        {"reclaims", "blue"}, {"boss", "red", 9}, {"last", "blue"}};
  const std::vector<std::string> then[] = {{"own"},
                                           {"own", "borrows"},
                                           {"own", "borrows"},
                                           {"own", "reclaims"},
                                           {"reclaims", "boss"},
                                           {"reclaims", "boss"}};
  for (int i = 0; i < kWays; ++i) {
    SubmitIn((i + GetParam()) % kWays, slots[i]);
    d_.Settle(absl::Seconds(45));
    std::vector<std::string> run;
    for (const Slot& slot : slots) {
      const int bound = BoundOf(slot.name);
      EXPECT_TRUE(bound == 0 || bound == 2) << slot.name << " stands in part";
      if (bound == 2) run.push_back(slot.name);
    }
    EXPECT_EQ(run, then[i]) << "after " << slots[i].name << " of " << slots[i].queue;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Contention, ::testing::Range(0, 6));

}  // namespace
}  // namespace maniple
