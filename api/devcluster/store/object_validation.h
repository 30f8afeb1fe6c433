// What is wrong with an object of a built-in or custom kind, in the words of kube-apiserver.
//
// Pure functions; causes are appended, none means valid. Pods have a file of their own
// (pod_validation.h); custom objects are validated by their schema.
#pragma once

#include <vector>

#include "api/codec/json.h"
#include "api/devcluster/store/write_part.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

void ValidateNewObject(const ResourceType& type, const Json& object,
                       std::vector<StatusCause>& causes);
void ValidateObjectChange(const ResourceType& type, const Json& old_object, const Json& object,
                          WritePart part, std::vector<StatusCause>& causes);

}  // namespace maniple::devcluster
