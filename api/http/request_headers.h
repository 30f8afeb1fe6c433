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
  // A bearer token said a second time; `other` in its place. `header` empty: it is not.
  struct SecondToken {
    std::string header;
    Secret other;
  };

  RequestHeaders(const Impersonation& impersonation, SecondToken second)
      : impersonation_(impersonation), second_(std::move(second)) {}

  // All but those that libcurl makes itself; to be kept until the transfer is over.
  [[nodiscard]] std::shared_ptr<const CurlList> For(const std::string& content_type,
                                                    const Credentials& credentials);

 private:
  [[nodiscard]] std::vector<std::string> Lines(const std::string& content_type,
                                               const Credentials& credentials) const;

  const Impersonation& impersonation_;
  const SecondToken second_;
  std::map<std::string, std::shared_ptr<const CurlList>> by_content_type_;
  uint64_t generation_ = 0;  // of the credential that they carry
};

}  // namespace maniple
