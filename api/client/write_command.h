// A write, or a read on behalf of a write, as data: the scheduling thread's request and its result.
// The writer carries it out (api/client/writer.h).
#pragma once

#include <cstdint>
#include <string>

#include "api/codec/decode.h"
#include "api/http/http.h"

namespace maniple {

enum class WritePriority {
  kFinish,  // a bind of a gang that is partly bound, or a request that such a bind waits for
  kBind,
  kUndo,
  kReason,  // the reason for waiting, where it has changed
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
  kAnswered,    // http_status tells the result
  kUnknown,     // sent, and no answer came: it may or may not have been done
  kFenced,      // not sent: the lease ran out
  kSuperseded,  // not sent: a newer command with the same key took its place
  kDropped,     // not sent, or given up: there were too many events
};

struct WriteResult {
  uint64_t id = 0;
  WriteOutcome outcome = WriteOutcome::kAnswered;
  int http_status = 0;  // 0 unless kAnswered
  ApiStatus status;     // of a reply that is not 2xx; with kUnknown its message tells the failure
  std::string body;     // of a 2xx reply
};

}  // namespace maniple
