// Request bodies of type application/vnd.kubernetes.protobuf, as kubectl 1.32 and newer post them
// for typed creates.
//
// The bytes are "k8s\0" and a runtime.Unknown that names apiVersion and kind; the raw object inside
// is decoded by the table of api/devcluster/types/builtin_schema.h into the JSON that the same
// client would have sent. Unknown fields are skipped, as a Go server does. Hostile bytes give
// InvalidArgument; nesting is bounded.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

inline constexpr absl::string_view kProtobufContentType = "application/vnd.kubernetes.protobuf";

// InvalidArgument: not an envelope, or broken inside. Unimplemented: a kind that the table does not
// have (a custom resource, say), which HTTP calls 415.
[[nodiscard]] absl::StatusOr<Json> DecodeProtobufBody(absl::string_view bytes);

}  // namespace maniple::devcluster
