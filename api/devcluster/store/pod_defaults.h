// What kube-apiserver fills in when a Pod (or a pod template) leaves it out.
//
// Pure functions of the object.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

// Puts the value where the member is absent or null.
void SetDefault(Json& object, absl::string_view key, Json value);
// The same for an empty string, as Go's defaulting sees it.
void SetDefaultText(Json& object, absl::string_view key, absl::string_view value);

// Defaults of a PodSpec wherever it stands: containers, volumes, policies.
void DefaultPodSpec(Json& spec);
// Defaults that only a Pod has: requests from limits, service links, host ports.
void DefaultPod(Json& pod);

// "Guaranteed", "Burstable" or "BestEffort".
[[nodiscard]] std::string QosClass(const Json& spec);

}  // namespace maniple::devcluster
