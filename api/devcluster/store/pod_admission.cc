#include "api/devcluster/store/pod_admission.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/conditions.h"
#include "api/devcluster/store/pod_defaults.h"

namespace maniple::devcluster {
namespace {

constexpr int kDefaultTolerationSeconds = 300;

ObjectPtr DefaultPriorityClass(const Cluster& cluster) {
  const StorageId storage = cluster.types.Storage("scheduling.k8s.io", "priorityclasses");
  ObjectPtr chosen;
  for (const ObjectPtr& candidate : cluster.store.List(storage)) {
    if (!(*candidate)["globalDefault"].AsBool()) continue;
    if (chosen == nullptr || (*candidate)["value"].AsInt() < (*chosen)["value"].AsInt()) {
      chosen = candidate;
    }
  }
  return chosen;
}

MaybeError AdmitPriority(const Cluster& cluster, const ResourceType& pods, absl::string_view name,
                         Json& spec) {
  const std::string class_name = spec["priorityClassName"].AsString();
  ObjectPtr chosen;
  if (class_name.empty()) {
    chosen = DefaultPriorityClass(cluster);
    if (chosen != nullptr) spec.Set("priorityClassName", (*chosen)["metadata"]["name"]);
  } else {
    const StorageId storage = cluster.types.Storage("scheduling.k8s.io", "priorityclasses");
    chosen = cluster.store.Get(storage, {"", class_name});
    if (chosen == nullptr) {
      return Forbidden(pods, name,
                       absl::StrCat("no PriorityClass with name ", class_name, " was found"));
    }
  }
  const int64_t value = chosen == nullptr ? 0 : (*chosen)["value"].AsInt();
  const Json& given = spec["priority"];
  if (given.is_number() && given.AsInt() != value) {
    return Forbidden(pods, name,
                     absl::StrCat("the integer value of priority (", given.AsInt(),
                                  ") must not be provided in pod spec; priority admission "
                                  "controller computed ",
                                  value, " from the given PriorityClass name"));
  }
  spec.Set("priority", value);
  const std::string policy = chosen == nullptr || !(*chosen)["preemptionPolicy"].is_string()
                                 ? "PreemptLowerPriority"
                                 : (*chosen)["preemptionPolicy"].AsString();
  const Json& given_policy = spec["preemptionPolicy"];
  if (given_policy.is_string() && given_policy.AsString() != policy) {
    return Forbidden(pods, name,
                     absl::StrCat("the string value of PreemptionPolicy (", given_policy.AsString(),
                                  ") must not be provided in pod spec; priority admission "
                                  "controller computed ",
                                  policy, " from the given PriorityClass name"));
  }
  spec.Set("preemptionPolicy", policy);
  return std::nullopt;
}

MaybeError AdmitRuntimeClass(const Cluster& cluster, const ResourceType& pods,
                             absl::string_view name, Json& spec) {
  const std::string class_name = spec["runtimeClassName"].AsString();
  ObjectPtr runtime_class;
  if (!class_name.empty()) {
    const StorageId storage = cluster.types.Storage("node.k8s.io", "runtimeclasses");
    runtime_class = cluster.store.Get(storage, {"", class_name});
    if (runtime_class == nullptr) {
      return Forbidden(pods, name,
                       absl::StrCat("pod rejected: RuntimeClass \"", class_name, "\" not found"));
    }
  }
  const Json none;
  const Json& defined = runtime_class == nullptr ? none : *runtime_class;
  const Json& overhead = defined["overhead"]["podFixed"];
  if (spec["overhead"].size() > 0 && overhead.is_null()) {
    return Forbidden(pods, name,
                     "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
                     "Overhead");
  }
  if (spec["overhead"].size() > 0 && !(spec["overhead"] == overhead)) {
    return Forbidden(pods, name,
                     "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  if (overhead.is_object()) spec.Set("overhead", overhead);
  for (const auto& [key, value] : defined["scheduling"]["nodeSelector"].members()) {
    const Json& own = spec["nodeSelector"][key];
    if (own.is_string() && !(own == value)) {
      return Forbidden(pods, name,
                       absl::StrCat("conflict: runtimeClass.scheduling.nodeSelector[", key,
                                    "] = ", value.AsString(), "; pod.spec.nodeSelector[", key,
                                    "] = ", own.AsString()));
    }
    spec.Mutable("nodeSelector").Set(key, value);
  }
  for (const Json& toleration : defined["scheduling"]["tolerations"].items()) {
    spec.Mutable("tolerations").Append(toleration);
  }
  return std::nullopt;
}

// A pod outlives a short outage of its node: the admission plugin DefaultTolerationSeconds.
void TolerateOutages(Json& spec) {
  const Json& given = spec["tolerations"];
  if (!given.is_null() && !given.is_array()) return;  // validation says so
  constexpr std::array<absl::string_view, 2> kTaints = {"node.kubernetes.io/not-ready",
                                                        "node.kubernetes.io/unreachable"};
  for (const absl::string_view taint : kTaints) {
    bool tolerated = false;
    for (const Json& toleration : spec["tolerations"].items()) {
      const std::string& key = toleration["key"].AsString();
      const std::string& effect = toleration["effect"].AsString();
      if ((key == taint || key.empty()) && (effect == "NoExecute" || effect.empty())) {
        tolerated = true;
      }
    }
    if (tolerated) continue;
    spec.Mutable("tolerations")
        .Append(Json::Object({{"key", taint},
                              {"operator", "Exists"},
                              {"effect", "NoExecute"},
                              {"tolerationSeconds", kDefaultTolerationSeconds}}));
  }
}

}  // namespace

MaybeError AdmitNewPod(const Cluster& cluster, const ResourceType& pods, Json& pod) {
  Json* spec = pod.Find("spec");
  if (spec == nullptr || !spec->is_object()) return std::nullopt;  // validation says so
  const std::string name = pod["metadata"]["name"].AsString();
  if (MaybeError error = AdmitPriority(cluster, pods, name, *spec)) return error;
  TolerateOutages(*spec);
  return AdmitRuntimeClass(cluster, pods, name, *spec);
}

void AdmitPodChange(Json& pod) {
  Json* spec = pod.Find("spec");
  if (spec != nullptr && spec->is_object()) TolerateOutages(*spec);
}

void StartPodStatus(Json& pod, absl::Time now) {
  pod.Set("status", Json::Object({{"phase", "Pending"}, {"qosClass", QosClass(pod["spec"])}}));
  if (pod["spec"]["schedulingGates"].size() == 0) return;
  SetCondition(pod,
               {.type = "PodScheduled",
                .status = "False",
                .reason = "SchedulingGated",
                .message = "Scheduling is blocked due to non-empty scheduling gates",
                .probed = true},
               now);
}

}  // namespace maniple::devcluster
