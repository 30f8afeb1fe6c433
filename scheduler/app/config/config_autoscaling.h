// The section `autoscaling` of the configuration file: what node autoscalers are told of pods that
// are bound, and how they are asked for the nodes of those that wait.
//
//   autoscaling:
//     bindingAnnotations:      # that each pod gets together with its node, at no further request
//       cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
//       karpenter.sh/do-not-disrupt: "true"
//     provisioningRequests:    # one for each gang that waits for nodes; default: none
//       className: best-effort-atomic-scale-up.autoscaling.x-k8s.io
//       parameters: {ValidUntilSeconds: "3600"}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/codec/json.h"
#include "scheduler/app/config/config_section.h"
#include "scheduler/loop/records/node_request.h"

namespace maniple {

struct AutoscalingConfig {
  std::vector<std::pair<std::string, std::string>> binding_annotations;  // in the order of the file
  NodeRequestOptions node_requests;
};
// Problems name the path.
void ReadAutoscalingConfig(const Json& map, const std::string& path, Problems& problems,
                           AutoscalingConfig& out);

}  // namespace maniple
