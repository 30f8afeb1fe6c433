#include "api/devcluster/shell/http_shell.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/log.h"
#include "api/base/signals.h"

namespace maniple::devcluster {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

// OpenSSL calls it with the protocols that the client offers: we speak one.
int ChooseHttp1(SSL*, const unsigned char** out, unsigned char* out_length,
                const unsigned char* offered, unsigned int offered_length, void*) {
  static constexpr unsigned char kHttp1[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_length, kHttp1, sizeof kHttp1 - 1, offered,
                                          offered_length);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

absl::StatusOr<std::unique_ptr<asio::ssl::context>> MakeTlsContext(const TlsIdentity& identity) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  Error error;
  const std::string chain =
      absl::StrCat(identity.server_certificate, identity.authority_certificate);
  context->use_certificate_chain(asio::buffer(chain), error);
  if (!error) {
    context->use_private_key(asio::buffer(identity.server_key.Reveal()), asio::ssl::context::pem,
                             error);
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat("TLS identity: ", error.message()));
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), ChooseHttp1, nullptr);
  return context;
}

asio::steady_timer::duration TimerWait(absl::Duration wait) {
  const absl::Duration bounded = std::clamp(wait, absl::ZeroDuration(), absl::Hours(1));
  return absl::ToChronoNanoseconds(bounded);
}

// The socket of one connection: keeps a read and a write going as the machine wants them.
//
// Owned by the shell's list until it is closed and none of its operations is pending.
class Socket {
 public:
  virtual ~Socket() = default;
  virtual void Start() = 0;
  // Writes what the machine has to send; closes what is to be closed.
  virtual void Drive() = 0;
  virtual HttpConnection& connection() = 0;
  [[nodiscard]] virtual absl::Time deadline() const = 0;
};

// What the shell does with its sockets.
class SocketOwner {
 public:
  virtual ~SocketOwner() = default;
  [[nodiscard]] virtual absl::Time Now() const = 0;
  // Nothing is pending on it any more: destroys it.
  virtual void Done(Socket& socket) = 0;
};

// `Stream` is tcp::socket or ssl::stream<tcp::socket>.
template <typename Stream>
class StreamSocket final : public Socket {
 public:
  StreamSocket(Stream stream, SocketOwner& owner, std::unique_ptr<HttpConnection> connection)
      : stream_(std::move(stream)), owner_(owner), connection_(std::move(connection)) {}

  void Start() override {
    Error ignored;
    stream_.lowest_layer().set_option(tcp::no_delay(true), ignored);
    if constexpr (std::is_same_v<Stream, tcp::socket>) {
      Read();
    } else {
      handshake_until_ = owner_.Now() + absl::Seconds(10);
      reading_ = true;
      stream_.async_handshake(Stream::server, [this](const Error& error) {
        reading_ = false;
        handshake_until_ = absl::InfiniteFuture();
        if (error) connection_->Close();
        Drive();
      });
    }
  }

  void Drive() override {
    switch (connection_->fate()) {
      case HttpConnection::Fate::kOpen:
        break;
      case HttpConnection::Fate::kDraining:
        // Closing a socket with unread input resets it, and the client may lose the reply.
        stream_.lowest_layer().shutdown(tcp::socket::shutdown_send, ignored_);
        break;
      case HttpConnection::Fate::kClosed:
        stream_.lowest_layer().close(ignored_);
        if (!reading_ && !writing_) owner_.Done(*this);  // the last act: `this` is gone
        return;
    }
    if (!writing_ && !connection_->Unsent().empty()) Write();
    if (!reading_) Read();
  }

  HttpConnection& connection() override { return *connection_; }
  [[nodiscard]] absl::Time deadline() const override {
    return std::min(handshake_until_, connection_->deadline());
  }

 private:
  void Read() {
    reading_ = true;
    stream_.async_read_some(asio::buffer(block_), [this](const Error& error, size_t bytes) {
      reading_ = false;
      if (error) {
        connection_->Close();
      } else {
        connection_->Received(absl::string_view(block_.data(), bytes), owner_.Now());
      }
      Drive();
    });
  }

