#include "api/producers/marks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "api/model/maniple_types.h"
#include "api/producers/kinds.h"

namespace maniple {
namespace {

enum class Where : uint8_t { kLabel, kAnnotation };

struct MarkKey {
  MarkField field;
  Where where;
  absl::string_view key;
};

// Of several keys of one field the first stands.
const MarkKey kKeys[] = {
    {MarkField::kOwnGroup, Where::kLabel, kPodGroupLabel},
    {MarkField::kOwnSubGroup, Where::kLabel, kSubGroupLabel},
    {MarkField::kXk8s, Where::kLabel, "scheduling.x-k8s.io/pod-group"},
    {MarkField::kVolcano, Where::kAnnotation, "scheduling.k8s.io/group-name"},
    {MarkField::kVolcano, Where::kAnnotation, "scheduling.volcano.sh/group-name"},
    {MarkField::kTask, Where::kAnnotation, "volcano.sh/task-spec"},
    {MarkField::kTask, Where::kLabel, "volcano.sh/task-spec"},
    {MarkField::kKai, Where::kAnnotation, "pod-group-name"},
    {MarkField::kKaiSubGroup, Where::kLabel, "kai.scheduler/subgroup-name"},
    {MarkField::kGrove, Where::kLabel, "grove.io/podgang"},
    {MarkField::kYunikorn, Where::kLabel, "yunikorn.apache.org/app-id"},
    {MarkField::kYunikorn, Where::kLabel, "spark-app-selector"},
    {MarkField::kYunikorn, Where::kLabel, "applicationId"},
    {MarkField::kYunikorn, Where::kAnnotation, "yunikorn.apache.org/app-id"},
    {MarkField::kTaskGroup, Where::kAnnotation, "yunikorn.apache.org/task-group-name"},
    {MarkField::kTaskGroups, Where::kAnnotation, "yunikorn.apache.org/task-groups"},
    {MarkField::kKoordinator, Where::kLabel, "pod-group.scheduling.sigs.k8s.io"},
    {MarkField::kKoordinator, Where::kLabel, "pod-group.scheduling.sigs.k8s.io/name"},
    {MarkField::kKoordinator, Where::kAnnotation, "gang.scheduling.koordinator.sh/name"},
    {MarkField::kKoordinatorMinimum, Where::kAnnotation,
     "gang.scheduling.koordinator.sh/min-available"},
    {MarkField::kKoordinatorMinimum, Where::kLabel,
     "pod-group.scheduling.sigs.k8s.io/min-available"},
    {MarkField::kKoordinatorGroups, Where::kAnnotation, "gang.scheduling.koordinator.sh/groups"},
    {MarkField::kKueue, Where::kLabel, "kueue.x-k8s.io/pod-group-name"},
    {MarkField::kKueue, Where::kAnnotation, "kueue.x-k8s.io/pod-group-name"},
    {MarkField::kKueueTotal, Where::kAnnotation, "kueue.x-k8s.io/pod-group-total-count"},
    {MarkField::kKueueServing, Where::kAnnotation, "kueue.x-k8s.io/pod-group-serving"},
    {MarkField::kKueueFast, Where::kAnnotation, "kueue.x-k8s.io/pod-group-fast-admission"},
    {MarkField::kKueueParent, Where::kAnnotation, "kueue.x-k8s.io/pod-suspending-parent"},
    {MarkField::kReplicatedJob, Where::kLabel, "jobset.sigs.k8s.io/replicatedjob-name"},
    {MarkField::kJobSet, Where::kLabel, "jobset.sigs.k8s.io/jobset-name"},
    {MarkField::kJobSetUid, Where::kLabel, "jobset.sigs.k8s.io/jobset-uid"},
    {MarkField::kRestartAttempt, Where::kLabel, "jobset.sigs.k8s.io/restart-attempt"},
    {MarkField::kReplicaType, Where::kLabel, "training.kubeflow.org/replica-type"},
    {MarkField::kJobRole, Where::kLabel, "training.kubeflow.org/job-role"},
    {MarkField::kKubeflowJob, Where::kLabel, "training.kubeflow.org/job-name"},
    {MarkField::kRayGroup, Where::kLabel, "ray.io/group"},
    {MarkField::kLws, Where::kLabel, "leaderworkerset.sigs.k8s.io/name"},
    {MarkField::kLwsGroup, Where::kLabel, "leaderworkerset.sigs.k8s.io/group-index"},
    {MarkField::kLwsRevision, Where::kLabel, "leaderworkerset.sigs.k8s.io/template-revision-hash"},
    {MarkField::kLwsSize, Where::kAnnotation, "leaderworkerset.sigs.k8s.io/size"},
    {MarkField::kLeads, Where::kLabel, "leaderworkerset.sigs.k8s.io/worker-index"},
    {MarkField::kLeads, Where::kLabel, "batch.kubernetes.io/job-completion-index"},
    {MarkField::kLeads, Where::kAnnotation, "batch.kubernetes.io/job-completion-index"},
    {MarkField::kMinimum, Where::kAnnotation, "scheduling.maniple.dev/min-member"},
    {MarkField::kKaiMinimum, Where::kAnnotation, "kai.scheduler/batch-min-member"},
    {MarkField::kVolcanoMinimum, Where::kAnnotation, "scheduling.volcano.sh/group-min-member"},
    {MarkField::kOwnQueue, Where::kLabel, kQueueLabel},
    {MarkField::kKaiQueue, Where::kLabel, "kai.scheduler/queue"},
    {MarkField::kVolcanoQueue, Where::kLabel, "volcano.sh/queue-name"},
    {MarkField::kVolcanoQueue, Where::kAnnotation, "volcano.sh/queue-name"},
    {MarkField::kVolcanoQueueName, Where::kAnnotation, "scheduling.volcano.sh/queue-name"},
    {MarkField::kVolcanoQueueName, Where::kLabel, "scheduling.volcano.sh/queue-name"},
    {MarkField::kYunikornQueue, Where::kLabel, "yunikorn.apache.org/queue"},
    {MarkField::kYunikornQueue, Where::kAnnotation, "yunikorn.apache.org/queue"},
    {MarkField::kYunikornBareQueue, Where::kLabel, "queue"},
    {MarkField::kKueueQueue, Where::kLabel, "kueue.x-k8s.io/cluster-queue-name"},
    {MarkField::kKueueAdmitted, Where::kLabel, "kueue.x-k8s.io/podset"},
    {MarkField::kKueueRequired, Where::kAnnotation, "kueue.x-k8s.io/podset-required-topology"},
    {MarkField::kKueuePreferred, Where::kAnnotation, "kueue.x-k8s.io/podset-preferred-topology"},
    {MarkField::kKueueSlice, Where::kAnnotation, "kueue.x-k8s.io/podset-slice-required-topology"},
    {MarkField::kKueueSliceSize, Where::kAnnotation, "kueue.x-k8s.io/podset-slice-size"},
};

using KeyTable = absl::flat_hash_map<absl::string_view, const MarkKey*>;

KeyTable MakeTable(Where where) {
  KeyTable table;
  for (const MarkKey& key : kKeys) {
    if (key.where == where) table.emplace(key.key, &key);
  }
  return table;
}

// The marks of one pod while they are gathered, in the order of MarkField.
class MarkSheet final {
 public:
  absl::string_view& operator[](MarkField field) { return texts_[static_cast<size_t>(field)]; }

