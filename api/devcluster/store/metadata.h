// The metadata that the server keeps: who an object is, when it was made, which version it has.
//
// Functions of data.
#pragma once

#include <vector>

#include "api/codec/json.h"
#include "api/devcluster/store/cluster.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// Gives a new object its uid, time and name, and takes away what only the server sets.
void StartMetadata(const Cluster& cluster, const ResourceType& type, Json& object);
// Lists and maps in which nothing is, as Go leaves them out.
void DropEmptyMetadata(Json& object);
// Carries over from the old object what no update may change.
void KeepMetadata(const Json& old_object, Json& object);

void ValidateNewMetadata(const ResourceType& type, const Json& object,
                         std::vector<StatusCause>& causes);
void ValidateMetadataChange(const ResourceType& type, const Json& old_object, const Json& object,
                            std::vector<StatusCause>& causes);

}  // namespace maniple::devcluster
