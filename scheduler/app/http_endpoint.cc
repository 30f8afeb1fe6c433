#include "scheduler/app/http_endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "scheduler/app/address.h"

namespace maniple {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

constexpr std::chrono::seconds kIdle{30};
constexpr std::uint32_t kMaxHeaderBytes = 16 * 1024;
constexpr std::uint64_t kMaxBodyBytes = 4 * 1024;

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const HttpEndpoint::Handler& handler)
      : stream_(std::move(socket)), handler_(handler) {}

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(kMaxBodyBytes);
    stream_.expires_after(kIdle);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, size_t) {
                       if (error) return self->Close();
                       self->Answer();
                     });
  }

 private:
  void Answer() {
    const http::request<http::string_body>& request = parser_->get();
    HttpPage page;
    if (request.method() == http::verb::get || request.method() == http::verb::head) {
      page = handler_(absl::string_view(request.target().data(), request.target().size()));
    } else {
      page = {.status = 405, .body = "only GET is served here\n"};
    }
    response_ = {};
    response_.version(request.version());
    response_.result(static_cast<unsigned>(page.status));
    response_.set(http::field::content_type, page.content_type);
    response_.keep_alive(request.keep_alive());
    if (request.method() != http::verb::head) response_.body() = std::move(page.body);
    response_.prepare_payload();
    stream_.expires_after(kIdle);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](beast::error_code error, size_t) {
                        if (error || !self->response_.keep_alive()) return self->Close();
                        self->Read();
                      });
  }
  void Close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  const HttpEndpoint::Handler& handler_;
};

}  // namespace

class HttpEndpoint::Impl final {
 public:
  explicit Impl(Handler handler) : handler_(std::move(handler)), acceptor_(context_) {}
  ~Impl() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const std::string& host, const std::string& port) {
    beast::error_code error;
    tcp::resolver resolver(context_);
    const auto found = resolver.resolve(
        host, port, tcp::resolver::passive | tcp::resolver::numeric_service, error);
    if (error || found.empty()) return Failed(host, port, error);
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return Failed(host, port, error);
    Accept();
    thread_ = std::thread([this] { context_.run(); });
    return absl::OkStatus();
  }
  [[nodiscard]] uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  static absl::Status Failed(const std::string& host, const std::string& port,
                             const beast::error_code& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", host, ":", port, ": ", error.message()));
  }
  void Accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!error) std::make_shared<Connection>(std::move(socket), handler_)->Read();
      if (acceptor_.is_open()) Accept();
    });
  }

  const Handler handler_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Start(absl::string_view address,
                                                                  Handler handler) {
  ASSIGN_OR_RETURN(const ListenAddress place, ParseListenAddress(address));
  auto impl = std::make_unique<Impl>(std::move(handler));
  RETURN_IF_ERROR(
      impl->Listen(place.host.empty() ? "0.0.0.0" : place.host, absl::StrCat(place.port)));
  return std::unique_ptr<HttpEndpoint>(new HttpEndpoint(std::move(impl)));
}

HttpEndpoint::HttpEndpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpEndpoint::~HttpEndpoint() = default;
uint16_t HttpEndpoint::port() const { return impl_->port(); }

}  // namespace maniple
