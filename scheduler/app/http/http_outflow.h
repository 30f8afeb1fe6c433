// Sends a page that goes on, as chunks. Inside http_conversation.h only; on the thread of its
// endpoint.
//
// Part of a conversation, whose last page it is: when the pieces end, or the peer goes, it closes
// it. A pending operation keeps the conversation alive. A peer that reads no piece within the time
// for writing is closed; one that goes is noticed at once, since something is always being read.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "scheduler/app/http/answer_headers.h"
#include "scheduler/app/http/http_host.h"
#include "scheduler/app/http/http_page.h"

namespace maniple {

inline constexpr std::chrono::seconds kLookAgain{1};

template <typename Stream>
class HttpOutflow final {
 public:
  // All outlive it; `talk` is in `owner`.
  HttpOutflow(Stream& stream, HttpHost& host, HttpTalk& talk, std::weak_ptr<void> owner)
      : stream_(stream),
        host_(host),
        talk_(talk),
        owner_(std::move(owner)),
        look_again_(stream.get_executor()) {}
  ~HttpOutflow() { host_.gate().Return(sending_); }

  void Start(const HttpPage& page, absl::Duration write) {
    source_ = page.open_stream();
    write_ = write;
    head_.version(11);
    SetHead(page, false, head_);
    head_.chunked(true);
    boost::beast::get_lowest_layer(stream_).expires_never();
    WatchPeer();
    Within();
    busy_ = true;
    boost::beast::http::async_write_header(
        stream_, serializer_,
        [self = owner_.lock(), this](boost::beast::error_code error, size_t) { Sent(error); });
  }

  // There may be a next piece.
  void News() {
    if (busy_ || source_ == nullptr) return;
    std::optional<HttpStream::Piece> piece = source_->Next(host_.Now());
    if (!piece.has_value()) return LookAgain();
    if (*piece == nullptr || !host_.gate().Take(*piece)) return End();
    sending_ = *std::move(piece);
    busy_ = true;
    Within();
    boost::asio::async_write(
        stream_,
        boost::beast::http::make_chunk(boost::asio::buffer(sending_->data(), sending_->size())),
        [self = owner_.lock(), this](boost::beast::error_code error, size_t) {
          host_.gate().Return(std::exchange(sending_, nullptr));
          Sent(error);
        });
  }

 private:
  void Sent(boost::beast::error_code error) {
    busy_ = false;
    if (error) return talk_.Close();
    News();
  }

  void End() {
    source_ = nullptr;
    busy_ = true;
    Within();
    boost::asio::async_write(
        stream_, boost::beast::http::make_chunk_last(),
        [self = owner_.lock(), this](boost::beast::error_code, size_t) { talk_.Close(); });
  }

  void LookAgain() {
    look_again_.expires_after(kLookAgain);
    look_again_.async_wait([self = owner_.lock(), this](boost::beast::error_code error) {
      if (!error) News();
    });
  }

  // It has nothing to say any more: whatever comes is its end.
  void WatchPeer() {
    stream_.async_read_some(boost::asio::buffer(unwanted_),
                            [self = owner_.lock(), this](boost::beast::error_code, size_t) {
                              source_ = nullptr;
                              look_again_.cancel();
                              talk_.Close();
                            });
  }

  void Within() {
    boost::beast::get_lowest_layer(stream_).expires_after(absl::ToChronoNanoseconds(write_));
  }

  Stream& stream_;
  HttpHost& host_;
  HttpTalk& talk_;
  const std::weak_ptr<void> owner_;
  boost::asio::steady_timer look_again_;
  std::unique_ptr<HttpStream> source_;  // null: it has ended
  absl::Duration write_;                // a piece must be taken within
  boost::beast::http::response<boost::beast::http::empty_body> head_;
  boost::beast::http::response_serializer<boost::beast::http::empty_body> serializer_{head_};
  HttpStream::Piece sending_;  // counted by the gate
  bool busy_ = false;          // something is being written
  std::array<char, 64> unwanted_;
};

}  // namespace maniple
