#include "api/producers/resolution.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/codec/utf8.h"
#include "api/producers/composite_group.h"
#include "api/producers/fields.h"
#include "api/producers/gang_names.h"
#include "api/producers/mark_quorum.h"
#include "api/producers/owner_walk.h"

namespace maniple {
namespace {

// Marks that name a group object of a kind.
struct ObjectMark {
  MarkField field;
  ProducerRole role;
};
constexpr ObjectMark kObjectMarks[] = {
    {MarkField::kXk8s, ProducerRole::kXk8s},
    {MarkField::kVolcano, ProducerRole::kVolcano},
    {MarkField::kUpstream, ProducerRole::kUpstream},
    {MarkField::kKai, ProducerRole::kKai},
    {MarkField::kGrove, ProducerRole::kGrove},
    {MarkField::kKoordinator, ProducerRole::kKoordinator},
};

enum class Heeded : uint8_t { kYes, kNotServed, kAsksForNothing };

class Resolver final {
 public:
  Resolver(const PodMarks& marks, ObjectTable& table) : marks_(marks), table_(table) {}

  Resolution Run() {
    const MarkField decided = FirstMark();
    if (decided == MarkField::kNamespace && !marks_.Has(MarkField::kAnchor)) {
      ResolveOwner(marks_, table_, out_, notes_);
    }
    NoteLaterMarks(decided);
    if (!notes_.empty())
      out_.passed_over = absl::StrCat("not heeded: ", absl::StrJoin(notes_, ", "));
    return std::move(out_);
  }

 private:
  static constexpr MarkField kLastMark = MarkField::kKueue;
  static constexpr int kMostComposites = 4;  // within each other, as the API allows

  // kNamespace: none decides.
  MarkField FirstMark() {
    for (int i = 0; i <= static_cast<int>(kLastMark); ++i) {
      const auto field = static_cast<MarkField>(i);
      if (!marks_.Has(field)) continue;
      switch (Heed(field)) {
        case Heeded::kYes:
          return field;
        case Heeded::kNotServed:
          notes_.push_back(absl::StrCat(Shown(field), WhyNot(field)));
          break;
        case Heeded::kAsksForNothing:
          break;
      }
    }
    return MarkField::kNamespace;
  }

  // Annotations may be of any length.
  [[nodiscard]] std::string Shown(MarkField field) const {
    constexpr size_t kMostShown = 80;
    return absl::StrCat(MarkWords(field), "=",
                        Printable(Utf8Prefix(marks_.Get(field), kMostShown)));
  }

  [[nodiscard]] absl::string_view WhyNot(MarkField field) const {
    for (const ObjectMark& mark : kObjectMarks) {
      const std::optional<uint8_t> kind = table_.KindOf(mark.role);
      if (mark.field != field || !kind.has_value()) continue;
      if (table_.served(*kind) == ServedState::kForbidden) return " (no right to read its kind)";
    }
    return " (its kind is not served)";
  }

  Heeded Heed(MarkField field) {
    if (field == MarkField::kOwnGroup) {
      out_.gang = {.origin = GangOrigin::kOurs, .group_name = std::string(marks_.Get(field))};
      out_.sub_group = std::string(marks_.Get(MarkField::kOwnSubGroup));
      return Heeded::kYes;
    }
    const auto mark = std::find_if(std::begin(kObjectMarks), std::end(kObjectMarks),
                                   [&](const ObjectMark& of) { return of.field == field; });
    if (mark != std::end(kObjectMarks)) return HeedObject(*mark);
    return HeedMarks(field);
  }

