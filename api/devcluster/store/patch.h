// The three patches of Kubernetes that change an object as it stands: JSON patch (RFC 6902), merge
// patch (RFC 7386) and strategic merge patch.
//
// Pure functions. Hostile patches are bounded: in operations, in copied bytes, in depth.
#pragma once

#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/merge_rules.h"

namespace maniple::devcluster {

// 422 when an operation cannot be done (a failed test, a missing path), 400 when it is none.
ApiOr<Json> ApplyJsonPatch(Json target, const Json& patch);

ApiOr<Json> ApplyMergePatch(Json target, const Json& patch);

// Lists merge by the first key of their rule; directives $patch, $deleteFromPrimitiveList/x,
// $setElementOrder/x, $retainKeys are obeyed.
ApiOr<Json> ApplyStrategicPatch(Json target, const Json& patch, const MergeRules& rules);

// Whether the value is nested no deeper than Json::kMaxDepth.
[[nodiscard]] bool IsWithinDepth(const Json& value);

}  // namespace maniple::devcluster
