#include "scheduler/app/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/http/http.h"
#include "scheduler/app/metrics/metrics_cluster.h"

namespace maniple {
namespace {

enum class Kind { kCounter, kGauge };

// One series: its family, its label if it has one, and where its value stands.
struct Row {
  Kind kind;
  const char* name;
  const char* help;
  const char* label;
  const char* label_value;
  int64_t LoopCounters::*value;
};

constexpr char kBinds[] = "maniple_binds_total";
constexpr char kBindsHelp[] = "Bindings of pods to nodes, by outcome.";
constexpr char kGangs[] = "maniple_waiting_gangs";
constexpr char kGangsHelp[] =
    "Gangs that are not bound, by queue state, as scheduler_pending_pods tells of pods.";
constexpr char kDropped[] = "maniple_events_dropped_total";
constexpr char kDroppedHelp[] =
    "Kubernetes events not written: more than 25, and then one in five minutes, about one object; "
    "or too many waiting to be sent.";
constexpr char kDecisions[] = "maniple_decisions_total";
constexpr char kDecisionsHelp[] = "Decisions on gangs, by result.";

// The loop's counters. run_monitoring.py holds alerts and boards to the names in metrics*.cc.
constexpr Row kRows[] = {
    {Kind::kCounter, "maniple_turns_total", "Turns of the scheduling loop.", "", "",
     &LoopCounters::turns},
    {Kind::kCounter, "maniple_object_events_total", "Object events applied.", "", "",
     &LoopCounters::events},
    {Kind::kCounter, kDecisions, kDecisionsHelp, "result", "placed", &LoopCounters::plans},
    {Kind::kCounter, kDecisions, kDecisionsHelp, "result", "rejected", &LoopCounters::rejections},
    {Kind::kCounter, "maniple_search_limit_reached_total",
     "Decisions that gave up their search without a proof.", "", "",
     &LoopCounters::searches_given_up},
    {Kind::kCounter, "maniple_searches_put_off_total",
     "Times that a long search had to wait, because its Queue or namespace had searched for long.",
     "", "", &LoopCounters::searches_put_off},
    {Kind::kCounter, "maniple_search_steps_total",
     "Steps of all searches; about half a million take a millisecond.", "", "",
     &LoopCounters::search_steps},
    {Kind::kCounter, "maniple_wakes_total", "Parked gangs woken by an event or a time.", "", "",
     &LoopCounters::wakes},
    {Kind::kCounter, "maniple_bind_requests_total", "Bind requests sent.", "", "",
     &LoopCounters::binds_sent},
    {Kind::kCounter, kBinds, kBindsHelp, "outcome", "bound", &LoopCounters::binds_succeeded},
    {Kind::kCounter, kBinds, kBindsHelp, "outcome", "retried", &LoopCounters::binds_retried},
    {Kind::kCounter, kBinds, kBindsHelp, "outcome", "unknown", &LoopCounters::binds_unknown},
    {Kind::kCounter, kBinds, kBindsHelp, "outcome", "refused", &LoopCounters::binds_refused},
    {Kind::kCounter, kBinds, kBindsHelp, "outcome", "gone", &LoopCounters::binds_gone},
    {Kind::kCounter, "maniple_kubelet_rejections_total", "Bound pods that a kubelet rejected.", "",
     "", &LoopCounters::kubelet_rejections},
    {Kind::kCounter, "maniple_gangs_bound_total", "Gangs whose quorum was bound.", "", "",
     &LoopCounters::gangs_bound},
    {Kind::kCounter, "maniple_gangs_undone_total",
     "Gangs undone because their binding could not finish.", "", "", &LoopCounters::gangs_undone},
    {Kind::kCounter, "maniple_gangs_evicted_total", "Gangs evicted for loss of their quorum.", "",
     "", &LoopCounters::gangs_evicted},
    {Kind::kCounter, "maniple_preemptions_total", "Decisions that evicted other gangs.", "", "",
     &LoopCounters::preemptions},
    {Kind::kCounter, "maniple_gangs_preempted_total",
     "Gangs evicted whole, for another gang or from a drained Queue.", "", "",
     &LoopCounters::gangs_preempted},
    {Kind::kCounter, "maniple_evictions_total", "Eviction requests sent.", "", "",
     &LoopCounters::evictions_sent},
    {Kind::kCounter, "maniple_evictions_refused_total",
     "Eviction requests refused, by a PodDisruptionBudget or an error.", "", "",
     &LoopCounters::evictions_refused},
    {Kind::kCounter, "maniple_budgets_passed_total",
     "Pods deleted though a PodDisruptionBudget refused, as preemption.ignorePDB allows.", "", "",
     &LoopCounters::budgets_passed},
    {Kind::kCounter, "maniple_preemption_reversals_total",
     "Gangs evicted by one that they had evicted, limits unchanged; 0 with the default strategy.",
     "", "", &LoopCounters::preemption_reversals},
    {Kind::kCounter, "maniple_repairs_total", "Replacements planned for lost members.", "", "",
     &LoopCounters::repairs},
    {Kind::kCounter, "maniple_mig_changes_total",
     "MIG configurations of idle nodes set for slices that wait.", "", "",
     &LoopCounters::mig_changes},
    {Kind::kCounter, "maniple_pod_parts_left_out_total",
     "Terms, resources and the like beyond the caps, of pods of other schedulers.", "", "",
     &LoopCounters::pod_parts_left_out},
    {Kind::kCounter, "maniple_sweeps_total", "Times that unused shapes and names were given back.",
     "", "", &LoopCounters::sweeps},
    {Kind::kCounter, "maniple_status_writes_total", "PodGroup, pod and queue statuses written.", "",
     "", &LoopCounters::statuses_written},
    {Kind::kCounter, "maniple_event_writes_total", "Kubernetes events written.", "", "",
     &LoopCounters::events_written},
    {Kind::kCounter, kDropped, kDroppedHelp, "reason", "object_budget",
     &LoopCounters::events_over_budget},
    {Kind::kCounter, kDropped, kDroppedHelp, "reason", "backlog",
     &LoopCounters::events_crowded_out},
    {Kind::kGauge, "maniple_gangs", "Gangs known.", "", "", &LoopCounters::gangs},
    {Kind::kGauge, kGangs, kGangsHelp, "state", "parked", &LoopCounters::gangs_parked},
    {Kind::kGauge, kGangs, kGangsHelp, "state", "ready", &LoopCounters::gangs_ready},
    {Kind::kGauge, kGangs, kGangsHelp, "state", "binding", &LoopCounters::gangs_binding},
    {Kind::kGauge, "maniple_binds_in_flight", "Bind requests without an answer yet.", "", "",
     &LoopCounters::binds_under_way},
};

// The same of what an HTTP listener counts; the label is the listener.
struct ListenerRow {
  Kind kind;
  const char* name;
  const char* help;
  int64_t HttpCounters::*value;
};
constexpr ListenerRow kListenerRows[] = {
    {Kind::kGauge, "maniple_http_connections", "HTTP connections.", &HttpCounters::connections},
    {Kind::kCounter, "maniple_http_connections_refused_total",
     "HTTP connections closed at once, of an address with too many, or because all places were "
     "taken.",
     &HttpCounters::connections_refused},
    {Kind::kCounter, "maniple_http_connections_displaced_total",
     "Idle HTTP connections closed to make room for others.", &HttpCounters::connections_displaced},
    {Kind::kCounter, "maniple_http_pages_refused_total",
     "HTTP answers refused because too many bytes wait for slow readers.",
     &HttpCounters::pages_refused},
    {Kind::kCounter, "maniple_http_accept_pauses_total",
     "Pauses in accepting HTTP connections for want of file descriptors.",
     &HttpCounters::accept_pauses},
};

using Labels = std::map<std::string, std::string>;

void AddCounter(prometheus::Registry& registry, const char* name, const char* help,
                const Labels& labels, double value) {
  prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels).Increment(value);
}

void AddGauge(prometheus::Registry& registry, const char* name, const char* help,
              const Labels& labels, double value) {
  prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels).Set(value);
}

