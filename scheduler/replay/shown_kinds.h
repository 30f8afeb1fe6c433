// The kinds of other projects that a cluster shows by its objects. Pure functions.
#pragma once

#include <vector>

#include "api/codec/json.h"
#include "api/model/foreign.h"

namespace maniple {

// Those of `kinds` of which there is a definition or an object, in their order.
[[nodiscard]] ForeignKinds ShownKinds(const ForeignKinds& kinds, const std::vector<Json>& objects);

// A CustomResourceDefinition for each of `kinds` of which there is an object in `objects`.
// It is for objects that a newer API server serves by itself,
// and for definitions that the reader of the cluster had no right to read.
[[nodiscard]] std::vector<Json> DefinitionsFor(const ForeignKinds& kinds,
                                               const std::vector<Json>& objects);

}  // namespace maniple
