#include "scheduler/app/http_surface.h"

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "scheduler/app/metrics.h"
#include "scheduler/app/version.h"

namespace maniple {

absl::StatusOr<std::unique_ptr<HttpSurface>> HttpSurface::Start(const HttpSurfaceOptions& options,
                                                                Bulletin& bulletin,
                                                                std::function<void()> wake) {
  std::unique_ptr<HttpSurface> surface(new HttpSurface(bulletin, std::move(wake)));
  if (!options.http.empty()) {
    ASSIGN_OR_RETURN(surface->http_,
                     HttpEndpoint::Listen({.address = options.http, .tls = options.tls}));
    LOG(INFO) << "serving HTTP on port " << surface->http_port();
  }
  if (!options.health.empty()) {
    ASSIGN_OR_RETURN(surface->health_,
                     HttpEndpoint::Listen({.address = options.health, .tls = options.tls}));
    LOG(INFO) << "serving health and metrics on port " << surface->health_port();
  }
  HttpSurface& self = *surface;
  if (self.http_ != nullptr) {
    self.http_->Serve([&self](const HttpQuestion& question) { return self.Answer(question); });
  }
  if (self.health_ != nullptr) {
    self.health_->Serve([&self](const HttpQuestion& question) -> std::optional<HttpPage> {
      const absl::string_view path = PathOf(question.target);
      if (std::optional<HttpPage> page = self.PublishedPage(path)) return page;
      return TextPage(404, "no such page; there are /livez, /readyz and /metrics\n");
    });
  }
  return surface;
}

HttpSurface::HttpSurface(Bulletin& bulletin, std::function<void()> wake)
    : bulletin_(bulletin), wake_(std::move(wake)), pages_([this](absl::Time least) {
        ClusterViewPtr view = bulletin_.ViewSince(least);
        if (view == nullptr) wake_();
        return view;
      }) {}

HttpSurface::~HttpSurface() {
  if (http_ != nullptr) http_->Stop();
  if (health_ != nullptr) health_->Stop();
}

void HttpSurface::ViewPosted() {
  if (http_ != nullptr) http_->Recheck();
}

std::optional<HttpPage> HttpSurface::PublishedPage(absl::string_view path) {
  if (path == "/metrics") return MetricsPage();
  return ProbePage(path, bulletin_.health(), RealClock().Now());
}

HttpPage HttpSurface::MetricsPage() {
  const Bulletin::Health health = bulletin_.health();
  ProcessFacts facts = {.leading = health.leading,
                        .synced = health.synced,
                        .version = MANIPLE_VERSION,
                        .lease_forbidden = bulletin_.lease_forbidden()};
  if (http_ != nullptr) facts.listeners.emplace_back("http", http_->counters());
  if (health_ != nullptr) facts.listeners.emplace_back("health", health_->counters());
  HttpPage page = TextPage(200, RenderMetrics(bulletin_.counters(), facts));
  page.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return page;
}

std::optional<HttpPage> HttpSurface::Answer(const HttpQuestion& question) {
  if (std::optional<HttpPage> page = PublishedPage(PathOf(question.target))) return page;
  return pages_.Answer(ParseAdminTarget(question.target), question.asked_at);
}

}  // namespace maniple
