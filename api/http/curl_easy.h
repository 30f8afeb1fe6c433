// Easy handles of libcurl, set up once from a ClientConfig and used again and again. Inside
// api/http only.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/http/client_config.h"
#include "api/http/credentials.h"
#include "api/http/http.h"

namespace maniple {

struct CurlEasyDeleter {
  void operator()(CURL* easy) const { ::curl_easy_cleanup(easy); }
};
struct CurlMultiDeleter {
  void operator()(CURLM* multi) const { ::curl_multi_cleanup(multi); }
};
struct CurlListDeleter {
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using CurlMulti = std::unique_ptr<CURLM, CurlMultiDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlListDeleter>;

// REQUIRES: lines hold no control characters.
[[nodiscard]] CurlList MakeCurlList(const std::vector<std::string>& lines);

struct EasyHandle {
  std::unique_ptr<CURL, CurlEasyDeleter> curl;
  uint64_t credential_generation = 0;  // of the client certificate it carries
};

// Where to connect, in libcurl's terms.
struct CurlEndpoint {
  std::string url_base;           // what a request's target is appended to
  std::string connect_to;         // "" = as the URL says
  std::string proxy;              // "" = none
  bool asks_environment = false;  // for a proxy
};
[[nodiscard]] absl::StatusOr<CurlEndpoint> EndpointOf(const ClientConfig& config);

struct CurlCallbacks {
  curl_write_callback on_header = nullptr;  // userdata: that of SetRequest
  curl_write_callback on_body = nullptr;
  curl_read_callback on_send = nullptr;
  curl_sockopt_callback on_socket = nullptr;
  void* socket_data = nullptr;
};
struct CurlSetup {
  const ClientConfig* config = nullptr;  // outlives the handle
  const CurlEndpoint* endpoint = nullptr;
  curl_slist* connect_to = nullptr;
  absl::Duration connect_timeout = absl::ZeroDuration();
  std::string user_agent;
  CurlCallbacks callbacks;
};
[[nodiscard]] absl::StatusOr<EasyHandle> MakeEasyHandle(const CurlSetup& setup);

// The client certificate of a credential plugin, when it has one and it has changed.
void SetPluginCertificate(EasyHandle& handle, const Credentials& credentials);

// `request` and `headers` must stay until the transfer is over.
void SetRequest(CURL* easy, const std::string& url, const HttpRequest& request,
                curl_slist* headers);

[[nodiscard]] absl::Status StatusOfCurl(CURLcode code, const char* detail);

}  // namespace maniple
