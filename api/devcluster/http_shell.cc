#include "api/devcluster/http_shell.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/log.h"
#include "api/devcluster/http_connection.h"

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

}  // namespace

class HttpShell::Impl final : public ConnectionHost {
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
    const auto any = error ? tcp::resolver(io_).resolve(options_.host, std::to_string(options_.port),
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

  void Closed(HttpConnection& connection) override { connections_.erase(&connection); }
  [[nodiscard]] absl::Time Now() const override { return clock_.Now(); }
  [[nodiscard]] const HttpShellOptions& Options() const override { return options_; }

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
        Add(std::make_shared<StreamConnection<asio::ssl::stream<tcp::socket>>>(
            asio::ssl::stream<tcp::socket>(std::move(socket), *tls_), *this));
      } else {
        Add(std::make_shared<StreamConnection<tcp::socket>>(std::move(socket), *this));
      }
      Accept();
    });
  }

  void Add(std::shared_ptr<HttpConnection> connection) {
    HttpConnection& started = *connection;
    connections_.emplace(&started, std::move(connection));
    started.Start();
  }

  // What a request or a deadline changed: watches may have output, the next deadline may be another.
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
      HttpConnection* const connection = found->second;
      WatchOutput output = server_.TakeWatchOutput(watch);
      if (output.ended) watchers_.erase(found);
      connection->Deliver(std::move(output));
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

  // One timer looks after the deadlines of all connections: they are coarse, and a timer each is not free.
  void ArmSweep() {
    const absl::Duration shortest = std::min(options_.request_deadline, options_.write_deadline);
    sweep_.expires_after(TimerWait(std::min(absl::Seconds(1), shortest / 4)));
    sweep_.async_wait([this](const Error& error) {
      if (error) return;
      std::vector<std::shared_ptr<HttpConnection>> all;  // closing changes the list
      all.reserve(connections_.size());
      for (const auto& [key, connection] : connections_) all.push_back(connection);
      const absl::Time now = clock_.Now();
      for (const std::shared_ptr<HttpConnection>& connection : all) connection->CheckDeadline(now);
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
  absl::flat_hash_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
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
