#include "api/devcluster/store/conditions.h"

#include <utility>

#include "api/codec/kubernetes_time.h"

namespace maniple::devcluster {

void SetCondition(Json& object, const ConditionState& condition, absl::Time now) {
  const Json& old = FindCondition(object, condition.type);
  const bool same = old["status"].AsString() == condition.status;
  Json fresh = Json::Object({{"type", condition.type}, {"status", condition.status}});
  if (condition.probed) fresh.Set("lastProbeTime", nullptr);
  fresh.Set("lastTransitionTime",
            same ? old["lastTransitionTime"] : Json(FormatKubernetesTime(now)));
  if (!condition.reason.empty()) fresh.Set("reason", condition.reason);
  if (!condition.message.empty()) fresh.Set("message", condition.message);
  if (condition.observed_generation > 0) {
    fresh.Set("observedGeneration", condition.observed_generation);
  }
  Json& status = object.Mutable("status");
  if (status.is_null()) status = Json::Object();
  Json& conditions = status.Mutable("conditions");
  if (!conditions.is_array()) conditions = Json::Array();
  for (Json& entry : conditions.mutable_items()) {
    if (entry["type"].AsString() != condition.type) continue;
    entry = std::move(fresh);
    return;
  }
  conditions.Append(std::move(fresh));
}

const Json& FindCondition(const Json& object, absl::string_view type) {
  static const Json& none = *new Json;
  for (const Json& condition : object["status"]["conditions"].items()) {
    if (condition["type"].AsString() == type) return condition;
  }
  return none;
}

}  // namespace maniple::devcluster
