#include "scheduler/app/config/config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/files.h"
#include "api/base/status_macros.h"
#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "scheduler/app/config/config_section.h"
#include "scheduler/app/config/plugin_names.h"

namespace maniple {
namespace {

constexpr char kApiVersion[] = "config.maniple.dev/v1alpha1";
constexpr char kKind[] = "SchedulerConfiguration";
// Whoever wants the lease of another configuration waits no longer (api/client/elector.cc).
constexpr absl::Duration kLongestLease = absl::Minutes(5);
constexpr absl::Duration kShortestRetry = absl::Milliseconds(100);

void ReadLeaderElection(const Json& map, const std::string& path, Problems& problems,
                        LeaderElectionConfig& out) {
  Section section(map, path, problems);
  section.Bool("enabled", out.enabled);
  section.String("leaseName", out.lease_name);
  section.String("leaseNamespace", out.lease_namespace);
  section.Duration("leaseDuration", out.lease_duration);
  section.Duration("renewDeadline", out.renew_deadline);
  section.Duration("retryPeriod", out.retry_period);
  section.Close();
  if (out.lease_duration <= out.renew_deadline) {
    problems.Add(path, "leaseDuration must be greater than renewDeadline");
  }
  if (out.renew_deadline <= out.retry_period * 1.2) {
    problems.Add(path, "renewDeadline must be greater than 1.2 times retryPeriod");
  }
  if (out.lease_duration > kLongestLease) {
    problems.Add(path, "leaseDuration must not be greater than 5m");
  }
  if (out.retry_period < kShortestRetry) {
    problems.Add(path, "retryPeriod must be at least 100ms");
  }
  if (out.lease_name.empty()) problems.Add(path, "leaseName must not be empty");
  if (out.lease_namespace.empty()) problems.Add(path, "leaseNamespace must not be empty");
}

void ReadScores(const Json& list, const std::string& path, Problems& problems,
                std::vector<ScoreWeight>& out) {
  if (!list.is_array()) return problems.Wrong(path, "a list", list);
  for (size_t i = 0; i < list.items().size(); ++i) {
    ScoreWeight weight;
    Section section(list.items()[i], absl::StrCat(path, "[", i, "]"), problems);
    section.String("name", weight.plugin);
    section.Int("weight", 0, 1000, [&](int64_t v) { weight.weight = v; });
    section.Close();
    const std::string why = weight.plugin.empty() ? "is required" : WhyNoScore(weight.plugin);
    if (!why.empty()) problems.Add(absl::StrCat(path, "[", i, "].name"), why);
    if (!list.items()[i].Has("weight")) {
      problems.Add(absl::StrCat(path, "[", i, "].weight"), "is required");
    }
    out.push_back(std::move(weight));
  }
}

void ReadPlugins(const Json& map, const std::string& path, Problems& problems,
                 SchedulerConfig& out) {
  Section section(map, path, problems);
  section.Map("filters", [&](Section& filters) {
    filters.Strings("disabled", out.disabled_filters, WhyNoFilter);
  });
  section.Part("scores", ReadScores, out.score_weights);
  section.Close();
}

std::optional<FairStrategy> StrategyNamed(absl::string_view name) {
  if (name == "LessThanOrEqualToFinalShare") return FairStrategy::kLessThanOrEqualToFinalShare;
  if (name == "LessThanInitialShare") return FairStrategy::kLessThanInitialShare;
  return std::nullopt;
}

void ReadTop(const Json& root, Problems& problems, SchedulerConfig& out) {
  Section top(root, "", problems);
  std::string api_version, kind;
  top.String("apiVersion", api_version);
  top.String("kind", kind);
  if (api_version != kApiVersion) {
    problems.Add("apiVersion", absl::StrCat("expected \"", kApiVersion, "\", got \"",
                                            api_version.substr(0, 64), "\""));
  }
  if (kind != kKind) {
    problems.Add("kind",
                 absl::StrCat("expected \"", kKind, "\", got \"", kind.substr(0, 64), "\""));
  }
  top.Strings("schedulerNames", out.scheduler_names);
  if (out.scheduler_names.empty()) problems.Add("schedulerNames", "needs at least one name");
  if (std::find(out.scheduler_names.begin(), out.scheduler_names.end(), "") !=
      out.scheduler_names.end()) {
    problems.Add("schedulerNames", "pods cannot ask for an empty name");
  }
  top.String("defaultQueue", out.default_queue);
  top.Word<WithoutQueue>("withoutQueue",
                         {{"Allow", WithoutQueue::kAllow}, {"Refuse", WithoutQueue::kRefuse}},
                         out.without_queue);
  top.Part("leaderElection", ReadLeaderElection, out.leader_election);
  top.Map("client", [&](Section& client) {
    client.Int("maxInFlight", 1, 512,
               [&](int64_t n) { out.max_in_flight = static_cast<int32_t>(n); });
    client.Int("qps", 1, 1'000'000,
               [&](int64_t n) { out.most_writes_per_second = static_cast<int32_t>(n); });
  });
  top.Map("events", [&](Section& events) {
    events.Word<PerPodEvents>("perPod",
                              {{"Auto", PerPodEvents::kAuto},
                               {"Always", PerPodEvents::kAlways},
                               {"Never", PerPodEvents::kNever}},
                              out.pod_events);
  });
  top.Map("preemption", [&](Section& preemption) {
    preemption.Word<IgnorePdb>("ignorePDB",
                               {{"Never", IgnorePdb::kNever},
                                {"Reclaim", IgnorePdb::kReclaim},
                                {"Always", IgnorePdb::kAlways}},
                               out.ignore_pdb);
  });
  top.Map("holds", [&](Section& holds) {
    holds.Int("maxPerCohort", 1, 1000,
              [&](int64_t n) { out.holds_per_cohort = static_cast<int32_t>(n); });
  });
  top.Map("timeouts",
          [&](Section& timeouts) { timeouts.Duration("reservationAfter", out.reservation_after); });
  top.Read("fairSharing", [&](const Json& v, const std::string& path) {
    Section sharing(v, path, problems);
    bool enabled = true;
    sharing.Bool("enabled", enabled);
    out.fair_sharing = enabled ? FairSharing::kOn : FairSharing::kOff;
    std::vector<std::string> strategies;
    sharing.Strings("strategies", strategies, [](const std::string& name) {
      return StrategyNamed(name).has_value()
                 ? ""
                 : "expected LessThanOrEqualToFinalShare or LessThanInitialShare";
    });
    sharing.Close();
    if (!strategies.empty()) out.fair_strategies.clear();
    for (const std::string& name : strategies) {
      if (const auto strategy = StrategyNamed(name)) out.fair_strategies.push_back(*strategy);
    }
  });
  top.Part("plugins", ReadPlugins, out);
  top.Part("gpu", ReadGpuConfig, out.gpu);
  top.Part("http", ReadHttpConfig, out.http);
  top.Part("autoscaling", ReadAutoscalingConfig, out.autoscaling);
  top.Part("producers", ReadProducersConfig, out.producers);
  top.Close();
}

}  // namespace

absl::StatusOr<SchedulerConfig> ParseSchedulerConfig(absl::string_view text,
                                                     absl::string_view file) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  if (!documents.ok()) return Annotate(documents.status(), file);
  if (documents->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": expected one document, found ", documents->size()));
  }
  const YamlDocument& document = documents->front();
  Problems problems(file, document);
  SchedulerConfig config;
  if (document.value.is_object()) {
    ReadTop(document.value, problems, config);
  } else {
    problems.Add("", "expected a map");
  }
  RETURN_IF_ERROR(problems.ToStatus());
  return config;
}

absl::StatusOr<SchedulerConfig> LoadSchedulerConfig(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file));
  return ParseSchedulerConfig(text, file);
}

}  // namespace maniple
