// From a pod's controller upward to the owner that says how large the gang is.
//
// It is the highest kind of the table of kinds that the chain reaches; each owner is held to the
// uid that its child names. Functions of their arguments; scheduling thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/producers/gang_identity.h"
#include "api/producers/kinds.h"
#include "api/producers/marks.h"
#include "api/producers/object_table.h"

namespace maniple {

// Fills the gang and the sub-group; what people should know goes to `notes`.
void ResolveOwner(const PodMarks& marks, ObjectTable& table, Resolution& out,
                  std::vector<std::string>& notes);

// The quorum that an annotation of the pod asks for.
struct AskedQuorum {
  MarkField by = MarkField::kMinimum;
  std::optional<int64_t> count;  // absent: the text is no number
};
[[nodiscard]] std::optional<AskedQuorum> AskedBy(const PodMarks& marks, ProducerRole role);

// The part of a JobSet's gang that a pod is in: its replicated Job, or whether others wait for it.
[[nodiscard]] absl::string_view PartInJobSet(const ForeignSpec& spec, const PodMarks& marks);

// What the owner declares for the gang of one part; with that part alone where it is staged.
struct OwnerQuorum {
  int64_t minimum = 0;
  int64_t most = 0;  // from the start to the end: whether it is a gang does not change
  int64_t left = 0;  // of them, those that can still exist
};
[[nodiscard]] OwnerQuorum QuorumOf(const ForeignSpec& spec, absl::string_view part);

}  // namespace maniple
