// `maniple whatif` and `maniple snapshot`: questions to a replay of the cluster, never to the
// cluster itself.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/cli/admin_client.h"
#include "scheduler/replay/what_if.h"

namespace maniple {

struct WhatIfRequest {
  AdminClientOptions client;  // its kubeconfig and context
  std::string output;         // "", table, wide, json or yaml
  std::string namespace_name;
  std::vector<std::string> gangs, files;
  std::string at;                         // a time, or how long after the cluster was read: "2h"
  std::string horizon;                    // a duration: "24h"
  std::vector<std::string> nodes, quota;  // "2:like=gpu-node-7", "research=+16"
  std::string snapshot, config;           // files
};
// The exit status: 0 when everything asked about would start, 3 when something would not, 1 when
// there is no answer.
[[nodiscard]] int RunWhatIf(const WhatIfRequest& request);

// "2:like=gpu-node-7".
[[nodiscard]] absl::StatusOr<AddedNodes> ParseAddedNodes(absl::string_view text);
// "research=+16", "research/cpu=-8".
[[nodiscard]] absl::StatusOr<AddedQuota> ParseAddedQuota(absl::string_view text);

struct SnapshotRequest {
  AdminClientOptions client;
  std::string file;     // to be written; "-" is standard output
  bool redact = false;  // names become others, and what no decision rests on goes
  std::string config;
};
[[nodiscard]] int RunSnapshot(const SnapshotRequest& request);

}  // namespace maniple
