// From the marks of a pod and the objects that are there to the gang that it belongs to.
//
// Functions of their arguments; the objects that were asked for are written down, so that whoever
// asked can ask again when one of them changes. Scheduling thread.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/producers/marks.h"
#include "api/producers/object_table.h"

namespace maniple {

enum class GangOrigin : uint8_t {
  kNone,        // a gang of one
  kOurs,        // a PodGroup of ours
  kMissing,     // who would say is not there yet: a name that no gang answers to
  kObject,      // a group object
  kOwner,       // an owner that is known
  kController,  // an annotation on pods of a controller that is not known
  kMarks,       // marks alone
};

// Which gang, and which part of it.
struct GangIdentity {
  GangOrigin origin = GangOrigin::kNone;
  std::string group_name;
  const ObjectSlot* source = nullptr;  // of kObject and kOwner
  const ObjectSlot* stager = nullptr;  // the owner of a group object that makes members in stages
  MarkField dialect = MarkField::kNamespace;  // of kMarks
  std::string part;                           // of the source; of kMarks the group that they name
  std::string problem;                        // that is no object's own
};

struct Resolution {
  GangIdentity gang;
  std::string sub_group;    // counts if the gang has it
  std::string passed_over;  // see PodPlace
  std::string awaited;      // likewise
  std::vector<ObjectSlot*> seen;
};

// The mark that names group objects of a role. REQUIRES: IsGroupObject(role).
[[nodiscard]] MarkField MarkOf(ProducerRole role);

[[nodiscard]] Resolution Resolve(const PodMarks& marks, ObjectTable& table);

// For people: "PodGroup train (scheduling.x-k8s.io)".
[[nodiscard]] std::string NameOf(const ForeignKind& kind, absl::string_view name);

// "<name, cut to fit>-<8 hex digits>": a DNS label, the same in every process.
[[nodiscard]] std::string StableGroupName(absl::string_view name,
                                          std::initializer_list<absl::string_view> identity);

// Null: it has none of that name.
[[nodiscard]] const ForeignPart* PartNamed(const ForeignSpec& spec, absl::string_view name);

}  // namespace maniple
