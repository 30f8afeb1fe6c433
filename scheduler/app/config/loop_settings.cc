#include "scheduler/app/config/loop_settings.h"

#include "api/producers/gang_directory.h"
#include "api/producers/reader.h"
#include "scheduler/app/config/profile.h"

namespace maniple {

LoopOptions LoopOptionsFor(const SchedulerConfig& config) {
  LoopOptions options;
  options.state = {.scheduler_names = config.scheduler_names,
                   .default_queue = config.default_queue,
                   .nvlink_domain_labels = config.gpu.nvlink_domain_labels,
                   .gpus = config.gpu.rules};
  options.state.producers = ProducerOptionsFor(config);
  options.foreign_statuses = {.xk8s = config.producers.write_xk8s_status,
                              .volcano = config.producers.write_volcano_status};
  options.binding_annotations = config.autoscaling.binding_annotations;
  options.node_requests = config.autoscaling.node_requests;
  options.profile = ProfileFor(config);
  options.per_pod_events = config.pod_events;
  options.fair_sharing = config.fair_sharing;
  options.fair_strategies = config.fair_strategies;
  options.ignore_pdb = config.ignore_pdb;
  options.without_queue = config.without_queue;
  options.reservation_after = config.reservation_after;
  options.holds_per_cohort = config.holds_per_cohort;
  options.mig = config.gpu.mig;
  return options;
}

ProducerOptions ProducerOptionsFor(const SchedulerConfig& config) {
  return {.kinds = config.producers.kinds,
          .queues = config.producers.queues,
          .default_queue = config.default_queue,
          .kueue_brings_quota = config.without_queue == WithoutQueue::kAllow};
}

void WatchProducers(const SchedulerConfig& config, ClusterClientOptions& out) {
  out.foreign = config.producers.kinds;
  out.reader = MakeForeignReader(config.producers.kinds);
}

}  // namespace maniple
