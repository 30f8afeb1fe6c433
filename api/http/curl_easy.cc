#include "api/http/curl_easy.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/base/check.h"

namespace maniple {
namespace {

constexpr long kReadBuffer = 64 << 10;
// Below the 90 s after which an API server closes an idle connection.
constexpr long kOldestIdleConnectionSeconds = 80;
// A client certificate counts from the handshake on: a renewed file is used at the latest then.
constexpr long kOldestConnectionSeconds = 300;
constexpr long kKeepAliveSeconds = 15;

class UrlParts final {
 public:
  explicit UrlParts(const std::string& url) : url_(::curl_url()) {
    CHECK(url_ != nullptr);
    valid_ =
        ::curl_url_set(url_, CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
  }
  ~UrlParts() { ::curl_url_cleanup(url_); }
  UrlParts(const UrlParts&) = delete;
  UrlParts& operator=(const UrlParts&) = delete;

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::string Get(CURLUPart part) const {
    char* text = nullptr;
    if (::curl_url_get(url_, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
    std::string out(text);
    ::curl_free(text);
    return out;
  }

 private:
  CURLU* url_;
  bool valid_ = false;
};

void SetBlob(CURL* easy, CURLoption option, const std::string& pem, unsigned flags) {
  curl_blob blob;
  blob.data = const_cast<char*>(pem.data());
  blob.len = pem.size();
  blob.flags = flags;
  ::curl_easy_setopt(easy, option, &blob);
}

void SetTls(CURL* easy, const ClientConfig& config) {
  // Said here, for the system's own configuration may allow less.
  ::curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  ::curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (config.verification == ServerVerification::kNone) {
    ::curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    ::curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!config.ca_pem.empty()) {
    SetBlob(easy, CURLOPT_CAINFO_BLOB, config.ca_pem, CURL_BLOB_NOCOPY);
  } else if (!config.ca_file.empty()) {
    ::curl_easy_setopt(easy, CURLOPT_CAINFO, config.ca_file.c_str());
    ::curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 60L);  // the file may be rotated
  }
  if (!config.certificate_pem.empty()) {
    SetBlob(easy, CURLOPT_SSLCERT_BLOB, config.certificate_pem, CURL_BLOB_NOCOPY);
  } else if (!config.certificate_file.empty()) {
    ::curl_easy_setopt(easy, CURLOPT_SSLCERT, config.certificate_file.c_str());
  }
  if (!config.key_pem.empty()) {
    SetBlob(easy, CURLOPT_SSLKEY_BLOB, config.key_pem.Reveal(), CURL_BLOB_NOCOPY);
  } else if (!config.key_file.empty()) {
    ::curl_easy_setopt(easy, CURLOPT_SSLKEY, config.key_file.c_str());
  }
}

// As client-go has it, and libcurl does not.
bool IsThisMachine(absl::string_view host) {
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

}  // namespace

CurlList MakeCurlList(const std::vector<std::string>& lines) {
  curl_slist* list = nullptr;
  for (const std::string& line : lines) {
    curl_slist* longer = ::curl_slist_append(list, line.c_str());
    CHECK(longer != nullptr);
    list = longer;
  }
  return CurlList(list);
}

absl::StatusOr<CurlEndpoint> EndpointOf(const ClientConfig& config) {
  const UrlParts server(config.server);
  const std::string scheme = server.Get(CURLUPART_SCHEME);
  if (!server.valid() || (scheme != "http" && scheme != "https")) {
    return absl::InvalidArgumentError(
        "the server's address is no http or https URL, as https://HOST:PORT/PATH");
  }
  CurlEndpoint out;
  out.url_base = config.server;
  if (!config.tls_server_name.empty() && scheme == "https") {
    // libcurl verifies the name of the URL, so the name goes there and the address beside it.
    const std::string port = server.Get(CURLUPART_PORT);
    const std::string path = server.Get(CURLUPART_PATH);
    out.url_base =
        absl::StrCat("https://", config.tls_server_name, ":", port, path == "/" ? "" : path);
    out.connect_to =
        absl::StrCat(config.tls_server_name, ":", port, ":", server.Get(CURLUPART_HOST), ":", port);
  }
  // libcurl would repeat it in its errors, with the password that may stand in it.
  if (!config.proxy_url.empty() && !UrlParts(config.proxy_url).valid()) {
    return absl::InvalidArgumentError("proxy-url is no URL, as http://HOST:PORT");
  }
  out.proxy = config.proxy_url;
  if (absl::StartsWith(out.proxy, "socks5://")) {
    out.proxy = absl::StrCat("socks5h", out.proxy.substr(6));  // the proxy resolves names
  }
  // no_proxy would be held against the name that is verified, where that is another one.
  out.asks_environment =
      out.proxy.empty() && out.connect_to.empty() && !IsThisMachine(server.Get(CURLUPART_HOST));
  return out;
}

absl::StatusOr<EasyHandle> MakeEasyHandle(const CurlSetup& setup) {
  EasyHandle handle;
  handle.curl.reset(::curl_easy_init());
  CURL* easy = handle.curl.get();
  CHECK(easy != nullptr);
  ::curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  ::curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // credentials go to no other place
  ::curl_easy_setopt(easy, CURLOPT_USERAGENT, setup.user_agent.c_str());
  ::curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kReadBuffer);
  ::curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, kOldestIdleConnectionSeconds);
  ::curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, kOldestConnectionSeconds);
  ::curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(absl::ToInt64Milliseconds(setup.connect_timeout)));
  ::curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  ::curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, kKeepAliveSeconds);
  ::curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, kKeepAliveSeconds);
  ::curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  ::curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, setup.callbacks.on_header);
  ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, setup.callbacks.on_body);
  ::curl_easy_setopt(easy, CURLOPT_READFUNCTION, setup.callbacks.on_send);
  ::curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, setup.callbacks.on_socket);
  ::curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, setup.callbacks.socket_data);
  if (setup.connect_to != nullptr) {
    ::curl_easy_setopt(easy, CURLOPT_CONNECT_TO, setup.connect_to);
  }
  SetTls(easy, *setup.config);
  // An empty text also keeps the proxies of the environment away.
  const CurlEndpoint& endpoint = *setup.endpoint;
  if (!endpoint.asks_environment &&
      ::curl_easy_setopt(easy, CURLOPT_PROXY, endpoint.proxy.c_str()) != CURLE_OK) {
    return absl::InvalidArgumentError("proxy-url cannot be used");
  }
  return handle;
}

