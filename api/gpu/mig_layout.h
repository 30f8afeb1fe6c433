// Layouts of a MIG GPU: the slices that may stand on it together, and their places.
//
// A layout is legal when no two slices overlap on the memory axis, and each starts where it may.
// No profile is there more often than its maximum, and at most one slice has extra media engines.
// Pure function of a table with placements; the axis is at most 16 wide,
// so that a set of memory slices is a word.
//
//   FindLayout(table, counts)                // a layout with these slices, if there is one
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "api/gpu/mig_tables.h"

namespace maniple {

struct MigPlacement {
  int32_t start = 0;
  int32_t slice = 0;  // index into table.slices
  friend auto operator<=>(const MigPlacement&, const MigPlacement&) = default;
};
using MigLayout = std::vector<MigPlacement>;  // by start
// How many slices of each profile, by index into table.slices.
using MigCounts = std::vector<int32_t>;

// The first layout with exactly these slices; none: there is no legal one. `counts` may be shorter
// than the table. REQUIRES: table.has_placements().
[[nodiscard]] std::optional<MigLayout> FindLayout(const MigTable& table, const MigCounts& counts);

}  // namespace maniple
