#include "api/producers/owner_walk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/producers/fields.h"
#include "api/producers/gang_names.h"

namespace maniple {
namespace {

struct Step {
  uint8_t kind = 0;
  std::string name, uid;  // uid "": whichever is there
};

class OwnerWalk final {
 public:
  OwnerWalk(const PodMarks& marks, ObjectTable& table, Resolution& out,
            std::vector<std::string>& notes)
      : marks_(marks), table_(table), out_(out), notes_(notes) {}

  void Run() {
    if (InLeaderWorkerSet() || !marks_.Has(MarkField::kOwnerName)) return;
    const absl::string_view kind = marks_.Get(MarkField::kOwnerKind);
    if (kind.empty()) return ByAnnotationAlone();
    Climb({static_cast<uint8_t>(kind.front()), std::string(marks_.Get(MarkField::kOwnerName)),
           std::string(marks_.Get(MarkField::kOwnerUid))});
  }

 private:
  static constexpr size_t kMostSteps = 8;

  [[nodiscard]] absl::string_view Namespace() const { return marks_.Get(MarkField::kNamespace); }
  [[nodiscard]] std::string Shown(const Step& step) const {
    return absl::StrCat(table_.kinds()[step.kind].kind, " ", step.name);
  }

  // Its pods say all but how it starts; their controllers, StatefulSets, say nothing.
  bool InLeaderWorkerSet() {
    const absl::string_view name = marks_.Get(MarkField::kLws);
    const std::optional<uint8_t> kind = table_.KindOf(ProducerRole::kLeaderWorkerSet);
    if (name.empty() || !marks_.Has(MarkField::kLwsGroup) || !kind.has_value()) return false;
    const Step step{*kind, std::string(name), ""};
    if (!table_.IsServed(*kind)) {
      NoteIfForbidden(step);
      return false;
    }
    ObjectSlot& slot = Look(step);
    if (!slot.record.has_value()) {
      WaitFor(step);
    } else if (const std::optional<Step> unknown = LeaderComesFromElsewhere(slot)) {
      WaitFor(*unknown);
    } else {
      FromOwner(slot);
    }
    return true;
  }

  // Labels name the set, not which of those that had its name: bound for one that is gone, a leader
  // would stay there, and its workers would wait for ever in the gang of the next. Only its own
  // controller tells; what this is to wait for, or nothing. Workers follow their leader.
  std::optional<Step> LeaderComesFromElsewhere(const ObjectSlot& set) {
    const absl::string_view kind = marks_.Get(MarkField::kOwnerKind);
    if (kind.empty() || !marks_.Has(MarkField::kLeads)) return std::nullopt;
    const Step controller{static_cast<uint8_t>(kind.front()),
                          std::string(marks_.Get(MarkField::kOwnerName)),
                          std::string(marks_.Get(MarkField::kOwnerUid))};
    const bool tells = table_.role(controller.kind) == ProducerRole::kStatefulSet &&
                       table_.IsServed(controller.kind);
    if (!tells) return std::nullopt;
    const ObjectSlot& slot = Look(controller);
    if (!slot.record.has_value() || slot.record->uid != controller.uid) return controller;
    const ParentRef* parent = slot.record->parent.get();
    if (parent == nullptr || parent->kind != set.kind || parent->name != set.name ||
        parent->uid == set.record->uid) {
      return std::nullopt;
    }
    return Step{parent->kind, parent->name, parent->uid};
  }

  ObjectSlot& Look(const Step& step) {
    ObjectSlot& slot = table_.At(step.kind, Namespace(), step.name);
    out_.seen.push_back(&slot);
    return slot;
  }

  void NoteIfForbidden(const Step& step) {
    if (table_.served(step.kind) != ServedState::kForbidden) return;
    notes_.push_back(absl::StrCat(Shown(step), " (no right to read its kind)"));
  }

