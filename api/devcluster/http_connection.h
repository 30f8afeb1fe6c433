// One connection of the HTTP shell, over plain TCP or TLS. Private to this room (Boost in a header).
//
// Reads a request, lets the host answer it, writes the answer, and so on; a watch keeps writing until the host or the
// client ends it. Owned by its pending operations and by the host's list; all on the shell's thread.
//
// Invariants:
//   1. At most one read and one write are pending at any time.
//   2. The next request is not parsed before the last byte of the previous reply is written.
//   3. While a watch runs, the pending read only serves to notice that the client left.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/devcluster/api_server.h"
#include "api/devcluster/http_message.h"
#include "api/devcluster/http_shell.h"

namespace maniple::devcluster {

class HttpConnection;

// What a connection asks of the shell.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual ApiReply Answer(const ApiRequest& request, HttpConnection& from) = 0;
  // The user of an Authorization header, or nullopt.
  virtual std::optional<std::string> Authenticate(absl::string_view authorization) = 0;
  virtual void WatchLeft(WatchId watch) = 0;
  virtual void Closed(HttpConnection& connection) = 0;
  [[nodiscard]] virtual absl::Time Now() const = 0;
  [[nodiscard]] virtual const HttpShellOptions& Options() const = 0;
};

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  virtual void Start() = 0;
  // More bytes of the watch this connection carries.
  virtual void Deliver(WatchOutput output) = 0;
  // Closes it when it has been waiting on its client for too long.
  virtual void CheckDeadline(absl::Time now) = 0;
  virtual void Close() = 0;
};