  void Write() {
    writing_ = true;
    const absl::string_view unsent = connection_->Unsent();
    stream_.async_write_some(asio::buffer(unsent.data(), unsent.size()),
                             [this](const Error& error, size_t bytes) {
                               writing_ = false;
                               if (error) {
                                 connection_->Close();
                               } else {
                                 connection_->Sent(bytes, owner_.Now());
                               }
                               Drive();
                             });
  }

  Stream stream_;
  SocketOwner& owner_;
  const std::unique_ptr<HttpConnection> connection_;
  std::array<char, 16 * 1024> block_;
  bool reading_ = false;
  bool writing_ = false;
  absl::Time handshake_until_ = absl::InfiniteFuture();
  Error ignored_;
};

}  // namespace

class HttpShell::Impl final : public ConnectionHost, public SocketOwner {
 public:
  Impl(const HttpShellOptions& options, ApiServer& server, const Clock& clock)
      : options_(options),
        server_(server),
        clock_(clock),
        acceptor_(io_),
        accept_pause_(io_),
        due_(io_),
        sweep_(io_),
        signals_(io_) {}

  absl::Status Open() {
    if (options_.tls != nullptr) {
      absl::StatusOr<std::unique_ptr<asio::ssl::context>> context = MakeTlsContext(*options_.tls);
      if (!context.ok()) return context.status();
      tls_ = *std::move(context);
    }
    options_.tls = nullptr;  // borrowed until here
    Error error;
    const auto found = tcp::resolver(io_).resolve(
        options_.host, std::to_string(options_.port),
        tcp::resolver::passive | tcp::resolver::address_configured, error);
    const auto any = error
                         ? tcp::resolver(io_).resolve(options_.host, std::to_string(options_.port),
                                                      tcp::resolver::passive, error)
                         : found;
    if (error || any.empty()) return NoAddress(error);
    const tcp::endpoint endpoint = any.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return NoAddress(error);
    Accept();
    ArmDue();
    ArmSweep();
    return absl::OkStatus();
  }

  [[nodiscard]] uint16_t port() const {
    Error error;
    return acceptor_.local_endpoint(error).port();
  }

  void Run() { io_.run(); }
  void Stop() { io_.stop(); }

  void StopOnSignals() {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    if (!IsIgnored(SIGHUP)) signals_.add(SIGHUP);
    signals_.async_wait([this](const Error& error, int) {
      if (!error) Stop();
    });
  }

  // ConnectionHost:
  ApiReply Answer(const ApiRequest& request, HttpConnection& from) override {
    VLOG(2) << request.method << " " << request.target;
    ApiReply reply = server_.Handle(request, clock_.Now());
    if (reply.watch.valid()) watchers_[reply.watch] = &from;
    AfterServer();
    return reply;
  }

  std::optional<std::string> Authenticate(absl::string_view authorization) override {
    if (options_.tokens.empty()) return "admin";
    if (!absl::ConsumePrefix(&authorization, "Bearer ")) return std::nullopt;
    const auto found = options_.tokens.find(std::string(authorization));
    if (found == options_.tokens.end()) return std::nullopt;
    return found->second;
  }

  void WatchLeft(WatchId watch) override {
    watchers_.erase(watch);
    server_.CloseWatch(watch);
  }

  // SocketOwner:
  [[nodiscard]] absl::Time Now() const override { return clock_.Now(); }
  void Done(Socket& socket) override {
    const auto found = sockets_.find(&socket.connection());
    const std::unique_ptr<Socket> gone = std::move(found->second);
    sockets_.erase(found);
  }

