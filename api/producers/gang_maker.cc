#include "api/producers/gang_maker.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "api/base/fingerprint.h"
#include "api/codec/encode.h"
#include "api/producers/composite_group.h"
#include "api/producers/fields.h"
#include "api/producers/mark_quorum.h"
#include "api/producers/owner_walk.h"
#include "api/producers/queue_choice.h"

namespace maniple {
namespace {

constexpr size_t kMostParts = 64;  // as many sub-groups as a PodGroup may have

int32_t Narrow(int64_t count) {
  return static_cast<int32_t>(std::clamp<int64_t>(count, 1, kMostMembers));
}

// What Kueue's annotations of pods ask for.
TopologyRequest TopologyOf(const std::vector<PodMarks>& members) {
  TopologyRequest topology;
  topology.required = std::string(SmallestMark(MarkField::kKueueRequired, members));
  topology.preferred = std::string(SmallestMark(MarkField::kKueuePreferred, members));
  const std::optional<int64_t> slice =
      ParseCount(SmallestMark(MarkField::kKueueSliceSize, members));
  if (!slice.has_value() || *slice <= 0) return topology;
  topology.slice_level = std::string(SmallestMark(MarkField::kKueueSlice, members));
  if (!topology.slice_level.empty()) topology.slice_size = Narrow(*slice);
  return topology;
}

class GangMaker final {
 public:
  GangMaker(const GangIdentity& identity, const std::vector<PodMarks>& members,
            const std::vector<absl::string_view>& parts, const ObjectTable& table,
            const ProducerOptions& options)
      : identity_(identity), members_(members), parts_(parts), table_(table), options_(options) {}

  ForeignGang Make() {
    gang_.namespace_name = std::string(members_.front().Get(MarkField::kNamespace));
    gang_.group_name = identity_.group_name;
    gang_.problem = identity_.problem;
    switch (identity_.origin) {
      case GangOrigin::kObject:
        FromObject();
        break;
      case GangOrigin::kOwner:
        FromOwner();
        break;
      case GangOrigin::kController:
        FromController();
        break;
      case GangOrigin::kMarks:
        FromMarks();
        break;
      case GangOrigin::kNone:
      case GangOrigin::kOurs:
      case GangOrigin::kMissing:
        break;
    }
    // Known by what its PodGroup can tell of it: texts of marks and owners may be of any length.
    gang_.spec.source = StorableSource(std::move(gang_.spec.source));
    const ForeignSpec* owner = OwnersWord();
    gang_.spec.queue = ChooseQueue(declared_, owner, members_, options_);
    if (owner != nullptr && gang_.spec.priority_class_name.empty()) {
      gang_.spec.priority_class_name = owner->priority_class_name;
    }
    gang_.brings_quota = gang_.spec.queue.empty() && BringsQuota(members_, options_);
    SetTopology();
    // What makes no sense is not to be counted with.
    if (!gang_.problem.empty()) {
      gang_.spec.min_member = 1;
      gang_.spec.sub_groups.clear();
      gang_.starts.clear();
      gang_.unit_sizes.clear();
    }
    return std::move(gang_);
  }

 private:
  void NoteProblem(const std::string& problem) {
    if (gang_.problem.empty()) gang_.problem = problem;
  }

  // Of a gang that is declared by others than its owner; null: nobody knows its owner.
  [[nodiscard]] const ForeignSpec* OwnersWord() const {
    const ObjectSlot* owner = identity_.owner;
    return owner != nullptr && owner->record.has_value() ? owner->record->spec.get() : nullptr;
  }

  void FromSource(const ObjectSlot& slot) {
    const ObjectRecord& record = *slot.record;
    const ForeignSpec& declared = *record.spec;
    declared_ = &declared;
    const OwnerReference owner{table_.kinds()[slot.kind].kind, slot.name, record.uid,
                               table_.Word(record.api_version)};
    gang_.spec.source = {owner.api_version, owner.kind, owner.name, owner.uid, identity_.part};
    gang_.owner = owner;
    if (record.parent != nullptr) {
      const ForeignKind& kind = table_.kinds()[record.parent->kind];
      gang_.owner_kind = kind.kind;
      gang_.owner_group = kind.group;
      gang_.owner_name = record.parent->name;
    }
    gang_.created = record.created;
    NoteProblem(declared.problem);
    gang_.spec.priority_class_name = declared.priority_class_name;
    gang_.spec.topology = declared.topology;
    gang_.spec.preempts = declared.preempts;
    if (declared.schedule_timeout.has_value()) {
      gang_.spec.schedule_timeout = *declared.schedule_timeout;
    }
  }

