// The objects of a cluster that decisions rest on, read once from its API server under the user's
// own rights.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/http/client_config.h"
#include "api/model/foreign.h"
#include "scheduler/replay/snapshot_file.h"

namespace maniple {

struct ReadClusterResult {
  ClusterSnapshot cluster;
  // Kinds that could not be read and that most decisions do without, a sentence each.
  std::vector<std::string> notes;
};

// Errors name the collection; NotFound: a kind that every decision needs is not served. What
// containers run, and with which variables, is left out.
[[nodiscard]] absl::StatusOr<ReadClusterResult> ReadCluster(const ClientConfig& config,
                                                            const ForeignKinds& producers,
                                                            absl::Time now);

}  // namespace maniple
