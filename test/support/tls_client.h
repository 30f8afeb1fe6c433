// One request over TLS to a server on the loopback, for tests.
#pragma once

#include <openssl/ssl.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "test/support/socket_client.h"
#include "test/support/tls_server.h"

namespace maniple {

// One request over TLS of at most `version`: what was read, or nothing without a handshake.
inline std::string AskOverTls(uint16_t port, int version, absl::string_view target = "/") {
  const SocketClient client(port);
  const OpenSsl<SSL_CTX> context(::SSL_CTX_new(::TLS_client_method()));
  ::SSL_CTX_set_cipher_list(context.get(), "DEFAULT:@SECLEVEL=0");
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  ::SSL_CTX_set_max_proto_version(context.get(), version);
  const OpenSsl<SSL> tls(::SSL_new(context.get()));
  ::SSL_set_fd(tls.get(), client.descriptor());
  if (::SSL_connect(tls.get()) != 1) return "";
  const std::string request = absl::StrCat("GET ", target, " HTTP/1.1\r\n\r\n");
  ::SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
  char block[1024];
  const int got = ::SSL_read(tls.get(), block, sizeof block);
  return std::string(block, static_cast<size_t>(std::max(got, 0)));
}

}  // namespace maniple