// `Stream` is tcp::socket or ssl::stream<tcp::socket>.
template <typename Stream>
class StreamConnection final : public HttpConnection,
                               public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, ConnectionHost& host) : stream_(std::move(stream)), host_(host) {}

  void Start() override {
    boost::system::error_code ignored;
    stream_.lowest_layer().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    if constexpr (kTls) {
      deadline_ = host_.Now() + host_.Options().request_deadline;
      stream_.async_handshake(Stream::server, [self = Self()](const Error& error) {
        if (error) return self->Close();
        self->AwaitRequest();
      });
    } else {
      AwaitRequest();
    }
  }

  void Deliver(WatchOutput output) override {
    if (closed_ || !watch_.valid()) return;
    if (!output.bytes.empty()) AppendChunk(pending_, output.bytes);
    if (output.ended) {
      AppendLastChunk(pending_);
      watch_ = WatchId();
    }
    if (pending_.size() > host_.Options().most_watch_backlog) return Close();
    Flush();
  }

  void CheckDeadline(absl::Time now) override {
    if (now >= deadline_) Close();
  }

  void Close() override {
    if (closed_) return;
    closed_ = true;
    const std::shared_ptr<StreamConnection> self = Self();  // the host lets go of it below
    if (watch_.valid()) host_.WatchLeft(watch_);
    watch_ = WatchId();
    boost::system::error_code ignored;
    stream_.lowest_layer().close(ignored);
    host_.Closed(*this);
  }

 private:
  using Error = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  static constexpr bool kTls = !std::is_same_v<Stream, boost::asio::ip::tcp::socket>;
  static constexpr size_t kReadAhead = 16 * 1024;

  std::shared_ptr<StreamConnection> Self() { return this->shared_from_this(); }

  // The deadline starts with the first byte: a client may keep an idle connection for as long as it likes.
  void AwaitRequest() {
    deadline_ = absl::InfiniteFuture();
    if (buffer_.size() > 0) return ReadHead();
    ReadSome([](StreamConnection& self) { self.ReadHead(); });
  }

  template <typename Next>
  void ReadSome(Next next) {
    reading_ = true;
    stream_.async_read_some(buffer_.prepare(kReadAhead),
                            [self = Self(), next](const Error& error, size_t bytes) {
                              self->reading_ = false;
                              if (error) return self->Close();
                              self->buffer_.commit(bytes);
                              next(*self);
                            });
  }

  void ReadHead() {
    deadline_ = host_.Now() + host_.Options().request_deadline;
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(host_.Options().most_head_bytes));
    parser_->body_limit(host_.Options().most_body_bytes);
    boost::beast::http::async_read_header(
        stream_, buffer_, *parser_, [self = Self()](const Error& error, size_t) {
          if (error) return self->Refuse(error);
          self->ReadBody();
        });
  }

  void ReadBody() {
    if (parser_->is_done()) return Answer();
    namespace http = boost::beast::http;
    if (parser_->get()[http::field::expect] == "100-continue" && buffer_.size() == 0) {
      static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      boost::asio::async_write(stream_, boost::asio::buffer(kContinue.data(), kContinue.size()),
                               [self = Self()](const Error& error, size_t) {
                                 if (error) return self->Close();
                                 self->ReadRest();
                               });
      return;
    }
    ReadRest();
  }

  void ReadRest() {
    boost::beast::http::async_read(stream_, buffer_, *parser_,
                                   [self = Self()](const Error& error, size_t) {
                                     if (error) return self->Refuse(error);
                                     self->Answer();
                                   });
  }

  // What could not be read as a request is answered where HTTP has an answer, then the connection ends.
  void Refuse(const Error& error) {
    using HttpError = boost::beast::http::error;
    if (error == HttpError::body_limit) {
      return ReplyAndClose(StatusReply(
          413, "RequestEntityTooLarge",
          absl::StrCat("Request entity too large: limit is ", host_.Options().most_body_bytes)));
    }
    if (error == HttpError::header_limit) {
      return ReplyAndClose(StatusReply(431, "BadRequest", "request head too large"));
    }
    const bool left = error == HttpError::end_of_stream || error == HttpError::partial_message;
    if (!left && error.category() == boost::beast::http::make_error_code(HttpError{}).category()) {
      return ReplyAndClose(StatusReply(400, "BadRequest", "not an HTTP/1.1 request"));
    }
    Close();
  }

  void Answer() {
    deadline_ = absl::InfiniteFuture();
    namespace http = boost::beast::http;
    auto& message = parser_->get();
    const auto text = [&](http::field field) {
      const auto value = message[field];
      return absl::string_view(value.data(), value.size());
    };
    keep_alive_ = message.keep_alive() ? KeepAlive::kYes : KeepAlive::kNo;
    const BodyForm form =
        message.method() == http::verb::head ? BodyForm::kHeadOnly : BodyForm::kWhole;
    ApiRequest request;
    request.method = form == BodyForm::kHeadOnly ? "GET" : std::string(message.method_string());
    request.target = std::string(message.target());
    request.content_type = std::string(text(http::field::content_type));
    request.accept = std::string(text(http::field::accept));
    request.if_none_match = std::string(text(http::field::if_none_match));
    request.body = std::move(message.body());

    const std::optional<std::string> user = host_.Authenticate(text(http::field::authorization));
    if (!user.has_value() && !IsHealthCheck(request.target)) {
      return Reply(StatusReply(401, "Unauthorized", "Unauthorized"), form);
    }
    request.user = user.value_or("system:anonymous");
    Reply(host_.Answer(request, *this), form);
  }

  static bool IsHealthCheck(absl::string_view target) {
    const absl::string_view path = target.substr(0, target.find('?'));
    return path == "/healthz" || path == "/livez" || path == "/readyz";
  }

  void Reply(const ApiReply& reply, BodyForm form) {
    if (reply.watch.valid()) {
      if (form == BodyForm::kHeadOnly) return Close();  // a stream has no length to tell
      watch_ = reply.watch;
      AppendStreamHead(pending_, reply);
      if (!reply.body.empty()) AppendChunk(pending_, reply.body);
      ReadSome([](StreamConnection& self) { self.HeardDuringWatch(); });
    } else {
      AppendReply(pending_, reply, keep_alive_, form);
    }
    Flush();
  }

  void ReplyAndClose(const ApiReply& reply) {
    keep_alive_ = KeepAlive::kNo;
    Reply(reply, BodyForm::kWhole);
  }

  // A client that pipelines behind a watch has to wait for its end; it may not fill our memory meanwhile.
  void HeardDuringWatch() {
    if (!watch_.valid()) return writing_ ? void() : Written();
    if (buffer_.size() > host_.Options().most_head_bytes) return Close();
    ReadSome([](StreamConnection& self) { self.HeardDuringWatch(); });
  }

  void Flush() {
    if (writing_ || closed_) return;
    if (in_flight_.empty()) {
      if (pending_.empty()) return Written();
      in_flight_.swap(pending_);
      sent_ = 0;
    }
    writing_ = true;
    deadline_ = host_.Now() + host_.Options().write_deadline;
    stream_.async_write_some(
        boost::asio::buffer(in_flight_.data() + sent_, in_flight_.size() - sent_),
        [self = Self()](const Error& error, size_t bytes) {
          self->writing_ = false;
          if (error) return self->Close();
          self->sent_ += bytes;
          if (self->sent_ == self->in_flight_.size()) self->ForgetSent();
          self->Flush();
        });
  }

  void ForgetSent() {
    in_flight_.clear();
    if (in_flight_.capacity() > kMostIdleCapacity) in_flight_.shrink_to_fit();
  }

  // Everything is out: a watch goes on, a connection that should close does, else the next request.
  void Written() {
    deadline_ = absl::InfiniteFuture();
    if (watch_.valid()) return;
    if (keep_alive_ == KeepAlive::kNo) return Linger();
    if (!reading_) AwaitRequest();
  }

  // Closing a socket with unread input resets it, and the client may lose the reply: read it off for a while.
  void Linger() {
    Error ignored;
    stream_.lowest_layer().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    if (lingering_since_ == absl::InfiniteFuture()) lingering_since_ = host_.Now();
    deadline_ = lingering_since_ + absl::Seconds(2);
    buffer_.clear();
    if (!reading_) ReadSome([](StreamConnection& self) { self.Linger(); });
  }

  static constexpr size_t kMostIdleCapacity = 256 * 1024;

  Stream stream_;
  ConnectionHost& host_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  KeepAlive keep_alive_ = KeepAlive::kYes;
  WatchId watch_;
  std::string in_flight_;  // being written, from sent_ on
  size_t sent_ = 0;
  std::string pending_;  // to be written after it
  bool reading_ = false;
  bool writing_ = false;
  bool closed_ = false;
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Time lingering_since_ = absl::InfiniteFuture();
};

}  // namespace maniple::devcluster