  // ---- A group object.

  void FromObject() {
    const ObjectSlot& slot = *identity_.source;
    FromSource(slot);
    gang_.is_object = true;
    const ForeignSpec& declared = *slot.record->spec;
    if (table_.role(slot.kind) == ProducerRole::kComposite) return FromGroupsIn(slot);
    if (identity_.stager == nullptr) {
      SetParts(declared, declared.minimum.value_or(MembersOf(declared)));
      SetStatusTarget(slot);
      return;
    }
    const ForeignSpec& stages = *identity_.stager->record->spec;
    const ForeignPart* stage = Stage(stages);
    int64_t whole = declared.minimum.value_or(MembersOf(stages));
    // KubeRay writes its group once, however its cluster shrinks.
    if (table_.role(identity_.stager->kind) == ProducerRole::kRayCluster) {
      whole = std::min(whole, QuorumOf(stages, "").minimum);
    }
    const bool all_of_stage = stage != nullptr && (whole <= 0 || whole >= stage->members);
    SetMembers(table_.role(identity_.stager->kind), stages, all_of_stage ? stage->members : whole);
    // One status cannot tell of several gangs: it is that of the largest.
    const auto smaller = [](const ForeignPart& a, const ForeignPart& b) {
      return a.members < b.members;
    };
    if (stage == nullptr ||
        stage == &*std::max_element(stages.parts.begin(), stages.parts.end(), smaller)) {
      SetStatusTarget(slot);
    }
  }

  void FromGroupsIn(const ObjectSlot& composite) {
    absl::btree_set<absl::string_view> names;
    for (const PodMarks& marks : members_) names.insert(marks.Get(MarkField::kUpstream));
    const ForeignSpec quorum = QuorumOfGroups(composite, names, table_);
    NoteProblem(quorum.problem);
    SetParts(quorum, MembersOf(quorum));
  }

  void SetStatusTarget(const ObjectSlot& slot) {
    const ProducerRole role = table_.role(slot.kind);
    if (role != ProducerRole::kXk8s && role != ProducerRole::kVolcano) return;
    using Dialect = ForeignStatusTarget::Dialect;
    const ObjectRecord& record = *slot.record;
    gang_.status = ForeignStatusTarget{
        role == ProducerRole::kXk8s ? Dialect::kXk8s : Dialect::kVolcano,
        absl::StrCat("/apis/", table_.Word(record.api_version), "/namespaces/",
                     gang_.namespace_name, "/", table_.kinds()[slot.kind].resource, "/", slot.name),
        record.phase != nullptr ? *record.phase : ""};
  }

  // ---- An owner.

  void FromOwner() {
    const ObjectSlot& slot = *identity_.source;
    FromSource(slot);
    const ForeignSpec& declared = *slot.record->spec;
    const ProducerRole role = table_.role(slot.kind);
    OwnerQuorum quorum = QuorumOf(declared, identity_.part);
    quorum.minimum -= declared.given_up;
    if (role == ProducerRole::kJobSet) quorum.minimum -= GivenUpByJobs();
    if (const std::optional<int64_t> size = ReplicaSize(role); size.has_value()) {
      quorum = {*size, *size, *size};
    }
    const std::optional<int64_t> asked = LargestAsked(role);
    if (asked.has_value() || declared.asked.has_value()) {
      quorum.minimum = std::min(asked.value_or(declared.asked.value_or(0)), quorum.left);
      gang_.spec.min_member = Narrow(quorum.minimum);
      if (!ComesInSteps(declared)) return;
    }
    SetMembers(role, declared, quorum.minimum);
  }

  // Indexes that the Jobs of the members have failed for good.
  [[nodiscard]] int64_t GivenUpByJobs() const {
    absl::btree_set<absl::string_view> jobs;
    int64_t indexes = 0;
    for (const PodMarks& marks : members_) {
      const absl::string_view kind = marks.Get(MarkField::kOwnerKind);
      const absl::string_view name = marks.Get(MarkField::kOwnerName);
      if (kind.empty() || !jobs.insert(name).second) continue;
      const ObjectSlot* job =
          table_.Find(static_cast<uint8_t>(kind.front()), gang_.namespace_name, name);
      if (job == nullptr || table_.role(job->kind) != ProducerRole::kJob) continue;
      if (job->record.has_value()) indexes += job->record->spec->given_up;
    }
    return indexes;
  }

  // Some members are made only after others run: these parts matter whatever the quorum is.
  [[nodiscard]] static bool ComesInSteps(const ForeignSpec& owner) {
    return owner.leader_first || std::ranges::any_of(owner.parts, &ForeignPart::late);
  }

