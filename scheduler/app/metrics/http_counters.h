// What an HTTP listener counts, for whoever writes metrics. Plain values.
#pragma once

#include <cstdint>

namespace maniple {

// Ever since the start, but for the first.
struct HttpCounters {
  int64_t connections = 0;  // now
  int64_t connections_refused = 0;
  int64_t connections_displaced = 0;  // idle ones that made room for others
  int64_t pages_refused = 0;
  int64_t accept_pauses = 0;  // for want of descriptors
};

}  // namespace maniple
