// The objects that declare gangs: PodGroups of users, those that stand for a foreign gang, and the
// word of other projects' objects.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "queue/staged_quorum.h"
#include "scheduler/state/gang_table.h"

namespace maniple {
namespace {

// The problem of a PodGroup that stands for a gang which nobody declares.
std::string ProblemOf(const PodGroup& group) {
  const GangSource& source = group.spec.source;
  if (source.empty()) return "";
  return absl::StrCat("spec.source: it stands for ", source.kind, " ", source.name,
                      ", which declares no gang now");
}

// Each of the pods that are left is enough.
PodGroupSpec OfWhoAsksForNone(PodGroupSpec spec) {
  spec.min_member = 1;
  spec.sub_groups.clear();
  return spec;
}

// The source of a gang that no other object declares, as its PodGroup says now.
SourceIs SourceOf(const Gang& before, const PodGroup& group) {
  if (group.spec.source.empty()) return SourceIs::kFine;
  const bool same = before.group_uid == group.meta.uid && before.spec.source == group.spec.source;
  return same && before.source_is == SourceIs::kGone ? SourceIs::kGone : SourceIs::kUnknown;
}

}  // namespace

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
  const bool asks_none = !group.spec.source.empty() && ask_none_.contains(key);
  const std::string problem = asks_none ? "" : ProblemOf(group);
  PodGroupSpec spec = asks_none ? OfWhoAsksForNone(group.spec) : group.spec;
  const bool same = gang.group_exists && gang.group_uid == group.meta.uid &&
                    gang.problem == problem && gang.spec == spec && gang.status == group.status &&
                    gang.on_hold == IsOnHold(group.meta) &&
                    gang.group_generation == group.meta.generation;
  gang.group_resource_version = group.meta.resource_version;
  if (same) return;
  gang.source_is = asks_none ? SourceIs::kAsksNone : SourceOf(gang, group);
  const std::vector<SubGroup> sub_groups = std::exchange(gang.spec, std::move(spec)).sub_groups;
  // Another PodGroup of the same name: no member has succeeded for it yet.
  if (gang.group_uid != group.meta.uid) gang.cleaned = CleanedMembers{};
  gang.group_exists = true;
  gang.group_uid = group.meta.uid;
  gang.group_generation = group.meta.generation;
  gang.created = group.meta.created;
  gang.on_hold = IsOnHold(group.meta);
  gang.problem = problem;
  gang.status = group.status;
  if (appeared || sub_groups != gang.spec.sub_groups) Rerank(gang, sub_groups);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

void GangTable::Follow(Gang& gang, const PodGroup& stand_in, Delta& delta) {
  // Another object has taken the name: it says nothing of the gang, and is not ours to write.
  gang.name_is_taken = stand_in.spec.source != gang.foreign->spec.source;
  if (gang.name_is_taken) return;
  const std::optional<StandIn> now = StandIn{.uid = stand_in.meta.uid, .spec = stand_in.spec};
  const bool same = gang.stand_in == now && gang.status == stand_in.status &&
                    gang.on_hold == IsOnHold(stand_in.meta) &&
                    gang.group_generation == stand_in.meta.generation;
  gang.group_resource_version = stand_in.meta.resource_version;
  if (same) return;
  gang.stand_in = now;
  if (!gang.problem.empty() && gang.spec == gang.foreign->spec) {
    // What it was when it made sense, as an earlier leader has written it down.
    const std::vector<SubGroup> sub_groups = std::exchange(gang.spec, stand_in.spec).sub_groups;
    Rerank(gang, sub_groups);
  }
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
  const std::vector<SubGroup> sub_groups = gang.spec.sub_groups;
  if (!was_foreign) {
    const bool stood_for_it = gang.group_exists && gang.spec.source == foreign->spec.source;
    gang.stand_in.reset();
    gang.name_is_taken = gang.group_exists && !stood_for_it;
    if (stood_for_it) {
      gang.stand_in = StandIn{.uid = gang.group_uid, .spec = std::move(gang.spec)};
    } else {
      gang.group_resource_version.clear();
      gang.group_generation = 0;
      gang.status = PodGroupStatus{};
    }
  }
  const bool is_another = gang.group_uid != uid && was_foreign;
  if (is_another) gang.cleaned = CleanedMembers{};
  gang.declared = true;
  gang.group_exists = true;
  gang.group_uid = uid;
  gang.created = foreign->created;
  gang.problem = foreign->problem;
  gang.source_is = SourceIs::kFine;
  gang.foreign = std::move(foreign);
  gang.brings_quota = gang.foreign->brings_quota;
  // What runs stays the gang that it was while its declaration makes no sense.
  const bool was_known = was_foreign ? !is_another : gang.stand_in.has_value();
  if (gang.problem.empty() || !was_known) {
    gang.spec = gang.foreign->spec;
  } else if (!was_foreign) {
    gang.spec = gang.stand_in->spec;
  }
  Rerank(gang, sub_groups);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

void GangTable::SetAsksForNone(const GangKey& key, bool is_so, Delta& delta) {
  const bool was_so = is_so ? !ask_none_.insert(key).second : ask_none_.erase(key) > 0;
  if (!is_so && !was_so) return;
  Gang* gang = FindKey(key);
  if (gang == nullptr || gang->foreign != nullptr || gang->spec.source.empty()) return;
  const std::vector<SubGroup> sub_groups = gang->spec.sub_groups;
  if (is_so) gang->spec = OfWhoAsksForNone(std::move(gang->spec));
  gang->problem = is_so ? "" : ProblemOf({.spec = gang->spec});
  gang->source_is = is_so ? SourceIs::kAsksNone : SourceIs::kGone;
  Rerank(*gang, sub_groups);
  Derive(*gang);
  delta.gangs_changed.insert(gang->id);
}

// The PodGroup that stood for the gang exists until the garbage collector takes it.
void GangTable::Undeclare(Gang& gang, Delta& delta) {
  gang.foreign.reset();
  gang.name_is_taken = false;
  gang.brings_quota = false;
  const std::optional<StandIn> stand_in = std::exchange(gang.stand_in, std::nullopt);
  if (!stand_in.has_value()) {
    gang.group_uid.clear();
    RemoveGroup(GangKey(gang.key), "", delta);
    return;
  }
  gang.group_uid = stand_in->uid;
  const std::vector<SubGroup> sub_groups = std::exchange(gang.spec, stand_in->spec).sub_groups;
  gang.problem = ProblemOf({.spec = gang.spec});
  gang.source_is = SourceIs::kGone;
  Rerank(gang, sub_groups);
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

// REQUIRES: somebody else declares the gang. Its quorum follows the progress of its producer.
void GangTable::Stage(Gang& gang) {
  if (gang.foreign->starts.empty() || !gang.problem.empty()) return;
  gang.spec = StagedSpec(*gang.foreign, gang.members);
}

void GangTable::RefuseGroup(const GangKey& key, absl::string_view uid, absl::string_view problem,
                            Delta& delta) {
  Gang& gang = Ensure(key);
  if (gang.foreign != nullptr) {  // its stand-in cannot be read, and is not needed
    gang.name_is_taken = !gang.stand_in.has_value();
    return;
  }
  gang.declared = true;
  if (gang.group_uid != uid) {
    gang.spec = PodGroupSpec{};
    gang.on_hold = false;
    gang.status = PodGroupStatus{};
    gang.cleaned = CleanedMembers{};
    Rerank(gang, {});
  }
  gang.group_exists = true;
  gang.group_uid = std::string(uid);
  gang.problem = problem.empty() ? "the PodGroup cannot be read" : std::string(problem);
  gang.source_is = SourceIs::kFine;
  Derive(gang);
  delta.gangs_changed.insert(gang.id);
}

void GangTable::RemoveGroup(const GangKey& key, absl::string_view uid, Delta& delta) {
  Gang* gang = FindKey(key);
  if (gang == nullptr || !gang->group_exists) return;
  if (gang->foreign != nullptr) {
    gang->name_is_taken = false;
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
  gang->source_is = SourceIs::kFine;
  gang->cleaned = CleanedMembers{};
  Derive(*gang);
  delta.gangs_changed.insert(gang->id);
  DropIfEmpty(*gang, delta);
}

}  // namespace maniple
