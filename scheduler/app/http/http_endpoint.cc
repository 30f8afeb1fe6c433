#include "scheduler/app/http/http_endpoint.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/base/status_macros.h"
#include "scheduler/app/config/address.h"
#include "scheduler/app/http/http_conversation.h"
#include "scheduler/app/http/http_host.h"
#include "scheduler/app/http/tls_context.h"

namespace maniple {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr absl::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n\r\n"
    "too many connections\n";

std::string AddressOf(const tcp::socket& socket) {
  beast::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  return error ? "" : peer.address().to_string();
}

// A short word where the socket takes it at once, and the end.
void SayTooMany(tcp::socket& socket) {
  beast::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.send(asio::buffer(kTooMany.data(), kTooMany.size()), 0, ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  // What has come is taken: a socket that is closed with unread input takes its last words back.
  std::array<char, 4096> unread;
  socket.receive(asio::buffer(unread), 0, ignored);
}

}  // namespace

class HttpEndpoint::Impl final : public HttpHost {
 public:
  explicit Impl(const HttpEndpointOptions& options)
      : limits_(options.limits), gate_(options.limits.gate) {}
  ~Impl() override { Stop(); }
  void Stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const TlsFiles& tls, const std::string& host, const std::string& port) {
    if (tls.given()) {
      ASSIGN_OR_RETURN(tls_, TlsContext::Load(tls));
    }
    if (!host.empty()) return Bind(host, port);
    // Every address of this machine: of both families, or of IPv4 where the kernel knows no other.
    return Bind("::", port).ok() ? absl::OkStatus() : Bind("0.0.0.0", port);
  }
  void Serve(Handler handler) {
    handler_ = std::move(handler);
    Accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  [[nodiscard]] uint16_t port() const { return acceptor_.local_endpoint().port(); }
  [[nodiscard]] HttpCounters counters() const { return gate_.counters(); }

  void Recheck() {
    if (recheck_posted_.exchange(true)) return;
    asio::post(context_, [this] {
      recheck_posted_ = false;
      for (HttpTalk* talk : talks_) talk->AskAgain();  // ends none before we return
    });
  }

  // HttpHost:
  std::optional<HttpPage> Answer(const HttpQuestion& question) override {
    return handler_(question);
  }
  [[nodiscard]] absl::Time Now() const override { return RealClock().Now(); }
  HttpGate& gate() override { return gate_; }
  void Joined(HttpTalk& talk) override { talks_.insert(&talk); }
  void Left(HttpTalk& talk) override { talks_.erase(&talk); }

 private:
  absl::Status Bind(const std::string& host, const std::string& port) {
    beast::error_code error;
    acceptor_.close(error);  // of an address that could not be had
    tcp::resolver resolver(context_);
    const auto found = resolver.resolve(
        host, port, tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error || found.empty()) return Failed(host, port, error);
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    // By the same socket, whatever the machine's default is.
    if (!error && endpoint.address() == asio::ip::address_v6::any()) {
      acceptor_.set_option(asio::ip::v6_only(false), error);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error ? Failed(host, port, error) : absl::OkStatus();
  }
  static absl::Status Failed(const std::string& host, const std::string& port,
                             const beast::error_code& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", host, ":", port, ": ", error.message()));
  }

  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return Pause();
      Admit(std::move(socket));
      Accept();
    });
  }

  // Out of descriptors, say: whoever is in line stays there until some may be free.
  void Pause() {
    gate_.CountPause();
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait([this](beast::error_code error) {
      if (!error) Accept();
    });
  }

  void Admit(tcp::socket socket) {
    std::string address = AddressOf(socket);
    switch (gate_.Enter(address)) {
      case HttpGate::Entry::kOpen:
        break;
      case HttpGate::Entry::kAddressFull:
        return Refuse(std::move(socket));
      case HttpGate::Entry::kFull:
        if (!CloseLongestIdle()) return Refuse(std::move(socket));
        gate_.Displace(address);
        break;
    }
    std::make_shared<HttpConversation>(std::move(socket),
                                       tls_ == nullptr ? nullptr : &tls_->Current(Now()),
                                       std::move(address), limits_, *this)
        ->Start();
  }

  void Refuse(tcp::socket socket) {
    gate_.CountRefusal();
    if (tls_ == nullptr) SayTooMany(socket);
  }

  // False: everybody is being answered.
  bool CloseLongestIdle() {
    const auto longest = std::min_element(
        talks_.begin(), talks_.end(),
        [](const HttpTalk* a, const HttpTalk* b) { return a->idle_since() < b->idle_since(); });
    if (longest == talks_.end() || (*longest)->idle_since() == absl::InfiniteFuture()) return false;
    (*longest)->Close();
    return true;
  }

  // Constant while it serves.
  const HttpLimits limits_;
  Handler handler_;  // since Serve()

  // The endpoint's thread. They outlive the context, whose pending operations own conversations.
  HttpGate gate_;
  std::unique_ptr<TlsContext> tls_;  // null: plain HTTP
  absl::flat_hash_set<HttpTalk*> talks_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer accept_pause_{context_};

  std::atomic<bool> recheck_posted_{false};
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Listen(
    const HttpEndpointOptions& options) {
  ASSIGN_OR_RETURN(const ListenAddress place, ParseListenAddress(options.address));
  auto impl = std::make_unique<Impl>(options);
  RETURN_IF_ERROR(impl->Listen(options.tls, place.host, absl::StrCat(place.port)));
  return std::unique_ptr<HttpEndpoint>(new HttpEndpoint(std::move(impl)));
}

HttpEndpoint::HttpEndpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpEndpoint::~HttpEndpoint() = default;
void HttpEndpoint::Serve(Handler handler) { impl_->Serve(std::move(handler)); }
void HttpEndpoint::Stop() { impl_->Stop(); }
uint16_t HttpEndpoint::port() const { return impl_->port(); }
void HttpEndpoint::Recheck() { impl_->Recheck(); }
HttpCounters HttpEndpoint::counters() const { return impl_->counters(); }

}  // namespace maniple
