// The configuration file, parsed once into a plain struct and passed down. Kind
// SchedulerConfiguration, config.maniple.dev/v1alpha1; YAML or JSON; unknown fields, wrong types
// and bad values are refused with file, line, path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scheduler/app/config/config_autoscaling.h"
#include "scheduler/app/config/config_gpu.h"
#include "scheduler/app/config/config_http.h"
#include "scheduler/app/config/config_producers.h"
#include "scheduler/loop/records/loop_options.h"

namespace maniple {

struct LeaderElectionConfig {
  bool enabled = true;
  std::string lease_name = "maniple-scheduler";
  std::string lease_namespace = "kube-system";
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
};

struct ScoreWeight {
  std::string plugin;
  int64_t weight = 0;
};

struct SchedulerConfig {
  std::vector<std::string> scheduler_names = {"maniple"};
  std::string default_queue;
  WithoutQueue without_queue = WithoutQueue::kAllow;
  IgnorePdb ignore_pdb = IgnorePdb::kNever;  // preemption.ignorePDB
  LeaderElectionConfig leader_election;
  int32_t max_in_flight = 32;          // client.maxInFlight: writes under way at once
  int32_t most_writes_per_second = 0;  // client.qps; 0 = no ceiling
  PerPodEvents pod_events = PerPodEvents::kAuto;
  absl::Duration reservation_after = absl::Minutes(10);  // timeouts.reservationAfter
  int32_t holds_per_cohort = 1;                          // holds.maxPerCohort
  FairSharing fair_sharing = FairSharing::kOn;
  std::vector<FairStrategy> fair_strategies = {FairStrategy::kLessThanOrEqualToFinalShare};
  GpuConfig gpu;
  AutoscalingConfig autoscaling;
  ProducersConfig producers;
  HttpConfig http;
  std::vector<std::string> disabled_filters;  // plugins.filters.disabled
  std::vector<ScoreWeight> score_weights;     // plugins.scores
};

// `file` is used in error messages only: "scheduler.yaml:7: client.maxInFlight: expected an
// integer, got \"many\"". Every problem is listed, one a line.
[[nodiscard]] absl::StatusOr<SchedulerConfig> ParseSchedulerConfig(absl::string_view text,
                                                                   absl::string_view file);
[[nodiscard]] absl::StatusOr<SchedulerConfig> LoadSchedulerConfig(const std::string& file);

}  // namespace maniple
