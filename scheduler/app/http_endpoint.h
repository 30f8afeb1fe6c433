// The read-only HTTP surface: /metrics, /livez, /readyz and the JSON of the admin surface.
//
// Owns one thread with an asynchronous Boost.Beast server; the handler is called on that thread.
// Requests are bounded in size and time, so a slow or hostile client costs one connection and
// nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

struct HttpPage {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpEndpoint final {
 public:
  using Handler = std::function<HttpPage(absl::string_view target)>;

  // `address` is HOST:PORT; port 0 takes any free one. Fails when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Start(absl::string_view address,
                                                             Handler handler);
  ~HttpEndpoint();  // stops serving and joins the thread

  [[nodiscard]] uint16_t port() const;

 private:
  class Impl;
  explicit HttpEndpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple
