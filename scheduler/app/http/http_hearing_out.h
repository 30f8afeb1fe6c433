// The end of a conversation whose peer was refused before it had said all. Inside http_endpoint.cc
// only; on the thread of its endpoint.
//
// Who closes with bytes unread resets the connection, and the reset overtakes the last answer
// (RFC 9112, 9.6). So nothing more is sent, and what comes is thrown away until the peer goes too.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "scheduler/app/http/http_host.h"

namespace maniple {

template <typename Stream>
class HttpHearingOut final {
 public:
  // `stream` outlives it; `talk` is in `owner`, which lives as long as something is pending.
  HttpHearingOut(Stream& stream, HttpTalk& talk, std::weak_ptr<void> owner)
      : tcp_(boost::beast::get_lowest_layer(stream)), talk_(talk), owner_(std::move(owner)) {}

  // Closes the talk when the peer has gone, has said too much more, or has had its time.
  void Start(absl::Duration time) {
    boost::beast::error_code ignored;
    tcp_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    tcp_.expires_after(absl::ToChronoNanoseconds(time));
    Read(kMostBytes);
  }

 private:
  static constexpr size_t kMostBytes = 1024 * 1024;

  void Read(size_t most) {
    tcp_.async_read_some(
        boost::asio::buffer(unwanted_),
        [self = owner_.lock(), this, most](boost::beast::error_code error, size_t bytes) {
          if (error || bytes >= most) return talk_.Close();
          Read(most - bytes);
        });
  }

  boost::beast::tcp_stream& tcp_;
  HttpTalk& talk_;
  const std::weak_ptr<void> owner_;
  std::array<char, 4096> unwanted_;
};

}  // namespace maniple
