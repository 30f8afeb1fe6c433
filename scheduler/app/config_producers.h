// The section `producers` of the configuration file: whose groups and owners make gangs, whose
// queues stand for which of ours, and whose statuses are written.
//
//   producers:
//     kinds: [podgroups.scheduling.x-k8s.io, jobs.batch]   # default: all that are known; []: none
//     queues: {research: team-a, lq-default: shared}       # their name: our Queue
//     statuses: {xk8s: true, volcano: false}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/model/foreign.h"
#include "api/producers/kinds.h"
#include "scheduler/app/config_section.h"

namespace maniple {

struct ProducersConfig {
  ForeignKinds kinds = BuiltinForeignKinds();               // in the order of that table
  std::vector<std::pair<std::string, std::string>> queues;  // foreign name → Queue; by name
  bool write_xk8s_status = true;
  bool write_volcano_status = true;
  bool has_rules = false;  // rules for other kinds are there; of no effect in this version
};

void ReadProducersConfig(const Json& map, const std::string& path, Problems& problems,
                         ProducersConfig& out);

}  // namespace maniple
