// What a server tells about itself: API groups, resources and schemas, versions and health.
//
// Functions of data: the answer depends on the request and the registry only. Covers /api, /apis
// (aggregated discovery v2 and v2beta1, and the plain forms), /api/v1, /apis/GROUP,
// /apis/GROUP/VERSION, /openapi/v3 and its documents, /openapi/v2 (of no type: see v3),
// /version, /healthz, /livez, /readyz and their sub-checks, and / itself.
//
//   if (auto reply = HandleDiscovery(request, registry)) return *std::move(reply);
#pragma once

#include <optional>

#include "api/devcluster/rest/api_exchange.h"

namespace maniple::devcluster {

class TypeRegistry;  // api/devcluster/types/type_registry.h: built-in types and CRDs

// Nullopt: not a path of discovery. Replies carry an ETag that changes whenever the registry does,
// and answer 304 to a matching If-None-Match; client-go merges the headers of a 304 into its cache,
// so a 304 repeats the content type.
[[nodiscard]] std::optional<ApiReply> HandleDiscovery(const ApiRequest& request,
                                                      const TypeRegistry& registry);

}  // namespace maniple::devcluster
