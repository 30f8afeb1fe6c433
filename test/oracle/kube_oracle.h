// The Go program with the real plugins of kube-scheduler: many cases in, as many answers out.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "test/oracle/our_answer.h"

namespace maniple {

// Runs the program once for all of the cases. An error if it cannot be run or does not answer each.
[[nodiscard]] absl::StatusOr<std::vector<FilterAnswer>> AskKubeScheduler(
    absl::string_view program, const std::vector<Json>& cases);

// The fields of the types whose parts a pod's spec is made of: {"PodSpec": ["affinity", …], …}.
[[nodiscard]] absl::StatusOr<Json> PodFieldsOfKubernetes(absl::string_view program);

// Leaves out of a case that differs whatever it differs without; asks the program once a round.
[[nodiscard]] Json Shrunk(absl::string_view program, const FilterFamily& family, Json filter_case);

}  // namespace maniple
