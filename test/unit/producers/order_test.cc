// The order of events does not matter, and every change is told of: a directory after a random
// history equals a fresh one that is told of what is left.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

struct KindNamed {
  const char* api_version;
  const char* kind;
};
constexpr KindNamed kKinds[] = {{"scheduling.x-k8s.io/v1alpha1", "PodGroup"},
                                {"scheduling.volcano.sh/v1beta1", "PodGroup"},
                                {"scheduling.k8s.io/v1beta1", "PodGroup"},
                                {"batch/v1", "Job"},
                                {"jobset.x-k8s.io/v1alpha2", "JobSet"},
                                {"trainer.kubeflow.org/v1alpha1", "TrainJob"},
                                {"kubeflow.org/v2beta1", "MPIJob"},
                                {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"}};

// An object in one of its states.
struct State {
  const char* metadata;  // after the name
  const char* spec;
  const char* owner;
};
struct Thing {
  size_t kind;
  const char* name;
  std::vector<State> states;
};
const std::vector<Thing>& Things() {
  static const auto* const kThings = new std::vector<Thing>{
      {0,
       "a",
       {{"", "{minMember: 3}", ""},
        {", uid: n", "{minMember: 3}", "MPIJob/m"},
        {"", "{minMember: -1}", "JobSet/s"},
        {"", "{minMember: 5}", "TrainJob/s"},
        {"", "{minMember: x}", ""}}},
      {1,
       "a",
       {{"", "{minMember: 3, minTaskMember: {w: 2}}", ""},
        {"", "{minMember: 0}", ""},
        {"", "{minMember: 3, queue: q}", ""}}},
      {2,
       "a",
       {{"", "{schedulingPolicy: {basic: {}}}", ""},
        {"", "{schedulingPolicy: {gang: {minCount: 2}}}", ""}}},
      {3,
       "j",
       {{"", "{completionMode: Indexed, parallelism: 2, completions: 2}", ""},
        {"", "{parallelism: 3}", "JobSet/s"},
        {", uid: n", "{parallelism: 2}", "MPIJob/m"},
        {"", "{parallelism: 2}", "Job/j"},
        {", annotations: {scheduling.maniple.dev/min-member: '2'}", "{parallelism: 2}", ""}}},
      {4,
       "s",
       {{"", "{replicatedJobs: [{name: w, replicas: 2}, {name: x}]}", ""},
        {"", "{replicatedJobs: [{name: w, replicas: 2}, {name: x, dependsOn: [{name: w}]}]}",
         "TrainJob/s"},
        {", uid: n", "{replicatedJobs: [{name: w, dependsOn: [{name: w}]}]}", ""},
        {"", "{replicatedJobs: [{name: w, replicas: 2}, {name: x, dependsOn: [{name: w}]}]}",
         "Job/j"}}},
      {5, "s", {{"", "{}", ""}}},
      {6,
       "m",
       {{"", "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 2}}}", ""},
        {"",
         "{launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: "
         "{}, Worker: {replicas: 2}}}",
         ""}}},
      {7,
       "l",
       {{"", "{leaderWorkerTemplate: {size: 2}}", ""},
        {"", "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}}", ""}}},
  };
  return *kThings;
}

struct PodState {
  const char* metadata;
  const char* owner;
};
constexpr PodState kPodStates[] = {
    {"", ""},
    {"", "Job/j"},
    {"{annotations: {scheduling.maniple.dev/min-member: '2'}}", "Job/j"},
    {"{annotations: {scheduling.maniple.dev/min-member: '2'}}", "ReplicaSet/r"},
    {"{labels: {scheduling.x-k8s.io/pod-group: a, training.kubeflow.org/job-role: worker}}",
     "MPIJob/m"},
    {"{labels: {scheduling.x-k8s.io/pod-group: a, jobset.sigs.k8s.io/replicatedjob-name: w}, "
     "annotations: {scheduling.k8s.io/group-name: a, volcano.sh/task-spec: w}}",
     "Job/j"},
    {"{annotations: {scheduling.k8s.io/group-name: a, volcano.sh/task-spec: v}}", ""},
    {"{labels: {group: a}}", "Job/j"},
    {"{labels: {jobset.sigs.k8s.io/jobset-name: s, jobset.sigs.k8s.io/replicatedjob-name: w}}",
     "Job/j"},
    {"{labels: {jobset.sigs.k8s.io/jobset-name: s, jobset.sigs.k8s.io/replicatedjob-name: x}}",
     "Job/k"},
    {"{labels: {training.kubeflow.org/job-role: launcher, training.kubeflow.org/job-name: m}}",
     "Job/j"},
    {"{labels: {leaderworkerset.sigs.k8s.io/name: l, leaderworkerset.sigs.k8s.io/group-index: "
     "'1', leaderworkerset.sigs.k8s.io/worker-index: '0'}}",
     "StatefulSet/l"},
    {"{labels: {scheduling.x-k8s.io/pod-group: a, leaderworkerset.sigs.k8s.io/name: l, "
     "leaderworkerset.sigs.k8s.io/group-index: '1'}}",
     "Pod/leader"},
    {"{labels: {kueue.x-k8s.io/pod-group-name: a}, annotations: "
     "{kueue.x-k8s.io/pod-group-total-count: '3'}}",
     ""},
    {"{labels: {kueue.x-k8s.io/pod-group-name: a, scheduling.maniple.dev/queue: q}, annotations: "
     "{kueue.x-k8s.io/pod-group-total-count: '4'}}",
     ""},
    {"{labels: {scheduling.maniple.dev/pod-group: a, scheduling.x-k8s.io/pod-group: b}}", ""},
};
constexpr int kPods = 8;

// What is there. -1: nothing.
struct Facts {
  std::vector<int> served = std::vector<int>(std::size(kKinds), -1);
  std::vector<int> things = std::vector<int>(Things().size(), -1);
  std::vector<int> pods = std::vector<int>(kPods, -1);
};

std::string PodName(size_t pod) { return absl::StrCat("p", pod); }

class History {
 public:
  explicit History(const Facts& to) {
    for (size_t i = 0; i < to.served.size(); ++i) SetServed(i, to.served[i]);
    for (size_t i = 0; i < to.things.size(); ++i) SetThing(i, to.things[i]);
    for (size_t i = 0; i < to.pods.size(); ++i) SetPod(i, to.pods[i]);
  }

  void SetServed(size_t kind, int state) {
    facts_.served[kind] = state;
    if (state < 0) return;
    world_.Serve(kKinds[kind].api_version, kKinds[kind].kind, static_cast<ServedState>(state));
  }
  void SetThing(size_t index, int state) {
    const Thing& thing = Things()[index];
    const KindNamed& kind = kKinds[thing.kind];
    if (state < 0) {
      if (facts_.things[index] >= 0) world_.Take(kind.api_version, kind.kind, thing.name);
    } else {
      const State& now = thing.states[static_cast<size_t>(state)];
      world_.Give(
          absl::StrCat("{apiVersion: ", kind.api_version, ", kind: ", kind.kind,
                       ", metadata: {name: ", thing.name, now.metadata, "}, spec: ", now.spec, "}"),
          now.owner);
    }
    facts_.things[index] = state;
  }
  void SetPod(size_t pod, int state) {
    if (state < 0) {
      if (facts_.pods[pod] >= 0) world_.Forget(PodName(pod));
    } else {
      const PodState& now = kPodStates[state];
      Pod seen = PodWith(PodName(pod), now.metadata, now.owner);
      seen.scheduling_group = std::string(seen.meta.labels.Get("group"));
      (void)world_.directory_.Put(world_.ids_.Intern(PodName(pod)), seen, world_.change_);
    }
    facts_.pods[pod] = state;
  }

  [[nodiscard]] std::string PlaceOf(size_t pod) {
    if (facts_.pods[pod] < 0) return "none";
    const PodPlace place = world_.PlaceOf(PodName(pod));
    return absl::StrCat(place.group_name, "/", place.sub_group, "/", place.passed_over, " = ",
                        world_.Where(PodName(pod)));
  }
  [[nodiscard]] std::string GangNamed(const GroupName& name) const {
    const ForeignGang* gang = world_.directory_.Find(name);
    const bool asks_for_none = world_.directory_.AsksForNone(name);
    if (gang == nullptr) return asks_for_none ? "asks for none" : "none";
    return absl::StrCat(Shown(*gang), asks_for_none, gang->is_object, gang->status.has_value(),
                        gang->owner.has_value() ? gang->owner->uid : "", " by ", gang->owner_kind,
                        "/", gang->owner_name);
  }

  DirectoryWorld world_;
  Facts facts_;
};

TEST(GangDirectoryInAnyOrder, EqualsAFreshOneAfterAnyHistoryAndTellsOfEachChange) {
  std::mt19937 random(7);
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  History history{Facts()};
  std::set<GroupName> named;
  for (int step = 0; step < 1500; ++step) {
    std::vector<std::string> places;
    for (size_t pod = 0; pod < kPods; ++pod) places.push_back(history.PlaceOf(pod));
    std::map<GroupName, std::string> gangs;
    for (const GroupName& name : named) gangs[name] = history.GangNamed(name);
    history.world_.change_ = {};
    size_t touched = kPods;
    switch (below(6)) {
      case 0: {
        const size_t kind = below(std::size(kKinds));
        history.SetServed(kind, static_cast<int>(below(5) % 3));
        break;
      }
      case 1:
      case 2: {
        const size_t thing = below(Things().size());
        history.SetThing(thing, static_cast<int>(below(Things()[thing].states.size() + 1)) - 1);
        break;
      }
      default:
        touched = below(kPods);
        history.SetPod(touched, static_cast<int>(below(std::size(kPodStates) + 1)) - 1);
    }
    const DirectoryChange& change = history.world_.change_;
    named.insert(change.gangs.begin(), change.gangs.end());
    ASSERT_TRUE(std::is_sorted(change.gangs.begin(), change.gangs.end()));
    ASSERT_TRUE(std::is_sorted(change.pods.begin(), change.pods.end()));
    for (const auto& [name, was] : gangs) {
      const bool told =
          std::find(change.gangs.begin(), change.gangs.end(), name) != change.gangs.end();
      ASSERT_EQ(told, history.GangNamed(name) != was) << step << " " << name.group_name;
    }
    History fresh(history.facts_);
    for (size_t pod = 0; pod < kPods; ++pod) {
      ASSERT_EQ(history.PlaceOf(pod), fresh.PlaceOf(pod)) << step << " " << pod;
      if (pod == touched || history.facts_.pods[pod] < 0) continue;
      const PodId id = history.world_.ids_.Intern(PodName(pod));
      const auto place_of = [](absl::string_view shown) {
        return std::string(shown.substr(0, shown.find(" = ")));
      };
      const bool told = std::find(change.pods.begin(), change.pods.end(), id) != change.pods.end();
      ASSERT_EQ(told, place_of(history.PlaceOf(pod)) != place_of(places[pod]))
          << step << " " << pod;
    }
    for (const GroupName& name : named) {
      ASSERT_EQ(history.GangNamed(name), fresh.GangNamed(name)) << step << " " << name.group_name;
    }
  }
  EXPECT_GT(named.size(), 10);
}

}  // namespace
}  // namespace maniple
