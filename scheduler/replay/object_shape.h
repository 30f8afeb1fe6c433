// Whether a value has the shape of a Kubernetes object, as far as code here relies on it.
#pragma once

#include "absl/status/status.h"
#include "api/codec/json.h"

namespace maniple {

// An object with a kind, metadata with a name, labels and annotations that are maps, and a spec
// that is an object; what may be absent may. InvalidArgument names it and the path that is wrong.
[[nodiscard]] absl::Status CheckShape(const Json& object);
// The same of the pods that a Job asks for.
[[nodiscard]] absl::Status CheckJobShape(const Json& job);

}  // namespace maniple
