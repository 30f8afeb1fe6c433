// The sockets that one thread waits for, and a wakeup that any thread may give: epoll. Inside
// api/http only.
//
//   poll.Watch(fd, EPOLLIN);
//   for (const epoll_event& event : poll.Wait(absl::Seconds(1)).ready) Serve(event.data.fd);
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "absl/time/time.h"

namespace maniple {

class SocketPoll final {
 public:
  SocketPoll();
  ~SocketPoll();
  SocketPoll(const SocketPoll&) = delete;
  SocketPoll& operator=(const SocketPoll&) = delete;

  // From now on waits for these events of epoll. A descriptor that is closed leaves by itself.
  void Watch(int fd, uint32_t events);
  void Forget(int fd);

  struct Waited {
    std::span<const epoll_event> ready;  // until the next Wait; `data.fd` tells whose
    bool woken = false;                  // Wakeup was called
  };
  // At most so long, and at once when `longest` is not positive; may return early with nothing.
  [[nodiscard]] Waited Wait(absl::Duration longest);
  // Makes the current or the next Wait return. Any thread.
  void Wakeup();

 private:
  const int epoll_;
  const int wakeup_;
  std::array<epoll_event, 64> events_{};
};

}  // namespace maniple
