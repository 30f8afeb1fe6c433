// The paths below an object, and the kinds that are answered rather than stored.
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/rest/eviction.h"
#include "api/devcluster/rest/reply.h"
#include "api/devcluster/rest/rest.h"
#include "api/devcluster/rest/scale.h"
#include "api/devcluster/store/binding.h"
#include "api/devcluster/store/patch.h"
#include "api/devcluster/types/type_check.h"

namespace maniple::devcluster {
namespace {

// The object of the request, or why there is none.
ApiOr<ObjectPtr> Find(const RestContext& context, const ResourceRequest& request) {
  ObjectPtr object = context.cluster.store.Get(request.type.storage, NameIn(request));
  if (object == nullptr) return NotFound(request.type, request.path.name);
  return object;
}

ApiReply Created() {
  Json status = SuccessStatus();
  status.Set("code", 201);
  return JsonReply(201, status);
}

ApiOr<ApiReply> Status(const RestContext& context, const ResourceRequest& request) {
  if (request.http.method == "GET") {
    API_ASSIGN_OR_RETURN(const ObjectPtr found, Find(context, request));
    return ObjectReply(request, 200, found, context.cluster.now);
  }
  Json object;
  if (request.http.method == "PUT") {
    API_ASSIGN_OR_RETURN(object, DecodeReplacement(request));
  } else if (request.http.method == "PATCH") {
    API_ASSIGN_OR_RETURN(Patched patched, PatchedObject(context.cluster, request));
    if (patched.exists == Patched::Exists::kNo) {
      return NotFound(request.type, request.path.name);
    }
    object = std::move(patched.object);
  } else {
    return MethodNotAllowed();
  }
  API_ASSIGN_OR_RETURN(const std::vector<std::string> warnings, CheckFields(request, object));
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "UpdateOptions"));
  API_ASSIGN_OR_RETURN(const ObjectPtr stored,
                       UpdateObject(context.cluster, request.type, std::move(object),
                                    WritePart::kStatus, {.dry_run = dry_run}));
  return ReplyToWrite(context, request, 200, stored, warnings);
}

// A body whose kind is that of the subresource.
ApiOr<Json> DecodeSubresource(const ResourceRequest& request, absl::string_view kind) {
  API_ASSIGN_OR_RETURN(Json body, DecodeBody(request.http, kind));
  const std::string& have = body["kind"].AsString();
  if (!body.is_object() || (!have.empty() && have != kind)) {
    return BadRequest(
        absl::StrCat(have.empty() ? "the body" : have, " cannot be handled as a ", kind));
  }
  const Subresource* subresource = request.type.FindSubresource(request.path.subresource);
  const absl::string_view group = subresource->group;
  const std::string why =
      TypeProblem(absl::StrCat(group, group.empty() ? "" : "/", subresource->version), kind, body);
  if (!why.empty()) {
    return CannotBeHandled(subresource->version, kind, why);
  }
  return body;
}

ApiOr<ApiReply> Bind(const RestContext& context, const ResourceRequest& request,
                     const ObjectName& pod, const Json& binding) {
  const std::string& ns = binding["metadata"]["namespace"].AsString();
  if (!ns.empty() && ns != pod.namespace_name) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "CreateOptions"));
  API_RETURN_IF_ERROR(BindPod(context.cluster, pod, binding, dry_run));
  return Created();
}

ApiOr<ApiReply> Binding(const RestContext& context, const ResourceRequest& request) {
  if (request.http.method != "POST") return MethodNotAllowed();
  API_ASSIGN_OR_RETURN(const Json binding, DecodeSubresource(request, "Binding"));
  return Bind(context, request, NameIn(request), binding);
}

ApiOr<ApiReply> Eviction(const RestContext& context, const ResourceRequest& request) {
  if (request.http.method != "POST") return MethodNotAllowed();
  API_ASSIGN_OR_RETURN(const Json eviction, DecodeSubresource(request, "Eviction"));
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "CreateOptions"));
  API_RETURN_IF_ERROR(EvictPod(context.cluster, NameIn(request), eviction, dry_run));
  return Created();
}

ApiOr<ApiReply> Log(const RestContext& context, const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(const ObjectPtr pod, Find(context, request));
  const std::string& node = (*pod)["spec"]["nodeName"].AsString();
  if (node.empty()) {
    return BadRequest(absl::StrCat("pod ", request.path.name, " does not have a host assigned"));
  }
  ApiReply reply;
  reply.content_type = "text/plain";
  reply.body = absl::StrCat("simulated output of pod ", request.path.name, " on node ", node, "\n");
  return reply;
}

