// A cluster's state as one file: everything that a decision needs, so that it can be looked at
// elsewhere.
//
// gzip over lines of JSON: a head, the objects as the API server shows them, an end that counts
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
  absl::Time at;  // when it was begun to be taken
  // Definitions of custom types and namespaces first.
  std::vector<Json> objects;
};

inline constexpr int64_t kSnapshotVersion = 1;
// Of what a file unpacks to.
inline constexpr size_t kMostSnapshotBytes = size_t{2} << 30;

[[nodiscard]] std::string PackSnapshot(const ClusterSnapshot& snapshot);
// Whether it begins as one, whatever comes after.
[[nodiscard]] bool IsSnapshot(absl::string_view bytes);
// InvalidArgument says what is wrong with it and, where one is, on which line.
[[nodiscard]] absl::StatusOr<ClusterSnapshot> UnpackSnapshot(
    absl::string_view bytes, size_t most_bytes = kMostSnapshotBytes);

}  // namespace maniple