 private:
  absl::Status NoAddress(const Error& error) const {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", options_.host, ":",
                                               options_.port, ": ",
                                               error ? error.message() : "no such address"));
  }

  void Accept() {
    acceptor_.async_accept([this](const Error& error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {  // out of file descriptors, say: try again when some may be free
        accept_pause_.expires_after(std::chrono::milliseconds(100));
        accept_pause_.async_wait([this](const Error& stopped) {
          if (!stopped) Accept();
        });
        return;
      }
      if (tls_ != nullptr) {
        Add(asio::ssl::stream<tcp::socket>(std::move(socket), *tls_));
      } else {
        Add(std::move(socket));
      }
      Accept();
    });
  }

  template <typename Stream>
  void Add(Stream stream) {
    auto connection = std::make_unique<HttpConnection>(*this, options_.limits);
    HttpConnection* const key = connection.get();
    auto socket =
        std::make_unique<StreamSocket<Stream>>(std::move(stream), *this, std::move(connection));
    Socket& started = *socket;
    sockets_.emplace(key, std::move(socket));
    started.Start();
  }

  // What a request or a deadline changed: watches may have output, the next deadline may be
  // another.
  void AfterServer() {
    ArmDue();
    if (pump_posted_) return;
    pump_posted_ = true;
    // After all requests that are ready now, so that a watch gets their events in one write.
    asio::post(io_, [this] {
      pump_posted_ = false;
      Pump();
    });
  }

  void Pump() {
    for (const WatchId watch : server_.ReadyWatches()) {
      const auto found = watchers_.find(watch);
      if (found == watchers_.end()) {
        server_.CloseWatch(watch);
        continue;
      }
      HttpConnection& connection = *found->second;
      const WatchOutput output = server_.TakeWatchOutput(watch);
      if (output.ended) watchers_.erase(found);
      connection.Deliver(output, clock_.Now());
      sockets_.at(&connection)->Drive();
    }
  }

  void ArmDue() {
    const absl::Time next = server_.NextDeadline();
    if (next == armed_for_) return;
    armed_for_ = next;
    if (next == absl::InfiniteFuture()) {
      due_.cancel();
      return;
    }
    due_.expires_after(TimerWait(next - clock_.Now()));
    due_.async_wait([this](const Error& error) {
      if (error) return;  // armed anew
      armed_for_ = absl::InfiniteFuture();
      server_.OnTime(clock_.Now());
      AfterServer();
    });
  }

  // One timer looks after the deadlines of all connections: they are coarse, and a timer each is
  // not free.
  void ArmSweep() {
    const absl::Duration shortest =
        std::min(options_.limits.request_deadline, options_.limits.write_deadline);
    sweep_.expires_after(TimerWait(std::min(absl::Seconds(1), shortest / 4)));
    sweep_.async_wait([this](const Error& error) {
      if (error) return;
      const absl::Time now = clock_.Now();
      std::vector<Socket*> late;  // closing changes the list
      for (const auto& [connection, socket] : sockets_) {
        if (socket->deadline() <= now) late.push_back(socket.get());
      }
      for (Socket* socket : late) {
        socket->connection().Close();
        socket->Drive();
      }
      ArmSweep();
    });
  }

  HttpShellOptions options_;
  ApiServer& server_;
  const Clock& clock_;
  asio::io_context io_{1};
  std::unique_ptr<asio::ssl::context> tls_;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_pause_;
  asio::steady_timer due_;
  asio::steady_timer sweep_;
  asio::signal_set signals_;
  absl::flat_hash_map<HttpConnection*, std::unique_ptr<Socket>> sockets_;
  absl::flat_hash_map<WatchId, HttpConnection*> watchers_;
  absl::Time armed_for_ = absl::InfiniteFuture();
  bool pump_posted_ = false;
};

HttpShell::HttpShell(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpShell::~HttpShell() = default;

absl::StatusOr<std::unique_ptr<HttpShell>> HttpShell::Listen(const HttpShellOptions& options,
                                                             ApiServer& server,
                                                             const Clock& clock) {
  auto impl = std::make_unique<Impl>(options, server, clock);
  if (absl::Status opened = impl->Open(); !opened.ok()) return opened;
  return std::unique_ptr<HttpShell>(new HttpShell(std::move(impl)));
}

uint16_t HttpShell::port() const { return impl_->port(); }
void HttpShell::Run() { impl_->Run(); }
void HttpShell::Stop() { impl_->Stop(); }
void HttpShell::StopOnSignals() { impl_->StopOnSignals(); }

}  // namespace maniple::devcluster
