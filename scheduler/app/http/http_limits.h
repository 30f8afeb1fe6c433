// How many may be at an HTTP listener, and how long each step of a conversation may take.
#pragma once

#include "absl/time/time.h"
#include "scheduler/app/http/http_gate.h"

namespace maniple {

// What the kernel may hold of an answer that nobody reads; without it, it takes megabytes.
inline constexpr int kSendBufferBytes = 256 * 1024;

struct HttpLimits {
  HttpGate::Bounds gate;
  absl::Duration handshake = absl::Seconds(10);
  absl::Duration request = absl::Seconds(30);  // from the last answer to the end of a request
  absl::Duration answer = absl::Seconds(5);
  absl::Duration write = absl::Seconds(30);  // without taking anything; six times that in all
};

}  // namespace maniple
