// A snapshot without traces of its owners, of which a scheduler decides as of the true one.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "scheduler/loop/scheduling_loop.h"
#include "scheduler/replay/redaction.h"
#include "scheduler/replay/snapshot_file.h"

namespace maniple {

// Every object redacted. A PodGroup that stands for a gang of another project gets the name
// that a scheduler looks for: its own holds a digest of names that are others now.
// `options` makes those of the scheduler whose cluster it is.
// Errors: objects that no API server holds.
[[nodiscard]] absl::StatusOr<ClusterSnapshot> RedactedSnapshot(
    const ClusterSnapshot& snapshot, const Redaction& redaction,
    absl::FunctionRef<LoopOptions()> options);

}  // namespace maniple
