// One HTTP/1.1 connection without its socket: bytes in, requests to the host, bytes out.
//
// A state machine that the shell (http_shell.cc) drives; the same for TCP and TLS. Answers one
// request after the other and carries a watch until the host or the client ends it.
//
//   connection.Received(bytes, now);
//   while (!connection.Unsent().empty()) connection.Sent(socket.Write(connection.Unsent()), now);
//
// Invariants:
//   1. A request is not parsed before the last byte of the previous reply is sent:
//      replies keep the order of requests.
//   2. What waits in memory is bounded: input by a head and a body,
//      output by one reply or the backlog of a watch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/devcluster/rest/api_server.h"
#include "api/devcluster/shell/http_message.h"

namespace maniple::devcluster {

class HttpConnection;

struct HttpLimits {
  size_t most_head_bytes = 64 * 1024;
  size_t most_body_bytes = 3 * 1024 * 1024;  // as kube-apiserver
  size_t most_watch_backlog = 64 * 1024 * 1024;
  absl::Duration request_deadline = absl::Seconds(30);  // from its first byte to its last
  absl::Duration write_deadline = absl::Seconds(30);    // without a byte taken by the client
};

// What a connection asks of the shell.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  [[nodiscard]] virtual ApiReply Answer(const ApiRequest& request, HttpConnection& from) = 0;
  // The user of an Authorization header; nullopt: nobody we know.
  [[nodiscard]] virtual std::optional<std::string> Authenticate(
      absl::string_view authorization) = 0;
  // The client will not read the watch any more.
  virtual void WatchLeft(WatchId watch) = 0;
};

class HttpConnection final {
 public:
  HttpConnection(ConnectionHost& host, const HttpLimits& limits);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void Received(absl::string_view bytes, absl::Time now);
  // More of the watch this connection carries.
  void Deliver(const WatchOutput& output, absl::Time now);

  // What to write next; valid until the next call.
  [[nodiscard]] absl::string_view Unsent() const;
  void Sent(size_t bytes, absl::Time now);

  enum class Fate {
    kOpen,
    kDraining,  // everything is sent, nothing more is read: shut the sending side, then close
    kClosed,
  };
  [[nodiscard]] Fate fate() const;
  // Closes by itself when this has come; the client had its time.
  [[nodiscard]] absl::Time deadline() const { return deadline_; }
  // The socket is gone, or its time is up.
  void Close();

 private:
  struct Parser;  // Beast's

  void Advance(absl::Time now);
  bool ParseMore(absl::Time now);
  void Answer(absl::Time now);
  void Reply(const ApiReply& reply, BodyForm form, absl::Time now);
  void Refuse(const ApiReply& reply, absl::Time now);
  [[nodiscard]] bool busy() const { return watch_.valid() || !Unsent().empty(); }

  ConnectionHost& host_;
  const HttpLimits& limits_;
  std::string input_;
  std::unique_ptr<Parser> parser_;  // of the request being read
  bool continued_ = false;          // it has been told to go on (Expect: 100-continue)
  KeepAlive keep_alive_ = KeepAlive::kYes;
  WatchId watch_;
  std::string in_flight_;  // being sent, from sent_ on
  size_t sent_ = 0;
  std::string pending_;  // to be sent after it
  bool closed_ = false;
  absl::Time deadline_ = absl::InfiniteFuture();
};

}  // namespace maniple::devcluster
