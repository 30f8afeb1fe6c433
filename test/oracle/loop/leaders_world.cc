#include "test/oracle/loop/leaders_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/model/event_key.h"
#include "test/support/builders.h"

namespace maniple::loop_new_leader_test {
namespace {

const std::vector<std::string> kQueues = {"q0", "q1", "q2"};
const std::vector<std::string> kCohorts = {"c0", "c1"};
const std::vector<std::string> kFlavors = {"f0", "f1"};
const std::vector<std::string> kNodes = {"n0", "n1", "n2", "n3", "n4"};
const std::vector<std::string> kSpaces = {"default", "other"};
const std::vector<std::string> kGangs = {"a", "b", "c", "d", "e", "f", "g"};

template <typename T>
std::vector<T> All(const ScriptedApi& api) {
  std::vector<T> all;
  for (const ObjectEvent& event : api.List()) {
    const auto* put = std::get_if<ObjectUpserted>(&event);
    const T* one = put == nullptr ? nullptr : std::get_if<T>(&put->object);
    if (one != nullptr) all.push_back(*one);
  }
  return all;
}

template <typename T>
std::optional<T> Named(const ScriptedApi& api, const std::string& name) {
  for (T& one : All<T>(api)) {
    if (one.meta.name == name) return one;
  }
  return std::nullopt;
}

std::string SpaceOf(const std::string& gang) {
  return gang == "a" || gang == "b" ? "other" : "default";
}

}  // namespace

World::World(uint64_t seed) : leader(NewLeader(now)), random_(seed) {
  if (random_.OneIn(2)) api.KeepTerminating(absl::Seconds(30));
  for (const std::string& name : kSpaces) PutNamespace(name);
  for (const std::string& name : kFlavors) PutFlavor(name);
  for (const std::string& name : kNodes) PutNode(name);
  for (const std::string& name : kQueues) PutQueue(name);
  for (const std::string& name : kCohorts) PutCohort(name);
  // It names every cell of quota, so that each exists at any time.
  Queue all{.quotas = {}};
  all.meta.name = all.meta.uid = "all";
  for (const char* flavor : {"", "f0", "f1"}) {
    all.quotas.push_back({flavor, {{.resource = kGpuResource, .nominal = Amount(8)}}});
  }
  api.Put(all);
  Settle(absl::ZeroDuration());
}

std::string World::Pick(const std::vector<std::string>& names) {
  return names[random_.Below(names.size())];
}

std::string World::Story() const { return absl::StrJoin(story_, "\n"); }

void World::Step() {
  const int acts = 1 + static_cast<int>(random_.Below(3));
  for (int act = 0; act < acts; ++act) {
    switch (random_.Below(22)) {
      case 0:
        PutQueue(Pick(kQueues));
        break;
      case 1:
        PutCohort(Pick(kCohorts));
        break;
      case 2:
        PutFlavor(Pick(kFlavors));
        break;
      case 3:
      case 4:
        PutNode(Pick(kNodes));
        break;
      case 5:
        PutNamespace(Pick(kSpaces));
        break;
      case 6: {
        const std::string name = Pick(kQueues);
        Tell(absl::StrCat("delete queue ", name));
        api.Delete(ResourceKind::kQueue, name);
        break;
      }
      case 7: {
        if (!random_.OneIn(2)) break;
        const std::string name = Pick(kNodes);
        Tell(absl::StrCat("delete node ", name));
        api.Delete(ResourceKind::kNode, name);
        break;
      }
      case 8: {
        const bool flavor = random_.OneIn(2);
        const std::string name = Pick(flavor ? kFlavors : kCohorts);
        Tell(absl::StrCat("delete ", name));
        api.Delete(flavor ? ResourceKind::kResourceFlavor : ResourceKind::kCohort, name);
        break;
      }
      case 9: {
        const std::string name = Pick(kGangs);
        Tell(absl::StrCat("delete group ", name));
        api.Delete(ResourceKind::kPodGroup, name, SpaceOf(name));
        break;
      }
      case 10:
        EditGroup(Pick(kGangs));
        break;
      case 12:
      case 13:
      case 14:
        TouchPod();
        break;
      default:
        PutGang(Pick(kGangs));
        break;
    }
    if (random_.OneIn(2)) (void)Exchange();
  }
}

void World::Rest() {
  constexpr int kSeconds[] = {0, 1, 5, 40, 400, 1500};
  const int seconds = kSeconds[random_.Below(6)];
  if (random_.OneIn(3)) {
    Tell("reap");
    api.Reap();
  }
  Tell(absl::StrCat("-- rest ", seconds));
  Settle(absl::Seconds(seconds));
  // Statuses are paced.
  Settle(absl::Seconds(15));
}

void World::PutQueue(const std::string& name) {
  Queue queue;
  queue.meta.name = name;
  const std::optional<Queue> known = Named<Queue>(api, name);
  const bool anew = !known.has_value() || random_.OneIn(4);
  queue.meta.uid = anew ? absl::StrCat("uid-", name, "-", ++made_[name]) : known->meta.uid;
  if (known.has_value() && anew) api.Delete(ResourceKind::kQueue, name);
  if (random_.OneIn(3)) queue.namespace_selector = Labelled("team", "x");
  if (!random_.OneIn(3)) queue.cohort = Pick(kCohorts);
  const int64_t nominal = static_cast<int64_t>(random_.Below(5)) * 8;
  QuotaAmount gpus{.resource = kGpuResource, .nominal = Amount(nominal)};
  if (random_.OneIn(4)) gpus.borrowing_limit = Amount(8);
  if (random_.OneIn(4)) gpus.lending_limit = Amount(8);
  if (random_.OneIn(2)) {
    queue.quotas = {{.flavor = "", .resources = {gpus}}};
  } else {
    queue.quotas = {{.flavor = "f0", .resources = {gpus}}, {.flavor = "f1", .resources = {gpus}}};
    if (random_.OneIn(2)) queue.quotas.push_back({.flavor = "", .resources = {gpus}});
  }
  // Behind the head of a StrictFIFO Queue it matters for the words who was asked before it stood
  // so.
  queue.ordering = QueueOrdering::kBestEffortFifo;
  queue.within_queue = static_cast<WithinQueuePreemption>(random_.Below(3));
  queue.reclaim = static_cast<ReclaimWithinCohort>(random_.Below(3));
  if (random_.OneIn(3)) queue.min_runtime = absl::Minutes(5);
  if (random_.OneIn(3)) queue.most_protected_runtime = absl::Minutes(20);
  if (random_.OneIn(6)) queue.stop = StopPolicy::kHold;
  Tell(absl::StrCat("queue ", name, " uid ", queue.meta.uid, " cohort ", queue.cohort, " nominal ",
                    nominal, " flavors ", queue.quotas.size(), " selector ",
                    queue.namespace_selector.has_value(), " stop ", queue.stop, " order ",
                    queue.ordering));
  api.Put(queue);
}

void World::PutCohort(const std::string& name) {
  Cohort cohort;
  cohort.meta.name = name;
  cohort.meta.uid = absl::StrCat("uid-", name);
  if (random_.OneIn(3)) cohort.parent = Pick(kCohorts);
  if (random_.OneIn(2)) {
    cohort.quotas = {
        {.flavor = random_.OneIn(2) ? "" : "f0",
         .resources = {{.resource = kGpuResource,
                        .nominal = Amount(static_cast<int64_t>(random_.Below(3)) * 8)}}}};
  }
  Tell(absl::StrCat("cohort ", name, " parent ", cohort.parent));
  api.Put(cohort);
}

void World::PutFlavor(const std::string& name) {
  ResourceFlavor flavor;
  flavor.meta.name = name;
  flavor.meta.uid = absl::StrCat("uid-", name);
  const std::string pool = random_.OneIn(4) ? "p1" : name == "f0" ? "p0" : "p1";
  flavor.node_labels.Set("pool", pool);
  flavor.priority = static_cast<int32_t>(random_.Below(2));
  Tell(absl::StrCat("flavor ", name, " pool ", pool));
  api.Put(flavor);
}

void World::PutNode(const std::string& name) {
  MakeNode node(name);
  const int64_t gpus = random_.OneIn(5) ? 4 : 8;
  const std::string pool = absl::StrCat("p", random_.Below(3));
  node.Gpu(gpus).Label("pool", pool).Label("rack", absl::StrCat("r", random_.Below(2)));
  const bool cordoned = random_.OneIn(6);
  if (cordoned) node.Cordoned();
  Tell(absl::StrCat("node ", name, " gpus ", gpus, " pool ", pool, cordoned ? " cordoned" : ""));
  api.Put(Node(node));
}

void World::PutNamespace(const std::string& name) {
  Namespace space;
  space.meta.name = name;
  const bool team = !random_.OneIn(3);
  if (team) space.meta.labels.Set("team", "x");
  Tell(absl::StrCat("namespace ", name, team ? " team x" : ""));
  api.Put(space);
}

void World::PutGang(const std::string& name) {
  const bool single = random_.OneIn(5);
  if (single) {
    const std::string pod_name = absl::StrCat("s-", name, "-", ++made_["single"]);
    MakePod pod(pod_name);
    pod.In(SpaceOf(name)).Gpu(1 + static_cast<int64_t>(random_.Below(8)));
    pod.Priority(static_cast<int32_t>(random_.Below(3)));
    pod.Uid(absl::StrCat("uid-", pod_name));
    const std::string queue = random_.OneIn(3) ? "" : Pick(kQueues);
    if (!queue.empty()) pod.Label(kQueueLabel, queue);
    Pod made = pod;
    made.meta.created = now;
    Tell(absl::StrCat("single ", pod_name, " queue ", queue));
    api.Put(made);
    return;
  }
  int need = 1 + static_cast<int>(random_.Below(3));
  if (const std::optional<PodGroup> known = Named<PodGroup>(api, name); !known.has_value()) {
    MakePodGroup maker(name);
    maker.In(SpaceOf(name)).MinMember(need);
    maker.Uid(absl::StrCat("uid-", name, "-", ++made_[name]));
    if (!random_.OneIn(4)) maker.Queue(Pick(kQueues));
    const bool parts = random_.OneIn(4);
    if (parts) maker.SubGroup("x", 1).SubGroup("y", need - 1);
    if (random_.OneIn(4)) maker.Preferred("rack");
    PodGroup group = maker;
    group.meta.created = now;
    if (random_.OneIn(3)) group.spec.protected_runtime = absl::Minutes(10);
    if (random_.OneIn(3)) group.spec.expected_runtime = absl::Minutes(7);
    if (random_.OneIn(4)) group.spec.quorum_loss_action = QuorumLossAction::kKeep;
    Tell(absl::StrCat("group ", name, " uid ", group.meta.uid, " min ", need, " queue ",
                      group.spec.queue, parts ? " parts" : ""));
    api.Put(group);
  } else {
    need = 1;
  }
  AddPods(name, need + static_cast<int>(random_.Below(2)));
}

void World::AddPods(const std::string& gang, int count) {
  const int64_t gpus = 1 + static_cast<int64_t>(random_.Below(8));
  const auto priority = static_cast<int32_t>(random_.Below(3));
  for (int i = 0; i < count; ++i) {
    const int number = ++made_[absl::StrCat("pod-", gang)];
    const std::string name = absl::StrCat(gang, "-", number);
    MakePod pod(name);
    pod.In(SpaceOf(gang)).Group(gang).Gpu(gpus).Priority(priority);
    pod.Uid(absl::StrCat("uid-", name));
    pod.SubGroup(number % 2 == 0 ? "x" : "y");
    Pod made = pod;
    made.meta.created = now;
    Tell(absl::StrCat("pod ", name, " gpus ", gpus, " priority ", priority));
    api.Put(made);
  }
}

void World::EditGroup(const std::string& name) {
  std::optional<PodGroup> group = Named<PodGroup>(api, name);
  if (!group.has_value()) return;
  switch (random_.Below(5)) {
    case 0:
      // Immutable while any member is bound.
      if (!group->status.placement_nodes.empty()) break;
      group->spec.queue = random_.OneIn(4) ? "" : Pick(kQueues);
      break;
    case 1:
      group->spec.min_member = 1 + static_cast<int32_t>(random_.Below(4));
      break;
    case 2:
      group->spec.protected_runtime = absl::Minutes(static_cast<int64_t>(random_.Below(30)));
      break;
    case 3:
      if (random_.OneIn(2)) group->meta.annotations.Set(kHoldAnnotation, "true");
      break;
    default:
      // Made anew: without the status.
      api.Delete(ResourceKind::kPodGroup, name, SpaceOf(name));
      group->meta.uid = absl::StrCat("uid-", name, "-", ++made_[name]);
      group->meta.created = now;
      group->status = {};
      break;
  }
  ++group->meta.generation;
  Tell(absl::StrCat("edit group ", name, " uid ", group->meta.uid, " queue ", group->spec.queue,
                    " min ", group->spec.min_member, " protected ",
                    absl::FormatDuration(group->spec.protected_runtime)));
  api.Put(*group);
}

void World::TouchPod() {
  const std::vector<Pod> pods = All<Pod>(api);
  if (pods.empty()) return;
  Pod pod = pods[random_.Below(pods.size())];
  const uint64_t what = random_.Below(6);
  if (pod.meta.deleted.has_value() && what != 0) return;
  if (what == 0) {
    Tell(absl::StrCat("delete pod ", pod.meta.name));
    api.Delete(ResourceKind::kPod, pod.meta.name, pod.meta.namespace_name);
  } else if (what == 1 || what == 2) {
    if (pod.node_name.empty()) return;
    pod.phase = what == 1 ? PodPhase::kSucceeded : PodPhase::kFailed;
    Tell(absl::StrCat("pod ", pod.meta.name, what == 1 ? " succeeds" : " fails"));
    api.Put(pod);
  } else if (what == 3) {
    // What a single pod was bound under by others stands nowhere.
    if (!pod.node_name.empty() || absl::StartsWith(pod.meta.name, "s-")) return;
    pod.node_name = Pick(kNodes);
    pod.phase = PodPhase::kRunning;
    Tell(absl::StrCat("pod ", pod.meta.name, " bound by hand to ", pod.node_name));
    api.Put(pod);
  } else if (what == 4) {
    // That a single pod was bound without a Queue stands nowhere either.
    const bool told = pod.node_name.empty() || !pod.meta.annotations.empty();
    if (pod.meta.labels.Get(kPodGroupLabel).empty() && told) {
      pod.meta.labels.Set(kQueueLabel, Pick(kQueues));
      Tell(absl::StrCat("pod ", pod.meta.name, " queue label ", pod.meta.labels.Get(kQueueLabel)));
      api.Put(pod);
    }
  } else if (!pod.node_name.empty()) {
    pod.meta.deleted = now;
    pod.meta.deletion_grace = absl::Seconds(30);
    Tell(absl::StrCat("pod ", pod.meta.name, " terminates"));
    api.Put(pod);
  }
}

bool World::Exchange() {
  std::vector<ObjectEvent> events = api.TakeEvents();
  std::vector<WriteResult> results = api.TakeResults();
  bool moved = !events.empty() || !results.empty();
  for (ObjectEvent& event : events) leader.loop->Accept(std::move(event));
  for (WriteResult& result : results) leader.loop->Accept(std::move(result));
  TurnOutput out = leader.loop->Turn(now);
  leader.next = out.next;
  for (const std::string& line : leader.loop->TakeDecisionLog()) Tell(absl::StrCat("    ", line));
  moved = moved || out.more || !out.writes.empty();
  const std::vector<WriteCommand> writes = out.writes;
  api.Carry(std::move(out.writes));
  // A single pod remembers its Queue by an annotation that its Binding carries.
  for (const WriteCommand& write : writes) {
    if (!absl::EndsWith(write.request.target, "/binding")) continue;
    const auto body = Json::Parse(write.request.body);
    const std::vector<std::string> path = absl::StrSplit(write.request.target, '/');
    std::optional<Pod> pod = Named<Pod>(api, path.at(6));
    if (!body.ok() || !pod.has_value() || pod->node_name.empty()) continue;
    for (const auto& [key, value] : body->At("metadata.annotations").members()) {
      pod->meta.annotations.Set(key, value.AsString());
    }
    api.Put(*pod);
  }
  return moved;
}

void World::Settle(absl::Duration later) {
  const absl::Time until = now + later;
  for (int turns = 0; turns < 5000; ++turns) {
    if (Exchange()) continue;
    if (leader.next <= until) {
      now = std::max(now, leader.next);
      continue;
    }
    now = until;
    return;
  }
  Tell("!! no rest");
}

// The word of a single pod holds for a new leader only if the Queue selects its namespace.
bool World::StillAdmits(const GangView& gang) const {
  const std::optional<Queue> queue = Named<Queue>(api, gang.queue);
  const std::optional<Namespace> space = Named<Namespace>(api, gang.namespace_name);
  return !queue.has_value() || !queue->namespace_selector.has_value() ||
         queue->namespace_selector->Matches(space->meta.labels);
}

// A PodGroup that was made after the gang's first pods started has a status that tells of times
// before itself, and these are believed by nobody (semantics §12).
bool World::IsDeclaredSinceItsStart(const GangView& gang) const {
  const std::optional<PodGroup> group = Named<PodGroup>(api, gang.name);
  if (!group.has_value()) return false;
  // Of members that were cleaned away only the number is told, and not the sub-group.
  if (!group->spec.sub_groups.empty() && gang.members.succeeded > 0) return false;
  return std::ranges::none_of(gang.pods, [&](const GangMemberView& member) {
    const std::optional<Pod> pod = Named<Pod>(api, member.pod);
    return pod.has_value() && !pod->node_name.empty() && pod->meta.created < group->meta.created;
  });
}

Memory World::OnlyRemembered() {
  Memory memory;
  // The quota that is held for a later start is of a plan that the next leader makes anew.
  memory.usage = !leader.loop->HeldStarts().empty();
  const ClusterViewPtr view = leader.loop->View(now);
  for (const GangView& gang : view->gangs) {
    const bool undeclared = !gang.singleton && !IsDeclaredSinceItsStart(gang);
    // Pods whose PodGroup is gone wait in no Queue; the old leader remembers which it named.
    if (undeclared) {
      memory.counts = memory.usage = true;
      memory.gangs.insert(absl::StrCat(gang.namespace_name, "/", gang.name));
    }
    if (gang.singleton && !gang.nodes.empty() && !StillAdmits(gang))
      memory.counts = memory.usage = true;
    // Room and quota are held for lost members, whom the next leader has not known; or others were
    // made to leave; or there is a pause after a failure.
    for (const char* reason :
         {"QuorumLost", "Binding", "WaitingForPreemption", "BackingOff", "Preempted"}) {
      if (gang.reason == reason) memory.usage = memory.counts = memory.waits = true;
    }
    // It has begun to leave.
    if (gang.reason == "Preempted") {
      memory.counts = true;
      memory.gangs.insert(absl::StrCat(gang.namespace_name, "/", gang.name));
    }
    for (const GangMemberView& pod : gang.pods) {
      // The flavor of a node that is gone.
      if (!pod.node.empty() && !Named<Node>(api, pod.node).has_value()) memory.usage = true;
    }
  }
  return memory;
}

Leader World::FreshLeader() {
  Leader fresh = NewLeader(now);
  for (ObjectEvent& event : api.List()) fresh.loop->Accept(std::move(event));
  TurnOut(fresh, now);
  return fresh;
}

}  // namespace maniple::loop_new_leader_test
