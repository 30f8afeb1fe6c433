// The two HTTP listeners of a scheduler: one for people and programs that read views, one for
// probes and metrics. Each has a thread of its own, so that readers can never keep a probe waiting.
//
// Started and ended by the owner of the process. It borrows the doors, and outlives the threads
// that post there.
//
//   const HttpSurfaceOptions at{.http = "127.0.0.1:0"};
//   ASSIGN_OR_RETURN(auto surface, HttpSurface::Start(at, bulletin, help, wake));
//   bulletin.PostView(std::move(view)); surface->Posted();  // the scheduling thread
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/http/client_config.h"
#include "scheduler/app/answers/diagnosis.h"
#include "scheduler/app/doors/bulletin.h"
#include "scheduler/app/http/access_reviews.h"
#include "scheduler/app/http/http_endpoint.h"
#include "scheduler/app/http/http_pages.h"
#include "scheduler/app/http/page_files.h"
#include "scheduler/app/http/page_streams.h"
#include "scheduler/page/page_rows.h"

namespace maniple {

struct HttpSurfaceOptions {
  std::string http;         // HOST:PORT; empty: no such listener
  std::string health;       // the same
  TlsFiles tls;             // of both
  bool insecure = false;    // whoever connects reads everything
  ClientConfig api_server;  // asked who may read what, where that is not for everybody
};

class HttpSurface final {
 public:
  // Who is shown what is not health.
  enum class Readers { kAnybody, kThisMachine, kReviewed, kNobody };

  // `wake` makes the scheduling thread look whether a view is wanted; any thread.
  static absl::StatusOr<std::unique_ptr<HttpSurface>> Start(const HttpSurfaceOptions& options,
                                                            Bulletin& bulletin, HelpDoor& help,
                                                            std::function<void()> wake);

  ~HttpSurface();

  // Those who wait for a view, or for help, are answered. Any thread.
  void Posted();
  // REQUIRES: there is such a listener.
  [[nodiscard]] uint16_t http_port() const { return http_->port(); }
  [[nodiscard]] uint16_t health_port() const { return health_->port(); }

 private:
  HttpSurface(const HttpSurfaceOptions& options, Bulletin& bulletin, HelpDoor& help,
              std::function<void()> wake);

  // On the threads of the listeners.
  [[nodiscard]] std::optional<HttpPage> AnswerHttp(const HttpQuestion& question);
  [[nodiscard]] HttpPage LogPage(const AdminQuestion& question);
  // "/stream" or "/tables".
  [[nodiscard]] std::optional<HttpPage> LivePage(absl::string_view path,
                                                 const HttpQuestion& question);
  [[nodiscard]] std::optional<HttpPage> AnswerHealth(const HttpQuestion& question);
  // The page for whoever may read it; else why not, or nothing while that is being asked.
  using PageMaker = std::function<std::optional<HttpPage>()>;
  [[nodiscard]] std::optional<HttpPage> ForReaders(Readers readers, const HttpQuestion& question,
                                                   const PageMaker& page);
  [[nodiscard]] DiagnosisFacts Facts();
  [[nodiscard]] HttpPage MetricsPage();
  // What the reader of a question about gangs may see beside them; nothing: that is being asked.
  [[nodiscard]] std::optional<PageReader> ReaderOf(const HttpQuestion& question);
  [[nodiscard]] std::optional<bool> MaySee(Readable what, const Secret& token);
  [[nodiscard]] ClusterViewPtr ViewSince(absl::Time least);
  void Recheck();

  Bulletin& bulletin_;
  const std::function<void()> wake_;
  const std::string api_server_;  // "10.0.0.1:6443"
  const PageFiles files_;
  // On the thread of `http_`.
  ViewPages pages_;
  PageStreams streams_;
  Readers http_readers_ = Readers::kAnybody, health_readers_ = Readers::kAnybody;
  // Both are there before either thread answers, and until both have ended.
  std::unique_ptr<HttpEndpoint> http_, health_;
  std::unique_ptr<AccessReviews> reviews_;  // ends before the listeners that it tells its news
};

}  // namespace maniple
