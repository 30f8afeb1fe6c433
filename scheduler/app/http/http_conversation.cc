#include "scheduler/app/http/http_conversation.h"

#include <utility>

#include "scheduler/app/http/answer_headers.h"
#include "scheduler/app/http/http_gate.h"
#include "scheduler/app/http/http_refusals.h"
#include "scheduler/app/http/question_headers.h"

namespace maniple {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

}  // namespace

HttpConversation::HttpConversation(boost::asio::ip::tcp::socket socket,
                                   boost::asio::ssl::context* tls, std::string address,
                                   const HttpLimits& limits, HttpHost& host)
    : stream_(std::move(socket), tls),
      address_(std::move(address)),
      limits_(limits),
      host_(host),
      patience_(stream_.get_executor()) {
  host_.Joined(*this);
}

HttpConversation::~HttpConversation() {
  host_.gate().Return(sending_);
  if (outflow_.has_value()) host_.gate().LeaveStream(address_);
  host_.gate().Leave(address_);
  host_.Left(*this);
}

void HttpConversation::Start() {
  stream_.LimitUnread(kSendBufferBytes);
  if (!stream_.is_tls()) return Read();
  idle_since_ = host_.Now();
  stream_.ExpireAfter(limits_.handshake);
  stream_.Handshake([self = shared_from_this()](error_code error) {
    if (error) return self->Close();
    self->Read();
  });
}

void HttpConversation::AskAgain() {
  if (question_.has_value()) return Ask();
  if (outflow_.has_value()) outflow_->News();
}

void HttpConversation::Close() {
  idle_since_ = absl::InfiniteFuture();  // not to be closed for others a second time
  stream_.Close();
}

void HttpConversation::Read() {
  Bound(parser_.emplace());
  idle_since_ = host_.Now();
  stream_.ExpireAfter(limits_.request);
  // Nobody needs chunks to ask something here, and Beast asserts that they do not come by bytes.
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, size_t) {
                            if (error) return self->Refuse(RefusalOf(error));
                            if (self->parser_->chunked()) return self->Refuse(RefusalOfChunks());
                            self->ReadBody();
                          });
}

void HttpConversation::ReadBody() {
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, size_t) {
                     if (error) return self->Refuse(RefusalOf(error));
                     self->idle_since_ = absl::InfiniteFuture();
                     self->Heard();
                   });
}

void HttpConversation::Refuse(std::optional<HttpPage> page) {
  if (!page.has_value()) return Close();
  hearing_out_.emplace(stream_, *this, weak_from_this());
  Send(*std::move(page));
}

void HttpConversation::Heard() {
  const auto& request = parser_->get();
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    return Send(TextPage(405, "only GET is served here\n"));
  }
  const auto host = request[http::field::host];
  question_ = HttpQuestion{.target = std::string(request.target().data(), request.target().size()),
                           .host = std::string(host.data(), host.size()),
                           .token = TokenIn(request),
                           .accepts_gzip = AcceptsGzip(request),
                           .asked_at = host_.Now()};
  patience_.expires_after(absl::ToChronoNanoseconds(limits_.answer));
  patience_.async_wait([self = shared_from_this()](error_code error) {
    if (error || !self->question_.has_value()) return;
    self->question_.reset();
    self->Send(TextPage(503, "the scheduler did not answer in time\n"));
  });
  Ask();
}

void HttpConversation::Ask() {
  std::optional<HttpPage> page = host_.Answer(*question_);
  if (!page.has_value()) return;  // asked again when the endpoint is told that there is news
  question_.reset();
  patience_.cancel();
  Send(*std::move(page));
}

void HttpConversation::Send(HttpPage page) {
  const auto& request = parser_->get();
  const bool only_head = request.method() == http::verb::head;
  const size_t bytes_of_get = page.body == nullptr ? 0 : page.body->size();
  if (only_head) page.body = nullptr;
  if (only_head) page.open_stream = nullptr;
  if (page.open_stream != nullptr && !host_.gate().EnterStream(address_)) {
    page = TextPage(503, "too many streams are open; try again in a few seconds\n");
  }
  if (page.open_stream != nullptr) {
    outflow_.emplace(stream_, host_, *this, weak_from_this());
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
  if (only_head) response_.content_length(bytes_of_get);
  stream_.ExpireWhenStuck(limits_.write);
  http::async_write(stream_, response_,
                    [self = shared_from_this()](error_code error, size_t) { self->Sent(error); });
}

void HttpConversation::Sent(error_code error) {
  host_.gate().Return(std::exchange(sending_, nullptr));
  if (!error && hearing_out_.has_value()) {
    idle_since_ = host_.Now();
    return hearing_out_->Start(limits_.request);
  }
  if (error || !response_.keep_alive()) return Close();
  Read();
}

}  // namespace maniple
