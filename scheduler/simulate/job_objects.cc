#include "scheduler/simulate/job_objects.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/model/maniple_types.h"

namespace maniple {
namespace {

constexpr char kPrefix[] = "trace-";

Json AmountsOf(const TraceJob& job) {
  Json amounts = Json::Object();
  if (job.cpu_milli > 0) amounts.Set("cpu", absl::StrCat(job.cpu_milli, "m"));
  if (job.memory_mib > 0) amounts.Set("memory", absl::StrCat(job.memory_mib, "Mi"));
  if (job.gpus > 0) amounts.Set(kTracedGpu, absl::StrCat(job.gpus));
  return amounts;
}

Json ModelsWanted(const std::vector<std::string>& models) {
  Json expression = Json::Object(
      {{"key", "nvidia.com/gpu.product"}, {"operator", "In"}, {"values", Json::Strings(models)}});
  Json term = Json::Object({{"matchExpressions", Json::Array({std::move(expression)})}});
  Json required = Json::Object({{"nodeSelectorTerms", Json::Array({std::move(term)})}});
  return Json::Object(
      {{"nodeAffinity",
        Json::Object({{"requiredDuringSchedulingIgnoredDuringExecution", std::move(required)}})}});
}

Json GroupOf(const TraceJob& job, int64_t index, const JobForm& form) {
  Json spec = Json::Object({{"minMember", job.pods}});
  if (!job.queue.empty()) spec.Set("queue", job.queue);
  if (form.tells_run_times) {
    spec.Set("expectedRuntimeSeconds",
             static_cast<int64_t>(std::ceil(absl::ToDoubleSeconds(job.runs))));
  }
  return Json::Object(
      {{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
       {"kind", "PodGroup"},
       {"metadata", Json::Object({{"name", GroupNameOf(index)}, {"namespace", kTraceNamespace}})},
       {"spec", std::move(spec)}});
}

std::string PriorityNameOf(int32_t priority) {
  return absl::StrCat("trace-priority-", priority < 0 ? "minus-" : "", std::abs(int64_t{priority}));
}

}  // namespace

Json PriorityClassOf(int32_t priority) {
  return Json::Object({{"apiVersion", "scheduling.k8s.io/v1"},
                       {"kind", "PriorityClass"},
                       {"metadata", Json::Object({{"name", PriorityNameOf(priority)}})},
                       {"value", static_cast<int64_t>(priority)}});
}

std::string GroupNameOf(int64_t index) { return absl::StrCat(kPrefix, index); }

std::string PodNameOf(int64_t index, int64_t life, int64_t rank) {
  return absl::StrCat(kPrefix, index, "-", life, "-", rank);
}

bool HasGroup(const TraceJob& job, const JobForm& form) {
  return job.pods > 1 || form.tells_run_times;
}

std::vector<Json> ObjectsOf(const TraceJob& job, int64_t index, int64_t life, const JobForm& form) {
  std::vector<Json> objects;
  Json labels = Json::Object();
  if (!job.queue.empty()) labels.Set(kQueueLabel, job.queue);
  if (HasGroup(job, form)) {
    if (life == 0) objects.push_back(GroupOf(job, index, form));
    labels.Set(kPodGroupLabel, GroupNameOf(index));
  }
  const Json amounts = AmountsOf(job);
  Json container =
      Json::Object({{"name", "main"},
                    {"image", "trace"},
                    {"resources", Json::Object({{"requests", amounts}, {"limits", amounts}})}});
  Json spec = Json::Object({{"schedulerName", form.scheduler_name},
                            {"terminationGracePeriodSeconds", 0},
                            {"containers", Json::Array({std::move(container)})}});
  if (job.priority != 0) spec.Set("priorityClassName", PriorityNameOf(job.priority));
  if (!job.models.empty()) spec.Set("affinity", ModelsWanted(job.models));
  for (int64_t rank = 0; rank < job.pods; ++rank) {
    objects.push_back(
        Json::Object({{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", Json::Object({{"name", PodNameOf(index, life, rank)},
                                                 {"namespace", kTraceNamespace},
                                                 {"labels", labels}})},
                      {"spec", spec}}));
  }
  return objects;
}

std::optional<PodOfJob> PodOfJobNamed(absl::string_view pod) {
  if (!absl::ConsumePrefix(&pod, absl::StrCat(kTraceNamespace, "/", kPrefix))) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(pod, '-');
  PodOfJob out;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &out.index) ||
      !absl::SimpleAtoi(parts[1], &out.life)) {
    return std::nullopt;
  }
  return out;
}

}  // namespace maniple
