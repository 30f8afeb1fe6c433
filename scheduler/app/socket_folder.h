// The folder of the admin socket. Whoever may write there may put a socket of their own in the
// place of ours, so both sides look at it: the scheduler before it listens, the command line before
// it asks. Any thread.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace maniple {

// PermissionDenied unless it belongs to us or to root, is no symbolic link, and only its owner may
// write there. A folder that is not there is no danger.
[[nodiscard]] absl::Status CheckSocketFolder(const std::string& socket_path);

// Makes it, for us alone, where it is missing; then the same.
[[nodiscard]] absl::Status MakeSocketFolder(const std::string& socket_path);

}  // namespace maniple
