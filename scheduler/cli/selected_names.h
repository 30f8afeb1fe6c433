// Whom a label selector names. The scheduler keeps no labels of what it lists, so the API server is
// asked, under the user's own rights.
#pragma once

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "api/codec/json.h"
#include "api/http/client_config.h"
#include "api/model/object.h"

namespace maniple {

class SelectedNames final {
 public:
  // Objects of the kind, in one namespace or in all ("") where it has any. Of PodGroups also the
  // pods, for those that are in no group. PermissionDenied and Unavailable name the collection;
  // InvalidArgument, the selector makes no sense.
  [[nodiscard]] static absl::StatusOr<SelectedNames> Ask(const ClientConfig& config,
                                                         ResourceKind kind,
                                                         const std::string& namespace_name,
                                                         const std::string& selector);

  // The answer of a list, less whom the selector does not name.
  [[nodiscard]] Json Of(const Json& list) const;

 private:
  absl::flat_hash_set<std::string> objects_, lone_pods_;  // "namespace/name", or "/name"
};

}  // namespace maniple
