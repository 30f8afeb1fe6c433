// What the HTTP listeners answer: probes and metrics from published values, JSON from a view.
//
// A view is asked of the scheduling thread at most once a second, however many readers there are,
// and never by a probe. Each page of it is made once and shared.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/app/access/admin_question.h"
#include "scheduler/app/doors/bulletin.h"
#include "scheduler/app/doors/help_door.h"
#include "scheduler/app/doors/usage_history.h"
#include "scheduler/app/http/http_page.h"

namespace maniple {

// "/livez", "/healthz", "/readyz", and "/version", which is no secret either. Any thread; nothing:
// the path is none of them.
[[nodiscard]] std::optional<HttpPage> ProbePage(absl::string_view path,
                                                const Bulletin::Health& health, absl::Time now);

// The JSON, or why there is none, with the status that says so.
[[nodiscard]] HttpPage JsonPage(const absl::StatusOr<std::string>& json);

[[nodiscard]] inline absl::string_view PathOf(absl::string_view target) {
  return target.substr(0, target.find('?'));
}

// The pages of the latest view that was asked for. Owned by the thread of one listener.
class ViewPages final {
 public:
  // As Bulletin::SharedViewSince: null while a view is being made.
  using Source = std::function<ClusterViewPtr(absl::Time least)>;

  // What would help the gang, as of then or later; none: it is being made.
  using HelpSource = std::function<std::optional<HelpPtr>(const GangKey& gang, absl::Time least)>;

  // As UsageHistory::At.
  using UsedSource = std::function<UsagePointPtr(absl::Time then)>;

  ViewPages(Source source, HelpSource help, UsedSource used)
      : source_(std::move(source)), help_(std::move(help)), used_(std::move(used)) {}

  // Nothing: a view, or what would help, is being made. Who does not see all gangs is told no names
  // of those of other namespaces.
  [[nodiscard]] std::optional<HttpPage> Answer(const AdminQuestion& question, absl::Time asked_at,
                                               bool sees_all_gangs);

 private:
  [[nodiscard]] std::optional<HttpPage> Explain(const AdminQuestion& question, absl::Time least,
                                                bool sees_all_gangs);
  // Of a question that names a time.
  [[nodiscard]] HttpPage UsageSince(const AdminQuestion& question);

  const Source source_;
  const HelpSource help_;
  const UsedSource used_;
  ClusterViewPtr view_;
  absl::flat_hash_map<std::string, HttpPage> pages_;  // lists of view_, by path and namespace
};

}  // namespace maniple
