// Pieces of Kubernetes objects as JSON, for generators of random cases.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/random.h"
#include "api/codec/json.h"

namespace maniple {

template <typename T>
const T& Pick(Random& random, const std::vector<T>& from) {
  return from[random.Below(from.size())];
}
inline std::string PickText(Random& random, const std::vector<const char*>& from) {
  return Pick(random, from);
}

inline Json NamedObject(absl::string_view kind, absl::string_view name) {
  return Json::Object(
      {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", Json::Object({{"name", name}})}});
}

// In namespace "default", of our scheduler, with one container; its uid is "uid-" and its name.
inline Json PodObject(absl::string_view name) {
  Json pod = NamedObject("Pod", name);
  Json& meta = pod.Mutable("metadata");
  meta.Set("namespace", "default");
  meta.Set("uid", "uid-" + std::string(name));
  Json& spec = pod.Mutable("spec");
  spec.Set("schedulerName", "maniple");
  spec.Set("containers", Json::Array({Json::Object({{"name", "main"}, {"image", "app:1"}})}));
  return pod;
}

// With room for 110 pods and nothing else.
inline Json NodeObject(absl::string_view name) {
  Json node = NamedObject("Node", name);
  node.Mutable("status").Set("allocatable", Json::Object({{"pods", "110"}}));
  return node;
}

// Each with an equal chance of being absent.
inline Json RandomLabels(Random& random, const std::vector<const char*>& keys,
                         const std::vector<const char*>& values) {
  Json labels = Json::Object();
  for (const char* key : keys) {
    if (!random.OneIn(2)) labels.Set(key, PickText(random, values));
  }
  return labels;
}

}  // namespace maniple
