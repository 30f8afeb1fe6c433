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

[[nodiscard]] Json NamedObject(absl::string_view kind, absl::string_view name);
// In namespace "default", of our scheduler, with one container; its uid is "uid-" and its name.
[[nodiscard]] Json PodObject(absl::string_view name);
// With room for 110 pods and nothing else.
[[nodiscard]] Json NodeObject(absl::string_view name);
// Each key with an equal chance of being absent.
[[nodiscard]] Json RandomLabels(Random& random, const std::vector<const char*>& keys,
                                const std::vector<const char*>& values);
// Puts the pod on one of the nodes n0, n1, …, which may not exist, at some point of its life.
void SettleSomewhere(Random& random, Json& pod, uint64_t nodes);

}  // namespace maniple
