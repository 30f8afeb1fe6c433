// Members that want to be near each other, and near no standing pod, must all go to one
// topology domain, though the request names none.
//
// Borrows its arguments, for the length of a search.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "scheduler/cycle/search/search.h"

namespace maniple {

// Columns of labels (Tables::label_columns) that these kinds' members must share on the overlay as
// it stands; none: they may be anywhere. Ascending.
[[nodiscard]] std::vector<size_t> ImpliedColumns(std::vector<Kind>& kinds, const Overlay& overlay);

// Calls `search` for one domain after the other, with the kinds restricted to it,
// until it finds a place. Domains with room for all come first, the tightest first.
// Proofs for every domain are a proof, unless some kind waits for members yet to be placed: then
// `search` is called without a domain, too. REQUIRES: `columns` is not empty.
[[nodiscard]] SearchResult SearchImplied(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                         Overlay& overlay, const std::vector<size_t>& columns,
                                         absl::FunctionRef<SearchResult()> search);

}  // namespace maniple
