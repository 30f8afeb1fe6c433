// OpenSSL's context of an HTTP listener, made anew when its files change. Inside http_endpoint.cc
// only; owned by the thread of its endpoint.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<TlsContext> tls, TlsContext::Load(files));
//   Stream stream(std::move(socket), tls->Current(now));
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/app/config/tls_files.h"

namespace maniple {

class TlsContext final {
 public:
  static absl::StatusOr<std::unique_ptr<TlsContext>> Load(const TlsFiles& files);

  // For a new connection; those that are open keep theirs. The files are looked at once a second;
  // while they cannot be used the last good ones serve.
  [[nodiscard]] boost::asio::ssl::context& Current(absl::Time now);

 private:
  TlsContext(const TlsFiles& files, std::string text,
             std::unique_ptr<boost::asio::ssl::context> context);

  const TlsFiles files_;
  std::string text_;  // of the files, as they were when the context was made or refused
  std::unique_ptr<boost::asio::ssl::context> context_;
  std::string problem_;  // why the files could not be read last; "" = they could
  absl::Time looked_at_ = absl::InfinitePast();
};

}  // namespace maniple
