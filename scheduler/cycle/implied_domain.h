// Members that want to be near each other, and near nobody who stands already: one topology domain
// must take them all, though nobody named it.
//
// Borrows what it is given, for the length of a search.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "scheduler/cycle/search.h"

namespace maniple {

// Columns of labels (Tables::label_columns) that these kinds' members must share on the overlay as
// it stands; none: they may be anywhere. Ascending.
[[nodiscard]] std::vector<size_t> ImpliedColumns(std::vector<Kind>& kinds, const Overlay& overlay);

// Calls `search` for one domain after the other, the kinds restricted to it, until it finds
// something: those with room for all first, the tightest first. What is proven of every domain is
// proven. REQUIRES: `columns` is not empty.
[[nodiscard]] SearchResult SearchImplied(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                         Overlay& overlay, const std::vector<size_t>& columns,
                                         absl::FunctionRef<SearchResult()> search);

}  // namespace maniple
