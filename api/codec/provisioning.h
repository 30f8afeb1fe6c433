// ProvisioningRequests (autoscaling.x-k8s.io/v1): one asks an autoscaler for the nodes of a whole
// gang, all of them or none. The pods are described by PodTemplates.
//
// Pure functions; any thread. Source of the fields: the definition of the kind, and of
// cluster-autoscaler's conditions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/model/model.h"

namespace maniple {

struct NewProvisioningRequest {
  struct PodSet {
    std::string template_name;
    int32_t count = 0;
  };
  std::string namespace_name, name;
  OwnerReference owner;  // goes, and the request with it
  std::string class_name;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<PodSet> pod_sets;  // 1 to 32, as the kind allows
};
[[nodiscard]] std::string EncodeProvisioningRequest(const NewProvisioningRequest& request);

// The PodTemplate of pods like the one that `pod` is the JSON text of: what decides on which nodes
// it fits, and nothing that a tenant may want to keep to itself (commands, environment).
// kInvalidArgument: it is the text of no pod.
[[nodiscard]] absl::StatusOr<std::string> EncodePodTemplate(absl::string_view namespace_name,
                                                            absl::string_view name,
                                                            const OwnerReference& owner,
                                                            absl::string_view pod);

enum class ProvisioningState : uint8_t {
  kOpen,
  kAccepted,
  kProvisioned,  // the nodes are there, or on their way
  kFailed,       // there will be none, or no longer
};
struct ProvisioningAnswer {
  ProvisioningState state = ProvisioningState::kOpen;
  std::string why;  // of kFailed: reason and message of the condition that says so
};
// metadata.uid of the JSON text of an object; "" = it has none.
[[nodiscard]] std::string UidIn(absl::string_view object);
// From the JSON text of the request as it stands on the server; what cannot be read is open.
[[nodiscard]] ProvisioningAnswer ReadProvisioningAnswer(absl::string_view request);

}  // namespace maniple
