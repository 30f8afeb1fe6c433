// A read-only HTTP listener on a thread of its own.
//
// The handler is called on that thread and never waits: what it cannot answer yet it is asked again
// after Recheck(). Connections, their bytes and every step of them are bounded, so that a client
// that is slow or hostile costs one of its few places and nothing else.
//
//   ASSIGN_OR_RETURN(auto endpoint, HttpEndpoint::Listen({.address = "127.0.0.1:0"}));
//   endpoint->Serve(handler);
//   endpoint->Recheck();  // from any thread: there is news for who waits
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/app/config/tls_files.h"
#include "scheduler/app/http/http_gate.h"
#include "scheduler/app/http/http_limits.h"
#include "scheduler/app/http/http_page.h"

namespace maniple {

struct HttpEndpointOptions {
  std::string address;  // HOST:PORT; port 0 takes any free one
  HttpLimits limits;
  TlsFiles tls;  // not given: plain HTTP
};

class HttpEndpoint final {
 public:
  // Nothing: no answer yet.
  using Handler = std::function<std::optional<HttpPage>(const HttpQuestion&)>;

  // Fails when the address cannot be bound or the certificate cannot be used. Who connects before
  // Serve() waits.
  static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Listen(const HttpEndpointOptions& options);
  ~HttpEndpoint();  // stops

  // Starts the thread. Once.
  void Serve(Handler handler);
  // Ends and joins it; the handler is not called any more.
  void Stop();

  [[nodiscard]] uint16_t port() const;
  // Any thread.
  void Recheck();
  [[nodiscard]] HttpCounters counters() const;

 private:
  class Impl;
  explicit HttpEndpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
