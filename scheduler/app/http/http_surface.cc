#include "scheduler/app/http/http_surface.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/status_macros.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/config/address.h"
#include "scheduler/app/metrics/metrics.h"
#include "scheduler/page/page_tables.h"

namespace maniple {
namespace {

constexpr absl::Duration kStreamLife = absl::Hours(1);
// Whoever loses a right, or whose token expires, sees no more after this.
constexpr absl::Duration kReviewedStreamLife = absl::Minutes(1);

HttpSurface::Readers ReadersOf(const std::string& address, const HttpSurfaceOptions& options) {
  if (address.empty() || options.insecure) return HttpSurface::Readers::kAnybody;
  const absl::StatusOr<ListenAddress> place = ParseListenAddress(address);
  if (place.ok() && IsLoopback(*place)) return HttpSurface::Readers::kThisMachine;
  return options.tls.given() ? HttpSurface::Readers::kReviewed : HttpSurface::Readers::kNobody;
}

// A browser says which site it asks for. One whose name was resolved to this machine is none of
// ours, though its pages would read us.
bool IsNameOfAnother(absl::string_view host) {
  if (host.empty()) return false;  // no browser
  const bool has_port = absl::StrContains(host, ':') && !absl::EndsWith(host, "]");
  const absl::StatusOr<ListenAddress> named =
      ParseListenAddress(absl::StrCat(host, has_port ? "" : ":80"));
  return !named.ok() || !IsLoopback(*named);
}

int StatusOf(Access access) {
  switch (access) {
    case Access::kAllowed:
      return 200;
    case Access::kDenied:
      return 403;
    case Access::kNobody:
      return 401;
    case Access::kUnknown:
      return 503;
  }
  return 500;
}

// Of "https://host:port/prefix".
std::string HostOf(absl::string_view url) {
  if (const size_t scheme = url.find("://"); scheme != absl::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  return std::string(url.substr(0, url.find('/')));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpSurface>> HttpSurface::Start(const HttpSurfaceOptions& options,
                                                                Bulletin& bulletin, HelpDoor& help,
                                                                std::function<void()> wake) {
  std::unique_ptr<HttpSurface> surface(new HttpSurface(options, bulletin, help, std::move(wake)));
  if (!options.http.empty()) {
    HttpLimits limits;
    // Who must show a token mostly comes through an API server's proxy: one address for all.
    if (ReadersOf(options.http, options) == Readers::kReviewed) {
      limits.gate.per_address = limits.gate.connections / 2;
      limits.gate.streams_per_address = limits.gate.streams * 3 / 4;
    }
    ASSIGN_OR_RETURN(
        surface->http_,
        HttpEndpoint::Listen({.address = options.http, .limits = limits, .tls = options.tls}));
    LOG(INFO) << "serving HTTP on port " << surface->http_port();
  }
  if (!options.health.empty()) {
    ASSIGN_OR_RETURN(surface->health_,
                     HttpEndpoint::Listen({.address = options.health, .tls = options.tls}));
    LOG(INFO) << "serving health and metrics on port " << surface->health_port();
  }
  HttpSurface& self = *surface;
  self.http_readers_ = ReadersOf(options.http, options);
  self.health_readers_ = ReadersOf(options.health, options);
  if (self.http_readers_ == Readers::kReviewed || self.health_readers_ == Readers::kReviewed) {
    ASSIGN_OR_RETURN(self.reviews_,
                     AccessReviews::Start(options.api_server, [&self] { self.Recheck(); }));
  }
  if (self.http_ != nullptr) {
    self.http_->Serve([&self](const HttpQuestion& question) { return self.AnswerHttp(question); });
  }
  if (self.health_ != nullptr) {
    self.health_->Serve(
        [&self](const HttpQuestion& question) { return self.AnswerHealth(question); });
  }
  return surface;
}

HttpSurface::HttpSurface(const HttpSurfaceOptions& options, Bulletin& bulletin, HelpDoor& help,
                         std::function<void()> wake)
    : bulletin_(bulletin),
      wake_(std::move(wake)),
      api_server_(HostOf(options.api_server.server)),
      pages_([this](absl::Time least) { return ViewSince(least); },
             [this, &help](const GangKey& gang, absl::Time least) {
               std::optional<HelpPtr> known = help.Look(gang, least);
               if (!known.has_value()) wake_();
               return known;
             },
             [this](absl::Time then) { return bulletin_.UsedBy(then); }),
      streams_([this](absl::Time least) { return ViewSince(least); },
               [this] { return bulletin_.problems(); },
               absl::StrCat(absl::Hex(absl::ToUnixNanos(RealClock().Now())))) {}

HttpSurface::~HttpSurface() {
  if (http_ != nullptr) http_->Stop();
  if (health_ != nullptr) health_->Stop();
}

void HttpSurface::Posted() { Recheck(); }

void HttpSurface::Recheck() {
  if (http_ != nullptr) http_->Recheck();
  if (health_ != nullptr) health_->Recheck();
}

ClusterViewPtr HttpSurface::ViewSince(absl::Time least) {
  ClusterViewPtr view = bulletin_.SharedViewSince(least);
  if (view == nullptr) wake_();
  return view;
}

DiagnosisFacts HttpSurface::Facts() {
  DiagnosisFacts facts = FactsOf(bulletin_);
  facts.process.api_server = api_server_;
  if (reviews_ != nullptr) facts.process.forbidden.push_back(reviews_->forbidden());
  return facts;
}

HttpPage HttpSurface::MetricsPage() {
  const DiagnosisFacts known = Facts();
  ProcessFacts facts = known.process;
  if (http_ != nullptr) facts.listeners.emplace_back("http", http_->counters());
  if (health_ != nullptr) facts.listeners.emplace_back("health", health_->counters());
  HttpPage page = TextPage(200, RenderMetrics(known.counters, facts));
  page.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return page;
}

std::optional<HttpPage> HttpSurface::ForReaders(Readers readers, const HttpQuestion& question,
                                                const PageMaker& page) {
  const std::optional<AccessWish> wish = WishFor(ParseAdminTarget(question.target));
  if (!wish.has_value() || readers == Readers::kAnybody) return page();
  if (readers == Readers::kThisMachine) {
    if (!IsNameOfAnother(question.host)) return page();
    return TextPage(403, "this is for this machine: call it 127.0.0.1 or localhost\n");
  }
  if (readers == Readers::kNobody) {
    return TextPage(403, "without TLS this is shown on the machine itself only\n");
  }
  if (question.token.empty()) {
    return TextPage(401, "a bearer token is needed, in Authorization or X-Maniple-Token\n");
  }
  const std::optional<AccessVerdict> verdict = reviews_->Look(question.token, *wish);
  if (!verdict.has_value()) return std::nullopt;
  if (verdict->access == Access::kAllowed) return page();
  return TextPage(StatusOf(verdict->access), verdict->message + "\n");
}

std::optional<bool> HttpSurface::MaySee(Readable what, const Secret& token) {
  if (http_readers_ != Readers::kReviewed) return true;
  const std::optional<AccessVerdict> verdict = reviews_->Look(token, {.what = what});
  if (!verdict.has_value()) return std::nullopt;
  return verdict->access == Access::kAllowed;
}

std::optional<PageReader> HttpSurface::ReaderOf(const HttpQuestion& question) {
  const std::optional<bool> queues = MaySee(Readable::kQueues, question.token);
  const std::optional<bool> nodes = MaySee(Readable::kNodes, question.token);
  if (!queues.has_value() || !nodes.has_value()) return std::nullopt;
  return PageReader{.namespace_name = ParseAdminTarget(question.target).namespace_name,
                    .sees_queues = *queues,
                    .sees_nodes = *nodes};
}

HttpPage HttpSurface::LogPage(const AdminQuestion& question) {
  return JsonPage(
      DecisionsJson(bulletin_.DecisionsOf(question.namespace_name, question.name, kMostDecisions)));
}

std::optional<HttpPage> HttpSurface::LivePage(absl::string_view path,
                                              const HttpQuestion& question) {
  const std::optional<PageReader> reader = ReaderOf(question);
  if (!reader.has_value()) return std::nullopt;
  if (path == "/stream") {
    const absl::Duration life =
        http_readers_ == Readers::kReviewed ? kReviewedStreamLife : kStreamLife;
    return streams_.Open(*reader, ParseAdminTarget(question.target).since, question.asked_at, life);
  }
  const ClusterViewPtr view = ViewSince(question.asked_at - absl::Seconds(1));
  if (view == nullptr) return std::nullopt;
  HttpPage page = TextPage(200, PageTables(*view, *reader));
  page.content_type = "text/html; charset=utf-8";
  page.headers = {{"Content-Security-Policy", kContentSecurityPolicy},
                  {"X-Content-Type-Options", "nosniff"}};
  return page;
}

std::optional<HttpPage> HttpSurface::AnswerHttp(const HttpQuestion& question) {
  const absl::string_view path = PathOf(question.target);
  if (std::optional<HttpPage> file = files_.Find(path, question.accepts_gzip)) return file;
  if (std::optional<HttpPage> probe = ProbePage(path, bulletin_.health(), RealClock().Now())) {
    return probe;
  }
  return ForReaders(http_readers_, question, [&]() -> std::optional<HttpPage> {
    if (path == "/metrics") return MetricsPage();
    if (path == "/diag") return JsonPage(DiagnosisJson(Facts()));
    if (ParseAdminTarget(question.target).of_leader && !bulletin_.health().leading) {
      return TextPage(503, absl::StrCat(kStandsBy, "\n"));
    }
    if (path == "/log") return LogPage(ParseAdminTarget(question.target));
    if (path == "/stream" || path == "/tables") return LivePage(path, question);
    const std::optional<bool> sees_all_gangs =
        path == "/explain" ? MaySee(Readable::kGangs, question.token) : true;
    if (!sees_all_gangs.has_value()) return std::nullopt;
    return pages_.Answer(ParseAdminTarget(question.target), question.asked_at, *sees_all_gangs);
  });
}

std::optional<HttpPage> HttpSurface::AnswerHealth(const HttpQuestion& question) {
  const absl::string_view path = PathOf(question.target);
  if (path == "/metrics") {
    return ForReaders(health_readers_, question, [this] { return MetricsPage(); });
  }
  return ProbePage(path, bulletin_.health(), RealClock().Now())
      .value_or(TextPage(404, "no such page; there are /livez, /readyz, /version and /metrics\n"));
}

}  // namespace maniple
