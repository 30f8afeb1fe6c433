// The objects that a file asks for, with the pods that the Job controller would make of its Jobs.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "api/codec/json.h"

namespace maniple {

inline constexpr int64_t kMostPodsAsked = 20'000;

// Pods, PodGroups and Jobs, each with its namespace; behind each Job, the pods that it starts with.
// Any other kind is an error that names it, since its pods are not known here.
// So are more pods than kMostPodsAsked.
[[nodiscard]] absl::StatusOr<std::vector<Json>> WithPodsOfJobs(const std::vector<Json>& objects);

}  // namespace maniple
