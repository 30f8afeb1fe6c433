// A cluster's state as one file, with everything that a decision needs, for a look elsewhere.
//
// gzip over lines of JSON: a head, the objects as the API server shows them, and an end that counts
// them. A file that is cut anywhere is known to be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/codec/json.h"

namespace maniple {

struct ClusterSnapshot {
  absl::Time at;  // when the snapshot was begun
  // Definitions of custom types and namespaces first.
  std::vector<Json> objects;
};

inline constexpr int64_t kSnapshotVersion = 1;
// The limit on the unpacked size of a file.
inline constexpr size_t kMostSnapshotBytes = size_t{2} << 30;

[[nodiscard]] std::string PackSnapshot(const ClusterSnapshot& snapshot);
// Whether it is a whole gzip file whose first line is the head of a snapshot.
[[nodiscard]] bool IsSnapshot(absl::string_view bytes);
// InvalidArgument tells the error in the file and, where there is one, its line.
[[nodiscard]] absl::StatusOr<ClusterSnapshot> UnpackSnapshot(
    absl::string_view bytes, size_t most_bytes = kMostSnapshotBytes);

}  // namespace maniple
