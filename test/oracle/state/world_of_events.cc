#include "test/oracle/state/world_of_events.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"

namespace maniple {

std::vector<ObjectEvent> WorldOfEvents::AllThereIs() const {
  std::vector<ObjectEvent> events;
  for (const auto& [key, object] : objects_) events.emplace_back(ObjectUpserted{object});
  for (const ObjectKey& key : refused_) events.emplace_back(RefusalOf(key));
  return events;
}

ObjectEvent WorldOfEvents::Next() {
  if (mended_.has_value()) return ObjectUpserted{*std::exchange(mended_, std::nullopt)};
  if (!objects_.empty() && random_.OneIn(5)) return Again();
  if (random_.OneIn(2)) return Put(AnyPod());
  switch (random_.Below(14)) {
    case 0:
    case 1:
      return Put(AnyNode());
    case 2:
      return Put(AnyGroup());
    case 3:
      return Put(AnyNamespace());
    case 4:
      return Put(AnyPriorityClass());
    case 5:
      return Put(AnyBudget());
    case 6:
      return Put(AnyClaim());
    case 7:
      return Put(AnyVolume());
    case 8:
      return Put(random_.OneIn(2) ? AnyClass() : AnyTopology());
    case 9:
      return Put(random_.OneIn(2) ? CsiNodeLimits() : AnyDriver());
    case 10:
      return Put(AnyCapacity());
    case 11:
      return Put(AnyUpstreamGroup());
    case 12:
      return Put(AnyHyperNode());
    default:
      return Put(AnyAttachment());
  }
}

const Object& WorldOfEvents::ObjectOf(const ObjectEvent& event) {
  return std::get<ObjectUpserted>(event).object;
}

ObjectKey WorldOfEvents::KeyOf(const Object& object) {
  const ObjectMeta& meta = MetaOf(object);
  return {.kind = KindOf(object), .namespace_name = meta.namespace_name, .name = meta.name};
}

ObjectEvent WorldOfEvents::Put(const ObjectEvent& event) {
  const Object& object = ObjectOf(event);
  refused_.erase(KeyOf(object));
  objects_.insert_or_assign(KeyOf(object), object);
  return event;
}

ObjectEvent WorldOfEvents::RefusalOf(const ObjectKey& key) {
  return ObjectInvalid{.key = key, .uid = "uid-refused", .problem = "bad"};
}

bool WorldOfEvents::IsRemembered(ResourceKind kind) {
  return kind == ResourceKind::kNode || kind == ResourceKind::kPodGroup ||
         kind == ResourceKind::kCsiNode;
}

ObjectEvent WorldOfEvents::Refuse(const ObjectKey& key, const Object& object) {
  if (IsRemembered(key.kind)) {
    mended_ = object;
    return ObjectInvalid{.key = key, .uid = MetaOf(object).uid, .problem = "bad"};
  }
  const ObjectKey refused = key;
  objects_.erase(key);
  refused_.insert(refused);
  return RefusalOf(refused);
}

ObjectEvent WorldOfEvents::Again() {
  auto at = objects_.begin();
  std::advance(at, random_.Below(objects_.size()));
  const ObjectKey key = at->first;
  switch (random_.Below(5)) {
    case 0:
      return ObjectUpserted{at->second};
    case 1:
      // The log would tell each time of a HyperNode that is refused.
      if (key.kind == HyperNodes()) return ObjectUpserted{at->second};
      return Refuse(key, at->second);
    case 2:
      if (TellsUids(key.kind)) return ObjectDeleted{.key = key, .uid = "uid-of-old"};
      return ObjectUpserted{at->second};
    default: {
      const std::string uid = random_.OneIn(2) ? MetaOf(at->second).uid : "";
      objects_.erase(at);
      return ObjectDeleted{.key = key, .uid = uid};
    }
  }
}

bool WorldOfEvents::TellsUids(ResourceKind kind) {
  return kind == ResourceKind::kPod || kind == ResourceKind::kNode ||
         kind == ResourceKind::kPodGroup;
}

ObjectEvent WorldOfEvents::AnyPod() {
  const std::string name = Numbered(12, "p");
  const std::string in = name.back() == '1' ? "other" : "default";
  const Pod* known = Known<Pod>({.kind = ResourceKind::kPod, .namespace_name = in, .name = name});
  if (known == nullptr || random_.OneIn(12)) return ObjectUpserted{NewPod(name, in)};
  Pod pod = *known;
  for (int i = 0; i < 2; ++i) Edit(pod);
  return ObjectUpserted{std::move(pod)};
}

Pod WorldOfEvents::NewPod(const std::string& name, const std::string& in) {
  MakePod made(name);
  made.In(in).Uid(absl::StrCat("uid-", name, "-", ++made_));
  if (name.back() == '3') made.Scheduler("other");
  made.Gpu(static_cast<int64_t>(random_.Below(3))).Cpu(static_cast<int64_t>(random_.Below(3)));
  if (random_.OneIn(3)) made.Wants(Numbered(3, "made.up/r"), 1);
  if (random_.OneIn(3)) made.Port(static_cast<int32_t>(80 + random_.Below(2)));
  if (random_.OneIn(3)) made.Selector(random_.OneIn(2) ? "zone" : "rack", "z1");
  if (random_.OneIn(3)) made.Runs(Numbered(4, "image-")).Runs(Numbered(4, "image-"));
  if (random_.OneIn(3)) made.Claim(ClaimName());
  if (random_.OneIn(4)) made.Attached(DriverName(), Numbered(4, "handle-"));
  if (random_.OneIn(6)) made.Disk({.name = Numbered(2, "disk-")});
  if (random_.OneIn(3)) made.With(AnyTerms(in));
  if (random_.OneIn(4)) made.Spread(random_.OneIn(2) ? "zone" : "rack", AnySelector());
  if (random_.OneIn(2)) made.Index(static_cast<int64_t>(random_.Below(3)));
  if (random_.OneIn(4)) made.Gated();
  made.Priority(static_cast<int32_t>(random_.Below(4)));
  Pod pod = made;
  pod.preempts = !random_.OneIn(4);
  pod.meta.created = absl::FromUnixSeconds(made_);
  if (random_.OneIn(4)) pod.scheduling_group = Numbered(2, "u");
  if (random_.OneIn(4)) pod.meta.annotations.Set(kHoldAnnotation, "true");
  Relabel(pod);
  Regroup(pod);
  if (random_.OneIn(4)) pod.node_name = NodeName();
  return pod;
}

void WorldOfEvents::Drop(StringMap& labels, absl::string_view key) {
  StringMap left;
  for (const auto& [name, value] : labels.entries()) {
    if (name != key) left.Set(name, value);
  }
  labels = std::move(left);
}

void WorldOfEvents::Relabel(Pod& pod) {
  pod.meta.labels.Set("app", Numbered(3, ""));
  Drop(pod.meta.labels, "tier");
  if (random_.OneIn(2)) pod.meta.labels.Set("tier", Numbered(2, ""));
}

void WorldOfEvents::Regroup(Pod& pod) {
  for (const char* key : {kPodGroupLabel, kSubGroupLabel, kQueueLabel}) Drop(pod.meta.labels, key);
  if (random_.OneIn(3)) pod.meta.labels.Set(kQueueLabel, Numbered(2, "queue-"));
  // What a gang waits for is told by the last pod to come, even when that has moved on.
  if (!pod.scheduling_group.empty() || random_.OneIn(3)) return;
  pod.meta.labels.Set(kPodGroupLabel, Numbered(3, "g"));
  if (random_.OneIn(2)) pod.meta.labels.Set(kSubGroupLabel, random_.OneIn(2) ? "a" : "b");
}

void WorldOfEvents::Edit(Pod& pod) {
  const bool bound = !pod.node_name.empty();
  const bool ended = pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
  pod.meta.resource_version = Numbered(100, "");
  switch (random_.Below(9)) {
    case 0:
      return Relabel(pod);
    case 1:
      if (bound || ended) return;
      regrouped_.insert(pod.meta.uid);
      return Regroup(pod);
    case 2:
      if (bound || ended || regrouped_.contains(pod.meta.uid)) return;
      if (pod.scheduling_gates.empty()) pod.node_name = NodeName();
      return;
    case 3:
      if (bound && !ended) pod.phase = PodPhase::kRunning;
      return;
    case 4:
      if (bound && random_.OneIn(2)) pod.phase = PodPhase::kFailed;
      return;
    case 5:
      if (!pod.meta.deleted.has_value()) pod.meta.deleted = absl::FromUnixSeconds(1);
      return;
    case 6:
      pod.scheduling_gates.clear();
      return;
    case 7:
      return Resize(pod);
    default:
      pod.nominated_node_name = random_.OneIn(3) ? "" : NodeName();
      pod.scheduled_condition = PodCondition{.status = "False", .reason = "NoFit", .message = ""};
  }
}

void WorldOfEvents::Resize(Pod& pod) {
  for (ResourceAmount& request : pod.constraints.requests) {
    if (request.resource == "cpu")
      request.amount = Amount(1 + static_cast<int64_t>(random_.Below(3)));
  }
}

}  // namespace maniple
