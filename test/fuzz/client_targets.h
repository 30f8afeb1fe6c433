// What the client hears: streams, heads, the Lease, credentials. Oracles as in codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// Two bytes say how long a line may be and how the rest is chunked: any chunking gives the lines of
// the whole.
[[nodiscard]] std::string FuzzLines(absl::string_view bytes);
// A head says what the last line of each name says.
[[nodiscard]] std::string FuzzReplyHead(absl::string_view bytes);
// Whatever stands in the Lease, reading it makes no leader, and a write carries its version.
[[nodiscard]] std::string FuzzLease(absl::string_view bytes);
// The same file gives the same configuration, and no error tells a secret of it.
[[nodiscard]] std::string FuzzKubeconfig(absl::string_view bytes);
// A credential is what its JSON says, and no error quotes it.
[[nodiscard]] std::string FuzzExecCredential(absl::string_view bytes);

}  // namespace maniple
