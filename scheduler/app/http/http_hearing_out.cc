#include "scheduler/app/http/http_hearing_out.h"

#include <utility>

namespace maniple {
namespace {

constexpr size_t kMostBytes = 1024 * 1024;

}  // namespace

HttpHearingOut::HttpHearingOut(PeerStream& stream, HttpTalk& talk, std::weak_ptr<void> owner)
    : stream_(stream), talk_(talk), owner_(std::move(owner)) {}

void HttpHearingOut::Start(absl::Duration time) {
  stream_.EndWriting();
  stream_.ExpireAfter(time);
  Read(kMostBytes);
}

void HttpHearingOut::Read(size_t most) {
  stream_.ReadRaw(boost::asio::buffer(unwanted_),
                  [self = owner_.lock(), this, most](boost::beast::error_code error, size_t bytes) {
                    if (error || bytes >= most) return talk_.Close();
                    Read(most - bytes);
                  });
}

}  // namespace maniple