template <typename AnyRow>
void AddRow(prometheus::Registry& registry, const AnyRow& row, const Labels& labels,
            int64_t value) {
  switch (row.kind) {
    case Kind::kCounter:
      AddCounter(registry, row.name, row.help, labels, static_cast<double>(value));
      break;
    case Kind::kGauge:
      AddGauge(registry, row.name, row.help, labels, static_cast<double>(value));
      break;
  }
}

void AddForbidden(prometheus::Registry& registry, const ForbiddenCounts& forbidden) {
  for (const auto& [right, times] : forbidden) {
    AddCounter(registry, "maniple_requests_forbidden_total",
               "Requests that the API server answered with 403.",
               {{"verb", right.verb}, {"group", right.group}, {"resource", right.resource}},
               static_cast<double>(times));
  }
}

// As client-go names them, so that boards that know it show us, too.
void AddAnswers(prometheus::Registry& registry, const ProcessFacts& facts) {
  for (const auto& [what, times] : facts.answers.counts) {
    const auto& [method, status] = what;
    AddCounter(registry, "rest_client_requests_total",
               "Requests to the API server, by method and status; <error>: no answer came.",
               {{"code", status == 0 ? "<error>" : absl::StrCat(status)},
                {"host", facts.api_server},
                {"method", std::string(HttpMethodName(method))}},
               static_cast<double>(times));
  }
}

// As client-go names what its work queues tell.
void AddWriteLines(prometheus::Registry& registry, const WriteLines& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const Labels labels = {{"name", kWriteLineNames[i]}};
    AddGauge(registry, "workqueue_depth", "Writes that wait to be sent, by what they are for.",
             labels, static_cast<double>(lines[i].waiting));
    AddCounter(registry, "workqueue_adds_total",
               "Writes that joined the line, those to be tried again included.", labels,
               static_cast<double>(lines[i].added));
    AddCounter(registry, "workqueue_retries_total", "Writes that were to be tried again.", labels,
               static_cast<double>(lines[i].retried));
  }
}