  void Climb(Step step) {
    std::vector<ObjectSlot*> path;
    while (MayOwn(step.kind)) {
      const bool lowest = path.empty();
      if (!table_.IsHeeded(step.kind, Namespace(), step.name)) {
        NoteIfForbidden(step);
        if (!lowest) break;
        if (std::optional<Step> above = AboveByLabels(step)) return Climb(*std::move(above));
        return ByAnnotationAlone();
      }
      ObjectSlot& slot = Look(step);
      const bool there =
          slot.record.has_value() && (step.uid.empty() || slot.record->uid == step.uid);
      if (!there) {
        std::optional<Step> above = lowest ? AboveByLabels(step) : std::nullopt;
        // A name does not say which of those that had it is meant: one that is about to go may be
        // known still. The Job, which is to come, says it.
        if (above.has_value() && above->uid.empty()) above.reset();
        return above.has_value() ? Climb(*std::move(above)) : WaitFor(step);
      }
      const bool loop = std::find(path.begin(), path.end(), &slot) != path.end();
      path.push_back(&slot);
      if (loop) return Refuse(path, "the owners form a loop: ");
      if (path.size() > kMostSteps) {
        return Refuse(path, absl::StrCat("more than ", kMostSteps, " owners, one of the other: "));
      }
      const ParentRef* parent = slot.record->parent.get();
      if (parent == nullptr) break;
      step = {parent->kind, parent->name, parent->uid};
    }
    if (!path.empty()) FromOwner(*path.back());
  }

  [[nodiscard]] bool MayOwn(uint8_t kind) const {
    const ProducerRole role = table_.role(kind);
    return IsOwner(role) && role != ProducerRole::kTrainJob;
  }

  // The owner of a Job that is not known, as its pods tell it.
  [[nodiscard]] std::optional<Step> AboveByLabels(const Step& step) const {
    if (table_.role(step.kind) != ProducerRole::kJob) return std::nullopt;
    const auto above = [&](ProducerRole role, MarkField name,
                           absl::string_view uid) -> std::optional<Step> {
      const std::optional<uint8_t> kind = table_.KindOf(role);
      if (!kind.has_value() || !table_.IsServed(*kind) || !marks_.Has(name)) return std::nullopt;
      return Step{*kind, std::string(marks_.Get(name)), std::string(uid)};
    };
    if (marks_.Get(MarkField::kJobRole) == "launcher") {
      return above(ProducerRole::kMpiJob, MarkField::kKubeflowJob, "");
    }
    return above(ProducerRole::kJobSet, MarkField::kJobSet, marks_.Get(MarkField::kJobSetUid));
  }

  void WaitFor(const Step& step) {
    out_.gang = {.origin = GangOrigin::kMissing,
                 .group_name = StableGroupName(
                     step.name, {"missing", table_.kinds()[step.kind].kind, step.uid})};
    out_.awaited = NameOf(table_.kinds()[step.kind], step.name);
  }

  void Refuse(const std::vector<ObjectSlot*>& path, absl::string_view why) {
    const auto shown = [&](std::string* out, const ObjectSlot* slot) {
      absl::StrAppend(out, table_.kinds()[slot->kind].kind, " ", slot->name);
    };
    FromOwner(*path.front(), absl::StrCat("metadata.ownerReferences: ", why,
                                          absl::StrJoin(path, ", then ", shown)));
  }

  // A quorum that people have written on pods whose controller says nothing.
  void ByAnnotationAlone() {
    const std::optional<AskedQuorum> asked = AskedBy(marks_, ProducerRole::kRule);
    if (!asked.has_value() || (asked->count.has_value() && *asked->count <= 1)) return;
    out_.gang = {.origin = GangOrigin::kController,
                 .group_name = StableGroupName(
                     marks_.Get(MarkField::kOwnerName),
                     {marks_.Get(MarkField::kOwnerWord), marks_.Get(MarkField::kOwnerUid)})};
  }

  void FromOwner(ObjectSlot& slot, std::string problem = "") {
    const ProducerRole role = table_.role(slot.kind);
    const ForeignSpec& spec = *slot.record->spec;
    GangIdentity gang{.origin = GangOrigin::kOwner, .source = &slot, .problem = std::move(problem)};
    absl::string_view attempt;
    if (role == ProducerRole::kLeaderWorkerSet) {
      gang.part = std::string(marks_.Get(MarkField::kLwsGroup));
      attempt = marks_.Get(MarkField::kLwsRevision);
    } else if (role == ProducerRole::kJobSet) {
      if (spec.staged) gang.part = std::string(marks_.Get(MarkField::kReplicatedJob));
      attempt = marks_.Get(MarkField::kRestartAttempt);
      if (attempt == "0") attempt = {};
    }
    const ForeignKind& kind = table_.kinds()[slot.kind];
    gang.group_name =
        StableGroupName(slot.name, {kind.group, kind.kind, slot.record->uid, gang.part, attempt});
    if (gang.problem.empty() && IsSingle(role, spec, gang.part)) {
      out_.single_of = &slot;
      out_.larger = std::move(gang.group_name);
      return;
    }
    out_.gang = std::move(gang);
    out_.sub_group = std::string(SubGroup(role, spec));
    // As owner_rules.h names the parts.
    if (role == ProducerRole::kRule) absl::AsciiStrToLower(&out_.sub_group);
  }

