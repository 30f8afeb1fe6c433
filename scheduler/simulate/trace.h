// A trace: a record of jobs that came to some cluster, to be played again.
//
// Read from text, also gzipped; the first lines tell the format:
//   Maniple's own: CSV with columns submit_s, duration_s, gpus and optionally name, queue, pods,
//     cpu_milli, memory_mib, model, priority; gpus, CPU and memory are of one pod
//   openb pod lists (Alibaba, cluster-trace-gpu-v2023): a pod each; a part of a GPU counts as one
//   Philly (timestamp, duration, num_gpus, cluster) and Gavel's sample of it (vc, arrival_s, gpus)
//   Standard Workload Format 2.2 (Feitelson): a processor counts as one GPU
//   sacct -P of Slurm, with JobID, Submit, Elapsed, Account and ReqTRES or AllocTRES
// Pure functions of bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace maniple {

// The Kubernetes resource for `gpus` of a trace, and of the nodes that it is played on.
inline constexpr char kTracedGpu[] = "nvidia.com/gpu";

struct TraceJob {
  std::string name;
  std::string queue;         // "" = none
  absl::Duration submitted;  // since the first of the trace
  absl::Duration runs;
  int64_t pods = 1;
  int64_t gpus = 0;  // of each pod, here and below; 0 = none
  int64_t cpu_milli = 0, memory_mib = 0;
  std::vector<std::string> models;  // any of these; empty = any at all
  int32_t priority = 0;

  [[nodiscard]] int64_t all_gpus() const { return pods * gpus; }
};

struct WorkloadTrace {
  std::string format;          // for people
  std::vector<TraceJob> jobs;  // by submission
  int64_t never_ran = 0;       // rows without a run time, left out
  int64_t rounded = 0;         // pods that asked for a part of a GPU
};

inline constexpr size_t kMostTraceBytes = size_t{1} << 30;  // unpacked

// InvalidArgument names the line and its error, or the missing columns.
// A job of more GPUs than a node has is divided into equal pods of at most gpus_per_node.
[[nodiscard]] absl::StatusOr<WorkloadTrace> ReadTrace(absl::string_view bytes,
                                                      int64_t gpus_per_node);

}  // namespace maniple
