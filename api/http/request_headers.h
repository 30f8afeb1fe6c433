// The header lines of requests in libcurl's form, made once for each content type and credential.
// Inside api/http only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/base/secret.h"
#include "api/http/client_config.h"
#include "api/http/credentials.h"
#include "api/http/curl_easy.h"

namespace maniple {

class RequestHeaders final {
 public:
  // `token_header` says a bearer token a second time; empty: none does.
  RequestHeaders(const Impersonation& impersonation, std::string token_header)
      : impersonation_(impersonation), token_header_(std::move(token_header)) {}

  // From now on `token_header` says this one in its place.
  void ShowToken(Secret other);
  // All but those that libcurl makes itself; to be kept until the transfer is over.
  [[nodiscard]] std::shared_ptr<const CurlList> For(const std::string& content_type,
                                                    const Credentials& credentials);

 private:
  [[nodiscard]] std::vector<std::string> Lines(const std::string& content_type,
                                               const Credentials& credentials) const;

  const Impersonation& impersonation_;
  const std::string token_header_;
  Secret shown_token_;  // empty: the bearer token
  std::map<std::string, std::shared_ptr<const CurlList>> by_content_type_;
  uint64_t generation_ = 0;  // of the credential that they carry
};

}  // namespace maniple
