// What is wrong with a Pod, in the words of kube-apiserver: shape, resources, gates, and what an
// update may not change.
//
// Pure functions; causes are appended, none means valid. The parts a scheduler depends on are
// checked; what only a kubelet would trip over is not.
#pragma once

#include <vector>

#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"

namespace maniple::devcluster {

void ValidateNewPod(const Json& pod, std::vector<StatusCause>& causes);
// The template of a Job, Deployment and so on; `field` is where its spec stands.
void ValidatePodSpec(const Json& spec, absl::string_view field, std::vector<StatusCause>& causes);
// Images, activeDeadlineSeconds, added tolerations and removed gates may change, nothing else; a
// gated pod's node selector and affinity may also become narrower.
void ValidatePodChange(const Json& old_pod, const Json& pod, std::vector<StatusCause>& causes);
void ValidatePodStatusChange(const Json& old_pod, const Json& pod,
                             std::vector<StatusCause>& causes);

}  // namespace maniple::devcluster
