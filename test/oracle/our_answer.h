// What our own filters and scores say to a case, by the path that every pod takes: decoded from
// JSON, folded into the state, published, bound, checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/json.h"
#include "test/oracle/families.h"

namespace maniple {

struct FilterAnswer {
  std::string feasible;         // a '1' or '0' for each node of the case, in its order
  std::vector<int64_t> scores;  // as many, -1 where the pod does not fit; empty if none were asked
  std::string error;            // "" unless the case cannot be answered
};

[[nodiscard]] FilterAnswer OurAnswer(const FilterFamily& family, const Json& filter_case);

// "" when ours is as good as the other; else what differs, node by node.
[[nodiscard]] std::string Difference(const FilterFamily& family, const FilterAnswer& ours,
                                     const FilterAnswer& theirs);

}  // namespace maniple