  Heeded HeedObject(const ObjectMark& mark) {
    const std::optional<uint8_t> kind = table_.KindOf(mark.role);
    const bool light =
        mark.field == MarkField::kKoordinator && marks_.Has(MarkField::kKoordinatorMinimum);
    const absl::string_view space = marks_.Get(MarkField::kNamespace);
    const bool served = kind.has_value() && table_.IsHeeded(*kind, space, marks_.Get(mark.field));
    if (!served && light) return HeedMarks(mark.field);
    if (!served && !RunsWithoutKind(kind, mark.field)) return Heeded::kNotServed;
    ObjectSlot& slot = table_.At(*kind, space, marks_.Get(mark.field));
    out_.seen.push_back(&slot);
    if (!served || !slot.record.has_value() || IsOfNamesake(*slot.record)) {
      if (light) return HeedMarks(mark.field);
      out_.gang = {.origin = GangOrigin::kMissing,
                   .group_name = StableGroupName(slot.name, {"missing", MarkWords(mark.field)})};
      out_.awaited = NameOf(table_.kinds()[*kind], slot.name);
      return Heeded::kYes;
    }
    if (InComposite(slot)) {
      LookAtOwner(slot.record->parent.get());
      return Heeded::kYes;
    }
    if (!slot.record->spec->is_gang) return Heeded::kAsksForNothing;
    out_.gang = {.origin = GangOrigin::kObject, .source = &slot};
    LookAtOwner(slot.record->parent.get());
    out_.sub_group = SubGroupIn(slot, mark.field);
    LookAtItsOwner(*slot.record);
    if (out_.gang.stager == nullptr) LookAtLeaderWorkerSet();
    if (out_.gang.stager == nullptr && mark.field == MarkField::kXk8s) LookAtRayCluster();
    NameObjectGang();
    return Heeded::kYes;
  }

  // Its CRD was deleted under a gang that runs. Whoever comes now is a member and no gang of one.
  [[nodiscard]] bool RunsWithoutKind(std::optional<uint8_t> kind, MarkField field) const {
    if (!kind.has_value() || table_.served(*kind) != ServedState::kNotInstalled) return false;
    const ObjectSlot* slot =
        table_.Find(*kind, marks_.Get(MarkField::kNamespace), marks_.Get(field));
    return slot != nullptr && slot->asked_for_gang && slot->runners > 0;
  }

  // Whether the members of the group start together with those of others, or wait to know that.
  bool InComposite(ObjectSlot& group) {
    const std::optional<uint8_t> kind = table_.KindOf(ProducerRole::kComposite);
    const std::string* above = &group.record->spec->parent_group;
    if (!kind.has_value() || above->empty()) return false;
    if (!table_.IsServed(*kind)) {
      if (table_.served(*kind) == ServedState::kForbidden) {
        notes_.push_back(
            absl::StrCat(table_.kinds()[*kind].kind, " ", *above, " (no right to read its kind)"));
      }
      return false;
    }
    ObjectSlot* outermost = nullptr;
    for (int depth = 0; !above->empty(); ++depth) {
      ObjectSlot& slot = table_.At(*kind, marks_.Get(MarkField::kNamespace), *above);
      out_.seen.push_back(&slot);
      if (depth == kMostComposites) {
        out_.gang = {.origin = GangOrigin::kObject,
                     .source = &group,
                     .problem = absl::StrCat("spec.parentCompositePodGroupName: leads through more "
                                             "than ",
                                             kMostComposites, " groups, or in a ring")};
        NameObjectGang();
        return true;
      }
      if (!slot.record.has_value()) {
        out_.gang = {.origin = GangOrigin::kMissing,
                     .group_name = StableGroupName(slot.name, {"missing", "composite"})};
        out_.awaited = NameOf(table_.kinds()[*kind], slot.name);
        return true;
      }
      if (slot.record->spec->is_gang) outermost = &slot;
      above = &slot.record->spec->parent_group;
    }
    if (outermost == nullptr) return false;
    out_.gang = {.origin = GangOrigin::kObject, .source = outermost};
    out_.sub_group = PartNameOfGroup(group.name);
    NameObjectGang();
    return true;
  }

  // The group is of another owner than the pod, of the same name: one of them has gone, or is new.
  [[nodiscard]] bool IsOfNamesake(const ObjectRecord& group) const {
    const absl::string_view kind = marks_.Get(MarkField::kOwnerKind);
    if (group.parent == nullptr || kind.empty()) return false;
    return static_cast<uint8_t>(kind.front()) == group.parent->kind &&
           marks_.Get(MarkField::kOwnerName) == group.parent->name &&
           marks_.Get(MarkField::kOwnerUid) != group.parent->uid;
  }

