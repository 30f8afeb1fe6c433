// The header lines of requests in libcurl's form, made once for each content type and credential.
// Inside api/http only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "api/http/client_config.h"
#include "api/http/credentials.h"
#include "api/http/curl_easy.h"

namespace maniple {

class RequestHeaders final {
 public:
  explicit RequestHeaders(const Impersonation& impersonation) : impersonation_(impersonation) {}

  // All but those that libcurl makes itself; to be kept until the transfer is over.
  [[nodiscard]] std::shared_ptr<const CurlList> For(const std::string& content_type,
                                                    const Credentials& credentials);

 private:
  const Impersonation& impersonation_;
  std::map<std::string, std::shared_ptr<const CurlList>> by_content_type_;
  uint64_t generation_ = 0;  // of the credential that they carry
};

}  // namespace maniple
