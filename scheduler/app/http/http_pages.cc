#include "scheduler/app/http/http_pages.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "api/codec/kubernetes_time.h"
#include "scheduler/app/answers/admin_help.h"
#include "scheduler/app/answers/admin_view.h"
#include "scheduler/app/answers/diagnosis.h"

namespace maniple {
namespace {

constexpr absl::Duration kViewLife = absl::Seconds(1);
// Lists of so many namespaces are kept; further ones are made for each reader.
constexpr size_t kMostKeptPages = 1000;

}  // namespace

HttpPage JsonPage(const absl::StatusOr<std::string>& json) {
  if (json.ok()) {
    HttpPage page = TextPage(200, *json + "\n");
    page.content_type = "application/json";
    return page;
  }
  int status = 500;
  if (absl::IsNotFound(json.status())) status = 404;
  if (absl::IsInvalidArgument(json.status())) status = 400;
  if (absl::IsUnavailable(json.status())) status = 503;
  return TextPage(status, absl::StrCat(json.status().message(), "\n"));
}

std::optional<HttpPage> ProbePage(absl::string_view path, const Bulletin::Health& health,
                                  absl::Time now) {
  if (path == "/livez" || path == "/healthz") {
    const absl::Duration since = now - health.progress;
    if (since < kStalledAfter) return TextPage(200, "ok\n");
    const ObjectKey& last = health.at;
    return TextPage(500, absl::StrCat("the scheduling thread has ended no turn for ",
                                      absl::FormatDuration(absl::Trunc(since, absl::Seconds(1))),
                                      "; the last object that it read is ",
                                      ResourceKindName(last.kind), " ", last.namespace_name,
                                      last.namespace_name.empty() ? "" : "/", last.name, "\n"));
  }
  if (path == "/readyz") {
    return health.synced ? TextPage(200, "ok\n")
                         : TextPage(503, "the first lists are not complete\n");
  }
  if (path == "/version") return JsonPage(VersionJson());
  return std::nullopt;
}

std::optional<HttpPage> ViewPages::Answer(const AdminQuestion& question, absl::Time asked_at,
                                          bool sees_all_gangs) {
  if (!IsAdminPath(question.path)) return JsonPage(AdminJson(ClusterView(), question));
  // A view that was posted after the question serves, however long it took to come here: so every
  // reader is served by the first one.
  ClusterViewPtr view = source_(asked_at - kViewLife);
  if (view == nullptr) return std::nullopt;
  if (view != view_) {
    pages_.clear();
    view_ = std::move(view);
  }
  if (question.path == "/explain") {
    return Explain(question, asked_at - kViewLife, sees_all_gangs);
  }
  if (question.path == "/usage" && !question.since.empty()) return UsageSince(question);
  const std::string key = question.path == "/gangs" || question.path == "/usage"
                              ? absl::StrCat(question.path, "?", question.namespace_name)
                              : question.path;
  const auto found = pages_.find(key);
  if (found != pages_.end()) return found->second;
  HttpPage page = JsonPage(AdminJson(*view_, question));
  if (page.status == 200 && pages_.size() < kMostKeptPages) pages_.emplace(key, page);
  return page;
}

HttpPage ViewPages::UsageSince(const AdminQuestion& question) {
  const absl::StatusOr<absl::Time> since = ParseKubernetesTime(question.since);
  if (!since.ok()) return JsonPage(Annotate(since.status(), "since"));
  const UsagePointPtr from = used_(*since);
  return JsonPage(AdminJson(*view_, question, {.used_by = from.get()}));
}

std::optional<HttpPage> ViewPages::Explain(const AdminQuestion& question, absl::Time least,
                                           bool sees_all_gangs) {
  const absl::StatusOr<const GangView*> gang =
      FindGang(*view_, question.namespace_name, question.name);
  const std::optional<GangKey> key = gang.ok() ? HelpKeyOf(**gang) : std::nullopt;
  BesideView beside{.sees_all_gangs = sees_all_gangs};
  if (!key.has_value()) return JsonPage(AdminJson(*view_, question, beside));
  const std::optional<HelpPtr> help = help_(*key, least);
  if (!help.has_value()) return std::nullopt;
  if (*help == nullptr) return JsonPage(AdminJson(*view_, question, beside));
  const Help shown =
      sees_all_gangs ? **help : WithoutNamesOfOthers(**help, question.namespace_name);
  beside.help = &shown;
  return JsonPage(AdminJson(*view_, question, beside));
}

}  // namespace maniple
