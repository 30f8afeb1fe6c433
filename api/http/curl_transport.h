// Transport over libcurl: HTTP/1.1 with keep-alive, TLS, one thread.
//
// The shell around the client machines: it moves bytes and nothing else. One thread owns it and
// drives it through Poll; only Wakeup may come from elsewhere. A watch has a connection of its own;
// lists and writes queue behind a bound of their lane; the Lease never queues. A consumer that does
// not call Poll stops the sockets: at most `most_undelivered` bytes per request are ever held.
//
//   ASSIGN_OR_RETURN(auto transport, CurlTransport::Create(config, RealClock(), {}));
//   transport->Start(id, request);
//   for (HttpInput& input : transport->Poll(machines.NextDeadline() - clock.Now())) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/base/clock.h"
#include "api/base/secret.h"
#include "api/http/answers.h"
#include "api/http/client_config.h"
#include "api/http/http.h"

namespace maniple {

struct CurlTransportOptions {
  int most_writes = 32;  // connections of the write lane
  int most_lists = 2;    // likewise: what is in memory at once is so many pages
  // Bytes per request; then its socket is left alone until the next Poll.
  size_t most_undelivered = 4u << 20;
  absl::Duration connect_timeout = absl::Seconds(10);
  // Data that the peer does not acknowledge for so long, and probes on an idle connection, end it.
  absl::Duration dead_peer_timeout = absl::Seconds(30);
  std::string user_agent = "maniple";
  // Carries the bearer token a second time, for who is behind a proxy that keeps Authorization to
  // itself; see ShowToken. Empty: no such header.
  std::string token_header;
};

struct TransportCounters {
  uint64_t requests = 0, connections = 0, pauses = 0;
  Answers answers;
};

class CurlTransport final : public Transport {
 public:
  // InvalidArgument when the configuration cannot work (e.g. a proxy scheme that libcurl does not
  // know).
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<CurlTransport>> Create(
      ClientConfig config, const Clock& clock, CurlTransportOptions options);
  ~CurlTransport() override;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  void Start(RequestId id, HttpRequest request) override;
  void Cancel(RequestId id) override;
  // From now on `token_header` carries this one in place of the bearer token.
  void ShowToken(Secret other);

  // Moves bytes until something is to be told, Wakeup was called, or the time is up; may return
  // early with nothing.
  [[nodiscard]] std::vector<HttpInput> Poll(absl::Duration timeout);
  // Makes the current or the next Poll return. Any thread.
  void Wakeup();

  [[nodiscard]] const TransportCounters& counters() const;

 private:
  class Impl;
  explicit CurlTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
