// What the embedded API server is sent. Oracles as in codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// Any chunking of a connection's bytes gives the same requests and the same replies.
[[nodiscard]] std::string FuzzDevclusterHttp(absl::string_view bytes);
// Requests "METHOD TARGET CONTENT-TYPE" with a body below, parted by lines of "===": replies are
// JSON that says what their code says, and a GET changes nothing.
[[nodiscard]] std::string FuzzApiRequests(absl::string_view bytes);
// Selectors are drawn: as text, as an object and as the scheduler has them, they select what a
// naive reader would.
[[nodiscard]] std::string FuzzSelectors(absl::string_view bytes);
// A selector that is read means the same with white space around its commas.
[[nodiscard]] std::string FuzzSelectorText(absl::string_view bytes);

// Target and patch, parted by a line of "---". What a patch does not name stays as it was, and
// beyond that:
// operations one by one do what they do together;
[[nodiscard]] std::string FuzzJsonPatch(absl::string_view bytes);
// the text of RFC 7386 does the same, and a second time changes nothing;
[[nodiscard]] std::string FuzzMergePatch(absl::string_view bytes);
// without lists it is a merge patch, and a second time changes nothing;
[[nodiscard]] std::string FuzzStrategicPatch(absl::string_view bytes);
// a second time changes nothing, and another manager may apply the same.
[[nodiscard]] std::string FuzzApply(absl::string_view bytes);

// What is decoded has fields of its kind only.
[[nodiscard]] std::string FuzzProtobuf(absl::string_view bytes);

}  // namespace maniple
