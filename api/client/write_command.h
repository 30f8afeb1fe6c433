// A write, or a read on behalf of a write, as data: what the scheduling thread asks for and what it
// hears back. See api/client/writer.h for who carries it out.
#pragma once

#include <cstdint>
#include <string>

#include "api/codec/decode.h"
#include "api/http/http.h"

namespace maniple {

// In the order in which they are sent.
enum class WritePriority : uint8_t { kBind, kUndo, kStatus, kEvent };

enum class WriteRetry : uint8_t {
  kNone,    // the one who asked decides what a failure means
  kInside,  // 429, 5xx and lost replies are tried again with backoff before anybody is told
};

struct WriteCommand {
  uint64_t id = 0;  // chosen by the asker, unique
  WritePriority priority = WritePriority::kStatus;
  HttpRequest request;
  // Not empty: a command that still waits is replaced by a later one with the same key; the asker
  // hears nothing more of the earlier one.
  std::string coalesce_key;
  WriteRetry retry = WriteRetry::kNone;
};

struct WriteResult {
  uint64_t id = 0;
  int http_status = 0;  // 0 = unknown outcome: no reply, it may or may not have been carried out
  bool fenced = false;  // not sent: this process leads no more
  ApiStatus status;     // of a reply that is no success
  std::string body;     // of a success
};

}  // namespace maniple
