// A cluster for a trace that brings none: nodes of a few kinds, and a Queue for each name that jobs
// give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "scheduler/simulate/trace.h"

namespace maniple {

struct NodeKind {
  int64_t count = 0;
  int64_t gpus = 8;                         // of each node, as all below
  std::string cpu = "128", memory = "2Ti";  // quantities
  std::string model;                        // "" = not told
};

inline constexpr int64_t kMostSimulatedNodes = 100'000;

// `text`: "310:gpus=8,cpu=96,memory=1Ti,model=H100"; all but the count may be left out.
[[nodiscard]] absl::StatusOr<NodeKind> ParseNodeKind(absl::string_view text);
[[nodiscard]] std::vector<Json> NodesOf(const std::vector<NodeKind>& kinds);
// A node list of openb: CSV with sn, cpu_milli, memory_mib, gpu, model.
[[nodiscard]] absl::StatusOr<std::vector<Json>> ReadOpenbNodes(absl::string_view text);

enum class QuotaBy : uint8_t {
  kNone,    // Queues without a quota
  kEqual,   // all GPUs in equal parts, in one Cohort that lends
  kDemand,  // in proportion to the GPU hours of each one's jobs
};
// Queues for names in jobs that `cluster` has no Queue for.
[[nodiscard]] std::vector<Json> QueuesFor(const std::vector<TraceJob>& jobs,
                                          const std::vector<Json>& cluster, QuotaBy quota);

}  // namespace maniple
