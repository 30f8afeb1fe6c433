// The lines in which writes wait to be sent, one for each priority, counted as client-go counts its
// work queues. Values; the Writer keeps them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "api/client/write_command.h"

namespace maniple {

struct WriteLine {
  uint64_t added = 0;    // commands that joined the line, those to be tried again included
  uint64_t retried = 0;  // … of these, those to be tried again
  size_t waiting = 0;    // not sent yet, or waiting to be tried again
};
using WriteLines = std::array<WriteLine, kWritePriorities>;

// By WritePriority.
inline constexpr std::array<const char*, kWritePriorities> kWriteLineNames = {
    "finish", "bind", "undo", "reason", "status", "event"};

}  // namespace maniple