  // Of a gang whose members an owner of that role makes.
  void SetMembers(ProducerRole role, const ForeignSpec& owner, int64_t minimum) {
    gang_.spec.min_member = Narrow(minimum);
    if (role == ProducerRole::kLeaderWorkerSet) {
      if (owner.leader_first) SetLeaders(1, minimum, "workers");
      if (owner.bound_to_lead && minimum > 1) gang_.followers_of_each = Narrow(minimum - 1);
    } else if (owner.leader_first) {
      int64_t leaders = 0;
      absl::btree_set<int64_t> followers;
      for (const ForeignPart& part : owner.parts) {
        if (owner.staged && part.name != identity_.part) continue;
        leaders += part.leaders;
        followers.insert(part.leaders == 0 ? 0 : part.members / part.leaders - 1);
      }
      SetLeaders(leaders, minimum, "follower");
      // Which leader is of which part is not known here, so all have to be alike.
      if (owner.bound_to_lead && followers.size() == 1 && *followers.begin() > 0) {
        gang_.followers_of_each = Narrow(*followers.begin());
      }
    } else if (!owner.staged) {
      SetParts(owner, minimum);
    }
  }

  [[nodiscard]] const ForeignPart* Stage(const ForeignSpec& declared) const {
    return declared.staged ? PartNamed(declared, identity_.part) : nullptr;
  }

  // Of a replica of a LeaderWorkerSet, as its pods say.
  [[nodiscard]] std::optional<int64_t> ReplicaSize(ProducerRole role) {
    if (role != ProducerRole::kLeaderWorkerSet) return std::nullopt;
    std::optional<int64_t> most;
    for (const PodMarks& marks : members_) {
      if (!marks.Has(MarkField::kLwsSize)) continue;
      const std::optional<int64_t> size = ParseCount(marks.Get(MarkField::kLwsSize));
      if (size.has_value()) most = std::max(most.value_or(0), *size);
    }
    return most;
  }

  [[nodiscard]] std::optional<int64_t> LargestAsked(ProducerRole role) {
    std::optional<int64_t> most;
    for (const PodMarks& marks : members_) {
      const std::optional<AskedQuorum> asked = AskedBy(marks, role);
      if (!asked.has_value()) continue;
      if (!asked->count.has_value()) {
        NoteProblem(absl::StrCat("metadata.annotations[", MarkWords(asked->by),
                                 "] of a pod: must be a whole number"));
      }
      most = std::max(most.value_or(0), asked->count.value_or(0));
    }
    return most;
  }

  void SetLeaders(int64_t leaders, int64_t all, absl::string_view followers) {
    if (leaders <= 0 || leaders >= all) return;
    gang_.spec.sub_groups = {
        {.name = "leader", .min_member = Narrow(leaders), .topology = {}},
        {.name = std::string(followers), .min_member = Narrow(all - leaders), .topology = {}}};
    gang_.starts = {PartStart::kTogether, PartStart::kOnceLeadIsBound};
  }

  // The quorum and its parts. A quorum below the sum of them says not which it can do without,
  // unless one part is all of the rest.
  void SetParts(const ForeignSpec& declared, int64_t minimum) {
    gang_.spec.min_member = Narrow(minimum);
    if (declared.parts.size() > kMostParts) {
      NoteProblem(
          absl::StrCat("it has ", declared.parts.size(), " parts (at most ", kMostParts, ")"));
      return;
    }
    int64_t spare = MembersOf(declared) - minimum;
    const bool late = std::any_of(declared.parts.begin(), declared.parts.end(),
                                  [](const ForeignPart& part) { return part.late; });
    if (spare > 0 && !late) return;
    gang_.spare = spare > 0 ? Narrow(spare) : 0;
    absl::flat_hash_set<absl::string_view> names;
    for (const ForeignPart& part : declared.parts) {
      int64_t members = part.members;
      if (!part.late && spare > 0) {
        const int64_t less = std::min(spare, members);
        members -= less;
        spare -= less;
      }
      const bool asks = members > 0 || part.unit > 1 || part.topology != TopologyRequest();
      if (!asks || part.name.empty()) continue;
      if (!names.insert(part.name).second) {
        NoteProblem(absl::StrCat("two of its parts are named ", part.name));
      }
      const int32_t least = members == 0 ? 0 : Narrow(members);
      gang_.spec.sub_groups.push_back(
          {.name = part.name, .min_member = least, .topology = part.topology});
      if (part.unit > 1) {
        gang_.unit_sizes.resize(gang_.spec.sub_groups.size(), 1);
        gang_.unit_sizes.back() = Narrow(part.unit);
      }
      if (late) {
        gang_.starts.push_back(part.late ? PartStart::kOnceOneExists : PartStart::kTogether);
      }
    }
  }

