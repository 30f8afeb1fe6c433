// The kinds of producers that Maniple knows: foreign group objects and owners of pods.
#pragma once

#include "api/model/foreign.h"

namespace maniple {

// Ends with nothing configured; their order is that of ResourceKind from kResourceKinds up.
[[nodiscard]] const ForeignKinds& BuiltinForeignKinds();

}  // namespace maniple
