// What the conversations of an HTTP endpoint and the endpoint are to each other. Inside
// the files of HTTP conversations and their endpoint; on the thread of the endpoint.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "scheduler/app/http/http_gate.h"
#include "scheduler/app/http/http_page.h"

namespace maniple {

class HttpTalk;

// What a conversation needs of its endpoint, which outlives it.
class HttpHost {
 public:
  virtual ~HttpHost() = default;
  [[nodiscard]] virtual std::optional<HttpPage> Answer(const HttpQuestion& question) = 0;
  [[nodiscard]] virtual absl::Time Now() const = 0;
  virtual HttpGate& gate() = 0;
  virtual void Joined(HttpTalk& talk) = 0;
  virtual void Left(HttpTalk& talk) = 0;
};

// What the endpoint sees of a conversation, whatever its stream.
class HttpTalk {
 public:
  virtual ~HttpTalk() = default;
  // Since when it waits for its peer's next words; InfiniteFuture: it is answering.
  [[nodiscard]] virtual absl::Time idle_since() const = 0;
  // Asks once more for an answer that was not ready.
  virtual void AskAgain() = 0;
  virtual void Close() = 0;
};

}  // namespace maniple
