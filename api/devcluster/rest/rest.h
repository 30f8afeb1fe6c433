// The verbs of the API on a resource: get, list, watch, create, update, patch, delete,
// deletecollection, and the subresources.
//
// Functions of the cluster (borrowed for the call).
#pragma once

#include "api/devcluster/rest/api_exchange.h"
#include "api/devcluster/rest/request.h"
#include "api/devcluster/rest/watch.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

struct RestContext {
  const Cluster& cluster;
  Watches& watches;
};

[[nodiscard]] ApiOr<ApiReply> ServeRead(const RestContext& context, const ResourceRequest& request);
// POST, PUT, PATCH, DELETE on an object or a collection.
[[nodiscard]] ApiOr<ApiReply> ServeWrite(const RestContext& context,
                                         const ResourceRequest& request);
// Everything below an object: /status, /binding, /eviction, /log, /scale, /finalize.
[[nodiscard]] ApiOr<ApiReply> ServeSubresource(const RestContext& context,
                                               const ResourceRequest& request);
// POST of a kind that is answered and not stored: access reviews, the legacy bindings.
[[nodiscard]] ApiOr<ApiReply> ServeReview(const RestContext& context,
                                          const ResourceRequest& request);

// The steps that writes to objects and to subresources share.

// PUT's body, which must be about the object of the URL.
ApiOr<Json> DecodeReplacement(const ResourceRequest& request);
// The stored object after the patch of the request, in the form of the request's type; for an
// apply, the object that it creates when there is none.
struct Patched {
  Json object;
  enum class Exists { kYes, kNo } exists = Exists::kYes;
};
ApiOr<Patched> PatchedObject(const Cluster& cluster, const ResourceRequest& request);
// fieldValidation of the request's object; warnings to be sent with the reply.
ApiOr<std::vector<std::string>> CheckFields(const ResourceRequest& request, const Json& object);
[[nodiscard]] ApiReply ReplyToWrite(const RestContext& context, const ResourceRequest& request,
                                    int status, const ObjectPtr& stored,
                                    const std::vector<std::string>& warnings);
[[nodiscard]] ObjectName NameIn(const ResourceRequest& request);

}  // namespace maniple::devcluster