  [[nodiscard]] std::string SubGroupIn(const ObjectSlot& slot, MarkField field) const {
    if (field == MarkField::kKai) return std::string(marks_.Get(MarkField::kKaiSubGroup));
    if (field == MarkField::kVolcano) return std::string(marks_.Get(MarkField::kTask));
    if (field != MarkField::kGrove) return "";
    for (const ForeignPart& part : slot.record->spec->parts) {
      const bool listed = std::find(part.pods.begin(), part.pods.end(),
                                    marks_.Get(MarkField::kPodName)) != part.pods.end();
      if (listed) return part.name;
    }
    return "";
  }

  // The outermost that is known of those that have made the pod; of an anchor, its group.
  void LookAtOwner(const ParentRef* of_group) {
    constexpr int kMostOwners = 8;  // one of the other, as in a walk
    std::optional<ParentRef> step;
    if (const absl::string_view kind = marks_.Get(MarkField::kOwnerKind); !kind.empty()) {
      step = ParentRef{static_cast<uint8_t>(kind.front()),
                       std::string(marks_.Get(MarkField::kOwnerName)),
                       std::string(marks_.Get(MarkField::kOwnerUid))};
    } else if (of_group != nullptr) {
      step = *of_group;
    }
    for (int i = 0; i < kMostOwners && step.has_value(); ++i) {
      const absl::string_view space = marks_.Get(MarkField::kNamespace);
      const bool counts =
          IsOwner(table_.role(step->kind)) && table_.IsHeeded(step->kind, space, step->name);
      if (!counts) return;
      ObjectSlot& slot = table_.At(step->kind, space, step->name);
      out_.seen.push_back(&slot);
      if (!slot.record.has_value() || slot.record->uid != step->uid) return;
      out_.gang.owner = &slot;
      const ParentRef* parent = slot.record->parent.get();
      step = parent != nullptr ? std::optional(*parent) : std::nullopt;
    }
  }

  // Where the owner of a group object makes its members in stages, these are the gangs: a quorum
  // over all would wait for what comes later.
  void LookAtItsOwner(const ObjectRecord& group) {
    if (group.parent == nullptr || !table_.IsServed(group.parent->kind)) return;
    const ParentRef& parent = *group.parent;
    const ProducerRole role = table_.role(parent.kind);
    const bool transports = role == ProducerRole::kTrainJob;
    const std::optional<uint8_t> kind =
        transports ? table_.KindOf(ProducerRole::kJobSet) : parent.kind;
    if (!kind.has_value() || !table_.IsServed(*kind)) return;
    if (!transports && role != ProducerRole::kJobSet && role != ProducerRole::kMpiJob) return;
    ObjectSlot& slot = table_.At(*kind, marks_.Get(MarkField::kNamespace), parent.name);
    out_.seen.push_back(&slot);
    if (!slot.record.has_value()) return;
    const ParentRef* above = slot.record->parent.get();
    const bool its_own =
        transports ? above != nullptr && above->uid == parent.uid : slot.record->uid == parent.uid;
    if (!its_own) return;
    const ForeignSpec& spec = *slot.record->spec;
    if (role == ProducerRole::kMpiJob) {
      const bool late = std::any_of(spec.parts.begin(), spec.parts.end(),
                                    [](const ForeignPart& part) { return part.late; });
      if (!late) return;
      out_.gang.stager = &slot;
      out_.sub_group = std::string(marks_.Get(MarkField::kJobRole));
    } else {
      InStageOf(slot, spec);
    }
  }

  void InStageOf(const ObjectSlot& job_set, const ForeignSpec& spec) {
    if (!spec.staged && !spec.leader_first) return;
    if (spec.staged) {
      // It stands for itself only once there are pods that say of which stage they are.
      if (marks_.Has(MarkField::kAnchor)) out_.gang.origin = GangOrigin::kNone;
      const absl::string_view part = marks_.Get(MarkField::kReplicatedJob);
      if (PartNamed(spec, part) == nullptr) return;
      out_.gang.part = std::string(part);
    }
    out_.gang.stager = &job_set;
    out_.sub_group = std::string(PartInJobSet(spec, marks_));
  }

