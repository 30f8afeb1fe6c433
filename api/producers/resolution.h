// From the marks of a pod and the objects that are there to the gang that it belongs to.
//
// Functions of their arguments; the objects that were asked for are written down, so that whoever
// asked can ask again when one of them changes. Scheduling thread.
#pragma once

#include "api/producers/gang_identity.h"
#include "api/producers/kinds.h"
#include "api/producers/marks.h"
#include "api/producers/object_table.h"

namespace maniple {

// The mark that names group objects of a role. REQUIRES: IsGroupObject(role).
[[nodiscard]] MarkField MarkOf(ProducerRole role);

[[nodiscard]] Resolution Resolve(const PodMarks& marks, ObjectTable& table);

}  // namespace maniple
