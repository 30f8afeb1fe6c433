// The bytes to and from one peer, plain or over TLS, as an AsyncStream of Asio. Inside the files of
// HTTP conversations only; on the thread of their endpoint.
//
// Both kinds of stream are one type, and so is whoever waits for one: what is built on it is
// compiled once, and not once for each of them.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace maniple {

// Not final: Asio derives from a stream to find out what it is.
class PeerStream {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;
  using Done = absl::AnyInvocable<void(boost::beast::error_code, size_t)>;

  // Over TLS if there is a context, which is not needed afterwards.
  PeerStream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);
  PeerStream(const PeerStream&) = delete;
  PeerStream& operator=(const PeerStream&) = delete;

  [[nodiscard]] bool is_tls() const { return tls_.has_value(); }
  // Before anything else on a stream over TLS.
  void Handshake(absl::AnyInvocable<void(boost::beast::error_code)> done);

  // What the kernel holds of what the peer has not read.
  void LimitUnread(int bytes);
  // What is pending, and what comes after, fails when it is not done by then.
  void ExpireAfter(absl::Duration time);
  // Writes fail once the peer has taken nothing for so long, or not all within six times that.
  void ExpireWhenStuck(absl::Duration silence);
  void NeverExpire() { tcp_.expires_never(); }

  // No more is said to the peer; it may still be heard.
  void EndWriting();
  // Whatever is pending fails.
  void Close();

  executor_type get_executor() { return tcp_.get_executor(); }
  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    const auto first = boost::asio::buffer_sequence_begin(buffers);
    const bool is_empty = first == boost::asio::buffer_sequence_end(buffers);
    Read(is_empty ? boost::asio::mutable_buffer() : boost::asio::mutable_buffer(*first),
         Done(std::forward<Handler>(handler)));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    Write({boost::asio::buffer_sequence_begin(buffers), boost::asio::buffer_sequence_end(buffers)},
          Done(std::forward<Handler>(handler)));
  }

  // Past TLS: what comes is not understood.
  void ReadRaw(boost::asio::mutable_buffer buffer, Done done);

 private:
  void Read(boost::asio::mutable_buffer buffer, Done done);
  void Write(std::vector<boost::asio::const_buffer> buffers, Done done);

  boost::beast::tcp_stream tcp_;
  absl::Duration silence_;  // zero: a write does not put the end off
  std::chrono::steady_clock::time_point last_;
  std::optional<boost::beast::ssl_stream<boost::beast::tcp_stream&>> tls_;
};

}  // namespace maniple