  // A group object of one replica of a LeaderWorkerSet hangs on its leader, so its pods tell of it.
  void LookAtLeaderWorkerSet() {
    const std::optional<uint8_t> kind = table_.KindOf(ProducerRole::kLeaderWorkerSet);
    const absl::string_view name = marks_.Get(MarkField::kLws);
    if (name.empty() || !kind.has_value() || !table_.IsServed(*kind)) return;
    ObjectSlot& slot = table_.At(*kind, marks_.Get(MarkField::kNamespace), name);
    out_.seen.push_back(&slot);
    if (!slot.record.has_value() || !slot.record->spec->leader_first) return;
    out_.gang.stager = &slot;
    out_.sub_group = marks_.Has(MarkField::kLeads) ? "leader" : "workers";
  }

  // KubeRay makes a group for each RayCluster, whose controller it is not.
  void LookAtRayCluster() {
    const std::optional<uint8_t> kind = table_.KindOf(ProducerRole::kRayCluster);
    const absl::string_view owner = marks_.Get(MarkField::kOwnerKind);
    if (owner.empty() || !kind.has_value() || !table_.IsServed(*kind)) return;
    if (static_cast<uint8_t>(owner.front()) != *kind) return;
    ObjectSlot& slot =
        table_.At(*kind, marks_.Get(MarkField::kNamespace), marks_.Get(MarkField::kOwnerName));
    out_.seen.push_back(&slot);
    if (!slot.record.has_value() || slot.record->uid != marks_.Get(MarkField::kOwnerUid)) return;
    out_.gang.stager = &slot;
    out_.sub_group = std::string(marks_.Get(MarkField::kRayGroup));
  }

  void NameObjectGang() {
    GangIdentity& gang = out_.gang;
    if (gang.origin != GangOrigin::kObject) return;
    const absl::string_view attempt =
        gang.part.empty() ? "" : marks_.Get(MarkField::kRestartAttempt);
    const ForeignKind& kind = table_.kinds()[gang.source->kind];
    gang.group_name =
        StableGroupName(gang.source->name, {kind.group, kind.kind, gang.source->record->uid,
                                            gang.part, attempt == "0" ? "" : attempt});
  }

  Heeded HeedMarks(MarkField field) {
    std::string group(marks_.Get(field));
    if (field == MarkField::kYunikorn) {
      out_.sub_group = std::string(marks_.Get(MarkField::kTaskGroup));
    } else if (field == MarkField::kKoordinator) {
      out_.sub_group = group;
      // Annotations may hold commas: one gang "a,b" is not the gangs "a" and "b".
      group = absl::StrJoin(KoordinatorGroups(marks_), ",", [](std::string* out, const auto& name) {
        absl::StrAppend(out, absl::StrReplaceAll(name, {{"\\", "\\\\"}, {",", "\\,"}}));
      });
    }
    out_.gang = {.origin = GangOrigin::kMarks,
                 .group_name = StableGroupName(group, {"marks", MarkWords(field)}),
                 .dialect = field,
                 .part = group};
    LookAtOwner(nullptr);
    return Heeded::kYes;
  }

  // Those of another name than the one that decided.
  void NoteLaterMarks(MarkField decided) {
    if (decided == MarkField::kNamespace) return;
    for (int i = static_cast<int>(decided) + 1; i <= static_cast<int>(kLastMark); ++i) {
      const auto field = static_cast<MarkField>(i);
      const absl::string_view name = marks_.Get(field);
      if (name.empty() || name == marks_.Get(decided)) continue;
      notes_.push_back(absl::StrCat(Shown(field), " (", MarkWords(decided), " comes first)"));
    }
  }

  const PodMarks& marks_;
  ObjectTable& table_;
  Resolution out_;
  std::vector<std::string> notes_;
};

}  // namespace

MarkField MarkOf(ProducerRole role) {
  return std::find_if(std::begin(kObjectMarks), std::end(kObjectMarks),
                      [&](const ObjectMark& mark) { return mark.role == role; })
      ->field;
}

Resolution Resolve(const PodMarks& marks, ObjectTable& table) {
  return Resolver(marks, table).Run();
}

}  // namespace maniple
