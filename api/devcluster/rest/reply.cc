#include "api/devcluster/rest/reply.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "api/codec/yaml.h"
#include "api/devcluster/rest/table.h"
#include "api/devcluster/store/event_form.h"

namespace maniple::devcluster {
namespace {

Json ListMetadata(const ListPage& page) {
  Json metadata = Json::Object({{"resourceVersion", Json(absl::StrCat(page.version))}});
  if (!page.continue_token.empty()) metadata.Set("continue", page.continue_token);
  if (page.remaining.has_value()) metadata.Set("remainingItemCount", *page.remaining);
  return metadata;
}

ApiReply PlainList(const ResourceType& type, const std::vector<ObjectPtr>& objects,
                   const Json& metadata) {
  ApiReply reply;
  reply.body =
      absl::StrCat("{\"kind\":\"", type.list_kind, "\",\"apiVersion\":\"", type.api_version(),
                   "\",\"metadata\":", metadata.Dump(), ",\"items\":[");
  bool first = true;
  for (const ObjectPtr& object : objects) {
    if (!first) reply.body += ',';
    first = false;
    // Items of built-in lists have no kind and apiVersion, as Go writes them.
    reply.body += type.custom ? object.stored().Text() : object.stored().TextWithoutKind();
  }
  reply.body += "]}\n";
  return reply;
}

Json Items(const std::vector<ObjectPtr>& objects, bool metadata_only) {
  Json items = Json::Array();
  for (const ObjectPtr& object : objects) {
    items.Append(metadata_only ? ToPartialMetadata(*object) : *object);
  }
  return items;
}

Json TableOf(const ResourceRequest& request, const std::vector<ObjectPtr>& objects,
             const Json& metadata, absl::Time now) {
  std::vector<const Json*> rows;
  for (const ObjectPtr& object : objects) rows.push_back(object.get());
  return ToTable(request.type, rows, metadata,
                 {.row_object = ParseRowObject(request.query.Get("includeObject")), .now = now});
}

}  // namespace

ApiReply JsonReply(int status, const Json& value, ReplyForm form) {
  ApiReply reply;
  reply.status = status;
  if (form == ReplyForm::kYaml) {
    reply.content_type = "application/yaml";
    reply.body = DumpYaml(value);
  } else {
    reply.body = value.Dump();
    reply.body += '\n';
  }
  return reply;
}

ApiReply ErrorReply(const ApiError& error) {
  ApiReply reply = JsonReply(error.code, ToJson(error));
  if (error.retry_after_seconds > 0) {
    reply.headers.emplace_back("Retry-After", absl::StrCat(error.retry_after_seconds));
  }
  return reply;
}

ApiReply ObjectReply(const ResourceRequest& request, int status, const ObjectPtr& stored,
                     absl::Time now) {
  const ObjectPtr shown = ShownAs(request.type, stored);
  const ReplyForm form = ParseAccept(request.http.accept);
  switch (form) {
    case ReplyForm::kJson: {
      ApiReply reply;
      reply.status = status;
      reply.body = absl::StrCat(shown.stored().Text(), "\n");
      return reply;
    }
    case ReplyForm::kYaml:
      return JsonReply(status, *shown, form);
    case ReplyForm::kPartialMetadata:
      return JsonReply(status, ToPartialMetadata(*shown));
    case ReplyForm::kTable: {
      const Json metadata =
          Json::Object({{"resourceVersion", (*shown)["metadata"]["resourceVersion"]}});
      return JsonReply(status, TableOf(request, {shown}, metadata, now));
    }
  }
  return {};
}

ApiReply ListReply(const ResourceRequest& request, const ListPage& page, absl::Time now) {
  std::vector<ObjectPtr> objects;
  objects.reserve(page.objects.size());
  for (const ObjectPtr& object : page.objects) objects.push_back(ShownAs(request.type, object));
  Json metadata = ListMetadata(page);
  const ReplyForm form = ParseAccept(request.http.accept);
  switch (form) {
    case ReplyForm::kJson:
      // A list of custom objects always has the member.
      if (request.type.custom) metadata.Set("continue", page.continue_token);
      return PlainList(request.type, objects, metadata);
    case ReplyForm::kYaml:
      return JsonReply(200,
                       Json::Object({{"kind", Json(request.type.list_kind)},
                                     {"apiVersion", Json(request.type.api_version())},
                                     {"metadata", metadata},
                                     {"items", Items(objects, false)}}),
                       form);
    case ReplyForm::kPartialMetadata:
      return JsonReply(200, Json::Object({{"kind", Json("PartialObjectMetadataList")},
                                          {"apiVersion", Json("meta.k8s.io/v1")},
                                          {"metadata", metadata},
                                          {"items", Items(objects, true)}}));
    case ReplyForm::kTable:
      return JsonReply(200, TableOf(request, objects, metadata, now));
  }
  return {};
}

}  // namespace maniple::devcluster