void SetPluginCertificate(EasyHandle& handle, const Credentials& credentials) {
  if (handle.credential_generation == credentials.generation()) return;
  handle.credential_generation = credentials.generation();
  if (credentials.certificate_pem().empty()) return;
  SetBlob(handle.curl.get(), CURLOPT_SSLCERT_BLOB, credentials.certificate_pem(), CURL_BLOB_COPY);
  SetBlob(handle.curl.get(), CURLOPT_SSLKEY_BLOB, credentials.key_pem().Reveal(), CURL_BLOB_COPY);
}

void SetRequest(CURL* easy, const std::string& url, const HttpRequest& request,
                curl_slist* headers) {
  ::curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  const bool has_body = !request.body.empty() || request.method == HttpMethod::kPost;
  if (has_body) {
    ::curl_easy_setopt(easy, CURLOPT_POST, 1L);
    // Read through on_send, which cannot rewind: libcurl would otherwise quietly send a write again
    // when a kept-alive connection dies before the reply, and whoever asked has to know.
    ::curl_easy_setopt(easy, CURLOPT_POSTFIELDS, nullptr);
    ::curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
  } else {
    ::curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  }
  const HttpMethod implied = has_body ? HttpMethod::kPost : HttpMethod::kGet;
  ::curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST,
                     request.method == implied ? nullptr : HttpMethodName(request.method).data());
  const bool bounded = request.timeout < absl::InfiniteDuration();
  ::curl_easy_setopt(
      easy, CURLOPT_TIMEOUT_MS,
      bounded ? std::max(1L, static_cast<long>(absl::ToInt64Milliseconds(request.timeout))) : 0L);
}

namespace {

// libcurl says how long it took, each time another number. Whoever compares a failure with the one
// before would take it for news.
std::string WithoutHowLong(absl::string_view text) {
  constexpr absl::string_view kAfter = " after ";
  const size_t at = text.find(kAfter);
  if (at == absl::string_view::npos) return std::string(text);
  absl::string_view rest = text.substr(at + kAfter.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  rest.remove_prefix(digits);
  const bool is_time = digits > 0 && (absl::ConsumePrefix(&rest, " milliseconds") ||
                                      absl::ConsumePrefix(&rest, " ms"));
  return is_time ? absl::StrCat(text.substr(0, at), rest) : std::string(text);
}

}  // namespace

absl::Status StatusOfCurl(CURLcode code, const char* detail) {
  if (code == CURLE_OK) return absl::OkStatus();
  const std::string text = WithoutHowLong(*detail != '\0' ? detail : ::curl_easy_strerror(code));
  if (code == CURLE_OPERATION_TIMEDOUT) return absl::DeadlineExceededError(text);
  return absl::UnavailableError(text);
}

}  // namespace maniple
