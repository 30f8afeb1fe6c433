#include "api/http/curl_loop.h"

#include "api/base/check.h"

namespace maniple {
namespace {

int ActionOf(uint32_t events) {
  int action = 0;
  if ((events & EPOLLIN) != 0) action |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) action |= CURL_CSELECT_OUT;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) action |= CURL_CSELECT_IN | CURL_CSELECT_ERR;
  return action;
}

}  // namespace

CurlLoop::CurlLoop(int most_kept) : multi_(::curl_multi_init()) {
  CHECK(multi_ != nullptr);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlLoop::OnSocket);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlLoop::OnTimer);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
  ::curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(most_kept));
}

void CurlLoop::Add(CURL* easy, absl::Time now) {
  now_ = now;
  CHECK_EQ(::curl_multi_add_handle(multi_.get(), easy), CURLM_OK);
}

void CurlLoop::Remove(CURL* easy) { ::curl_multi_remove_handle(multi_.get(), easy); }

void CurlLoop::FireTimer(absl::Time now) {
  if (timer_ > now) return;
  now_ = now;
  timer_ = absl::InfiniteFuture();
  int running = 0;
  ::curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
}

void CurlLoop::Serve(const SocketPoll::Waited& waited, absl::Time now) {
  now_ = now;
  for (const epoll_event& event : waited.ready) {
    if (event.data.fd == other_) continue;
    int running = 0;
    ::curl_multi_socket_action(multi_.get(), event.data.fd, ActionOf(event.events), &running);
  }
}

void CurlLoop::WatchOther(int fd) {
  if (fd == other_) return;
  other_ = fd;
  if (fd >= 0) sockets_.Watch(fd, EPOLLIN);
}

int CurlLoop::OnSocket(CURL*, curl_socket_t socket, int what, void* user, void*) {
  CurlLoop& loop = *static_cast<CurlLoop*>(user);
  if (what == CURL_POLL_REMOVE) {
    loop.sockets_.Forget(socket);
    return 0;
  }
  uint32_t events = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
  loop.sockets_.Watch(socket, events);
  return 0;
}

int CurlLoop::OnTimer(CURLM*, long millis, void* user) {
  CurlLoop& loop = *static_cast<CurlLoop*>(user);
  loop.timer_ = millis < 0 ? absl::InfiniteFuture() : loop.now_ + absl::Milliseconds(millis);
  return 0;
}

}  // namespace maniple
