// A client of a server on the loopback, for tests: sends and reads bytes as they are.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/string_view.h"

namespace maniple {

// Until another thread has done something; never for long.
inline void Await(const std::function<bool()>& happened) {
  while (!happened()) std::this_thread::yield();
}

// A blocking client socket that gives up instead of hanging.
class SocketClient final {
 public:
  explicit SocketClient(uint16_t port, const std::string& from = "")
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (!from.empty()) {
      EXPECT_EQ(inet_pton(AF_INET, from.c_str(), &address.sin_addr), 1);
      EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~SocketClient() { Close(); }
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the server has closed, which the test goes on to see
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Everything up to and including `mark`, or up to the end of the stream.
  std::string ReadUntil(absl::string_view mark) {
    while (received_.find(std::string(mark)) == std::string::npos) {
      if (!ReadMore()) return std::exchange(received_, "");
    }
    const size_t end = received_.find(std::string(mark)) + mark.size();
    const std::string out = received_.substr(0, end);
    received_.erase(0, end);
    return out;
  }
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return std::exchange(received_, "");
  }
  // A whole reply with a length.
  std::string ReadReply() {
    std::string head = ReadUntil("\r\n\r\n");
    const size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    const size_t length = std::stoul(head.substr(at + 16));
    while (received_.size() < length && ReadMore()) {
    }
    head += received_.substr(0, length);
    received_.erase(0, length);
    return head;
  }
  [[nodiscard]] int descriptor() const { return socket_; }

 private:
  // A bound for a machine that is busy, never waited out.
  static constexpr int kPatienceMilliseconds = 20'000;

  bool ReadMore() {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPatienceMilliseconds) <= 0) {
      ADD_FAILURE() << "nothing came; so far: " << received_;
      return false;
    }
    char block[4096];
    const ssize_t got = recv(socket_, block, sizeof block, 0);
    if (got <= 0) return false;
    received_.append(block, static_cast<size_t>(got));
    return true;
  }

  int socket_;
  std::string received_;
};

}  // namespace maniple
