// One connection of the HTTP surface: a request, its answer, the next request. Inside
// http_endpoint.cc only; on the thread of its endpoint.
//
// It lives as long as an operation on its stream or its timer is pending. Each step has a deadline,
// and what is sent is counted by the gate: a peer that is slow, silent or hostile costs one place.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "scheduler/app/http/answer_headers.h"
#include "scheduler/app/http/http_gate.h"
#include "scheduler/app/http/http_hearing_out.h"
#include "scheduler/app/http/http_host.h"
#include "scheduler/app/http/http_limits.h"
#include "scheduler/app/http/http_outflow.h"
#include "scheduler/app/http/http_page.h"
#include "scheduler/app/http/http_refusals.h"
#include "scheduler/app/http/question_headers.h"

namespace maniple {

// `Stream` is beast::tcp_stream or a TLS stream over one.
template <typename Stream>
class HttpConversation final : public HttpTalk,
                               public std::enable_shared_from_this<HttpConversation<Stream>> {
 public:
  HttpConversation(Stream stream, std::string address, const HttpLimits& limits, HttpHost& host)
      : stream_(std::move(stream)),
        address_(std::move(address)),
        limits_(limits),
        host_(host),
        patience_(stream_.get_executor()) {
    host_.Joined(*this);
  }
  ~HttpConversation() override {
    host_.gate().Return(sending_);
    if (outflow_.has_value()) host_.gate().LeaveStream(address_);
    host_.gate().Leave(address_);
    host_.Left(*this);
  }

  void Start() {
    boost::beast::error_code ignored;
    Socket().set_option(boost::asio::socket_base::send_buffer_size(kSendBufferBytes), ignored);
    if constexpr (std::is_same_v<Stream, boost::beast::tcp_stream>) {
      Read();
    } else {
      idle_since_ = host_.Now();
      Within(limits_.handshake);
      stream_.async_handshake(Stream::server,
                              [self = this->shared_from_this()](boost::beast::error_code error) {
                                if (error) return self->Close();
                                self->Read();
                              });
    }
  }

  [[nodiscard]] absl::Time idle_since() const override { return idle_since_; }
  void AskAgain() override {
    if (question_.has_value()) return Ask();
    if (outflow_.has_value()) outflow_->News();
  }
  void Close() override {
    boost::beast::error_code ignored;
    idle_since_ = absl::InfiniteFuture();  // not to be closed for others a second time
    Socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
    Socket().close(ignored);
  }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::span_body<const char>>;

  [[nodiscard]] boost::asio::ip::tcp::socket& Socket() {
    return boost::beast::get_lowest_layer(stream_).socket();
  }
  void Within(absl::Duration time) {
    boost::beast::get_lowest_layer(stream_).expires_after(absl::ToChronoNanoseconds(time));
  }

  void Read() {
    Bound(parser_.emplace());
    idle_since_ = host_.Now();
    Within(limits_.request);
    // Nobody needs chunks to ask something here, and Beast asserts that they do not come by bytes.
    boost::beast::http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](boost::beast::error_code error, size_t) {
          if (error) return self->Refuse(RefusalOf(error));
          if (self->parser_->chunked()) return self->Refuse(RefusalOfChunks());
          self->ReadBody();
        });
  }

  void ReadBody() {
    boost::beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](boost::beast::error_code error, size_t) {
          if (error) return self->Refuse(RefusalOf(error));
          self->idle_since_ = absl::InfiniteFuture();
          self->Heard();
        });
  }

  // The last answer, to a request that was not read to its end.
  void Refuse(std::optional<HttpPage> page) {
    if (!page.has_value()) return Close();
    hearing_out_.emplace(stream_, *this, this->weak_from_this());
    Send(*std::move(page));
  }

  void Heard() {
    const auto& request = parser_->get();
    if (request.method() != boost::beast::http::verb::get &&
        request.method() != boost::beast::http::verb::head) {
      return Send(TextPage(405, "only GET is served here\n"));
    }
    question_ =
        HttpQuestion{.target = std::string(request.target().data(), request.target().size()),
                     .token = TokenIn(request),
                     .accepts_gzip = AcceptsGzip(request),
                     .asked_at = host_.Now()};
    patience_.expires_after(absl::ToChronoNanoseconds(limits_.answer));
    patience_.async_wait([self = this->shared_from_this()](boost::beast::error_code error) {
      if (error || !self->question_.has_value()) return;
      self->question_.reset();
      self->Send(TextPage(503, "the scheduler did not answer in time\n"));
    });
    Ask();
  }

  void Ask() {
    std::optional<HttpPage> page = host_.Answer(*question_);
    if (!page.has_value()) return;  // asked again when the endpoint is told that there is news
    question_.reset();
    patience_.cancel();
    Send(*std::move(page));
  }

  void Send(HttpPage page) {
    const auto& request = parser_->get();
    const bool only_head = request.method() == boost::beast::http::verb::head;
    if (only_head) page.body = nullptr;
    if (only_head) page.open_stream = nullptr;
    if (page.open_stream != nullptr && !host_.gate().EnterStream(address_)) {
      page = TextPage(503, "too many streams are open; try again in a few seconds\n");
    }
    if (page.open_stream != nullptr) {
      outflow_.emplace(stream_, host_, *this, this->weak_from_this());
      return outflow_->Start(page, limits_.write);
    }
    if (!host_.gate().Take(page.body)) {
      page = TextPage(503, "too much is being read by others; try again in a few seconds\n");
    }
    sending_ = page.body;
    response_ = {};
    response_.version(request.version());
    SetHead(page, request.keep_alive() && !hearing_out_.has_value(), response_);
    if (sending_ != nullptr) response_.body() = {sending_->data(), sending_->size()};
    response_.prepare_payload();
    Within(limits_.write);
    boost::beast::http::async_write(
        stream_, response_,
        [self = this->shared_from_this()](boost::beast::error_code error, size_t) {
          self->host_.gate().Return(std::exchange(self->sending_, nullptr));
          if (!error && self->hearing_out_.has_value()) {
            self->idle_since_ = self->host_.Now();
            return self->hearing_out_->Start(self->limits_.request);
          }
          if (error || !self->response_.keep_alive()) return self->Close();
          self->Read();
        });
  }

  Stream stream_;
  const std::string address_;
  const HttpLimits limits_;
  HttpHost& host_;
  boost::asio::steady_timer patience_;  // until an answer must be there
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::optional<HttpQuestion> question_;        // without an answer yet
  std::shared_ptr<const std::string> sending_;  // counted by the gate
  Response response_;
  std::optional<HttpOutflow<Stream>> outflow_;         // of a page that goes on; it is the last one
  std::optional<HttpHearingOut<Stream>> hearing_out_;  // after a refusal
  absl::Time idle_since_ = absl::InfiniteFuture();
};

}  // namespace maniple
