#include "api/http/socket_poll.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "api/base/check.h"

namespace maniple {

SocketPoll::SocketPoll()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(epoll_ >= 0 && wakeup_ >= 0) << std::strerror(errno);
  Watch(wakeup_, EPOLLIN);
}

SocketPoll::~SocketPoll() {
  ::close(wakeup_);
  ::close(epoll_);
}

void SocketPoll::Watch(int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0) return;
  CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) << std::strerror(errno);
}

void SocketPoll::Forget(int fd) { ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

SocketPoll::Waited SocketPoll::Wait(absl::Duration longest) {
  // Rounded up: waking a little early would only spin.
  const int64_t millis = std::clamp<int64_t>(
      absl::ToInt64Milliseconds(absl::Ceil(longest, absl::Milliseconds(1))), 0, 3'600'000);
  const int count = ::epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()),
                                 static_cast<int>(millis));
  const std::span<epoll_event> all(events_.data(), static_cast<size_t>(std::max(count, 0)));
  const auto sockets_end = std::remove_if(all.begin(), all.end(), [this](const epoll_event& event) {
    return event.data.fd == wakeup_;
  });
  const Waited waited{.ready = {all.begin(), sockets_end}, .woken = sockets_end != all.end()};
  if (waited.woken) {
    uint64_t times = 0;
    [[maybe_unused]] const ssize_t got = ::read(wakeup_, &times, sizeof(times));
  }
  return waited;
}

void SocketPoll::Wakeup() {
  const uint64_t one = 1;
  // Full means that a wakeup is pending already.
  [[maybe_unused]] const ssize_t written = ::write(wakeup_, &one, sizeof(one));
}

}  // namespace maniple
