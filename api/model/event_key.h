// The object that an event speaks of.
#pragma once

#include <optional>

#include "api/model/object.h"

namespace maniple {

// None for KindSynced and KindServed, which speak of a kind.
[[nodiscard]] std::optional<ObjectKey> KeyOf(const ObjectEvent& event);

}  // namespace maniple
