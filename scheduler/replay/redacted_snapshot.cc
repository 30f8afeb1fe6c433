#include "scheduler/replay/redacted_snapshot.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "scheduler/replay/known_ends.h"
#include "scheduler/replay/replay.h"
#include "scheduler/replay/shown_kinds.h"

namespace maniple {
namespace {

bool IsStandIn(const Json& object) {
  return object["kind"].AsString() == "PodGroup" && object["spec"]["source"].is_object();
}

// Pod, "namespace/name" → the name of its gang, as a scheduler calls it that starts there.
absl::StatusOr<absl::flat_hash_map<std::string, std::string>> GangsOfPods(
    const ClusterSnapshot& snapshot, LoopOptions options) {
  ForeignKinds& kinds = options.state.producers.kinds;
  kinds = ShownKinds(kinds, snapshot.objects);
  Replay replay(std::move(options), snapshot.at);
  RETURN_IF_ERROR(replay.Load(snapshot.objects));
  replay.RunUntil(snapshot.at);
  absl::flat_hash_map<std::string, std::string> gangs;
  const ClusterViewPtr view = replay.View();
  for (const GangView& gang : view->gangs) {
    for (const GangMemberView& member : gang.pods) {
      gangs[absl::StrCat(gang.namespace_name, "/", member.pod)] = gang.name;
    }
  }
  return gangs;
}

}  // namespace

absl::StatusOr<ClusterSnapshot> RedactedSnapshot(const ClusterSnapshot& snapshot,
                                                 const Redaction& redaction,
                                                 absl::FunctionRef<LoopOptions()> options) {
  ClusterSnapshot redacted{.at = snapshot.at};
  for (const Json& object : snapshot.objects) redacted.objects.push_back(redaction.Of(object));
  if (std::ranges::none_of(snapshot.objects, IsStandIn)) return redacted;
  ASSIGN_OR_RETURN(const auto before, GangsOfPods(snapshot, options()));
  ASSIGN_OR_RETURN(const auto after, GangsOfPods(redacted, options()));
  absl::flat_hash_map<std::string, std::string> names;  // of stand-ins, "namespace/name" → now
  for (const auto& [pod, gang] : before) {
    const auto now = after.find(redaction.NameOf(pod));
    const std::string space = pod.substr(0, pod.find('/'));
    if (now != after.end()) names[absl::StrCat(space, "/", gang)] = now->second;
  }
  for (size_t i = 0; i < snapshot.objects.size(); ++i) {
    if (!IsStandIn(snapshot.objects[i])) continue;
    const auto name = names.find(KeyOf(snapshot.objects[i]));
    if (name != names.end()) redacted.objects[i].Mutable("metadata").Set("name", name->second);
  }
  return redacted;
}

}  // namespace maniple
