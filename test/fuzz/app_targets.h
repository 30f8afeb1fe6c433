// What the scheduler's program reads: its configuration, addresses, and HTTP requests. Oracles as
// in codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// Each problem names the file, and the same document written anew has the same problems or the same
// values.
[[nodiscard]] std::string FuzzConfig(absl::string_view bytes);
// A question comes back from the target that asks it, and a target says what a naive reader sees.
[[nodiscard]] std::string FuzzAdminTarget(absl::string_view bytes);
// Whatever a client sends to the real listener on the loopback, it hears nothing but whole replies
// with a status of ours; after it, the next client is served.
[[nodiscard]] std::string FuzzHttpEndpoint(absl::string_view bytes);

}  // namespace maniple
