// A TCP server on a free port of the loopback that a test plays by hand, in one thread with the
// transport under test.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/base/check.h"

namespace maniple {

class ServerConnection final {
 public:
  ServerConnection() = default;
  explicit ServerConnection(int fd) : fd_(fd) {}
  ServerConnection(ServerConnection&& other) noexcept { *this = std::move(other); }
  ServerConnection& operator=(ServerConnection&& other) noexcept {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    received_ = std::move(other.received_);
    return *this;
  }
  ~ServerConnection() { Close(); }

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  // How many of the bytes the socket took.
  size_t Write(absl::string_view bytes) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return n < 0 ? 0 : static_cast<size_t>(n);
  }

  // The next whole request, taken out of what came; "" = not yet there.
  std::string TakeRequest() {
    Receive();
    const size_t head = received_.find("\r\n\r\n");
    if (head == std::string::npos) return "";
    size_t length = 0;
    constexpr absl::string_view kLength = "Content-Length: ";
    if (const size_t at = received_.find(kLength.data()); at < head) {
      const size_t begin = at + kLength.size();
      CHECK(absl::SimpleAtoi(received_.substr(begin, received_.find("\r\n", begin) - begin),
                             &length));
    }
    if (received_.size() < head + 4 + length) return "";
    std::string request = received_.substr(0, head + 4 + length);
    received_.erase(0, request.size());
    return request;
  }

  // The other side has closed.
  [[nodiscard]] bool hung_up() {
    char byte = 0;
    return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

 private:
  void Receive() {
    char buffer[65536];
    ssize_t n = 0;
    while ((n = ::recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0) {
      received_.append(buffer, static_cast<size_t>(n));
    }
  }

  int fd_ = -1;
  std::string received_;
};

class ScriptedServer final {
 public:
  ScriptedServer() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    CHECK(::listen(fd_, 64) == 0);
    socklen_t size = sizeof(address);
    CHECK(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~ScriptedServer() { Close(); }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

  // Not open when nobody has connected.
  ServerConnection Accept() {
    return ServerConnection(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  int fd_;
  int port_ = 0;
};

// A whole reply with its length.
inline std::string HttpReply(absl::string_view status_line, absl::string_view body,
                             absl::string_view headers = "") {
  return absl::StrCat("HTTP/1.1 ", status_line, "\r\nContent-Length: ", body.size(), "\r\n",
                      headers, "\r\n", body);
}

}  // namespace maniple
