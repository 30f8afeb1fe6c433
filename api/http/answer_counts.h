// How many requests were answered how. A value.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "api/http/http.h"

namespace maniple {

// By method and status; 0 = no answer came.
using AnswerCounts = absl::btree_map<std::pair<HttpMethod, int>, uint64_t>;

}  // namespace maniple
