#include "scheduler/app/http/peer_stream.h"

#include <algorithm>

namespace maniple {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr int kMostSilences = 6;

}  // namespace

PeerStream::PeerStream(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : tcp_(std::move(socket)) {
  if (tls != nullptr) tls_.emplace(tcp_, *tls);
}

void PeerStream::Handshake(absl::AnyInvocable<void(beast::error_code)> done) {
  tls_->async_handshake(asio::ssl::stream_base::server, std::move(done));
}

void PeerStream::LimitUnread(int bytes) {
  beast::error_code ignored;
  tcp_.socket().set_option(asio::socket_base::send_buffer_size(bytes), ignored);
}

void PeerStream::ExpireAfter(absl::Duration time) {
  silence_ = absl::ZeroDuration();
  tcp_.expires_after(absl::ToChronoNanoseconds(time));
}

void PeerStream::ExpireWhenStuck(absl::Duration silence) {
  silence_ = silence;
  last_ = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(kMostSilences * silence);
}

void PeerStream::EndWriting() {
  beast::error_code ignored;
  tcp_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
}

void PeerStream::Close() {
  beast::error_code ignored;
  tcp_.socket().shutdown(asio::socket_base::shutdown_both, ignored);
  tcp_.socket().close(ignored);
}

void PeerStream::ReadRaw(asio::mutable_buffer buffer, Done done) {
  tcp_.async_read_some(buffer, std::move(done));
}

void PeerStream::Read(asio::mutable_buffer buffer, Done done) {
  if (!tls_.has_value()) return ReadRaw(buffer, std::move(done));
  tls_->async_read_some(buffer, std::move(done));
}

void PeerStream::Write(std::vector<asio::const_buffer> buffers, Done done) {
  if (silence_ > absl::ZeroDuration()) {
    tcp_.expires_at(
        std::min(last_, std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(silence_)));
  }
  if (!tls_.has_value()) return tcp_.async_write_some(buffers, std::move(done));
  tls_->async_write_some(buffers, std::move(done));
}

}  // namespace maniple
