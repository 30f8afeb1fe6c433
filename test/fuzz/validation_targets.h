// CEL rules, schemas of CRDs, manifests and formats. Oracles as in codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// A rule in the first line, what it looks at below: an evaluation keeps within its budget, gives
// the same twice, and a truth that more logic must not change.
[[nodiscard]] std::string FuzzCel(absl::string_view bytes);
// A schema and an object, parted by a line of "---": pruned and defaulted twice is once, what is
// pruned has no unknown field, and an update that changes nothing brings no error of its own.
[[nodiscard]] std::string FuzzSchema(absl::string_view bytes);
// Findings say something, of a line that the file has.
[[nodiscard]] std::string FuzzManifest(absl::string_view bytes);
// Formats as libc, Abseil and our other readers see them.
[[nodiscard]] std::string FuzzFormats(absl::string_view bytes);

}  // namespace maniple
