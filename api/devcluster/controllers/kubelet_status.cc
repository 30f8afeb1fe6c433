// What a kubelet writes into a pod's status. Lean: a cluster in memory holds very many of them.
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/controllers/kubelet.h"
#include "api/devcluster/store/conditions.h"

namespace maniple::devcluster {
namespace {

void SetReadiness(Json& pod, const ConditionState& ready, absl::Time now) {
  for (const char* type : {"ContainersReady", "Ready"}) {
    ConditionState condition = ready;
    condition.type = type;
    SetCondition(pod, condition, now);
  }
}

Json ContainerStatus(const Json& container, Json state, const char* readiness_field) {
  Json status = Json::Object({{"name", container["name"]},
                              {"image", container["image"]},
                              {"imageID", ""},
                              {"restartCount", 0},
                              {"ready", false},
                              {"state", std::move(state)}});
  if (readiness_field != nullptr) {
    status.Set("ready", true);
    status.Set(readiness_field, true);
  }
  return status;
}

// An address that looks like one and is the same for the same pod.
std::string PodAddress(const std::string& uid) {
  uint32_t hash = 2166136261;  // FNV-1a: std::hash may differ from build to build
  for (const char c : uid) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return absl::StrCat("10.", 64 + hash % 64, ".", hash / 64 % 256, ".", 1 + hash / 16384 % 254);
}

Json Terminated(const Json& started_at, PodEnd end, absl::Time now) {
  return Json::Object(
      {{"terminated", Json::Object({{"exitCode", end == PodEnd::kSucceeded ? 0 : 1},
                                    {"reason", end == PodEnd::kSucceeded ? "Completed" : "Error"},
                                    {"startedAt", started_at},
                                    {"finishedAt", Json(FormatKubernetesTime(now))}})}});
}

bool IsSidecar(const Json& container) { return container["restartPolicy"].AsString() == "Always"; }

}  // namespace

Json RunningPod(const Json& pod, absl::Time now) {
  Json next = pod;
  Json& status = next.Mutable("status");
  const Json since = Json(FormatKubernetesTime(now));
  status.Set("phase", "Running");
  status.Set("startTime", since);
  const std::string address = PodAddress(pod["metadata"]["uid"].AsString());
  status.Set("podIP", address);
  status.Set("podIPs", Json::Array({Json::Object({{"ip", address}})}));
  const Json running = Json::Object({{"running", Json::Object({{"startedAt", since}})}});
  Json containers = Json::Array();
  for (const Json& container : pod["spec"]["containers"].items()) {
    containers.Append(ContainerStatus(container, running, "started"));
  }
  Json init_containers = Json::Array();
  for (const Json& container : pod["spec"]["initContainers"].items()) {
    Json entry =
        IsSidecar(container)
            ? ContainerStatus(container, running, "started")
            : ContainerStatus(container, Terminated(since, PodEnd::kSucceeded, now), nullptr);
    init_containers.Append(std::move(entry));
  }
  if (init_containers.size() > 0) status.Set("initContainerStatuses", std::move(init_containers));
  status.Set("containerStatuses", std::move(containers));
  SetCondition(next, {.type = "Initialized", .status = "True"}, now);
  SetReadiness(next, {.type = "", .status = "True"}, now);
  return next;
}

Json EndedPod(const Json& pod, PodEnd end, absl::Time now) {
  Json next = pod;
  Json& status = next.Mutable("status");
  status.Set("phase", end == PodEnd::kSucceeded ? "Succeeded" : "Failed");
  if (Json* containers = status.Find("containerStatuses");
      containers != nullptr && containers->is_array()) {
    for (Json& entry : containers->mutable_items()) {
      if (!entry.is_object()) continue;
      const Json since = entry["state"]["running"]["startedAt"];
      entry.Set("ready", false);
      entry.Set("started", false);
      entry.Set("state", Terminated(since, end, now));
    }
  }
  SetReadiness(next,
               {.type = "",
                .status = "False",
                .reason = end == PodEnd::kSucceeded ? "PodCompleted" : "PodFailed"},
               now);
  return next;
}

Json RejectedPod(const Json& pod, absl::string_view reason, absl::string_view message,
                 absl::Time now) {
  Json next = pod;
  Json& status = next.Mutable("status");
  status.Set("phase", "Failed");
  status.Set("reason", Json(reason));
  status.Set("message", Json(message));
  status.Set("startTime", Json(FormatKubernetesTime(now)));
  return next;
}

}  // namespace maniple::devcluster
