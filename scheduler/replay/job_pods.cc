#include "scheduler/replay/job_pods.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "scheduler/replay/object_shape.h"

namespace maniple {
namespace {

constexpr char kJobName[] = "batch.kubernetes.io/job-name";
constexpr char kIndex[] = "batch.kubernetes.io/job-completion-index";

std::string NamespaceOf(const Json& object) {
  const std::string& name = object["metadata"]["namespace"].AsString();
  return name.empty() ? "default" : name;
}

int64_t PodsOf(const Json& job) {
  const Json& spec = job["spec"];
  if (spec["suspend"].AsBool()) return 0;
  const int64_t at_once = spec["parallelism"].is_int() ? spec["parallelism"].AsInt() : 1;
  return spec["completions"].is_int() ? std::min(at_once, spec["completions"].AsInt()) : at_once;
}

Json PodOf(const Json& job, int64_t index) {
  const std::string& name = job["metadata"]["name"].AsString();
  const Json& form = job["spec"]["template"];
  Json meta = form["metadata"];
  meta.Set("name", absl::StrCat(name, "-", index));
  meta.Set("namespace", NamespaceOf(job));
  Json& labels = meta.Mutable("labels");
  labels.Set(kJobName, name);
  labels.Set("job-name", name);  // and the older words, which the controller still writes
  labels.Set("batch.kubernetes.io/controller-uid", job["metadata"]["uid"]);
  labels.Set("controller-uid", job["metadata"]["uid"]);
  if (job["spec"]["completionMode"].AsString() == "Indexed") {
    labels.Set(kIndex, absl::StrCat(index));
    meta.Mutable("annotations").Set(kIndex, absl::StrCat(index));
  }
  meta.Set("ownerReferences", Json::Array({Json::Object({{"apiVersion", "batch/v1"},
                                                         {"kind", "Job"},
                                                         {"name", name},
                                                         {"uid", job["metadata"]["uid"]},
                                                         {"controller", true}})}));
  return Json::Object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", std::move(meta)},
                       {"spec", form["spec"]}});
}

// The server would pass over an object of another version in silence.
absl::Status CheckVersion(const Json& object) {
  const std::string& kind = object["kind"].AsString();
  const std::string& version = object["apiVersion"].AsString();
  const absl::string_view known = kind == "Pod"   ? "v1"
                                  : kind == "Job" ? "batch/v1"
                                                  : "scheduling.maniple.dev/v1alpha1";
  const bool of_others = kind == "PodGroup" && absl::StrContains(version, '/') &&
                         !absl::StartsWith(version, "scheduling.maniple.dev/");
  if (version == known || of_others) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kind, " ", object["metadata"]["name"].AsString(),
                                                 ": apiVersion \"", version, "\": what-if knows ",
                                                 known, "; of other kinds give the pods"));
}

}  // namespace

absl::StatusOr<std::vector<Json>> WithPodsOfJobs(const std::vector<Json>& objects) {
  std::vector<Json> all;
  int64_t pods = 0;
  for (const Json& object : objects) {
    RETURN_IF_ERROR(CheckShape(object));
    const std::string& kind = object["kind"].AsString();
    const std::string& name = object["metadata"]["name"].AsString();
    if (kind != "Pod" && kind != "PodGroup" && kind != "Job") {
      return absl::InvalidArgumentError(absl::StrCat(
          kind, " ", name, ": what-if knows Pod, PodGroup and Job; of other kinds give the pods"));
    }
    RETURN_IF_ERROR(CheckVersion(object));
    if (kind == "Job") RETURN_IF_ERROR(CheckJobShape(object));
    if (kind == "Pod") ++pods;
    if (kind == "Job") pods += std::clamp<int64_t>(PodsOf(object), 0, kMostPodsAsked + 1);
    if (pods > kMostPodsAsked) {
      return absl::InvalidArgumentError(absl::StrCat(
          kind, " ", name, ": together they ask for more than ", kMostPodsAsked, " pods"));
    }
    Json& own = all.emplace_back(object);
    own.Mutable("metadata").Set("namespace", NamespaceOf(object));
    if (kind != "Job") continue;
    // The server would give a Job without a uid a new one, which its pods could not name.
    Json& meta = own.Mutable("metadata");
    if (!meta.Has("uid")) meta.Set("uid", absl::StrCat("what-if-", NamespaceOf(object), "-", name));
    meta.Set("resourceVersion", "1");
    const Json job = own;
    for (int64_t i = 0; i < PodsOf(job); ++i) all.push_back(PodOf(job, i));
  }
  return all;
}

}  // namespace maniple
