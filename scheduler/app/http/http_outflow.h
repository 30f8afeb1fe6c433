// Sends a page that goes on, as chunks. Inside the files of HTTP conversations only; on the thread
// of its endpoint.
//
// Part of a conversation, whose last page it is: when the pieces end, or the peer goes, it closes
// it. A pending operation keeps the conversation alive. A peer that reads nothing within the time
// for writing is closed; one that goes is noticed at once, since something is always being read.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http.hpp>
#include <memory>

#include "absl/time/time.h"
#include "scheduler/app/http/http_host.h"
#include "scheduler/app/http/http_page.h"
#include "scheduler/app/http/peer_stream.h"

namespace maniple {

class HttpOutflow final {
 public:
  // All outlive it; `talk` is in `owner`.
  HttpOutflow(PeerStream& stream, HttpHost& host, HttpTalk& talk, std::weak_ptr<void> owner);
  ~HttpOutflow();

  // Some of each piece must be taken within `write`: see PeerStream::ExpireWhenStuck.
  void Start(const HttpPage& page, absl::Duration write);
  // There may be a next piece.
  void News();

 private:
  void Sent(boost::beast::error_code error);
  void End();
  void LookAgain();
  void WatchPeer();

  PeerStream& stream_;
  HttpHost& host_;
  HttpTalk& talk_;
  const std::weak_ptr<void> owner_;
  boost::asio::steady_timer look_again_;
  std::unique_ptr<HttpStream> source_;  // null: it has ended
  absl::Duration write_;
  boost::beast::http::response<boost::beast::http::empty_body> head_;
  boost::beast::http::response_serializer<boost::beast::http::empty_body> serializer_{head_};
  HttpStream::Piece sending_;  // counted by the gate
  bool busy_ = false;          // something is being written
  std::array<char, 64> unwanted_;
};

}  // namespace maniple