  [[nodiscard]] bool IsSingle(ProducerRole role, const ForeignSpec& spec,
                              absl::string_view part) const {
    if (!spec.problem.empty()) return false;
    const OwnerQuorum quorum = QuorumOf(spec, part);
    const std::optional<AskedQuorum> asked = AskedBy(marks_, role);
    if (asked.has_value() && !asked->count.has_value()) return false;
    const std::optional<int64_t> count = asked.has_value() ? asked->count : spec.asked;
    const std::optional<int64_t> size = role == ProducerRole::kLeaderWorkerSet
                                            ? ParseCount(marks_.Get(MarkField::kLwsSize))
                                            : std::nullopt;
    const int64_t most = size.value_or(quorum.most);
    if (count.has_value()) return std::min(*count, most) <= 1;
    // Hosts of a replica start together, however few the quorum asks for.
    const bool in_units =
        std::ranges::any_of(spec.parts, [](const ForeignPart& part) { return part.unit > 1; });
    return !spec.is_gang || (!in_units && size.value_or(quorum.minimum) <= 1);
  }

  [[nodiscard]] absl::string_view SubGroup(ProducerRole role, const ForeignSpec& spec) const {
    switch (role) {
      case ProducerRole::kJobSet:
        return PartInJobSet(spec, marks_);
      case ProducerRole::kLeaderWorkerSet:
        return marks_.Has(MarkField::kLeads) ? "leader" : "workers";
      case ProducerRole::kRayCluster:
        return marks_.Get(MarkField::kRayGroup);
      case ProducerRole::kMpiJob:
        if (PartNamed(spec, marks_.Get(MarkField::kJobRole)) != nullptr) {
          return marks_.Get(MarkField::kJobRole);
        }
        return marks_.Get(MarkField::kReplicaType);
      case ProducerRole::kRule:
        return marks_.Get(MarkField::kReplicaType);
      case ProducerRole::kJob:
      case ProducerRole::kStatefulSet:
      case ProducerRole::kTrainJob:
      case ProducerRole::kXk8s:
      case ProducerRole::kVolcano:
      case ProducerRole::kUpstream:
      case ProducerRole::kKai:
      case ProducerRole::kGrove:
      case ProducerRole::kKoordinator:
      case ProducerRole::kComposite:
      case ProducerRole::kHyperNode:
        return "";
    }
    return "";
  }

  const PodMarks& marks_;
  ObjectTable& table_;
  Resolution& out_;
  std::vector<std::string>& notes_;
};

}  // namespace

void ResolveOwner(const PodMarks& marks, ObjectTable& table, Resolution& out,
                  std::vector<std::string>& notes) {
  OwnerWalk(marks, table, out, notes).Run();
}

std::optional<AskedQuorum> AskedBy(const PodMarks& marks, ProducerRole role) {
  for (const MarkField field :
       {MarkField::kMinimum, MarkField::kKaiMinimum, MarkField::kVolcanoMinimum}) {
    // KAI counts replicated Jobs there, not pods.
    if (field != MarkField::kMinimum && role == ProducerRole::kJobSet) break;
    const absl::string_view text = marks.Get(field);
    if (!text.empty()) return AskedQuorum{field, ParseCount(text)};
  }
  return std::nullopt;
}

absl::string_view PartInJobSet(const ForeignSpec& spec, const PodMarks& marks) {
  const absl::string_view job = marks.Get(MarkField::kReplicatedJob);
  if (!spec.leader_first) return job;
  const ForeignPart* part = PartNamed(spec, job);
  const bool all_lead = part != nullptr && part->leaders == part->members;
  return all_lead || marks.Has(MarkField::kLeads) ? "leader" : "follower";
}

OwnerQuorum QuorumOf(const ForeignSpec& spec, absl::string_view part) {
  int64_t sum = MembersOf(spec);
  if (spec.staged) {
    const ForeignPart* stage = PartNamed(spec, part);
    sum = stage != nullptr ? stage->members : 1;
    return {sum, sum, sum};
  }
  const int64_t minimum = spec.minimum.value_or(sum);
  const int64_t most = spec.most.value_or(std::max(sum, minimum));
  return {minimum, most, spec.left.value_or(most)};
}

}  // namespace maniple
