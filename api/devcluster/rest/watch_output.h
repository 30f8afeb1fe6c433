// What an open watch has to tell since it was last asked. Plain values.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct WatchOutput {
  std::string bytes;
  bool ended = false;  // after these bytes the stream is closed by the server
};

// The same for a reader in this process: values rather than text.
struct WatchEvent {
  absl::string_view type;  // "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"
  Json object;             // as it is shown to who watches; shared with the store
};
struct WatchEvents {
  std::vector<WatchEvent> events;
  bool ended = false;
};

}  // namespace maniple::devcluster