  void Gather(const StringMap& map, const KeyTable& table) {
    for (const auto& [key, text] : map.entries()) {
      const auto found = table.find(key);
      if (found == table.end() || text.empty()) continue;
      const MarkKey* mark = found->second;
      const auto at = static_cast<size_t>(mark->field);
      if (from_[at] != nullptr && from_[at] < mark) continue;
      from_[at] = mark;
      texts_[at] = text;
    }
  }

  [[nodiscard]] bool NamesGroup() const {
    for (size_t i = 0; i <= static_cast<size_t>(MarkField::kKueue); ++i) {
      if (!texts_[i].empty()) return true;
    }
    return false;
  }

  void KeepQueues() {
    for (size_t i = 0; i < texts_.size(); ++i) {
      const auto field = static_cast<MarkField>(i);
      if (field < MarkField::kOwnQueue || field > MarkField::kKueueAdmitted) texts_[i] = {};
    }
  }

  void PackInto(std::string& packed) const {
    packed.clear();
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i].empty()) continue;
      const auto size = static_cast<uint32_t>(texts_[i].size());
      char head[1 + sizeof(size)] = {static_cast<char>(i)};
      std::memcpy(head + 1, &size, sizeof(size));
      packed.append(head, sizeof(head)).append(texts_[i].data(), texts_[i].size());
    }
  }

 private:
  std::array<absl::string_view, kMarkFields> texts_;
  std::array<const MarkKey*, kMarkFields> from_ = {};
};

constexpr std::array<char, 256> MakeBytes() {
  std::array<char, 256> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  return bytes;
}
constexpr std::array<char, 256> kBytes = MakeBytes();

