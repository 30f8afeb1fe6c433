// The decoders of single objects and of the parts they share, from a cursor into model values.
// Whatever is wrong is noted at the cursor (api/codec/cursor.h); the value is then not to be used.
// Private to this room.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/cursor.h"
#include "api/codec/foreign_reader.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"
#include "api/model/object.h"

namespace maniple {

// The two fields of an affinity.
inline constexpr absl::string_view kRequiredTerms =
    "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr absl::string_view kPreferredTerms =
    "preferredDuringSchedulingIgnoredDuringExecution";

// One word of an enum and its value; a table of these reads a text field.
template <typename Enum>
using Words = std::initializer_list<std::pair<absl::string_view, Enum>>;

// The value of the cursor's word; refuses an unknown word, naming the known ones, and answers
// `otherwise`.
template <typename Enum>
Enum ReadWord(const Cursor& cursor, Words<Enum> words, Enum otherwise) {
  const absl::string_view text = cursor.View();
  std::string known;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    known.append(known.empty() ? "" : ", ").append(word.data(), word.size());
  }
  cursor.Refuse("must be one of " + known);
  return otherwise;
}

ObjectMeta ReadMeta(const Cursor& metadata);
StringMap ReadStringMap(const Cursor& map);

std::vector<SelectorRequirement> ReadNodeRequirements(const Cursor& list);
// ORed: sorted, each once.
NodeTerms ReadNodeSelector(const Cursor& selector);
LabelSelector ReadLabelSelector(const Cursor& selector);
std::optional<TaintEffect> ReadTaintEffect(const Cursor& effect);

// The whole object with its metadata.
Node ReadNode(const Cursor& root);
Pod ReadPod(const Cursor& root);
Namespace ReadNamespace(const Cursor& root);
PriorityClass ReadPriorityClass(const Cursor& root);
PodDisruptionBudget ReadPodDisruptionBudget(const Cursor& root);
PersistentVolumeClaim ReadPersistentVolumeClaim(const Cursor& root);
PersistentVolume ReadPersistentVolume(const Cursor& root);
StorageClass ReadStorageClass(const Cursor& root);
CsiNode ReadCsiNode(const Cursor& root);
CsiDriver ReadCsiDriver(const Cursor& root);
CsiStorageCapacity ReadCsiStorageCapacity(const Cursor& root);
VolumeAttachment ReadVolumeAttachment(const Cursor& root);
PodGroup ReadPodGroup(const Cursor& root);
Queue ReadQueue(const Cursor& root);
Cohort ReadCohort(const Cursor& root);
ResourceFlavor ReadResourceFlavor(const Cursor& root);
Topology ReadTopology(const Cursor& root);

// Refuses a metadata without a name, or without a namespace where the kind has one.
// REQUIRES: a reader, if the kind is a producer's.
Object ReadObject(ResourceKind kind, const Cursor& root, const ForeignReader* foreign);

}  // namespace maniple
