// From the configuration file to what a SchedulingLoop and its ClusterClient are told: the same for
// the program and for the scenarios that test it.
//
//   LoopOptions options = LoopOptionsFor(config);
//   WatchProducers(config, client_options);
#pragma once

#include "api/client/cluster_client.h"
#include "scheduler/app/config/config.h"
#include "scheduler/loop/records/loop_options.h"

namespace maniple {

struct ProducerOptions;  // api/producers/gang_directory.h

// Identity and seed are the caller's to set. Names of plugins are not looked at here:
// ParseSchedulerConfig has refused unknown ones.
[[nodiscard]] LoopOptions LoopOptionsFor(const SchedulerConfig& config);
// What LoopOptionsFor says of producers.
[[nodiscard]] ProducerOptions ProducerOptionsFor(const SchedulerConfig& config);
// The kinds and their reader; both sides have the same table.
void WatchProducers(const SchedulerConfig& config, ClusterClientOptions& out);

}  // namespace maniple