// As every Prometheus client names them.
void AddProcess(prometheus::Registry& registry, const ProcessFigures& process) {
  AddCounter(registry, "process_cpu_seconds_total", "User and system CPU time, in seconds.", {},
             process.cpu_seconds);
  AddGauge(registry, "process_resident_memory_bytes", "Resident memory, in bytes.", {},
           process.resident_bytes);
  AddGauge(registry, "process_start_time_seconds", "Start of the process, in Unix seconds.", {},
           process.start_seconds);
  AddGauge(registry, "process_open_fds", "Open file descriptors.", {}, process.open_descriptors);
  AddGauge(registry, "process_max_fds", "Most file descriptors that may be open.", {},
           process.most_descriptors);
}

template <typename Scale>
prometheus::ClientMetric MetricOf(const DurationHistogram<Scale>& histogram, Labels labels = {}) {
  prometheus::ClientMetric metric;
  for (auto& [name, value] : labels) metric.label.push_back({.name = name, .value = value});
  metric.histogram.sample_count = histogram.count();
  metric.histogram.sample_sum = histogram.seconds();
  uint64_t so_far = 0;
  for (size_t i = 0; i < Scale::kBounds.size(); ++i) {
    so_far += histogram.buckets()[i];
    metric.histogram.bucket.push_back(
        {.cumulative_count = so_far, .upper_bound = Scale::kBounds[i]});
  }
  metric.histogram.bucket.push_back({.cumulative_count = histogram.count(),
                                     .upper_bound = std::numeric_limits<double>::infinity()});
  return metric;
}

prometheus::MetricFamily HistogramFamily(const char* name, const char* help,
                                         std::vector<prometheus::ClientMetric> metrics) {
  return {.name = name,
          .help = help,
          .type = prometheus::MetricType::Histogram,
          .metric = std::move(metrics)};
}

// As client-go names it.
prometheus::MetricFamily AnswerTimesFamily(const ProcessFacts& facts) {
  std::vector<prometheus::ClientMetric> metrics;
  for (const auto& [method, times] : facts.answers.times) {
    metrics.push_back(MetricOf(
        times, {{"host", facts.api_server}, {"verb", std::string(HttpMethodName(method))}}));
  }
  return HistogramFamily("rest_client_request_duration_seconds",
                         "From sending a request to the head of the API server's answer, but for "
                         "watches.",
                         std::move(metrics));
}

}  // namespace

std::string RenderMetrics(const LoopCounters& counters, const ProcessFacts& facts) {
  // Families of one name are merged by the registry, so that rows stay one line each.
  prometheus::Registry registry(prometheus::Registry::InsertBehavior::Merge);
  for (const Row& row : kRows) {
    Labels labels;
    if (*row.label != '\0') labels[row.label] = row.label_value;
    AddRow(registry, row, labels, counters.*row.value);
  }
  for (const auto& [listener, counted] : facts.listeners) {
    for (const ListenerRow& row : kListenerRows) {
      AddRow(registry, row, {{"listener", listener}}, counted.*row.value);
    }
  }
  AddCounter(registry, "maniple_gang_scheduling_seconds_total",
             "Seconds from the youngest quorum member's creation to its gang's quorum being bound, "
             "summed.",
             {}, counters.scheduling_seconds);
  AddForbidden(registry, counters.forbidden);
  for (const ForbiddenCounts& forbidden : facts.forbidden) AddForbidden(registry, forbidden);
  AddGauge(registry, "leader_election_master_status", "1 while this process leads, else 0.",
           {{"name", "maniple-scheduler"}}, facts.leading ? 1 : 0);
  AddGauge(registry, "maniple_synced", "1 once every watched kind has been listed.", {},
           facts.synced ? 1 : 0);
  AddGauge(registry, "maniple_build_info", "Always 1; the version is the label.",
           {{"version", facts.version}}, 1);
  AddProcess(registry, facts.process);
  AddAnswers(registry, facts);
  AddWriteLines(registry, facts.writes);
  std::vector<prometheus::MetricFamily> families = registry.Collect();
  families.push_back(HistogramFamily("maniple_turn_duration_seconds",
                                     "Time of each turn of the scheduling loop.",
                                     {MetricOf(facts.turns)}));
  families.push_back(HistogramFamily(
      "maniple_preemption_duration_seconds",
      "From the decision that others leave for a gang until it was placed in their room.",
      {MetricOf(counters.room_made)}));
  families.push_back(
      HistogramFamily("maniple_decision_duration_seconds",
                      "Time of each decision on a gang; rejected: with the search for victims.",
                      {MetricOf(counters.took_to_place, {{"result", "placed"}}),
                       MetricOf(counters.took_to_reject, {{"result", "rejected"}})}));
  families.push_back(AnswerTimesFamily(facts));
  std::string text = prometheus::TextSerializer().Serialize(families);
  if (facts.figures != nullptr) AppendClusterMetrics(*facts.figures, facts.now, text);
  return text;
}

}  // namespace maniple
