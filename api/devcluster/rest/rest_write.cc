// POST, PUT, PATCH and DELETE on objects and collections.
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/devcluster/rest/eviction.h"
#include "api/devcluster/rest/field_check.h"
#include "api/devcluster/rest/list.h"
#include "api/devcluster/rest/reply.h"
#include "api/devcluster/rest/rest.h"
#include "api/devcluster/store/apply.h"
#include "api/devcluster/store/event_form.h"
#include "api/devcluster/store/patch.h"
#include "api/devcluster/types/names.h"
#include "api/devcluster/types/type_check.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kApplyPatch = "application/apply-patch+yaml";

absl::string_view OptionsKind(absl::string_view method) {
  if (method == "POST") return "CreateOptions";
  return method == "PUT" ? "UpdateOptions" : "PatchOptions";
}

absl::string_view MediaType(const ResourceRequest& request) {
  const absl::string_view type = request.http.content_type;
  return type.substr(0, type.find(';'));
}

// What is wrong with the result of a patch.
ApiError InvalidPatch(const Json& object, absl::string_view why) {
  return Invalid(ResourceType(), "", {InvalidValue("patch", Json(object.Dump()), why)});
}

MaybeError CheckNamespace(const ResourceRequest& request, Json& object) {
  if (!object["metadata"].is_object()) object.Set("metadata", Json::Object());
  Json& metadata = object.Mutable("metadata");
  if (!request.type.namespaced()) {
    metadata.Erase("namespace");
    return std::nullopt;
  }
  const std::string& ns = metadata["namespace"].AsString();
  if (ns.empty()) {
    metadata.Set("namespace", request.path.namespace_name);
  } else if (ns != request.path.namespace_name) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  return std::nullopt;
}

ApiOr<ObjectPtr> Create(const RestContext& context, const ResourceRequest& request, Json object) {
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "CreateOptions"));
  API_RETURN_IF_ERROR(CheckNamespace(request, object));
  return CreateObject(context.cluster, request.type, std::move(object), {.dry_run = dry_run});
}

ApiOr<ApiReply> Post(const RestContext& context, const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(Json object, DecodeObject(request.http, request.type));
  API_ASSIGN_OR_RETURN(const std::vector<std::string> warnings, CheckFields(request, object));
  API_ASSIGN_OR_RETURN(const ObjectPtr made, Create(context, request, std::move(object)));
  return ReplyToWrite(context, request, 201, made, warnings);
}

ApiOr<ApiReply> Put(const RestContext& context, const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(Json object, DecodeReplacement(request));
  API_ASSIGN_OR_RETURN(const std::vector<std::string> warnings, CheckFields(request, object));
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "UpdateOptions"));
  const bool creates = request.type.traits.create_on_update &&
                       context.cluster.store.Get(request.type.storage, NameIn(request)) == nullptr;
  API_ASSIGN_OR_RETURN(
      const ObjectPtr stored,
      creates ? CreateObject(context.cluster, request.type, std::move(object), {.dry_run = dry_run})
              : UpdateObject(context.cluster, request.type, std::move(object), WritePart::kMain,
                             {.dry_run = dry_run}));
  return ReplyToWrite(context, request, creates ? 201 : 200, stored, warnings);
}

ApiOr<ApiReply> Patch(const RestContext& context, const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(Patched patched, PatchedObject(context.cluster, request));
  API_ASSIGN_OR_RETURN(const std::vector<std::string> warnings,
                       CheckFields(request, patched.object));
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(request.query, "PatchOptions"));
  const bool creates = patched.exists == Patched::Exists::kNo;
  API_ASSIGN_OR_RETURN(const ObjectPtr stored,
                       creates
                           ? Create(context, request, std::move(patched.object))
                           : UpdateObject(context.cluster, request.type, std::move(patched.object),
                                          WritePart::kMain, {.dry_run = dry_run}));
  return ReplyToWrite(context, request, creates ? 201 : 200, stored, warnings);
}

ApiOr<DeleteOptions> OptionsOfDelete(const ResourceRequest& request) {
  Json body = Json::Object();
  if (!request.http.body.empty()) {
    API_ASSIGN_OR_RETURN(body, DecodeBody(request.http, "DeleteOptions"));
    if (!body.is_object()) return BadRequest("the body cannot be handled as a DeleteOptions");
  }
  const Query& query = request.query;
  if (query.Has("gracePeriodSeconds") && !body.Has("gracePeriodSeconds")) {
    const absl::StatusOr<Json> seconds = Json::Parse(query.Get("gracePeriodSeconds"));
    if (!seconds.ok() || !seconds->is_int()) return BadRequest("invalid gracePeriodSeconds");
    body.Set("gracePeriodSeconds", *seconds);
  }
  if (query.Has("propagationPolicy") && !body.Has("propagationPolicy")) {
    body.Set("propagationPolicy", query.Get("propagationPolicy"));
  }
  API_ASSIGN_OR_RETURN(DeleteOptions options, ParseDeleteOptions(body));
  API_ASSIGN_OR_RETURN(const DryRun dry_run, ParseDryRun(query, "DeleteOptions"));
  if (dry_run == DryRun::kAll) options.dry_run = DryRun::kAll;
  return options;
}

