#include "api/devcluster/shell/http_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {
namespace {

namespace http = boost::beast::http;

// A client that keeps a large buffer only because of one large reply does not need it for the next.
constexpr size_t kMostIdleCapacity = 256 * 1024;

// The end of a chunked body, "0\r\n\r\n". Beast asserts that it sees as much, so that less is held
// back: it is never all that comes.
constexpr size_t kLeastChunkedBytes = 5;

bool IsHealthCheck(absl::string_view target) {
  const absl::string_view path = target.substr(0, target.find('?'));
  return path == "/healthz" || path == "/livez" || path == "/readyz";
}

}  // namespace

struct HttpConnection::Parser {
  http::request_parser<http::string_body> request;
  size_t head_bytes = 0;  // read of it so far; Beast's own count depends on how they come
};

HttpConnection::HttpConnection(ConnectionHost& host, const HttpLimits& limits)
    : host_(host), limits_(limits) {}
HttpConnection::~HttpConnection() = default;

void HttpConnection::Received(absl::string_view bytes, absl::Time now) {
  if (fate() != Fate::kOpen || keep_alive_ == KeepAlive::kNo) return;  // read off and forgotten
  input_.append(bytes.data(), bytes.size());
  if (!busy()) return Advance(now);
  // Who pipelines behind a watch or a reply has to wait, and may not fill our memory meanwhile.
  if (input_.size() > limits_.most_head_bytes + limits_.most_body_bytes) Close();
}

void HttpConnection::Advance(absl::Time now) {
  while (!closed_ && !busy() && keep_alive_ == KeepAlive::kYes && !input_.empty()) {
    if (!ParseMore(now)) return;
  }
  if (!busy() && parser_ == nullptr) deadline_ = absl::InfiniteFuture();
}

// False when it takes more bytes to go on.
bool HttpConnection::ParseMore(absl::Time now) {
  if (parser_ == nullptr) {
    parser_ = std::make_unique<Parser>();
    parser_->request.header_limit(std::numeric_limits<uint32_t>::max());  // it is counted below
    parser_->request.body_limit(limits_.most_body_bytes);
    parser_->request.eager(false);  // stops behind the head, so that its size is known
    continued_ = false;
    deadline_ = now + limits_.request_deadline;
  }
  auto& request = parser_->request;
  if (request.is_header_done() && request.chunked() && input_.size() < kLeastChunkedBytes) {
    return false;
  }
  boost::system::error_code error;
  const bool in_head = !request.is_header_done();
  const size_t used = request.put(boost::asio::buffer(input_.data(), input_.size()), error);
  input_.erase(0, used);
  if (in_head) {
    parser_->head_bytes += used;
    const size_t unread = request.is_header_done() ? 0 : input_.size();
    const bool too_large = parser_->head_bytes + unread > limits_.most_head_bytes;
    if (too_large && (!error || error == http::error::need_more)) error = http::error::header_limit;
    request.eager(request.is_header_done());
  }
  if (error == http::error::body_limit) {
    Refuse(
        StatusReply(413, "RequestEntityTooLarge",
                    absl::StrCat("Request entity too large: limit is ", limits_.most_body_bytes)),
        now);
    return false;
  }
  if (error == http::error::header_limit) {
    Refuse(StatusReply(431, "BadRequest", "request head too large"), now);
    return false;
  }
  if (error && error != http::error::need_more) {
    Refuse(StatusReply(400, "BadRequest", "not an HTTP/1.1 request"), now);
    return false;
  }
  if (request.is_done()) {
    Answer(now);
    return true;
  }
  if (!continued_ && request.is_header_done() &&
      request.get()[http::field::expect] == "100-continue") {
    continued_ = true;
    absl::StrAppend(&in_flight_, "HTTP/1.1 100 Continue\r\n\r\n");
  }
  return !input_.empty() && used > 0;
}

void HttpConnection::Answer(absl::Time now) {
  const std::unique_ptr<Parser> parser = std::move(parser_);
  auto& message = parser->request.get();
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
    return Reply(StatusReply(401, "Unauthorized", "Unauthorized"), form, now);
  }
  request.user = user.value_or("system:anonymous");
  Reply(host_.Answer(request, *this), form, now);
}

void HttpConnection::Reply(const ApiReply& reply, BodyForm form, absl::Time now) {
  if (reply.watch.valid()) {
    watch_ = reply.watch;
    if (form == BodyForm::kHeadOnly) return Close();  // a stream has no length to tell
    AppendStreamHead(pending_, reply);
    if (!reply.body.empty()) AppendChunk(pending_, reply.body);
  } else {
    AppendReply(pending_, reply, keep_alive_, form);
  }
  Sent(0, now);
}

void HttpConnection::Refuse(const ApiReply& reply, absl::Time now) {
  parser_.reset();
  input_.clear();
  keep_alive_ = KeepAlive::kNo;
  Reply(reply, BodyForm::kWhole, now);
}

void HttpConnection::Deliver(const WatchOutput& output, absl::Time now) {
  if (closed_ || !watch_.valid()) return;
  const bool was_idle = Unsent().empty();
  if (!output.bytes.empty()) AppendChunk(pending_, output.bytes);
  if (output.ended) {
    AppendLastChunk(pending_);
    watch_ = WatchId();
  }
  if (was_idle) return Sent(0, now);
  if (pending_.size() > limits_.most_watch_backlog) Close();
}

absl::string_view HttpConnection::Unsent() const {
  return absl::string_view(in_flight_).substr(sent_);
}

void HttpConnection::Sent(size_t bytes, absl::Time now) {
  if (closed_) return;
  sent_ += bytes;
  if (sent_ == in_flight_.size()) {
    sent_ = 0;
    in_flight_.clear();
    if (in_flight_.capacity() > kMostIdleCapacity) in_flight_.shrink_to_fit();
    in_flight_.swap(pending_);
  }
  if (!Unsent().empty()) {
    deadline_ = now + limits_.write_deadline;
  } else if (keep_alive_ == KeepAlive::kNo && !watch_.valid()) {
    deadline_ = now + absl::Seconds(2);  // for the client to close first, so that it gets the reply
  } else {
    deadline_ = parser_ == nullptr ? absl::InfiniteFuture() : now + limits_.request_deadline;
    Advance(now);
  }
}

HttpConnection::Fate HttpConnection::fate() const {
  if (closed_) return Fate::kClosed;
  return keep_alive_ == KeepAlive::kNo && !busy() ? Fate::kDraining : Fate::kOpen;
}

void HttpConnection::Close() {
  if (closed_) return;
  closed_ = true;
  if (watch_.valid()) host_.WatchLeft(watch_);
  watch_ = WatchId();
}

}  // namespace maniple::devcluster
