// The end of a conversation whose peer was refused before it had said all. Inside
// the files of HTTP conversations only; on the thread of its endpoint.
//
// Who closes with bytes unread resets the connection, and the reset overtakes the last answer
// (RFC 9112, 9.6). So nothing more is sent, and what comes is thrown away until the peer goes too.
#pragma once

#include <array>
#include <memory>

#include "absl/time/time.h"
#include "scheduler/app/http/http_host.h"
#include "scheduler/app/http/peer_stream.h"

namespace maniple {

class HttpHearingOut final {
 public:
  // `stream` outlives it; `talk` is in `owner`, which lives as long as something is pending.
  HttpHearingOut(PeerStream& stream, HttpTalk& talk, std::weak_ptr<void> owner);

  // Closes the talk when the peer has gone, has said too much more, or has had its time.
  void Start(absl::Duration time);

 private:
  void Read(size_t most);

  PeerStream& stream_;
  HttpTalk& talk_;
  const std::weak_ptr<void> owner_;
  std::array<char, 4096> unwanted_;
};

}  // namespace maniple
