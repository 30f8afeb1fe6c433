// Layouts of a MIG GPU: the slices that may stand on it together, and their places.
//
// A layout is legal when no two slices overlap on the memory axis, and each starts where it may.
// No profile is there more often than its maximum, and at most one slice has extra media engines.
// Pure functions of a table with placements; the axis is at most 16 wide,
// so that a set of memory slices is a word.
//
//   MaximalLayouts(table)                    // the 19 of an A100 with 1g, 2g, 3g, 4g and 7g
//   FindLayout(table, counts)                // a layout with these slices, if there is one
//   BestStart(table, {}, slice)              // where the next one spoils least
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
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

// REQUIRES of all: table.has_placements(), and slices of the table only.
[[nodiscard]] bool IsLegal(const MigTable& table, const MigLayout& layout);
// Every legal layout that is not empty, each once.
[[nodiscard]] std::vector<MigLayout> LegalLayouts(const MigTable& table);
// The layouts to which nothing can be added.
[[nodiscard]] std::vector<MigLayout> MaximalLayouts(const MigTable& table);
[[nodiscard]] MigCounts CountsOf(const MigTable& table, const MigLayout& layout);
// The first layout with exactly these slices; none: there is no legal one. `counts` may be shorter
// than the table.
[[nodiscard]] std::optional<MigLayout> FindLayout(const MigTable& table, const MigCounts& counts);

// The further slices that a GPU can take: the number of different sets,
// and of different counts, with the empty one.
struct MigCompletions {
  int64_t counts = 0, layouts = 0;
  friend auto operator<=>(const MigCompletions&, const MigCompletions&) = default;
};
[[nodiscard]] MigCompletions CompletionsOf(const MigTable& table, const MigLayout& layout);
// The start at which another slice leaves the most completions, by counts first;
// the lowest of equals. None: there is no place for it.
[[nodiscard]] std::optional<int32_t> BestStart(const MigTable& table, const MigLayout& layout,
                                               int32_t slice);

// "3g.20gb@0 2g.10gb@4"
[[nodiscard]] std::string MigLayoutText(const MigTable& table, const MigLayout& layout);

}  // namespace maniple
