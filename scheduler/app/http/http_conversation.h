// One connection of the HTTP surface: a request, its answer, the next request. Inside
// http_endpoint.cc only; on the thread of its endpoint.
//
// It lives as long as an operation on its stream or its timer is pending. Each step has a deadline,
// and what is sent is counted by the gate: a peer that is slow, silent or hostile costs one place.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "scheduler/app/http/http_hearing_out.h"
#include "scheduler/app/http/http_host.h"
#include "scheduler/app/http/http_limits.h"
#include "scheduler/app/http/http_outflow.h"
#include "scheduler/app/http/http_page.h"
#include "scheduler/app/http/peer_stream.h"

namespace maniple {

class HttpConversation final : public HttpTalk,
                               public std::enable_shared_from_this<HttpConversation> {
 public:
  // Over TLS if there is a context, which is not needed afterwards. `address` has entered the gate.
  HttpConversation(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
                   std::string address, const HttpLimits& limits, HttpHost& host);
  ~HttpConversation() override;

  void Start();

  [[nodiscard]] absl::Time idle_since() const override { return idle_since_; }
  void AskAgain() override;
  void Close() override;

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::span_body<const char>>;

  void Read();
  void ReadBody();
  void Heard();
  void Ask();
  // The last answer, to a request that was not read to its end; nothing: there is nobody to tell.
  void Refuse(std::optional<HttpPage> page);
  void Send(HttpPage page);
  void Sent(boost::beast::error_code error);

  PeerStream stream_;
  const std::string address_;
  const HttpLimits limits_;
  HttpHost& host_;
  boost::asio::steady_timer patience_;  // until an answer must be there
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::optional<HttpQuestion> question_;        // without an answer yet
  std::shared_ptr<const std::string> sending_;  // counted by the gate
  Response response_;
  std::optional<HttpOutflow> outflow_;         // of a page that goes on; it is the last one
  std::optional<HttpHearingOut> hearing_out_;  // after a refusal
  absl::Time idle_since_ = absl::InfiniteFuture();
};

}  // namespace maniple
