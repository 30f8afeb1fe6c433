// The event loop of libcurl: its multi handle, with the sockets and the timer that it asks for.
// Inside api/http only.
//
//   loop.Add(easy, now);
//   loop.FireTimer(now);
//   loop.TakeEnded([](CURL* easy, CURLcode code) { … });
//   const SocketPoll::Waited waited = loop.Wait(absl::Seconds(1));
//   loop.Serve(waited, later);
#pragma once

#include <curl/curl.h>

#include "absl/time/time.h"
#include "api/http/curl_easy.h"
#include "api/http/socket_poll.h"

namespace maniple {

class CurlLoop final {
 public:
  // `most_kept`: connections that are kept for later requests.
  explicit CurlLoop(int most_kept);
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  void Add(CURL* easy, absl::Time now);
  void Remove(CURL* easy);

  [[nodiscard]] absl::Time timer() const { return timer_; }  // when libcurl wants to be called
  void FireTimer(absl::Time now);

  [[nodiscard]] SocketPoll::Waited Wait(absl::Duration longest) { return sockets_.Wait(longest); }
  void Serve(const SocketPoll::Waited& waited, absl::Time now);
  void Wakeup() { sockets_.Wakeup(); }  // any thread

  // Ends a wait when there is something to read. Not one of libcurl's, and -1 is none; it takes the
  // place of the one before, which may be closed.
  void WatchOther(int fd);

  // Those that have ended since the last call, each by `ended(easy, code)`, which may remove them.
  template <typename Ended>
  void TakeEnded(const Ended& ended) {
    int left = 0;
    while (const CURLMsg* message = ::curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg == CURLMSG_DONE) ended(message->easy_handle, message->data.result);
    }
  }

 private:
  static int OnSocket(CURL*, curl_socket_t socket, int what, void* user, void*);
  static int OnTimer(CURLM*, long millis, void* user);

  SocketPoll sockets_;
  int other_ = -1;
  absl::Time now_ = absl::InfinitePast();  // of the call in which libcurl sets its timer
  absl::Time timer_ = absl::InfiniteFuture();
  CurlMulti multi_;
};

}  // namespace maniple
