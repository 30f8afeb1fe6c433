// Whether a value has the shape of a Kubernetes object, as far as code here relies on it.
#pragma once

#include "absl/status/status.h"
#include "api/codec/json.h"

namespace maniple {

// An object with a kind, metadata with a name, labels and annotations that are maps,
// and a spec that is an object; optional fields may be absent.
// InvalidArgument names the object and the wrong path.
[[nodiscard]] absl::Status CheckShape(const Json& object);
// The same for the pods of a Job.
[[nodiscard]] absl::Status CheckJobShape(const Json& job);

}  // namespace maniple
