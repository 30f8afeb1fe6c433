// The sockets of the embedded API server: HTTP/1.1 with keep-alive, watches as chunked streams, TLS
// and tokens.
//
// One thread: whoever calls Run() owns the ApiServer meanwhile. A connection serves one request
// after the other (a pipelined one waits its turn), so a client sees its replies in order.
// Everything a client may do badly ends its own connection only: half a request or a reply nobody
// reads by a deadline, too large heads and bodies by a limit, a watch that is not drained by a
// bound on what waits for it.
//
//   ASSIGN_OR_RETURN(auto shell, HttpShell::Listen(options, server, RealClock()));
//   std::cout << shell->port();
//   shell->Run();  // until Stop(), or a signal after StopOnSignals()
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "api/base/clock.h"
#include "api/devcluster/rest/api_server.h"
#include "api/devcluster/shell/http_connection.h"
#include "api/http/tls_identity.h"

namespace maniple::devcluster {

struct HttpShellOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;                 // 0: any free one
  const TlsIdentity* tls = nullptr;  // null: plain HTTP. Borrowed during Listen.
  // Bearer token -> user. Empty: whoever connects is admin.
  std::map<std::string, std::string> tokens;
  HttpLimits limits;
};

class HttpShell final {
 public:
  // Binds and listens; Unavailable when the address cannot be had.
  static absl::StatusOr<std::unique_ptr<HttpShell>> Listen(const HttpShellOptions& options,
                                                           ApiServer& server, const Clock& clock);
  ~HttpShell();

  [[nodiscard]] uint16_t port() const;

  void Run();
  // Any thread: Run returns soon, connections are cut.
  void Stop();
  // From now on SIGTERM and SIGINT stop it.
  void StopOnSignals();

 private:
  class Impl;
  explicit HttpShell(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple::devcluster
