#include "scheduler/app/http/http_outflow.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "scheduler/app/http/answer_headers.h"

namespace maniple {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;

constexpr std::chrono::seconds kLookAgain{1};

}  // namespace

HttpOutflow::HttpOutflow(PeerStream& stream, HttpHost& host, HttpTalk& talk,
                         std::weak_ptr<void> owner)
    : stream_(stream),
      host_(host),
      talk_(talk),
      owner_(std::move(owner)),
      look_again_(stream.get_executor()) {}

HttpOutflow::~HttpOutflow() { host_.gate().Return(sending_); }

void HttpOutflow::Start(const HttpPage& page, absl::Duration write) {
  source_ = page.open_stream();
  write_ = write;
  head_.version(11);
  SetHead(page, false, head_);
  head_.chunked(true);
  stream_.NeverExpire();
  WatchPeer();
  stream_.ExpireWhenStuck(write_);
  busy_ = true;
  http::async_write_header(stream_, serializer_,
                           [self = owner_.lock(), this](error_code error, size_t) { Sent(error); });
}

void HttpOutflow::News() {
  if (busy_ || source_ == nullptr) return;
  std::optional<HttpStream::Piece> piece = source_->Next(host_.Now());
  if (!piece.has_value()) return LookAgain();
  if (*piece == nullptr || !host_.gate().Take(*piece)) return End();
  sending_ = *std::move(piece);
  busy_ = true;
  stream_.ExpireWhenStuck(write_);
  asio::async_write(stream_, http::make_chunk(asio::buffer(sending_->data(), sending_->size())),
                    [self = owner_.lock(), this](error_code error, size_t) {
                      host_.gate().Return(std::exchange(sending_, nullptr));
                      Sent(error);
                    });
}

void HttpOutflow::Sent(error_code error) {
  busy_ = false;
  if (error) return talk_.Close();
  News();
}

void HttpOutflow::End() {
  source_ = nullptr;
  busy_ = true;
  stream_.ExpireWhenStuck(write_);
  asio::async_write(stream_, http::make_chunk_last(),
                    [self = owner_.lock(), this](error_code, size_t) { talk_.Close(); });
}

void HttpOutflow::LookAgain() {
  look_again_.expires_after(kLookAgain);
  look_again_.async_wait([self = owner_.lock(), this](error_code error) {
    if (!error) News();
  });
}

// It has nothing to say any more: whatever comes is its end.
void HttpOutflow::WatchPeer() {
  stream_.async_read_some(asio::buffer(unwanted_),
                          [self = owner_.lock(), this](error_code, size_t) {
                            source_ = nullptr;
                            look_again_.cancel();
                            talk_.Close();
                          });
}

}  // namespace maniple
