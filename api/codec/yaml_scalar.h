// How a YAML scalar reads, by the YAML 1.2 core schema. Private to this room: the reader and the
// writer must agree on it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

// The value of a scalar with yaml-cpp's tag: "?" plain, "!" quoted, else an explicit one such as
// !!str. InvalidArgument when the text does not fit its tag, the tag is unknown, or JSON has no
// such value (.inf, .nan).
[[nodiscard]] absl::StatusOr<Json> ResolveYamlScalar(absl::string_view tag, absl::string_view text);

// Whether a reader of YAML takes the character, well-formed UTF-8, for a part of a line: it refuses
// most control characters, and YAML 1.1 ends a line at some others.
[[nodiscard]] bool IsYamlCharacter(absl::string_view character);

// Whether the text, written without quotes, would come back as this very text from any reader, also
// from one of YAML 1.1 with its yes, no, on and off.
[[nodiscard]] bool IsPlainYamlText(absl::string_view text);

}  // namespace maniple
