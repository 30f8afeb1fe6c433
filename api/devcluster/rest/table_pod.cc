#include "api/devcluster/rest/table_pod.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/devcluster/store/conditions.h"
#include "api/devcluster/store/object_facts.h"

namespace maniple::devcluster {
namespace {

Json TextOrNone(const Json& value) { return value.AsString().empty() ? Json("<none>") : value; }

bool IsSidecar(const Json& pod, const std::string& container) {
  for (const Json& declared : pod["spec"]["initContainers"].items()) {
    if (declared["name"].AsString() == container) {
      return declared["restartPolicy"].AsString() == "Always";
    }
  }
  return false;
}

// Why a container does not run, or empty when it does or nobody knows.
std::string Trouble(const Json& status) {
  const Json& state = status["state"];
  if (!state["waiting"]["reason"].AsString().empty()) return state["waiting"]["reason"].AsString();
  if (!state.Has("terminated")) return "";
  const Json& end = state["terminated"];
  if (!end["reason"].AsString().empty()) return end["reason"].AsString();
  return end["signal"].AsInt() != 0 ? absl::StrCat("Signal:", end["signal"].AsInt())
                                    : absl::StrCat("ExitCode:", end["exitCode"].AsInt());
}

// "Init:1/2" or "Init:Error" while an init container stands in the way; else empty.
std::string InitProgress(const Json& pod) {
  const std::vector<Json>& all = pod["status"]["initContainerStatuses"].items();
  for (size_t i = 0; i < all.size(); ++i) {
    const Json& state = all[i]["state"];
    if (state.Has("terminated") && state["terminated"]["exitCode"].AsInt() == 0) continue;
    if (IsSidecar(pod, all[i]["name"].AsString()) && all[i]["started"].AsBool()) continue;
    const std::string trouble = Trouble(all[i]);
    if (!trouble.empty() && trouble != "PodInitializing") return absl::StrCat("Init:", trouble);
    return absl::StrCat("Init:", i, "/", pod["spec"]["initContainers"].size());
  }
  return "";
}

std::string Reason(const Json& pod) {
  const Json& status = pod["status"];
  std::string reason = status["reason"].AsString();
  if (reason.empty()) reason = status["phase"].AsString();
  if (FindCondition(pod, "PodScheduled")["reason"].AsString() == "SchedulingGated") {
    reason = "SchedulingGated";
  }
  const std::string init = InitProgress(pod);
  if (!init.empty()) return init;
  bool any_running = false;
  const std::vector<Json>& containers = status["containerStatuses"].items();
  for (size_t i = containers.size(); i-- > 0;) {
    const std::string trouble = Trouble(containers[i]);
    if (!trouble.empty()) {
      reason = trouble;
    } else {
      any_running =
          any_running || (containers[i]["ready"].AsBool() && containers[i]["state"].Has("running"));
    }
  }
  if (reason == "Completed" && any_running) {
    return FindCondition(pod, "Ready")["status"].AsString() == "True" ? "Running" : "NotReady";
  }
  return reason;
}

}  // namespace

Json PodReady(const Json& pod, absl::Time) {
  int64_t ready = 0;
  size_t total = pod["spec"]["containers"].size();
  for (const Json& container : pod["spec"]["initContainers"].items()) {
    total += container["restartPolicy"].AsString() == "Always" ? 1 : 0;
  }
  for (const Json& status : pod["status"]["containerStatuses"].items()) {
    ready += status["ready"].AsBool() ? 1 : 0;
  }
  for (const Json& status : pod["status"]["initContainerStatuses"].items()) {
    ready += IsSidecar(pod, status["name"].AsString()) && status["ready"].AsBool() ? 1 : 0;
  }
  return Json(absl::StrCat(ready, "/", total));
}

Json PodStatus(const Json& pod, absl::Time) {
  return Json(IsLeaving(pod) && !HasEnded(pod) ? "Terminating" : Reason(pod));
}

Json PodRestarts(const Json& pod, absl::Time) {
  int64_t restarts = 0;
  for (const Json& status : pod["status"]["containerStatuses"].items()) {
    restarts += status["restartCount"].AsInt();
  }
  return Json(absl::StrCat(restarts));
}

Json PodAddressCell(const Json& pod, absl::Time) { return TextOrNone(pod["status"]["podIP"]); }
Json PodNode(const Json& pod, absl::Time) { return TextOrNone(pod["spec"]["nodeName"]); }
Json PodNominatedNode(const Json& pod, absl::Time) {
  return TextOrNone(pod["status"]["nominatedNodeName"]);
}

Json PodReadinessGates(const Json& pod, absl::Time) {
  const std::vector<Json>& gates = pod["spec"]["readinessGates"].items();
  if (gates.empty()) return Json("<none>");
  int64_t open = 0;
  for (const Json& gate : gates) {
    const Json& condition = FindCondition(pod, gate["conditionType"].AsString());
    open += condition["status"].AsString() == "True" ? 1 : 0;
  }
  return Json(absl::StrCat(open, "/", gates.size()));
}

}  // namespace maniple::devcluster
