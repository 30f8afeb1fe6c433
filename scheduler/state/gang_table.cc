#include "scheduler/state/gang_table.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "queue/assembly.h"
#include "queue/staged_quorum.h"

namespace maniple {
namespace {

auto OrderOf(const Member& member) { return std::tie(member.rank, member.name, member.pod); }

bool InOrder(const Member& a, const Member& b) { return OrderOf(a) < OrderOf(b); }

std::vector<Member>::iterator FindMember(std::vector<Member>& members, PodId pod) {
  return std::find_if(members.begin(), members.end(),
                      [pod](const Member& member) { return member.pod == pod; });
}

// Finds a pod with a known place fast, if its rank has not changed.
std::vector<Member>::iterator FindMember(std::vector<Member>& members, PodId pod, const Rank& rank,
                                         const std::string& name) {
  const auto order = std::tie(rank, name, pod);
  const auto at = std::lower_bound(
      members.begin(), members.end(), order,
      [](const Member& member, const auto& wanted) { return OrderOf(member) < wanted; });
  return at != members.end() && at->pod == pod ? at : FindMember(members, pod);
}

// Brings the changeable fields of a member up to date, in place: most events change one field.
// True: one changed.
bool Update(Member& member, const GangTable::MemberFacts& facts, const Pod& pod, Rank rank) {
  static const std::string kNone;
  const bool failed = pod.phase == PodPhase::kFailed;
  const bool waits =
      pod.scheduled_condition.has_value() && pod.scheduled_condition->status == "False";
  bool changed = false;
  const auto set = [&changed](auto& field, const auto& value) {
    if (field == value) return;
    field = value;
    changed = true;
  };
  set(member.shape, facts.shape);
  set(member.node, facts.node);
  set(member.state, facts.state);
  set(member.started_elsewhere, facts.started_elsewhere);
  set(member.preempts, pod.preempts);
  set(member.running, pod.phase == PodPhase::kRunning);
  set(member.priority, pod.priority);
  set(member.deadline, pod.active_deadline);
  set(member.created, pod.meta.created);
  set(member.status_reason, failed ? pod.status_reason : kNone);
  set(member.waiting_reason, waits ? pod.scheduled_condition->reason : kNone);
  set(member.nominated, waits && !pod.nominated_node_name.empty());
  set(member.rank, rank);
  return changed;
}

bool IsLive(const Member& member) {
  return member.state == MemberState::kPending || member.state == MemberState::kGated ||
         member.state == MemberState::kBound;
}

bool HasEnded(MemberState state) {
  return state == MemberState::kSucceeded || state == MemberState::kFailed;
}

bool StandsSomewhere(const Member& member) {
  return member.state == MemberState::kBound || member.state == MemberState::kTerminating;
}

// Called before a member of the rank joins. Where all members had succeeded, a new run begins.
void ForgetCleaned(Gang& gang, const Rank& rank) {
  CleanedMembers& cleaned = gang.cleaned;
  if (cleaned.empty()) return;
  const bool over = std::none_of(gang.members.begin(), gang.members.end(), IsLive) &&
                    NeedWith(gang, [](const Member& member) {
                      return member.state == MemberState::kSucceeded;
                    }).Met();
  if (over) {
    cleaned = CleanedMembers{};
  } else if (rank.index >= 0) {
    std::erase(cleaned.ranks, rank);
  }
}

// Successes are kept beyond the quorum as well: minMember may be raised again.
constexpr int32_t kMostBeyondQuorum = 1000;

void RememberCleaned(Gang& gang, const Rank& rank) {
  const bool singleton = gang.key.dialect == GangDialect::kSingleton;
  if (!gang.group_exists || singleton) return;
  if (gang.cleaned.count() >= kMostBeyondQuorum && QuorumCount(gang).Need().Met()) return;
  std::vector<Rank>& ranks = gang.cleaned.ranks;
  ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), rank), rank);
}

bool IsOnHold(const ObjectMeta& meta) { return meta.annotations.Get(kHoldAnnotation) == "true"; }

// The problem of a PodGroup that stands for a gang which nobody declares.
std::string ProblemOf(const PodGroup& group) {
  const GangSource& source = group.spec.source;
  if (source.empty()) return "";
  return absl::StrCat("spec.source: it stands for ", source.kind, " ", source.name,
                      ", which declares no gang now");
}