Json DeletedStatus(const ResourceType& type, const Json& object) {
  Json details = Json::Object({{"name", object["metadata"]["name"]}});
  if (!type.group.empty()) details.Set("group", type.group);
  details.Set("kind", type.plural);
  details.Set("uid", object["metadata"]["uid"]);
  Json status = SuccessStatus();
  status.Set("details", std::move(details));
  return status;
}

ApiOr<ApiReply> Delete(const RestContext& context, const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(const DeleteOptions options, OptionsOfDelete(request));
  API_ASSIGN_OR_RETURN(const Deleted deleted,
                       DeleteObject(context.cluster, request.type, NameIn(request), options));
  if (deleted.outcome == Deleted::Outcome::kRemoved &&
      !request.type.traits.returns_deleted_object) {
    return JsonReply(200, DeletedStatus(request.type, *deleted.object));
  }
  return ObjectReply(request, 200, deleted.object, context.cluster.now);
}

ApiOr<ApiReply> DeleteCollection(const RestContext& context, const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(ListOptions selection, ParseListOptions(request));
  API_ASSIGN_OR_RETURN(const DeleteOptions options, OptionsOfDelete(request));
  API_ASSIGN_OR_RETURN(ListPage page, ListObjects(context.cluster.store, request, selection));
  for (ObjectPtr& object : page.objects) {
    const ApiOr<Deleted> deleted =
        DeleteObject(context.cluster, request.type, NameOf(*object), options);
    if (!deleted.ok() && deleted.error().code != 404) return deleted.error();
    if (deleted.ok()) object = deleted->object;
  }
  return ListReply(request, page, context.cluster.now);
}

MaybeError CheckSameName(const ResourceRequest& request, const Json& object) {
  const Json& metadata = object["metadata"];
  const std::string& name = metadata["name"].AsString();
  if (name.empty()) {
    return BadRequest(absl::StrCat("the name of the object (", request.path.name,
                                   " based on URL) was undeterminable: name must be provided"));
  }
  if (name != request.path.name) {
    return BadRequest(absl::StrCat("the name of the object (", name,
                                   ") does not match the name on the URL (", request.path.name,
                                   ")"));
  }
  const std::string& ns = metadata["namespace"].AsString();
  if (request.type.namespaced() && !ns.empty() && ns != request.path.namespace_name) {
    return BadRequest(absl::StrCat("the namespace of the object (", ns,
                                   ") does not match the namespace on the request (",
                                   request.path.namespace_name, ")"));
  }
  return std::nullopt;
}

ApiOr<Patched> Applied(const Cluster& cluster, const ResourceRequest& request,
                       const ObjectPtr& live) {
  const std::string& manager = request.query.Get("fieldManager");
  if (manager.empty()) {
    return InvalidOptions("PatchOptions",
                          {RequiredValue("fieldManager", "is required for apply patch")});
  }
  ApiRequest as_yaml = request.http;
  as_yaml.content_type = "application/yaml";
  API_ASSIGN_OR_RETURN(const Json body, DecodeBody(as_yaml, request.type.kind));
  if (body["kind"].AsString().empty() || body["apiVersion"].AsString().empty()) {
    return BadRequest("the applied configuration must have an apiVersion and a kind");
  }
  API_ASSIGN_OR_RETURN(Json wanted, DecodeObject(as_yaml, request.type));
  if (wanted["metadata"]["managedFields"].size() > 0) {
    return BadRequest("metadata.managedFields must be nil");
  }
  if (wanted["metadata"]["name"].AsString().empty()) {
    wanted.Mutable("metadata").Set("name", request.path.name);
  }
  API_RETURN_IF_ERROR(CheckSameName(request, wanted));
  API_RETURN_IF_ERROR(CheckNamespace(request, wanted));
  const std::string& uid = wanted["metadata"]["uid"].AsString();
  if (live == nullptr && !uid.empty()) {
    return Conflict(request.type, request.path.name,
                    absl::StrCat("uid mismatch: the provided object specified uid ", uid,
                                 ", and no existing object was found"));
  }
  const ApplyForce force = request.query.IsTrue("force") ? ApplyForce::kYes : ApplyForce::kNo;
  const Json live_object = live == nullptr ? Json() : *ShownAs(request.type, live);
  API_ASSIGN_OR_RETURN(
      Json merged, ApplyConfiguration(live_object, wanted, MergeRules::OfType(request.type),
                                      {.manager = manager, .force = force, .now = cluster.now}));
  return Patched{.object = std::move(merged),
                 .exists = live == nullptr ? Patched::Exists::kNo : Patched::Exists::kYes};
}

ApiOr<Json> ParsePatch(const ResourceRequest& request) {
  absl::StatusOr<Json> patch = Json::Parse(request.http.body);
  if (patch.ok()) return *std::move(patch);
  return BadRequest(absl::StrCat("error decoding patch: ", patch.status().message()));
}

}  // namespace

