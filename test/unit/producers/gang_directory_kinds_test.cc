// The directory as a fold over the kinds that order_test.cc leaves out: sub-groups, groups within
// groups, sets of leaders, marks without objects. Fears: a gang remembers an object, a pod or an
// owner that has gone; what came first decides; a removal that speaks of an older object takes the
// new one; a place or a gang changes and nobody is told.
#include "api/producers/gang_directory.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "api/base/random.h"
#include "api/producers/gang_maker.h"
#include "test/unit/producers/fixture.h"

namespace maniple::producers_gang_directory_kinds_test {
namespace {

struct State {
  const char* metadata;  // after the name
  const char* spec;
  const char* owner = "";
};
struct Thing {
  const char* api_version;
  const char* kind;
  const char* name;
  std::vector<State> states;
};

#define KINDS_UPSTREAM "scheduling.k8s.io/v1beta1", "PodGroup"
#define KINDS_COMPOSITE "scheduling.k8s.io/v1alpha3", "CompositePodGroup"
#define KINDS_GANG "schedulingPolicy: {gang: {minCount: 2}}"

const std::vector<Thing>& Things() {
  static const auto* const kThings = new std::vector<Thing>{
      {"scheduling.run.ai/v2alpha2",
       "PodGroup",
       "k",
       {{"", "{minMember: 2}"},
        {", uid: n", "{subGroups: [{name: a, minMember: 1}, {name: b, minMember: 2}]}"},
        {"", "{subGroups: [{name: a, minMember: 1}, {name: a, minMember: 2}]}"},
        {"", "{minMember: [2]}"}}},
      {"scheduler.grove.io/v1alpha1",
       "PodGang",
       "v",
       {{"", "{podgroups: [{name: a, minReplicas: 1, podReferences: [{name: p0}, {name: p1}]}]}"},
        {"",
         "{podgroups: [{name: a, minReplicas: 1, podReferences: [{name: p1}]}, {name: b, "
         "minReplicas: 2, podReferences: [{name: p0}]}]}"}}},
      {"scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "c", {{"", "{minMember: 4}"}}},
      {KINDS_UPSTREAM,
       "u",
       {{"", "{" KINDS_GANG "}"},
        {", creationTimestamp: '2026-01-01T00:00:00Z'",
         "{" KINDS_GANG ", parentCompositePodGroupName: x}"},
        {"", "{schedulingPolicy: {basic: {}}, parentCompositePodGroupName: y}"}}},
      {KINDS_UPSTREAM,
       "w",
       {{", creationTimestamp: '2026-01-02T00:00:00Z'",
         "{" KINDS_GANG ", parentCompositePodGroupName: x}"},
        {"", "{" KINDS_GANG ", parentCompositePodGroupName: y}"}}},
      {KINDS_COMPOSITE,
       "x",
       {{"", "{schedulingPolicy: {gang: {minGroupCount: 1}}, parentCompositePodGroupName: y}"},
        {"", "{schedulingPolicy: {basic: {}}}"},
        {", uid: n", "{schedulingPolicy: {gang: {minGroupCount: -1}}}"}}},
      {KINDS_COMPOSITE,
       "y",
       {{"", "{schedulingPolicy: {gang: {minGroupCount: 2}}}"},
        {"", "{schedulingPolicy: {gang: {minGroupCount: 1}}, parentCompositePodGroupName: x}"}}},
      {"ray.io/v1",
       "RayCluster",
       "r",
       {{"", "{workerGroupSpecs: [{groupName: g, replicas: 2, numOfHosts: 2}]}"},
        {", labels: {kai.scheduler/queue: q}", "{workerGroupSpecs: [{groupName: g}]}"},
        {", uid: n", "{}"}}},
      {"apps/v1",
       "StatefulSet",
       "s",
       {{"", "{replicas: 2}", "LeaderWorkerSet/l"},
        {"", "{replicas: 2}", "LeaderWorkerSet/l@older"},
        {", uid: n", "{replicas: 2, podManagementPolicy: Parallel}"}}},
      {"leaderworkerset.x-k8s.io/v1",
       "LeaderWorkerSet",
       "l",
       {{"", "{leaderWorkerTemplate: {size: 3}}"},
        {", annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}",
         "{leaderWorkerTemplate: {size: 3}}"},
        {", uid: older", "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 2}}"}}},
      {"scheduling.volcano.sh/v1beta1",
       "PodGroup",
       "l-1",
       {{"", "{minMember: 3}"}, {"", "{minMember: 1}, status: {phase: Running}"}}},
  };
  return *kThings;
}

#define KINDS_OF_SET                                                                    \
  "leaderworkerset.sigs.k8s.io/name: l, leaderworkerset.sigs.k8s.io/group-index: '1', " \
  "leaderworkerset.sigs.k8s.io/worker-index: "
#define KINDS_KOORDINATOR "gang.scheduling.koordinator.sh/"

const State kPodStates[] = {
    {"{annotations: {pod-group-name: k}, labels: {kai.scheduler/subgroup-name: a}}", ""},
    {"{annotations: {pod-group-name: k}, labels: {kai.scheduler/queue: q}}", ""},
    {"{labels: {grove.io/podgang: v}}", ""},
    {"{labels: {scheduling-group: u}}", ""},
    {"{labels: {scheduling-group: u, kai.scheduler/queue: q}}", ""},
    {"{labels: {scheduling-group: w}}", ""},
    {"{labels: {ray.io/group: headgroup}}", "", "RayCluster/r"},
    {"{labels: {ray.io/group: g}}", "", "RayCluster/r"},
    {"{labels: {ray.io/group: g}, annotations: {scheduling.maniple.dev/min-member: '2'}}", "",
     "RayCluster/r@n"},
    {"{labels: {" KINDS_OF_SET "'0'}}", "", "StatefulSet/s"},
    {"{labels: {" KINDS_OF_SET "'1'}}", "", "StatefulSet/l-1"},
    {"{labels: {" KINDS_OF_SET "'2'}, annotations: {leaderworkerset.sigs.k8s.io/size: '5'}}", ""},
    {"{labels: {" KINDS_OF_SET "'0'}, annotations: {scheduling.k8s.io/group-name: l-1}}", "",
     "StatefulSet/s"},
    {"{labels: {" KINDS_OF_SET "'1'}, annotations: {scheduling.k8s.io/group-name: l-1}}", ""},
    {"{annotations: {scheduling.maniple.dev/min-member: '2'}}", "", "StatefulSet/s@n"},
    {"{labels: {pod-group.scheduling.sigs.k8s.io: c}}", ""},
    {"{annotations: {" KINDS_KOORDINATOR "name: c, " KINDS_KOORDINATOR "min-available: '2'}}", ""},
    {"{annotations: {" KINDS_KOORDINATOR "name: d, " KINDS_KOORDINATOR
     "min-available: '3', " KINDS_KOORDINATOR "groups: '[\"ns/d\", \"ns/c\"]'}}",
     ""},
    {"{annotations: {" KINDS_KOORDINATOR "name: c, " KINDS_KOORDINATOR
     "min-available: x, " KINDS_KOORDINATOR "groups: '[\"ns/d\", \"ns/c\"]'}}",
     ""},
    {"{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: t, "
     "yunikorn.apache.org/task-groups: '[{\"name\": \"t\", \"minMember\": 2}]'}}",
     ""},
    {"{labels: {applicationId: app}, annotations: {yunikorn.apache.org/task-group-name: u, "
     "yunikorn.apache.org/task-groups: '[{\"name\": \"u\", \"minMember\": 3}]'}}",
     ""},
};
constexpr size_t kPods = 9;
constexpr int kNothing = -1;

// What is there in the end.
struct Facts {
  std::map<size_t, ServedState> served;  // by kind
  std::vector<int> things = std::vector<int>(Things().size(), kNothing);
  std::vector<int> pods = std::vector<int>(kPods, kNothing);
};

class World {
 public:
  void Serve(size_t kind, ServedState state) {
    world_.directory_.SetServed({ForeignResource(kind), state, ""}, world_.change_);
    facts_.served[kind] = state;
  }
  void SetThing(size_t index, int state) {
    const Thing& thing = Things()[index];
    facts_.things[index] = state;
    if (state == kNothing) return world_.Take(thing.api_version, thing.kind, thing.name);
    const State& wanted = thing.states[static_cast<size_t>(state)];
    world_.Give(absl::StrCat("{apiVersion: ", thing.api_version, ", kind: ", thing.kind,
                             ", metadata: {name: ", thing.name, wanted.metadata,
                             "}, spec: ", wanted.spec, "}"),
                wanted.owner);
  }
  // Of an object that has gone before.
  void RemoveOlder(size_t index) {
    const Thing& thing = Things()[index];
    const ObjectKey key{ForeignResource(KindIndex(thing.api_version, thing.kind)), "ns",
                        thing.name};
    world_.directory_.Remove(key, "of nobody", world_.change_);
  }
  void SetPod(size_t pod, int state) {
    facts_.pods[pod] = state;
    if (state == kNothing) return world_.Forget(NameOf(pod));
    const State& wanted = kPodStates[state];
    Pod seen = PodWith(NameOf(pod), wanted.metadata, wanted.owner);
    seen.scheduling_group = std::string(seen.meta.labels.Get("scheduling-group"));
    (void)world_.directory_.Put(IdOf(pod), seen, world_.change_);
  }

  [[nodiscard]] PodId IdOf(size_t pod) { return world_.ids_.Intern(NameOf(pod)); }
  [[nodiscard]] bool Has(size_t pod) const { return facts_.pods[pod] != kNothing; }
  [[nodiscard]] PodPlace PlaceOf(size_t pod) {
    return Has(pod) ? world_.PlaceOf(NameOf(pod)) : PodPlace{.group_name = "nowhere"};
  }
  [[nodiscard]] const ForeignGang* Find(const GroupName& name) const {
    return world_.directory_.Find(name);
  }
  [[nodiscard]] bool AsksForNone(const GroupName& name) const {
    return world_.directory_.AsksForNone(name);
  }
  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] DirectoryChange TakeChange() { return std::exchange(world_.change_, {}); }

 private:
  static std::string NameOf(size_t pod) { return absl::StrCat("p", pod); }
  DirectoryWorld world_;
  Facts facts_;
};

// A directory that is told only of what is there, in an order that the seed draws.
void Tell(const Facts& facts, Random& random, World& world) {
  struct Fact {
    int what;
    size_t index;
  };
  std::vector<Fact> order;
  for (const auto& [kind, state] : facts.served) order.push_back({0, kind});
  for (size_t i = 0; i < facts.things.size(); ++i) order.push_back({1, i});
  for (size_t i = 0; i < facts.pods.size(); ++i) order.push_back({2, i});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  for (const Fact& fact : order) {
    if (fact.what == 0) world.Serve(fact.index, facts.served.at(fact.index));
    if (fact.what == 1 && facts.things[fact.index] != kNothing) {
      world.SetThing(fact.index, facts.things[fact.index]);
    }
    if (fact.what == 2 && facts.pods[fact.index] != kNothing) {
      world.SetPod(fact.index, facts.pods[fact.index]);
    }
  }
}

int Draw(size_t states, Random& random) { return static_cast<int>(random.Below(states + 1)) - 1; }

// The pod that it was about; kPods: none.
size_t Step(World& world, Random& random) {
  const size_t thing = random.Below(Things().size());
  switch (random.Below(8)) {
    case 0: {
      const size_t kind = random.Below(BuiltinForeignKinds().size());
      world.Serve(
          kind, random.OneIn(3) ? static_cast<ServedState>(random.Below(3)) : ServedState::kServed);
      return kPods;
    }
    case 1:
      world.RemoveOlder(thing);
      return kPods;
    case 2:
    case 3:
    case 4:
      world.SetThing(thing, Draw(Things()[thing].states.size(), random));
      return kPods;
    default: {
      const size_t pod = random.Below(kPods);
      world.SetPod(pod, Draw(std::size(kPodStates), random));
      return pod;
    }
  }
}

bool Same(const ForeignGang* a, const ForeignGang* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

std::string Told(const ForeignGang* gang) { return gang == nullptr ? "nobody" : Shown(*gang); }

class Watched {
 public:
  explicit Watched(uint64_t seed) : random_(seed) {
    for (size_t i = 0; i < BuiltinForeignKinds().size(); ++i) world_.Serve(i, ServedState::kServed);
    (void)world_.TakeChange();
  }

  // One event; every change has to be told, and nothing else.
  void Event() {
    std::vector<PodPlace> places;
    for (size_t pod = 0; pod < kPods; ++pod) places.push_back(world_.PlaceOf(pod));
    std::map<GroupName, std::optional<ForeignGang>> gangs;
    std::map<GroupName, bool> asked_for_none;
    for (const GroupName& name : named_) {
      const ForeignGang* gang = world_.Find(name);
      gangs[name] = gang == nullptr ? std::nullopt : std::optional(*gang);
      asked_for_none[name] = world_.AsksForNone(name);
    }
    const size_t about = Step(world_, random_);
    const DirectoryChange change = world_.TakeChange();
    for (size_t pod = 0; pod < kPods; ++pod) {
      if (pod == about || !world_.Has(pod)) continue;
      const bool told = std::ranges::count(change.pods, world_.IdOf(pod)) == 1;
      ASSERT_EQ(told, world_.PlaceOf(pod) != places[pod]) << pod;
    }
    for (const auto& [name, was] : gangs) {
      const bool told = std::ranges::count(change.gangs, name) == 1;
      const bool same = Same(world_.Find(name), was.has_value() ? &*was : nullptr) &&
                        world_.AsksForNone(name) == asked_for_none[name];
      ASSERT_EQ(told, !same) << name.group_name;
    }
    named_.insert(change.gangs.begin(), change.gangs.end());
  }

  void EqualsAFreshOne() {
    World fresh;
    Tell(world_.facts(), random_, fresh);
    for (size_t pod = 0; pod < kPods; ++pod) {
      const PodPlace here = world_.PlaceOf(pod), there = fresh.PlaceOf(pod);
      ASSERT_EQ(here, there) << pod << " " << here.group_name << "/" << here.sub_group << " "
                             << there.group_name << "/" << there.sub_group;
    }
    for (const GroupName& name : named_) {
      const ForeignGang *here = world_.Find(name), *there = fresh.Find(name);
      ASSERT_EQ(world_.AsksForNone(name), fresh.AsksForNone(name)) << name.group_name;
      ASSERT_TRUE(Same(here, there)) << name.group_name << " " << Told(here) << " " << Told(there);
    }
  }

  [[nodiscard]] size_t named() const { return named_.size(); }

 private:
  Random random_;
  World world_;
  std::set<GroupName> named_;
};

TEST(GangDirectoryOfManyKinds, EqualsAFreshOneThatIsToldOfTheEndInAnyOrder) {
  size_t named = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Watched watched(seed);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(step);
      ASSERT_NO_FATAL_FAILURE(watched.Event());
      if (step % 4 == 3) {
        ASSERT_NO_FATAL_FAILURE(watched.EqualsAFreshOne());
      }
    }
    named += watched.named();
  }
  EXPECT_GT(named, 30);
}

#undef KINDS_UPSTREAM
#undef KINDS_COMPOSITE
#undef KINDS_GANG
#undef KINDS_OF_SET
#undef KINDS_KOORDINATOR

}  // namespace
}  // namespace maniple::producers_gang_directory_kinds_test
