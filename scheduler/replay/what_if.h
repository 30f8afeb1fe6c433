// Would a job start, and when: the same scheduler's answer in a cluster that differs
// a little from the present one. Nothing is written anywhere.
//
// The cluster is replayed from its objects (replay.h), changed, and given the job. Pure functions
// of data; any thread, seconds for a large cluster.
//
//   ASSIGN_OR_RETURN(WhatIfAnswer answer, AnswerWhatIf(question, options));
//   for (const GangStart& gang : answer.gangs) std::cout << GangStartText(gang);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/codec/json.h"
#include "scheduler/loop/records/loop_options.h"
#include "scheduler/replay/cluster_changes.h"
#include "scheduler/replay/replay.h"
#include "scheduler/replay/snapshot_file.h"

namespace maniple {

struct WhatIfQuestion {
  ClusterSnapshot cluster;
  std::vector<Json> job;           // Pods, PodGroups, Jobs
  std::vector<std::string> gangs;  // "namespace/name", of those that are there: asked about, too
  // The time of the question, if later than the snapshot: pods whose known end
  // comes before it are gone.
  absl::Time at = absl::InfinitePast();
  std::vector<AddedNodes> nodes;
  std::vector<AddedQuota> quota;
  // How far ahead it looks for a start, along the known ends and those of protection.
  absl::Duration horizon = absl::Hours(24);
};

enum class StartKind : uint8_t {
  kHasCompleted,  // before the question
  kRuns,          // since before the question
  kNow,
  kAfterEvicting,  // now, after evictions
  kLater,          // once others have ended, or are protected no longer
  kNotSoon,        // not within the horizon, as far as ends are known
  kNever,          // not as the cluster is
};

struct GangStart {
  std::string namespace_name, name, queue;
  StartKind kind = StartKind::kNever;
  absl::Time at;                      // kLater
  std::vector<std::string> evicts;    // "namespace/name" of gangs
  std::vector<std::string> nodes;     // where
  std::vector<NodeDivision> divides;  // of these nodes, those that must be divided by MIG first
  bool after_ends = false;            // kLater: ends that are known came before
  std::string reason, message;        // why the gang does not start
};

struct WhatIfAnswer {
  std::vector<GangStart> gangs;  // of the job and those asked about, by name
  // Some running pods have no known end: a gang that waits for them may start sooner.
  bool some_ends_unknown = false;
};

// InvalidArgument and NotFound name the object, node, Queue or gang.
[[nodiscard]] absl::StatusOr<WhatIfAnswer> AnswerWhatIf(const WhatIfQuestion& question,
                                                        LoopOptions options);

// "would start now on 2 nodes"; "would start at 2026-01-01 12:00:00 UTC on 2 nodes, by the ends
// that are known".
[[nodiscard]] std::string GangStartText(const GangStart& start);

}  // namespace maniple