ObjectName NameIn(const ResourceRequest& request) {
  return {request.type.namespaced() ? request.path.namespace_name : "", request.path.name};
}

ApiOr<Json> DecodeReplacement(const ResourceRequest& request) {
  API_ASSIGN_OR_RETURN(Json object, DecodeObject(request.http, request.type));
  API_RETURN_IF_ERROR(CheckSameName(request, object));
  API_RETURN_IF_ERROR(CheckNamespace(request, object));
  return object;
}

ApiOr<Patched> PatchedObject(const Cluster& cluster, const ResourceRequest& request) {
  const absl::string_view media_type = MediaType(request);
  if (media_type != kApplyPatch && request.query.Has("force")) {
    return InvalidOptions("PatchOptions",
                          {ForbiddenValue("force", "may not be specified for non-apply patch")});
  }
  const ObjectPtr live = cluster.store.Get(request.type.storage, NameIn(request));
  if (media_type == kApplyPatch) return Applied(cluster, request, live);
  const bool json_patch = media_type == "application/json-patch+json";
  const bool merge = media_type == "application/merge-patch+json";
  const bool strategic =
      media_type == "application/strategic-merge-patch+json" && !request.type.custom;
  if (!json_patch && !merge && !strategic) {
    std::string accepted = "application/json-patch+json, application/merge-patch+json, ";
    if (!request.type.custom) accepted += "application/strategic-merge-patch+json, ";
    ApiError error = UnsupportedMediaType(
        absl::StrCat("the body of the request was in an unknown format - accepted media types "
                     "include: ",
                     accepted, kApplyPatch));
    error.has_empty_details = !request.type.custom;
    return error;
  }
  if (live == nullptr) return NotFound(request.type, request.path.name);
  API_ASSIGN_OR_RETURN(const Json patch, ParsePatch(request));
  Json shown = *ShownAs(request.type, live);
  ApiOr<Json> result =
      json_patch ? ApplyJsonPatch(std::move(shown), patch)
      : merge    ? ApplyMergePatch(std::move(shown), patch)
                 : ApplyStrategicPatch(std::move(shown), patch, MergeRules::OfType(request.type));
  if (!result.ok()) return result.error();
  Json& object = *result;
  if (!object.is_object() || !object["metadata"].is_object()) {
    return InvalidPatch(object, "the result is no object with metadata");
  }
  if (const std::string why = TypeProblem(request.type, object); !why.empty()) {
    return InvalidPatch(object, why);
  }
  API_RETURN_IF_ERROR(CheckSameName(request, object));
  const Json& live_uid = (*live)["metadata"]["uid"];
  if (const Json& uid = object["metadata"]["uid"]; !uid.AsString().empty() && !(uid == live_uid)) {
    // Twice, as all that is wrong with the metadata of an update (metadata.cc).
    const StatusCause cause = InvalidValue("metadata.uid", uid, "field is immutable");
    return Invalid(request.type, request.path.name, {cause, cause});
  }
  object.Set("apiVersion", request.type.api_version());
  object.Set("kind", request.type.kind);
  return Patched{.object = *std::move(result)};
}

ApiOr<std::vector<std::string>> CheckFields(const ResourceRequest& request, const Json& object) {
  const bool patch = request.http.method == "PATCH";
  API_ASSIGN_OR_RETURN(const FieldValidation mode,
                       ParseFieldValidation(request.query, OptionsKind(request.http.method)));
  std::vector<std::string> problems;
  if (mode == FieldValidation::kIgnore) return problems;
  const absl::string_view media_type = MediaType(request);
  const bool is_json = media_type.empty() || absl::EndsWith(media_type, "json");
  problems = StrictProblems(request.type, object, is_json ? request.http.body : "");
  if (mode == FieldValidation::kWarn || problems.empty()) return problems;
  const std::string text = absl::StrCat("strict decoding error: ", absl::StrJoin(problems, ", "));
  return patch ? InvalidPatch(object, text)
               : CannotBeHandled(request.type.version, request.type.kind, text);
}

ApiReply ReplyToWrite(const RestContext& context, const ResourceRequest& request, int status,
                      const ObjectPtr& stored, const std::vector<std::string>& warnings) {
  ApiReply reply = ObjectReply(request, status, stored, context.cluster.now);
  for (const std::string& warning : warnings) {
    reply.headers.emplace_back("Warning", absl::StrCat("299 - ", JsonQuoted(warning)));
  }
  return reply;
}

ApiOr<ApiReply> ServeWrite(const RestContext& context, const ResourceRequest& request) {
  const std::string& method = request.http.method;
  const bool named = !request.path.name.empty();
  const bool everywhere = request.type.namespaced() && request.path.namespace_name.empty();
  if (method == "POST" && !named && !everywhere) return Post(context, request);
  if (method == "PUT" && named) return Put(context, request);
  if (method == "PATCH" && named) return Patch(context, request);
  if (method == "DELETE" && named) return Delete(context, request);
  if (method == "DELETE" && !everywhere) return DeleteCollection(context, request);
  return MethodNotAllowed();
}

}  // namespace maniple::devcluster
