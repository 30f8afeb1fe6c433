#include "scheduler/state/gang_table.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "queue/assembly.h"

namespace maniple {
namespace {

// The facts of a member that decide the gang's priority, and whether the gang may preempt.
struct Weight {
  int32_t priority = 0;
  bool live = false, gated = false, succeeded = false;
  friend bool operator==(const Weight&, const Weight&) = default;
};
Weight WeightOf(const Member& member) {
  return {.priority = member.priority,
          .live = IsLive(member),
          .gated = member.state == MemberState::kGated,
          .succeeded = member.state == MemberState::kSucceeded};
}

}  // namespace

Gang* GangTable::FindKey(const GangKey& key) {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? nullptr : *it;
}

Gang& GangTable::Ensure(const GangKey& key) {
  if (Gang* known = FindKey(key)) return *known;
  auto gang = std::make_unique<Gang>();
  gang->id = GangId(next_++);
  gang->key = key;
  Gang& made = *gang;
  by_key_.insert(&made);
  gangs_.emplace(made.id, std::move(gang));
  return made;
}

const Gang* GangTable::Find(GangId gang) const {
  const auto it = gangs_.find(gang);
  return it == gangs_.end() ? nullptr : it->second.get();
}

std::optional<GangId> GangTable::Named(const GangKey& key) const {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return std::nullopt;
  return (*it)->id;
}

std::vector<GangId> GangTable::All() const {
  std::vector<GangId> ids;
  ids.reserve(gangs_.size());
  for (const auto& [id, gang] : gangs_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

GangKey GangTable::KeyOf(absl::string_view namespace_name, absl::string_view pod_name,
                         const PodPlace& place) {
  const bool single = place.group_name.empty();
  return {.dialect = single ? GangDialect::kSingleton : GangDialect::kManiple,
          .namespace_name = std::string(namespace_name),
          .name = single ? std::string(pod_name) : place.group_name};
}

GangId GangTable::GangOf(const Pod& pod, const PodPlace& place, GangId last) {
  if (last.valid() && !place.group_name.empty()) {
    const GangKey& key = gangs_.at(last)->key;  // of the pod's namespace, which never changes
    if (key.dialect == GangDialect::kManiple && key.name == place.group_name) return last;
  }
  const GangKey key = KeyOf(pod.meta.namespace_name, pod.meta.name, place);
  Gang& gang = Ensure(key);
  if (key.dialect == GangDialect::kSingleton) {
    gang.declared = true;
    gang.group_exists = true;
    gang.group_uid = pod.meta.uid;
    gang.created = pod.meta.created;
    gang.spec.queue = place.queue;
    gang.brings_quota = place.brings_quota;
    gang.spec.preempts = pod.preempts;
  }
  return gang.id;
}

void GangTable::Touch(const GangKey& key, Delta& delta) {
  if (const Gang* gang = FindKey(key)) delta.gangs_changed.insert(gang->id);
}

bool GangTable::IsPlaceOf(GangId id, const Pod& pod, const PodPlace& place) const {
  const Gang& gang = *gangs_.at(id);
  const bool single = gang.key.dialect == GangDialect::kSingleton;
  if (single != place.group_name.empty()) return false;
  if (!single) return gang.key.name == place.group_name;
  return gang.key.name == pod.meta.name && gang.spec.queue == place.queue &&
         gang.brings_quota == place.brings_quota;
}

void GangTable::NoteSubGroup(PodId pod, absl::string_view sub_group) {
  if (!sub_group.empty()) {
    sub_groups_[pod] = std::string(sub_group);
  } else if (!sub_groups_.empty()) {
    sub_groups_.erase(pod);
  }
}

GangId GangTable::Rehome(const Rehoming& who, const PodPlace& place, Delta& delta) {
  Gang& old = *gangs_.at(who.from);
  const auto at = FindMember(old.members, who.pod);
  CHECK(at != old.members.end()) << "rehoming a pod that is no member";
  Member member = std::move(*at);
  old.members.erase(at);
  NoteSubGroup(who.pod, place.sub_group);
  Gang& gang = Ensure(KeyOf(who.namespace_name, who.pod_name, place));
  if (IsSingle(gang.id)) {
    gang.declared = gang.group_exists = true;
    gang.group_uid = member.uid;
    gang.created = member.created;
    gang.spec.queue = place.queue;
    gang.brings_quota = place.brings_quota;
    gang.spec.preempts = member.preempts;
    gang.on_hold = member.own_hold;
  }
  if (!place.passed_over.empty()) gang.passed_over = place.passed_over;
  if (!place.awaited.empty()) gang.awaited = place.awaited;
  if (member.state == MemberState::kBound && !old.told_queue.empty()) {
    gang.told_queue = old.told_queue;
  }
  if (who.ran_alone && !IsSingle(gang.id)) ++gang.ran_alone;
  member.rank.sub_group = SubGroupIndex(place.sub_group, gang.spec);
  ForgetCleaned(gang, member.rank);
  AddInOrder(gang.members, std::move(member));
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
  if (&gang != &old) {
    Derive(old);
    delta.gangs_changed.insert(old.id);
    DropIfEmpty(old, delta);
  }
  return gang.id;
}

void GangTable::PutMember(GangId id, const MemberFacts& facts, const Pod& pod, Delta& delta) {
  Gang& gang = *gangs_.at(id);
  NoteSubGroup(facts.pod, facts.sub_group);
  if (!facts.passed_over.empty()) gang.passed_over = std::string(facts.passed_over);
  if (!facts.awaited.empty()) gang.awaited = std::string(facts.awaited);
  if (!pod.node_name.empty() && !HasEnded(facts.state)) {
    const absl::string_view told = pod.meta.annotations.Get(kAdmittedQueueAnnotation);
    if (!told.empty()) gang.told_queue = std::string(told);
  }
  // Without a PodGroup only the pod itself can be put on hold.
  if (const bool held = IsOnHold(pod.meta);
      gang.key.dialect == GangDialect::kSingleton && gang.on_hold != held) {
    gang.on_hold = held;
    delta.gangs_changed.insert(id);
  }
  const Rank rank = RankOf(pod.meta.labels, facts.sub_group, gang.spec);
  std::vector<Member>& members = gang.members;
  const auto at = FindMember(members, facts.pod, rank, pod.meta.name);
  if (at == members.end()) {
    Member member;
    member.pod = facts.pod;
    member.name = pod.meta.name;
    member.uid = pod.meta.uid;
    UpdateMember(member, facts, pod, rank);
    ForgetCleaned(gang, rank);
    AddInOrder(members, std::move(member));
    Derive(gang);
    delta.gangs_changed.insert(id);
    return;
  }
  const bool running = pod.phase == PodPhase::kRunning;
  const bool stands_the_same =
      at->state == facts.state && at->node == facts.node && at->running == running;
  const Weight weight = WeightOf(*at);
  const bool in_place = at->rank == rank;
  if (!UpdateMember(*at, facts, pod, rank)) {
    if (Derive(gang)) delta.gangs_changed.insert(id);
    return;
  }
  if (HasEnded(facts.state) && std::ranges::none_of(members, StandsSomewhere)) {
    gang.told_queue.clear();  // later members are admitted anew
  }
  const bool weighs_the_same = weight == WeightOf(*at);
  if (!in_place) {
    Member member = std::move(*at);
    members.erase(at);
    AddInOrder(members, std::move(member));
  }
  // Which parts count depends on the members that stand: with its lead bound,
  // a gang wants all followers.
  const bool staged = gang.foreign != nullptr && !gang.foreign->starts.empty();
  const bool derives = !weighs_the_same || !in_place || (staged && !stands_the_same);
  if (derives || gang.key.dialect == GangDialect::kSingleton) Derive(gang);
  delta.gangs_changed.insert(id);
}

void GangTable::RemoveMember(GangId id, PodId pod, Delta& delta) {
  const auto it = gangs_.find(id);
  if (it == gangs_.end()) return;
  Gang& gang = *it->second;
  const auto at = FindMember(gang.members, pod);
  if (at != gang.members.end()) {
    const Member gone = std::move(*at);
    gang.members.erase(at);
    if (gone.state == MemberState::kSucceeded) RememberCleaned(gang, gone.rank);
    if (std::ranges::none_of(gang.members, StandsSomewhere)) gang.told_queue.clear();
  }
  sub_groups_.erase(pod);
  Derive(gang);
  delta.gangs_changed.insert(id);
  DropIfEmpty(gang, delta);
}

void GangTable::SetShape(GangId id, PodId pod, ShapeId shape, Delta& delta) {
  Gang& gang = *gangs_.at(id);
  const auto at = FindMember(gang.members, pod);
  if (at == gang.members.end() || at->shape == shape) return;
  at->shape = shape;
  delta.gangs_changed.insert(id);
}

void GangTable::MoveMember(GangId id, PodId pod, NodeId node, Delta& delta) {
  Gang& gang = *gangs_.at(id);
  const auto at = FindMember(gang.members, pod);
  if (at == gang.members.end() || at->node == node) return;
  at->node = node;
  delta.gangs_changed.insert(id);
}

void GangTable::DropIfEmpty(Gang& gang, Delta& delta) {
  const bool group = gang.group_exists && gang.key.dialect != GangDialect::kSingleton;
  if (group || !gang.members.empty()) return;
  const GangId id = gang.id;
  delta.gangs_changed.erase(id);
  delta.gangs_gone.insert(id);
  by_key_.erase(&gang);
  gangs_.erase(id);
}

void GangTable::Rerank(Gang& gang, const std::vector<SubGroup>& before) {
  RerankCleaned(gang, before);
  for (Member& member : gang.members) {
    const auto it = sub_groups_.find(member.pod);
    const absl::string_view sub_group = it == sub_groups_.end() ? absl::string_view() : it->second;
    member.rank.sub_group = SubGroupIndex(sub_group, gang.spec);
  }
  std::sort(gang.members.begin(), gang.members.end(), InOrder);
}

bool GangTable::Derive(Gang& gang) {
  if (gang.foreign != nullptr) Stage(gang);
  const int32_t priority = rules_.PriorityOf(gang);
  const absl::string_view queue = rules_.QueueOf(gang);
  const bool preempts = rules_.MayPreempt(gang);
  const bool lacked_class = std::exchange(gang.class_missing, rules_.LacksClass(gang));
  if (priority == gang.priority && queue == gang.queue && preempts == gang.preempts &&
      lacked_class == gang.class_missing) {
    return false;
  }
  gang.priority = priority;
  gang.preempts = preempts;
  gang.queue = std::string(queue);
  return true;
}

void GangTable::SetClass(absl::string_view priority_class,
                         std::optional<GangRules::ClassFacts> facts, Delta& delta) {
  rules_.SetClass(priority_class, facts);
  for (const auto& [id, gang] : gangs_) {
    if (gang->spec.priority_class_name != priority_class) continue;
    if (Derive(*gang)) delta.gangs_changed.insert(id);
  }
}

void GangTable::SetNamespaceQueue(absl::string_view namespace_name, absl::string_view queue,
                                  Delta& delta) {
  if (!rules_.SetNamespaceQueue(namespace_name, queue)) return;
  for (const auto& [id, gang] : gangs_) {
    if (gang->key.namespace_name != namespace_name) continue;
    if (Derive(*gang)) delta.gangs_changed.insert(id);
  }
}

void GangTable::SetAdmitted(GangId id, const std::optional<std::string>& queue, Delta& delta) {
  Gang& gang = *gangs_.at(id);
  if (gang.admitted_queue == queue) return;
  gang.admitted_queue = queue;
  if (Derive(gang)) delta.gangs_changed.insert(id);
}

void GangTable::RecallSucceeded(GangId id) {
  const auto it = gangs_.find(id);
  if (it == gangs_.end() || !it->second->group_exists) return;
  if (RecallCleaned(*it->second)) Derive(*it->second);
}

absl::Status GangTable::CheckInvariants() const {
  for (const auto& [id, gang] : gangs_) {
    const auto wrong = [&gang = gang](absl::string_view what) {
      return absl::InternalError(
          absl::StrCat("gang ", gang->key.namespace_name, "/", gang->key.name, ": ", what));
    };
    if (!std::is_sorted(gang->members.begin(), gang->members.end(), InOrder)) {
      return wrong("members are out of order");
    }
    if (gang->priority != rules_.PriorityOf(*gang)) return wrong("priority is stale");
    if (gang->class_missing != rules_.LacksClass(*gang)) return wrong("its class is stale");
    if (gang->queue != rules_.QueueOf(*gang)) return wrong("queue is stale");
    if (gang->preempts != rules_.MayPreempt(*gang)) return wrong("its preemption policy is stale");
    if (Named(gang->key) != id) return wrong("its key names another gang");
  }
  return absl::OkStatus();
}

}  // namespace maniple
