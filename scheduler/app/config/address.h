// Where the surfaces listen: HOST:PORT and unix:PATH, checked before anything is opened, so that a
// wrong one is one line on stderr instead of what a library makes of it. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

struct ListenAddress {
  std::string host;  // without brackets; empty means every address of this machine
  uint16_t port = 0;
};
[[nodiscard]] absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

// HOST:PORT, or unix:PATH with a path that a socket can have.
[[nodiscard]] absl::Status CheckAdminAddress(absl::string_view address);

// The path of unix:PATH; empty for any other address.
[[nodiscard]] std::string SocketPathOf(absl::string_view admin_address);

// Whether only this machine reaches it: 127.0.0.0/8, ::1 or localhost.
[[nodiscard]] bool IsLoopback(const ListenAddress& address);

// unix:$XDG_RUNTIME_DIR/maniple/admin.sock, or below /tmp with the user's id when that is not set.
[[nodiscard]] std::string DefaultAdminAddress();

}  // namespace maniple
