// Narrows a region that a gang of several shapes fits into, to few of its domains with
// little room left over. Used by domain_search.cc.
#pragma once

#include <optional>

#include "absl/functional/function_ref.h"
#include "scheduler/cycle/domains/domain_question.h"

namespace maniple {

// Places the quorum within the nodes; null: anywhere.
using RegionSearch = absl::FunctionRef<SearchResult(const NodeSet* region)>;

// From the level `depth` of the gang's wish down to the narrowest, which is the slices'.
// None: nothing narrower than the region was found within bounds. The overlay is left as it was.
[[nodiscard]] std::optional<SearchResult> Narrow(const DomainSearch& ask, const Overlay& overlay,
                                                 const NodeSet* region, size_t depth,
                                                 RegionSearch search);

}  // namespace maniple
