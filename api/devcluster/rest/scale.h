// The subresource scale: an object's replicas as an autoscaling/v1 Scale.
//
// Pure functions.
#pragma once

#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

[[nodiscard]] Json ScaleOf(const Json& object);
// The object with the replicas of the Scale; its resourceVersion and uid become preconditions.
ApiOr<Json> WithScale(const ResourceType& type, Json object, const Json& scale);

}  // namespace maniple::devcluster
