// The section `producers` of the configuration file: whose groups and owners make gangs, whose
// queues stand for which of ours, and whose statuses are written.
//
//   producers:
//     kinds: [podgroups.scheduling.x-k8s.io, jobs.batch]   # default: all that are known; []: none
//     queues: {research: team-a, lq-default: shared}       # their name: our Queue
//     statuses: {xk8s: true, volcano: false}
//     rules:                                               # owners of kinds that are not known
//     - {kind: TrainRun, resource: trainruns, group: ml.example.com, versions: [v1],
//        replicas: ["spec.roles.*.replicas"], minimums: [spec.minAvailable]}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/model/foreign.h"
#include "api/producers/kinds.h"
#include "scheduler/app/config/config_section.h"

namespace maniple {

struct ProducersConfig {
  // In the order of that table, then those of the rules in the order of the file.
  ForeignKinds kinds = BuiltinForeignKinds();
  std::vector<std::pair<std::string, std::string>> queues;  // foreign name → Queue; by name
  bool write_xk8s_status = true;
  bool write_volcano_status = true;
};

void ReadProducersConfig(const Json& map, const std::string& path, Problems& problems,
                         ProducersConfig& out);

}  // namespace maniple
