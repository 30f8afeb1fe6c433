// The two HTTP listeners of a scheduler: one for people and programs that read views, one for
// probes and metrics. Each has a thread of its own, so that readers can never keep a probe waiting.
//
// Started and ended by the owner of the process. It borrows the bulletin, and outlives the thread
// that posts views there.
//
//   ASSIGN_OR_RETURN(auto surface, HttpSurface::Start({.http = "127.0.0.1:0"}, bulletin, wake));
//   bulletin.PostView(view, now); surface->ViewPosted();  // the scheduling thread
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scheduler/app/doors.h"
#include "scheduler/app/http_endpoint.h"
#include "scheduler/app/http_pages.h"

namespace maniple {

struct HttpSurfaceOptions {
  std::string http;    // HOST:PORT; empty: no such listener
  std::string health;  // the same
  TlsFiles tls;        // of both
};

class HttpSurface final {
 public:
  // `wake` makes the scheduling thread look whether a view is wanted; any thread.
  static absl::StatusOr<std::unique_ptr<HttpSurface>> Start(const HttpSurfaceOptions& options,
                                                            Bulletin& bulletin,
                                                            std::function<void()> wake);

  ~HttpSurface();

  // Those who wait for a view are answered. Any thread.
  void ViewPosted();
  // REQUIRES: there is such a listener.
  [[nodiscard]] uint16_t http_port() const { return http_->port(); }
  [[nodiscard]] uint16_t health_port() const { return health_->port(); }

 private:
  HttpSurface(Bulletin& bulletin, std::function<void()> wake);

  // On the thread of either listener.
  [[nodiscard]] std::optional<HttpPage> PublishedPage(absl::string_view path);
  [[nodiscard]] HttpPage MetricsPage();
  // On the thread of `http_`.
  [[nodiscard]] std::optional<HttpPage> Answer(const HttpQuestion& question);

  Bulletin& bulletin_;
  const std::function<void()> wake_;
  ViewPages pages_;
  // Both are there before either thread answers, and until both have ended.
  std::unique_ptr<HttpEndpoint> http_, health_;
};

}  // namespace maniple