// The facts of a member that decide the gang's priority, and whether the gang may preempt.
struct Weight {
  int32_t priority = 0;
  bool live = false, succeeded = false;
  friend bool operator==(const Weight&, const Weight&) = default;
};
Weight WeightOf(const Member& member) {
  return {.priority = member.priority,
          .live = IsLive(member),
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

void GangTable::UpsertGroup(const PodGroup& group, Delta& delta) {
  const GangKey key{.dialect = GangDialect::kManiple,
                    .namespace_name = group.meta.namespace_name,
                    .name = group.meta.name};
  const bool appeared = !by_key_.contains(key);
  Gang& gang = Ensure(key);
  gang.declared = true;
  if (gang.foreign != nullptr) {
    Follow(gang, group, delta);
    return;
  }
  const std::string problem = ProblemOf(group);
  const bool same = gang.group_exists && gang.group_uid == group.meta.uid &&
                    gang.problem == problem && gang.spec == group.spec &&
                    gang.status == group.status && gang.on_hold == IsOnHold(group.meta) &&
                    gang.group_generation == group.meta.generation;
  gang.group_resource_version = group.meta.resource_version;
  if (same) return;
  const bool sub_groups_differ = gang.spec.sub_groups != group.spec.sub_groups;
  // Another PodGroup of the same name: no member has succeeded for it yet.
  if (gang.group_uid != group.meta.uid) gang.cleaned = CleanedMembers{};
  gang.group_exists = true;
  gang.group_uid = group.meta.uid;
  gang.group_generation = group.meta.generation;
  gang.created = group.meta.created;
  gang.on_hold = IsOnHold(group.meta);
  gang.problem = problem;
  gang.spec = group.spec;
  gang.status = group.status;
  if (appeared || sub_groups_differ) Rerank(gang);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

void GangTable::Follow(Gang& gang, const PodGroup& stand_in, Delta& delta) {
  // Another object has taken the name: it says nothing of the gang, and is not ours to write.
  if (stand_in.spec.source != gang.foreign->spec.source) return;
  const std::optional<StandIn> now = StandIn{.uid = stand_in.meta.uid, .spec = stand_in.spec};
  const bool same = gang.stand_in == now && gang.status == stand_in.status &&
                    gang.on_hold == IsOnHold(stand_in.meta) &&
                    gang.group_generation == stand_in.meta.generation;
  gang.group_resource_version = stand_in.meta.resource_version;
  if (same) return;
  gang.stand_in = now;
  gang.on_hold = IsOnHold(stand_in.meta);
  gang.group_generation = stand_in.meta.generation;
  gang.status = stand_in.status;
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

void GangTable::SetForeign(const GangKey& key, std::shared_ptr<const ForeignGang> foreign,
                           Delta& delta) {
  Gang* known = FindKey(key);
  if (foreign == nullptr) {
    if (known != nullptr && known->foreign != nullptr) Undeclare(*known, delta);
    return;
  }
  Gang& gang = known != nullptr ? *known : Ensure(key);
  const std::string uid = absl::StrCat(foreign->spec.source.uid, "/", foreign->spec.source.part);
  const bool was_foreign = gang.foreign != nullptr;
  if (!was_foreign) {
    const bool stood_for_it = gang.group_exists && gang.spec.source == foreign->spec.source;
    gang.stand_in.reset();
    if (stood_for_it) {
      gang.stand_in = StandIn{.uid = gang.group_uid, .spec = std::move(gang.spec)};
    } else {
      gang.group_resource_version.clear();
      gang.group_generation = 0;
      gang.status = PodGroupStatus{};
    }
  }
  if (gang.group_uid != uid && was_foreign) gang.cleaned = CleanedMembers{};
  gang.declared = true;
  gang.group_exists = true;
  gang.group_uid = uid;
  gang.created = foreign->created;
  gang.problem = foreign->problem;
  gang.foreign = std::move(foreign);
  gang.spec = gang.foreign->spec;
  Rerank(gang);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

// The PodGroup that stood for the gang exists until the garbage collector takes it.
void GangTable::Undeclare(Gang& gang, Delta& delta) {
  gang.foreign.reset();
  const std::optional<StandIn> stand_in = std::exchange(gang.stand_in, std::nullopt);
  if (!stand_in.has_value()) {
    gang.group_uid.clear();
    RemoveGroup(GangKey(gang.key), "", delta);
    return;
  }
  gang.group_uid = stand_in->uid;
  gang.spec = stand_in->spec;
  gang.problem = ProblemOf({.spec = gang.spec});
  Rerank(gang);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

// REQUIRES: somebody else declares the gang. Its quorum follows the progress of its producer.
void GangTable::Stage(Gang& gang) {
  if (gang.foreign->starts.empty()) return;
  gang.spec = StagedSpec(*gang.foreign, gang.members);
}

void GangTable::RefuseGroup(const GangKey& key, absl::string_view uid, absl::string_view problem,
                            Delta& delta) {
  Gang& gang = Ensure(key);
  if (gang.foreign != nullptr) return;  // its stand-in cannot be read, and is not needed
  gang.declared = true;
  if (gang.group_uid != uid) {
    gang.spec = PodGroupSpec{};
    gang.on_hold = false;
    gang.status = PodGroupStatus{};
    gang.cleaned = CleanedMembers{};
    Rerank(gang);
  }
  gang.group_exists = true;
  gang.group_uid = std::string(uid);
  gang.problem = problem.empty() ? "the PodGroup cannot be read" : std::string(problem);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

void GangTable::RemoveGroup(const GangKey& key, absl::string_view uid, Delta& delta) {
  Gang* gang = FindKey(key);
  if (gang == nullptr || !gang->group_exists) return;
  if (gang->foreign != nullptr) {
    if (!gang->stand_in.has_value() || (!uid.empty() && gang->stand_in->uid != uid)) return;
    gang->stand_in.reset();
    gang->on_hold = false;
    gang->group_resource_version.clear();
    gang->status = PodGroupStatus{};
    delta.gangs_changed.insert(gang->id);
    return;
  }
  if (!uid.empty() && !gang->group_uid.empty() && gang->group_uid != uid) return;  // an older one
  gang->group_exists = false;
  gang->on_hold = false;
  gang->group_uid.clear();
  gang->group_resource_version.clear();
  gang->group_generation = 0;
  gang->problem.clear();
  gang->cleaned = CleanedMembers{};
  Derive(*gang);
  delta.gangs_changed.insert(gang->id);
  DropIfEmpty(*gang, delta);
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
    gang.spec.queue = std::string(pod.meta.labels.Get(kQueueLabel));
    gang.spec.preempts = pod.preempts;
  }
  return gang.id;
}

void GangTable::Touch(const GangKey& key, Delta& delta) {
  if (const Gang* gang = FindKey(key)) delta.gangs_changed.insert(gang->id);
}

bool GangTable::IsPlaceOf(GangId gang, absl::string_view pod_name, const PodPlace& place) const {
  const GangKey& key = gangs_.at(gang)->key;
  const bool single = key.dialect == GangDialect::kSingleton;
  return single == place.group_name.empty() &&
         key.name == (single ? pod_name : absl::string_view(place.group_name));
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
  if (gang.key.dialect == GangDialect::kSingleton) {
    gang.declared = gang.group_exists = true;
    gang.group_uid = member.uid;
    gang.created = member.created;
    gang.spec.preempts = member.preempts;
  }
  if (member.state == MemberState::kBound && !old.told_queue.empty()) {
    gang.told_queue = old.told_queue;
  }
  member.rank.sub_group = SubGroupIndex(place.sub_group, gang.spec);
  ForgetCleaned(gang, member.rank);
  gang.members.insert(std::upper_bound(gang.members.begin(), gang.members.end(), member, InOrder),
                      std::move(member));
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
  if (&gang != &old) {
    Derive(old);
    delta.gangs_changed.insert(old.id);
    DropIfEmpty(old, delta);
  }
  return gang.id;
}

GangTable::MemberChange GangTable::PutMember(GangId id, const MemberFacts& facts, const Pod& pod,
                                             Delta& delta) {
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
    Update(member, facts, pod, rank);
    ForgetCleaned(gang, rank);
    members.insert(std::upper_bound(members.begin(), members.end(), member, InOrder),
                   std::move(member));
    Derive(gang);
    delta.gangs_changed.insert(id);
    return MemberChange::kStanding;
  }
  const bool running = pod.phase == PodPhase::kRunning;
  const bool stands_the_same =
      at->state == facts.state && at->node == facts.node && at->running == running;
  const Weight weight = WeightOf(*at);
  const bool in_place = at->rank == rank;
  if (!Update(*at, facts, pod, rank)) {
    if (Derive(gang)) delta.gangs_changed.insert(id);
    return MemberChange::kNone;
  }
  if (HasEnded(facts.state) && std::ranges::none_of(members, StandsSomewhere)) {
    gang.told_queue.clear();  // later members are admitted anew
  }
  const bool weighs_the_same = weight == WeightOf(*at);
  if (!in_place) {
    Member member = std::move(*at);
    members.erase(at);
    members.insert(std::upper_bound(members.begin(), members.end(), member, InOrder),
                   std::move(member));
  }
  // Which parts count depends on the members that stand: with its lead bound,
  // a gang wants all followers.
  const bool staged = gang.foreign != nullptr && !gang.foreign->starts.empty();
  const bool derives = !weighs_the_same || !in_place || (staged && !stands_the_same);
  if (derives || gang.key.dialect == GangDialect::kSingleton) Derive(gang);
  delta.gangs_changed.insert(id);
  return stands_the_same ? MemberChange::kDetails : MemberChange::kStanding;
}

void GangTable::RemoveMember(GangId id, PodId pod, Delta& delta) {
  const auto it = gangs_.find(id);
  if (it == gangs_.end()) return;
  Gang& gang = *it->second;
  const auto at = FindMember(gang.members, pod);
  if (at != gang.members.end()) {
    if (at->state == MemberState::kSucceeded) RememberCleaned(gang, at->rank);
    gang.members.erase(at);
    if (gang.members.empty()) gang.told_queue.clear();
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

void GangTable::Rerank(Gang& gang) {
  for (Member& member : gang.members) {
    const auto it = sub_groups_.find(member.pod);
    const absl::string_view sub_group = it == sub_groups_.end() ? absl::string_view() : it->second;
    member.rank.sub_group = SubGroupIndex(sub_group, gang.spec);
  }
  std::sort(gang.members.begin(), gang.members.end(), InOrder);
}

int32_t GangTable::PriorityOf(const Gang& gang) const {
  std::optional<int32_t> among_live, among_all;
  for (const Member& member : gang.members) {
    among_all = std::max(among_all.value_or(member.priority), member.priority);
    if (!IsLive(member)) continue;
    among_live = std::max(among_live.value_or(member.priority), member.priority);
  }
  const std::optional<int32_t> members = among_live.has_value() ? among_live : among_all;
  const auto it = classes_.find(gang.spec.priority_class_name);
  if (it == classes_.end()) return members.value_or(0);
  return std::min(it->second.value, members.value_or(it->second.value));
}

bool GangTable::MayPreempt(const Gang& gang) const {
  if (!gang.spec.preempts) return false;
  const auto it = classes_.find(gang.spec.priority_class_name);
  if (it != classes_.end()) return it->second.preempts;
  const auto says_so = [](const Member& member) { return member.preempts; };
  return std::all_of(gang.members.begin(), gang.members.end(), says_so) || QuorumMayPreempt(gang);
}

absl::string_view GangTable::QueueOf(const Gang& gang) const {
  if (gang.admitted_queue.has_value()) return *gang.admitted_queue;
  if (!gang.spec.queue.empty()) return gang.spec.queue;
  const auto it = namespace_queues_.find(gang.key.namespace_name);
  return it != namespace_queues_.end() ? it->second : default_queue_;
}

bool GangTable::Derive(Gang& gang) {
  if (gang.foreign != nullptr) Stage(gang);
  const int32_t priority = PriorityOf(gang);
  const absl::string_view queue = QueueOf(gang);
  const bool preempts = MayPreempt(gang);
  if (priority == gang.priority && queue == gang.queue && preempts == gang.preempts) return false;
  gang.priority = priority;
  gang.preempts = preempts;
  gang.queue = std::string(queue);
  return true;
}

void GangTable::SetClass(absl::string_view priority_class, std::optional<ClassFacts> facts,
                         Delta& delta) {
  if (facts.has_value()) {
    classes_[priority_class] = *facts;
  } else {
    classes_.erase(priority_class);
  }
  for (const auto& [id, gang] : gangs_) {
    if (gang->spec.priority_class_name != priority_class) continue;
    if (Derive(*gang)) delta.gangs_changed.insert(id);
  }
}

void GangTable::SetNamespaceQueue(absl::string_view namespace_name, absl::string_view queue,
                                  Delta& delta) {
  const auto it = namespace_queues_.find(namespace_name);
  const absl::string_view had =
      it == namespace_queues_.end() ? absl::string_view() : absl::string_view(it->second);
  if (had == queue) return;
  if (queue.empty()) {
    namespace_queues_.erase(it);
  } else {
    namespace_queues_[namespace_name] = std::string(queue);
  }
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
  Gang& gang = *it->second;
  if (gang.status.members.succeeded == 0) return;
  const int32_t quorum = std::max(1, gang.spec.min_member);
  // Pods that came after all members had succeeded are of a new run.
  const bool over = gang.status.phase == "Completed" && gang.status.members.succeeded >= quorum;
  if (over && std::any_of(gang.members.begin(), gang.members.end(), IsLive)) return;
  const int32_t known = Assemble(gang).counts.succeeded;
  const int32_t most = std::max(quorum, kMostBeyondQuorum);
  const int32_t told = std::min(gang.status.members.succeeded, most);
  if (known >= told) return;
  gang.cleaned.unranked += told - known;
  Derive(gang);
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
    if (gang->priority != PriorityOf(*gang)) return wrong("priority is stale");
    if (gang->queue != QueueOf(*gang)) return wrong("queue is stale");
    if (gang->preempts != MayPreempt(*gang)) return wrong("its preemption policy is stale");
    if (Named(gang->key) != id) return wrong("its key names another gang");
  }
  return absl::OkStatus();
}

}  // namespace maniple
