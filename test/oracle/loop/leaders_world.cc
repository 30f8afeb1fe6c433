#include "test/oracle/loop/leaders_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "test/oracle/loop/leaders_names.h"
#include "test/support/builders.h"

namespace maniple::loop_new_leader_test {

World::World(uint64_t seed) : leader(NewLeader()), random_(seed) {
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
    if (gang.singleton && !gang.nodes.empty() && !StillAdmits(gang)) {
      memory.counts = memory.usage = memory.waits = true;
      memory.gangs.insert(absl::StrCat(gang.namespace_name, "/", gang.name));
    }
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
  Leader fresh = NewLeader();
  for (ObjectEvent& event : api.List()) fresh.loop->Accept(std::move(event));
  TurnOut(fresh, now);
  return fresh;
}

}  // namespace maniple::loop_new_leader_test
