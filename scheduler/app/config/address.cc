#include "scheduler/app/config/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace maniple {
namespace {

constexpr size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status Wrong(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text.substr(0, 200), "\" ", why));
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Wrong(text, "is not HOST:PORT");
  int port = -1;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return Wrong(text, "is not HOST:PORT: the port is not 0..65535");
  }
  absl::string_view host = text.substr(0, colon);
  const bool opened = absl::ConsumePrefix(&host, "[");
  if (opened != absl::ConsumeSuffix(&host, "]") ||
      (!opened && host.find(':') != absl::string_view::npos)) {
    return Wrong(text, "is not HOST:PORT: an IPv6 address stands in [ ]");
  }
  return ListenAddress{std::string(host), static_cast<uint16_t>(port)};
}

absl::Status CheckAdminAddress(absl::string_view address) {
  absl::string_view path = address;
  if (!absl::ConsumePrefix(&path, "unix:")) {
    const absl::Status status = ParseListenAddress(address).status();
    return status.ok()
               ? status
               : absl::InvalidArgumentError(absl::StrCat(status.message(), ", nor unix:PATH"));
  }
  if (path.empty()) return Wrong(address, "names no path");
  if (path.size() > kLongestSocketPath) {
    return Wrong(address, absl::StrCat("is too long: a socket's path may have ", kLongestSocketPath,
                                       " characters"));
  }
  return absl::OkStatus();
}

std::string SocketPathOf(absl::string_view admin_address) {
  return absl::ConsumePrefix(&admin_address, "unix:") ? std::string(admin_address) : "";
}

bool IsLoopback(const ListenAddress& address) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (::inet_pton(AF_INET6, address.host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return absl::EqualsIgnoreCase(address.host, "localhost");
}

std::string DefaultAdminAddress() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR");
      runtime != nullptr && *runtime != '\0') {
    return absl::StrCat("unix:", runtime, "/maniple/admin.sock");
  }
  return absl::StrCat("unix:/tmp/maniple-", ::getuid(), "/admin.sock");
}

}  // namespace maniple