// Whether the pod has a controller that may make it part of a gang.
bool GatherOwner(const Pod& pod, const ForeignKinds& kinds, MarkSheet& sheet) {
  if (!pod.meta.controller.has_value()) return false;
  const OwnerReference& owner = *pod.meta.controller;
  const std::optional<uint8_t> kind = KindIndexOf(kinds, owner.api_version, owner.kind);
  // Of kinds that nobody has described only an annotation can make a gang.
  if (!kind.has_value() && sheet[MarkField::kMinimum].empty()) return false;
  if (kind.has_value()) {
    sheet[MarkField::kOwnerKind] = absl::string_view(&kBytes[*kind], 1);
    const std::optional<OwnerRule>& rule = kinds[*kind].rule;
    if (rule.has_value() && !rule->part_label.empty()) {
      sheet[MarkField::kReplicaType] = pod.meta.labels.Get(rule->part_label);
    }
  }
  sheet[MarkField::kOwnerApiVersion] = owner.api_version;
  sheet[MarkField::kOwnerWord] = owner.kind;
  sheet[MarkField::kOwnerName] = owner.name;
  sheet[MarkField::kOwnerUid] = owner.uid;
  return true;
}

}  // namespace

bool IsMarkKey(absl::string_view key) {
  return std::ranges::any_of(kKeys, [key](const MarkKey& mark) { return mark.key == key; });
}

absl::string_view MarkWords(MarkField field) {
  static constexpr absl::string_view kGroups[] = {
      "label scheduling.maniple.dev/pod-group",
      "label scheduling.x-k8s.io/pod-group",
      "annotation scheduling.k8s.io/group-name",
      "spec.schedulingGroup.podGroupName",
      "annotation pod-group-name",
      "label grove.io/podgang",
      "YuniKorn application",
      "label pod-group.scheduling.sigs.k8s.io",
      "label kueue.x-k8s.io/pod-group-name",
  };
  const auto at = static_cast<size_t>(field);
  if (at < std::size(kGroups)) return kGroups[at];
  for (const MarkKey& key : kKeys) {
    if (key.field == field) return key.key;
  }
  return "";
}

void PackMarks(const Pod& pod, const ForeignKinds& kinds, std::string& packed) {
  static const auto* const kLabels = new KeyTable(MakeTable(Where::kLabel));
  static const auto* const kAnnotations = new KeyTable(MakeTable(Where::kAnnotation));
  MarkSheet sheet;
  sheet.Gather(pod.meta.labels, *kLabels);
  sheet.Gather(pod.meta.annotations, *kAnnotations);
  sheet[MarkField::kUpstream] = pod.scheduling_group;
  if (sheet[MarkField::kTaskGroup].empty()) sheet[MarkField::kYunikorn] = {};
  if (sheet[MarkField::kYunikorn].empty()) sheet[MarkField::kYunikornBareQueue] = {};
  // Kueue groups the pods of a Deployment, StatefulSet or LeaderWorkerSet for its own books: the
  // owner says what the gang is.
  if (!sheet[MarkField::kKueueParent].empty()) sheet[MarkField::kKueue] = {};
  sheet[MarkField::kKueueParent] = {};
  if (!sheet[MarkField::kGrove].empty()) sheet[MarkField::kPodName] = pod.meta.name;
  // Older versions of Kueue write the one label without the other.
  const bool admitted =
      !sheet[MarkField::kKueueAdmitted].empty() || !sheet[MarkField::kKueueQueue].empty();
  sheet[MarkField::kKueueAdmitted] = admitted ? "1" : "";
  // The index itself would make each pod different.
  if (sheet[MarkField::kLeads] != "0") sheet[MarkField::kLeads] = {};
  const bool owned = GatherOwner(pod, kinds, sheet);
  if (!owned && !sheet.NamesGroup() && sheet[MarkField::kLws].empty()) sheet.KeepQueues();
  sheet[MarkField::kNamespace] = pod.meta.namespace_name;
  sheet.PackInto(packed);
}

void PackAnchor(MarkField field, absl::string_view namespace_name, absl::string_view name,
                std::string& packed) {
  MarkSheet sheet;
  sheet[field] = name;
  sheet[MarkField::kNamespace] = namespace_name;
  sheet[MarkField::kAnchor] = "1";
  sheet.PackInto(packed);
}

absl::string_view PodMarks::Get(MarkField field) const {
  absl::string_view rest = packed_;
  while (!rest.empty()) {
    uint32_t size = 0;
    std::memcpy(&size, rest.data() + 1, sizeof(size));
    const absl::string_view text = rest.substr(1 + sizeof(size), size);
    const auto at = static_cast<uint8_t>(rest.front());
    if (at == static_cast<uint8_t>(field)) return text;
    if (at > static_cast<uint8_t>(field)) break;
    rest.remove_prefix(1 + sizeof(size) + size);
  }
  return "";
}

}  // namespace maniple
