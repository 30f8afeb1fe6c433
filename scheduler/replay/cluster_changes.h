// Changes of a cluster's objects, for the question what would be if.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/codec/json.h"

namespace maniple {

struct AddedNodes {
  int64_t count = 0;
  std::string like;  // the name of an existing node
};
struct AddedQuota {
  std::string queue, resource;  // resource "" = the only one that it limits, else GPUs
  std::string flavor;           // "" = the first that the Queue lists the resource for
  int64_t amount = 0;           // of whole units, also negative
};

// Adds copies with host names of their own, without pods, that take pods. NotFound names the
// node.
[[nodiscard]] absl::Status AddNodes(const AddedNodes& added, std::vector<Json>& objects);
// Changes the nominal quota; never below zero. NotFound and InvalidArgument name the Queue.
[[nodiscard]] absl::Status AddQuota(const AddedQuota& added, std::vector<Json>& objects);

}  // namespace maniple
