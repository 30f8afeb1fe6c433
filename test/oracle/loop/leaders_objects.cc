// What people do to the objects of the random world.
#include "test/oracle/loop/leaders_world.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/oracle/loop/leaders_names.h"
#include "test/support/builders.h"

namespace maniple::loop_new_leader_test {

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

}  // namespace maniple::loop_new_leader_test
