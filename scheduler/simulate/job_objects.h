// The objects of one job of a trace: pods, and the PodGroup that makes a gang of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "scheduler/simulate/trace.h"

namespace maniple {

// The namespace of all jobs.
inline constexpr char kTraceNamespace[] = "default";

struct JobForm {
  std::string scheduler_name;
  bool tells_run_times = false;
};

// A single pod has a PodGroup only if that has something to say.
// `life` counts how often the job was made again; its pods get new names each time.
[[nodiscard]] std::vector<Json> ObjectsOf(const TraceJob& job, int64_t index, int64_t life,
                                          const JobForm& form);
[[nodiscard]] std::string PodNameOf(int64_t index, int64_t life, int64_t rank);
[[nodiscard]] std::string GroupNameOf(int64_t index);
[[nodiscard]] bool HasGroup(const TraceJob& job, const JobForm& form);

// The class that gives pods this priority; priority 0 needs none.
[[nodiscard]] Json PriorityClassOf(int32_t priority);

struct PodOfJob {
  int64_t index = 0, life = 0;
};
// `pod`: "namespace/name"; none: it is no pod of a job.
[[nodiscard]] std::optional<PodOfJob> PodOfJobNamed(absl::string_view pod);

}  // namespace maniple