  // ---- Nobody that is known.

  void FromController() {
    const PodMarks& one = members_.front();
    const OwnerReference owner{std::string(one.Get(MarkField::kOwnerWord)),
                               std::string(one.Get(MarkField::kOwnerName)),
                               std::string(one.Get(MarkField::kOwnerUid)),
                               std::string(one.Get(MarkField::kOwnerApiVersion))};
    gang_.spec.source = {owner.api_version, owner.kind, owner.name, owner.uid, ""};
    gang_.owner = owner;
    gang_.spec.min_member = Narrow(LargestAsked(ProducerRole::kRule).value_or(1));
  }

  void FromMarks() {
    const std::string& name = identity_.part;
    const absl::string_view dialect = DialectName(identity_.dialect);
    Fingerprint print;
    for (const absl::string_view text :
         {absl::string_view(gang_.namespace_name), dialect, absl::string_view(name)}) {
      print.Add(text);
    }
    gang_.spec.source = {"v1", "Pod", name,
                         absl::StrCat(dialect, "-", absl::Hex(print.value(), absl::kZeroPad16)),
                         std::string(dialect)};
    // Their schedulers count the minimum at the start only: executors and other members may go.
    if (identity_.dialect != MarkField::kKueue) {
      gang_.spec.quorum_loss_action = QuorumLossAction::kKeep;
    }
    std::vector<PodMarks> sayings = members_;
    if (!identity_.carrier.empty()) sayings.emplace_back(identity_.carrier);
    MarkQuorum quorum = QuorumOfMarks(identity_.dialect, sayings);
    NoteProblem(quorum.problem);
    if (quorum.parts.empty()) {
      gang_.spec.min_member = Narrow(quorum.minimum);
      return;
    }
    ForeignSpec declared;
    declared.parts = std::move(quorum.parts);
    SetParts(declared, MembersOf(declared));
  }

  // Kueue's annotations bind the parts whose pods have them; the whole gang if all parts ask for
  // the same, or if pods of no part ask.
  void SetTopology() {
    // Which Topology matters only to who asks for something in it.
    const TopologyRequest nothing{.topology_name = gang_.spec.topology.topology_name};
    if (gang_.spec.topology == nothing && gang_.spec.sub_groups.empty()) gang_.spec.topology = {};
    if (gang_.spec.topology != TopologyRequest()) return;
    const TopologyRequest of_all = TopologyOf(members_);
    if (of_all == TopologyRequest()) return;
    std::vector<TopologyRequest> of_parts;
    for (const SubGroup& part : gang_.spec.sub_groups) {
      const auto is_it = [&](absl::string_view of) { return of == part.name; };
      of_parts.push_back(TopologyOf(MembersWhosePart(is_it)));
    }
    const bool parts_differ = std::ranges::any_of(
        of_parts, [&](const TopologyRequest& of_part) { return of_part != of_all; });
    const auto is_none = [&](absl::string_view of) {
      return std::ranges::find(gang_.spec.sub_groups, of, &SubGroup::name) ==
             gang_.spec.sub_groups.end();
    };
    if (!parts_differ || TopologyOf(MembersWhosePart(is_none)) != TopologyRequest()) {
      gang_.spec.topology = of_all;
      return;
    }
    for (size_t i = 0; i < of_parts.size(); ++i) {
      TopologyRequest& topology = gang_.spec.sub_groups[i].topology;
      if (topology == TopologyRequest()) topology = of_parts[i];
    }
  }

  [[nodiscard]] std::vector<PodMarks> MembersWhosePart(
      absl::FunctionRef<bool(absl::string_view)> is) const {
    std::vector<PodMarks> members;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (is(i < parts_.size() ? parts_[i] : "")) members.push_back(members_[i]);
    }
    return members;
  }

  const GangIdentity& identity_;
  const std::vector<PodMarks>& members_;
  const std::vector<absl::string_view>& parts_;  // parallel to the members
  const ObjectTable& table_;
  const ProducerOptions& options_;
  const ForeignSpec* declared_ = nullptr;
  ForeignGang gang_;
};

}  // namespace

ForeignGang MakeGang(const GangIdentity& gang, const std::vector<PodMarks>& members,
                     const ObjectTable& table, const ProducerOptions& options,
                     const std::vector<absl::string_view>& parts) {
  return GangMaker(gang, members, parts, table, options).Make();
}

}  // namespace maniple
