// All layouts of a MIG GPU, by plain enumeration: what the search in api/gpu is held against.
//
// Pure functions of a table with placements. REQUIRES of all: slices of the table only.
//
//   MaximalLayouts(table)                    // the 19 of an A100 with 1g, 2g, 3g, 4g and 7g
#pragma once

#include <vector>

#include "api/gpu/mig_layout.h"
#include "api/gpu/mig_tables.h"

namespace maniple {

[[nodiscard]] bool IsLegal(const MigTable& table, const MigLayout& layout);
// Every legal layout that is not empty, each once.
[[nodiscard]] std::vector<MigLayout> LegalLayouts(const MigTable& table);
// The layouts to which nothing can be added.
[[nodiscard]] std::vector<MigLayout> MaximalLayouts(const MigTable& table);
[[nodiscard]] MigCounts CountsOf(const MigTable& table, const MigLayout& layout);

}  // namespace maniple
