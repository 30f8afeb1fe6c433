// A write, or a read on behalf of a write, as data: what the scheduling thread asks for and what it
// hears back. See api/client/writer.h for who carries it out.
#pragma once

#include <cstdint>
#include <string>

#include "api/codec/decode.h"
#include "api/http/http.h"

namespace maniple {

enum class WritePriority {
  kFinish,  // a bind of a gang that is partly bound already, or what must be known to go on with it
  kBind,
  kUndo,
  kReason,  // why something waits, where that has changed
  kStatus,
  kEvent,
};
inline constexpr int kWritePriorities = 6;

enum class WriteRetry {
  kNone,    // the raw outcome is reported at once: binds, deletes, reads
  kInside,  // 429, 5xx and transport failures are tried again here: statuses, events
};

struct WriteCommand {
  uint64_t id = 0;  // the submitter's
  WritePriority priority = WritePriority::kBind;
  WriteRetry retry = WriteRetry::kNone;
  HttpRequest request = {};
  std::string coalesce_key = "";  // "" = never coalesced
  std::string lane = "";          // of one priority, lanes take turns
};

enum class WriteOutcome {
  kAnswered,    // http_status says it
  kUnknown,     // sent, and no answer came: it may or may not have been done
  kFenced,      // not sent: the lease ran out
  kSuperseded,  // not sent: a newer command with the same key took its place
  kDropped,     // not sent, or given up: too many events
};

struct WriteResult {
  uint64_t id = 0;
  WriteOutcome outcome = WriteOutcome::kAnswered;
  int http_status = 0;  // 0 unless kAnswered
  ApiStatus status;     // of a reply that is not 2xx; with kUnknown its message says what broke
  std::string body;     // of a 2xx reply
};

}  // namespace maniple
