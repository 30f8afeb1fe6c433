#include "test/oracle/json_parts.h"

#include "absl/strings/str_cat.h"

namespace maniple {

Json NamedObject(absl::string_view kind, absl::string_view name) {
  return Json::Object(
      {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", Json::Object({{"name", name}})}});
}

Json PodObject(absl::string_view name) {
  Json pod = NamedObject("Pod", name);
  Json& meta = pod.Mutable("metadata");
  meta.Set("namespace", "default");
  meta.Set("uid", absl::StrCat("uid-", name));
  Json& spec = pod.Mutable("spec");
  spec.Set("schedulerName", "maniple");
  spec.Set("containers", Json::Array({Json::Object({{"name", "main"}, {"image", "app:1"}})}));
  return pod;
}

Json NodeObject(absl::string_view name) {
  Json node = NamedObject("Node", name);
  node.Mutable("status").Set("allocatable", Json::Object({{"pods", "110"}}));
  return node;
}

Json RandomLabels(Random& random, const std::vector<const char*>& keys,
                  const std::vector<const char*>& values) {
  Json labels = Json::Object();
  for (const char* key : keys) {
    if (!random.OneIn(2)) labels.Set(key, PickText(random, values));
  }
  return labels;
}

void SettleSomewhere(Random& random, Json& pod, uint64_t nodes) {
  pod.Mutable("spec").Set("schedulerName", PickText(random, {"maniple", "default-scheduler"}));
  if (!random.OneIn(10)) {
    pod.Mutable("spec").Set("nodeName", absl::StrCat("n", random.Below(nodes)));
  }
  pod.Mutable("status").Set("phase", PickText(random, {"Running", "Running", "Running", "Pending",
                                                       "Succeeded", "Failed", "Unknown"}));
  if (random.OneIn(4)) {
    pod.Mutable("metadata").Set("deletionTimestamp", "2026-01-02T03:04:05Z");
  }
}

}  // namespace maniple
