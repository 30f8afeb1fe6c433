// What all kinds share, from metadata to selectors; and which reader is asked for which kind.
#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/base/sort_unique.h"
#include "api/codec/decode_parts.h"
#include "api/codec/utf8.h"

namespace maniple {
namespace {

// Annotations we read, beside all under our own domain: the rank of a pod where the Job controller
// has not made it a label, the mark of a node whose GPUs HAMi divides, what says how far the
// binding of a claim has come, and what producers of gangs write (api/producers/marks.cc).
constexpr absl::string_view kKeptAnnotations[] = {
    "batch.kubernetes.io/job-completion-index",
    "gang.scheduling.koordinator.sh/groups",
    "gang.scheduling.koordinator.sh/min-available",
    "gang.scheduling.koordinator.sh/name",
    "hami.io/node-nvidia-register",
    "kai.scheduler/batch-min-member",
    "kai.scheduler/topology",
    "kai.scheduler/topology-preferred-placement",
    "kai.scheduler/topology-required-placement",
    "kueue.x-k8s.io/pod-group-fast-admission",
    "kueue.x-k8s.io/pod-group-name",
    "kueue.x-k8s.io/pod-group-serving",
    "kueue.x-k8s.io/pod-group-total-count",
    "kueue.x-k8s.io/pod-suspending-parent",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
    "kueue.x-k8s.io/podset-slice-size",
    "leaderworkerset.sigs.k8s.io/size",
    "pod-group-name",
    "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/group-min-member",
    "scheduling.volcano.sh/group-name",
    "scheduling.volcano.sh/queue-name",
    "volcano.sh/queue-name",
    "volcano.sh/task-spec",
    "yunikorn.apache.org/app-id",
    "yunikorn.apache.org/queue",
    "yunikorn.apache.org/task-group-name",
    "yunikorn.apache.org/task-groups",
};
static_assert(std::is_sorted(std::begin(kKeptAnnotations), std::end(kKeptAnnotations)));

bool IsKeptAnnotation(absl::string_view key) {
  return absl::StartsWith(key, absl::StrCat(kManipleGroup, "/")) ||
         key == kSelectedNodeAnnotation || key == kBindCompletedAnnotation ||
         key == kBoundByControllerAnnotation || key == kStorageClassAnnotation ||
         std::binary_search(std::begin(kKeptAnnotations), std::end(kKeptAnnotations), key);
}

StringMap ReadAnnotations(const Cursor& annotations) {
  StringMap out;
  for (const Cursor& annotation : annotations.Members()) {
    if (IsKeptAnnotation(annotation.key())) out.Set(annotation.CheckedKey(), annotation.View());
  }
  return out;
}

std::optional<OwnerReference> ReadController(const Cursor& references) {
  for (const Cursor& reference : references.Items()) {
    OwnerReference owner;
    bool controls = false;
    for (const Cursor& field : reference.Members()) {
      if (field.key() == "kind") owner.kind = field.Text();
      if (field.key() == "name") owner.name = field.Text();
      if (field.key() == "uid") owner.uid = field.Text();
      if (field.key() == "apiVersion") owner.api_version = field.Text();
      if (field.key() == "controller") controls = field.Bool();
    }
    if (controls) return owner;
  }
  return std::nullopt;
}

SelectorRequirement ReadRequirement(const Cursor& requirement, Words<SelectorOperator> operators) {
  SelectorRequirement out;
  bool has_operator = false;
  for (const Cursor& field : requirement.Members()) {
    if (field.key() == "key") out.key = field.Text();
    if (field.key() == "operator") {
      out.op = ReadWord(field, operators, SelectorOperator::kExists);
      has_operator = true;
    }
    if (field.key() == "values") out.values = field.Texts();
  }
  if (out.key.empty()) requirement.Refuse("has no key");
  if (!has_operator) requirement.Refuse("has no operator");
  SortUnique(out.values);
  return out;
}

std::vector<SelectorRequirement> ReadRequirements(const Cursor& list,
                                                  Words<SelectorOperator> operators) {
  std::vector<SelectorRequirement> out;
  for (const Cursor& item : list.Items()) out.push_back(ReadRequirement(item, operators));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

StringMap ReadStringMap(const Cursor& map) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const Cursor& entry : map.Members()) {
    entries.emplace_back(std::string(entry.CheckedKey()), entry.Text());
  }
  return StringMap(std::move(entries));
}

ObjectMeta ReadMeta(const Cursor& metadata) {
  ObjectMeta meta;
  for (const Cursor& field : metadata.Members()) {
    const absl::string_view key = field.key();
    if (key == "name") {
      meta.name = field.Text();
    } else if (key == "namespace") {
      meta.namespace_name = field.Text();
    } else if (key == "uid") {
      meta.uid = field.Text();
    } else if (key == "resourceVersion") {
      meta.resource_version = field.Text();
    } else if (key == "generation") {
      meta.generation = field.Int({0, std::numeric_limits<int64_t>::max()});
    } else if (key == "creationTimestamp") {
      meta.created = field.Time();
    } else if (key == "deletionTimestamp") {
      meta.deleted = field.Time();
    } else if (key == "deletionGracePeriodSeconds") {
      // The API server takes any number of a tenant: one of a century must not hide the pod.
      meta.deletion_grace =
          absl::Seconds(std::min<int64_t>(field.Int({0, std::numeric_limits<int64_t>::max()}),
                                          std::numeric_limits<int32_t>::max()));
    } else if (key == "labels") {
      meta.labels = ReadStringMap(field);
    } else if (key == "annotations") {
      meta.annotations = ReadAnnotations(field);
    } else if (key == "ownerReferences") {
      meta.controller = ReadController(field);
    }
  }
  return meta;
}

std::vector<SelectorRequirement> ReadNodeRequirements(const Cursor& list) {
  using enum SelectorOperator;
  return ReadRequirements(list, {{"In", kIn},
                                 {"NotIn", kNotIn},
                                 {"Exists", kExists},
                                 {"DoesNotExist", kDoesNotExist},
                                 {"Gt", kGt},
                                 {"Lt", kLt}});
}

LabelSelector ReadLabelSelector(const Cursor& selector) {
  using enum SelectorOperator;
  LabelSelector out;
  for (const Cursor& field : selector.Members()) {
    if (field.key() == "matchLabels") {
      for (const Cursor& label : field.Members()) {
        out.requirements.push_back({std::string(label.CheckedKey()), kIn, {label.Text()}});
      }
    }
    if (field.key() == "matchExpressions") {
      const std::vector<SelectorRequirement> expressions = ReadRequirements(
          field,
          {{"In", kIn}, {"NotIn", kNotIn}, {"Exists", kExists}, {"DoesNotExist", kDoesNotExist}});
      out.requirements.insert(out.requirements.end(), expressions.begin(), expressions.end());
    }
  }
  std::sort(out.requirements.begin(), out.requirements.end());
  return out;
}

std::optional<TaintEffect> ReadTaintEffect(const Cursor& effect) {
  const absl::string_view text = effect.View();
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return std::nullopt;
}

namespace {

// The reader knows the kind's spec and phase; what all objects have is read as of any other.
ForeignObject ReadForeign(ResourceKind kind, const Cursor& root, const ForeignReader& reader) {
  ForeignObject object = reader.Read(kind, root);
  object.kind = static_cast<uint8_t>(kind);
  object.meta = ObjectMeta();
  object.api_version.clear();
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") object.meta = ReadMeta(field);
    if (field.key() == "apiVersion") object.api_version = field.Text();
  }
  return object;
}

bool IsHyperNode(const Object& object) {
  const auto* foreign = std::get_if<ForeignObject>(&object);
  return foreign != nullptr && foreign->hyper_node != nullptr;
}

Object ReadOwnObject(ResourceKind kind, const Cursor& root) {
  switch (kind) {
    case ResourceKind::kNode:
      return ReadNode(root);
    case ResourceKind::kPod:
      return ReadPod(root);
    case ResourceKind::kNamespace:
      return ReadNamespace(root);
    case ResourceKind::kPriorityClass:
      return ReadPriorityClass(root);
    case ResourceKind::kPodGroup:
      return ReadPodGroup(root);
    case ResourceKind::kQueue:
      return ReadQueue(root);
    case ResourceKind::kCohort:
      return ReadCohort(root);
    case ResourceKind::kResourceFlavor:
      return ReadResourceFlavor(root);
    case ResourceKind::kTopology:
      return ReadTopology(root);
    case ResourceKind::kPodDisruptionBudget:
      return ReadPodDisruptionBudget(root);
    case ResourceKind::kPersistentVolumeClaim:
      return ReadPersistentVolumeClaim(root);
    case ResourceKind::kPersistentVolume:
      return ReadPersistentVolume(root);
    case ResourceKind::kStorageClass:
      return ReadStorageClass(root);
    case ResourceKind::kCsiNode:
      return ReadCsiNode(root);
    case ResourceKind::kCsiDriver:
      return ReadCsiDriver(root);
    case ResourceKind::kCsiStorageCapacity:
      return ReadCsiStorageCapacity(root);
    case ResourceKind::kVolumeAttachment:
      return ReadVolumeAttachment(root);
  }
  return Object();
}

}  // namespace

Object ReadObject(ResourceKind kind, const Cursor& root, const ForeignReader* foreign) {
  const bool is_foreign = IsForeign(kind);
  CHECK(!is_foreign || foreign != nullptr);
  Object object = is_foreign ? ReadForeign(kind, root, *foreign) : ReadOwnObject(kind, root);
  const ObjectMeta& meta = MetaOf(object);
  if (meta.name.empty()) root.Refuse("metadata.name: is missing");
  const bool namespaced = IsNamespaced(kind) && !IsHyperNode(object);
  if (namespaced && meta.namespace_name.empty()) root.Refuse("metadata.namespace: is missing");
  return object;
}

}  // namespace maniple