ApiOr<Json> PatchedScale(const ResourceRequest& request, const Json& scale) {
  absl::StatusOr<Json> patch = Json::Parse(request.http.body);
  if (!patch.ok())
    return BadRequest(absl::StrCat("error decoding patch: ", patch.status().message()));
  return absl::StartsWith(request.http.content_type, "application/json-patch+json")
             ? ApplyJsonPatch(scale, *patch)
             : ApplyMergePatch(scale, *patch);
}

ApiOr<ApiReply> Scale(const RestContext& context, const ResourceRequest& request) {
  const std::string& method = request.http.method;
  if (method != "GET" && method != "PUT" && method != "PATCH") {
    return MethodNotAllowed();
  }
  API_ASSIGN_OR_RETURN(const ObjectPtr found, Find(context, request));
  const Json scale = ScaleOf(*found);
  if (method == "GET") return JsonReply(200, scale);
  API_ASSIGN_OR_RETURN(const Json wanted, method == "PATCH" ? PatchedScale(request, scale)
                                                            : DecodeSubresource(request, "Scale"));
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "UpdateOptions"));
  API_ASSIGN_OR_RETURN(Json next, WithScale(request.type, *found, wanted));
  API_ASSIGN_OR_RETURN(const ObjectPtr stored,
                       UpdateObject(context.cluster, request.type, std::move(next),
                                    WritePart::kMain, {.dry_run = dry_run}));
  return JsonReply(200, ScaleOf(*stored));
}

ApiOr<ApiReply> Finalize(const RestContext& context, const ResourceRequest& request) {
  if (request.http.method != "PUT") return MethodNotAllowed();
  API_ASSIGN_OR_RETURN(const Json ns, DecodeReplacement(request));
  API_ASSIGN_OR_RETURN(const ObjectPtr stored, FinalizeNamespace(context.cluster, ns));
  return ObjectReply(request, 200, stored, context.cluster.now);
}

Json ReviewStatus(const ResourceType& type, const ApiRequest& request) {
  if (type.kind == "SelfSubjectReview") {
    Json groups = Json::Array({Json("system:masters"), Json("system:authenticated")});
    return Json::Object({{"userInfo", Json::Object({{"username", Json(request.user)},
                                                    {"groups", std::move(groups)}})}});
  }
  if (type.kind == "SelfSubjectRulesReview") {
    const Json all = Json::Array({Json("*")});
    const Json rule = Json::Object({{"verbs", all}, {"apiGroups", all}, {"resources", all}});
    const Json other = Json::Object({{"verbs", all}, {"nonResourceURLs", all}});
    return Json::Object({{"resourceRules", Json::Array({rule})},
                         {"nonResourceRules", Json::Array({other})},
                         {"incomplete", Json(false)}});
  }
  return Json::Object({{"allowed", Json(true)}});
}

}  // namespace

ApiOr<ApiReply> ServeSubresource(const RestContext& context, const ResourceRequest& request) {
  const std::string& name = request.path.subresource;
  if (request.type.FindSubresource(name) == nullptr) {
    return request.type.custom ? NotFound(request.type, request.path.name) : NoSuchPath();
  }
  if (name == "status") return Status(context, request);
  if (name == "binding") return Binding(context, request);
  if (name == "eviction") return Eviction(context, request);
  if (name == "log") return Log(context, request);
  if (name == "scale") return Scale(context, request);
  if (name == "finalize") return Finalize(context, request);
  return NoSuchPath();
}

ApiOr<ApiReply> ServeReview(const RestContext& context, const ResourceRequest& request) {
  if (request.http.method != "POST" || !request.path.name.empty()) {
    return MethodNotAllowed();
  }
  API_ASSIGN_OR_RETURN(Json review, DecodeObject(request.http, request.type));
  if (const std::string why = TypeProblem(request.type, review); !why.empty()) {
    return BadRequest(why);
  }
  if (request.type.kind == "Binding") {
    return Bind(context, request,
                {request.path.namespace_name, review["metadata"]["name"].AsString()}, review);
  }
  Json& metadata = review.Mutable("metadata");
  if (!metadata.is_object()) metadata = Json::Object();
  if (request.type.kind == "SelfSubjectReview") {
    metadata.Set("creationTimestamp", FormatKubernetesTime(context.cluster.now));
  }
  review.Set("status", ReviewStatus(request.type, request.http));
  return JsonReply(201, review);
}

}  // namespace maniple::devcluster
