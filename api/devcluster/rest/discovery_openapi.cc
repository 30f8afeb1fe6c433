// The OpenAPI v3 document of one version of a group: what kubectl explain and kubectl apply read.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/devcluster/rest/discovery_documents.h"
#include "api/devcluster/types/builtin_schema.h"
#include "api/devcluster/types/served_version.h"

namespace maniple::devcluster {
namespace {

Json GroupVersionKind(const ResourceType& type) {
  return Json::Object(
      {{"group", Json(type.group)}, {"kind", Json(type.kind)}, {"version", Json(type.version)}});
}

// "dev.maniple.scheduling.v1alpha1.PodGroup"; messages of the table keep their own names.
std::string SchemaNameOf(const ResourceType& type) {
  std::vector<std::string> labels = absl::StrSplit(type.group.empty() ? "core" : type.group, '.');
  std::reverse(labels.begin(), labels.end());
  return absl::StrCat(absl::StrJoin(labels, "."), ".", type.version, ".", type.kind);
}
std::string SchemaNameOf(const SchemaMessage& message) {
  return absl::StrCat("io.k8s.api.", message.name);
}
Json Reference(const std::string& schema) {
  return Json::Object({{"$ref", Json(absl::StrCat("#/components/schemas/", schema))}});
}

// Writes the messages of the table that the kinds of a document reach, each once.
class MessageSchemas final {
 public:
  explicit MessageSchemas(Json& schemas) : schemas_(schemas) {}

  Json Of(const SchemaMessage& message) {
    const std::string name = SchemaNameOf(message);
    if (written_.insert(name).second) {
      Json schema = Write(message);
      schemas_.Set(name, std::move(schema));
    }
    return Reference(name);
  }

  Json Write(const SchemaMessage& message) {
    Json properties = Json::Object();
    Json required = Json::Array();
    AddProperties(message, properties, required);
    Json schema = Json::Object({{"type", "object"}, {"properties", std::move(properties)}});
    if (required.size() > 0) schema.Set("required", std::move(required));
    return schema;
  }

 private:
  void AddProperties(const SchemaMessage& message, Json& properties, Json& required) {
    for (const SchemaField& field : message.fields) {
      if (field.name.empty()) {
        AddProperties(*field.message, properties, required);
        continue;
      }
      properties.Set(field.name, Shaped(field));
      if (field.required) required.Append(Json(field.name));
    }
  }

  Json Shaped(const SchemaField& field) {
    switch (field.shape) {
      case FieldShape::kSingle:
        return Single(field);
      case FieldShape::kList:
        return Json::Object({{"type", "array"}, {"items", Single(field)}});
      case FieldShape::kMap:
        return Json::Object({{"type", "object"}, {"additionalProperties", Single(field)}});
    }
    return Json::Object();
  }

  Json Single(const SchemaField& field) {
    const auto plain = [](const char* type, const char* format) {
      Json schema = Json::Object({{"type", type}});
      if (*format != 0) schema.Set("format", format);
      return schema;
    };
    switch (field.type) {
      case FieldType::kString:
      case FieldType::kQuantity:
      case FieldType::kDuration:
        return plain("string", "");
      case FieldType::kInt:
        return plain("integer", "int64");
      case FieldType::kBool:
        return plain("boolean", "");
      case FieldType::kDouble:
        return plain("number", "double");
      case FieldType::kBytes:
        return plain("string", "byte");
      case FieldType::kTime:
      case FieldType::kMicroTime:
        return plain("string", "date-time");
      case FieldType::kIntOrString:
        return Json::Object({{"format", "int-or-string"},
                             {"oneOf", Json::Array({plain("integer", ""), plain("string", "")})}});
      case FieldType::kFieldsV1:
      case FieldType::kRawExtension:
        return plain("object", "");
      case FieldType::kStringList:
        return Json::Object({{"type", "array"}, {"items", plain("string", "")}});
      case FieldType::kMessage:
        return Json::Object({{"allOf", Json::Array({Of(*field.message)})}});
    }
    return Json::Object();
  }

  Json& schemas_;
  std::set<std::string> written_;
};

Json Described(Json schema, const char* description) {
  schema.Set("description", description);
  return schema;
}

// The kind's own schema: from the CRD, from the table, or an object of any shape.
Json KindSchema(const ResourceType& type, MessageSchemas& messages) {
  Json schema;
  const SchemaMessage* message = FindBuiltinSchema(type.api_version(), type.kind);
  if (type.custom) {
    schema = type.open_api_schema;
  } else if (message != nullptr) {
    schema = messages.Write(*message);
  }
  if (!schema.is_object()) {
    schema = Json::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  }
  Json& properties = schema.Mutable("properties");
  if (!properties.is_object()) properties = Json::Object();
  const Json text = Json::Object({{"type", "string"}});
  properties.Set("apiVersion", Described(text, "The versioned schema of this object."));
  properties.Set("kind", Described(text, "The type of this object."));
  if (const SchemaMessage* pod = FindBuiltinSchema("v1", "Pod")) {
    Json metadata = Json::Object(
        {{"allOf", Json::Array({messages.Of(*pod->FindByName("metadata")->message)})}});
    properties.Set("metadata", Described(std::move(metadata), "Standard object's metadata."));
  }
  schema.Set("x-kubernetes-group-version-kind", Json::Array({GroupVersionKind(type)}));
  return schema;
}

Json QueryParameter(const char* name) {
  return Json::Object({{"name", name},
                       {"in", "query"},
                       {"schema", Json::Object({{"type", "string"}, {"uniqueItems", true}})}});
}

Json Operation(const ResourceType& type, absl::string_view action) {
  const Json reply = Json::Object(
      {{"description", "OK"},
       {"content", Json::Object({{"application/json",
                                  Json::Object({{"schema", Reference(SchemaNameOf(type))}})}})}});
  Json operation = Json::Object(
      {{"operationId", Json(absl::StrCat(action, absl::AsciiStrToUpper(type.version), type.kind))},
       {"responses", Json::Object({{"200", reply}})},
       {"x-kubernetes-action", Json(action)},
       {"x-kubernetes-group-version-kind", GroupVersionKind(type)}});
  if (action == "post" || action == "put" || action == "patch") {
    operation.Set("parameters",
                  Json::Array({QueryParameter("dryRun"), QueryParameter("fieldManager"),
                               QueryParameter("fieldValidation")}));
  }
  if (action == "patch") {
    // Strategic merge is left out on purpose: kubectl then merges by its own Go types, which know
    // the merge keys, and not by this document, which does not.
    operation.Set(
        "requestBody",
        Json::Object(
            {{"content", Json::Object({{"application/merge-patch+json", Json::Object()}})}}));
  }
  return operation;
}

bool Has(const ResourceType& type, absl::string_view verb) {
  return std::find(type.verbs.begin(), type.verbs.end(), verb) != type.verbs.end();
}

// {httpMethod: operation} for the verbs of the type among `pairs` of (verb, method).
Json PathItem(const ResourceType& type,
              std::initializer_list<std::pair<const char*, const char*>> pairs) {
  Json item = Json::Object();
  for (const auto& [verb, method] : pairs) {
    if (!Has(type, verb)) continue;
    item.Set(method, Operation(type, absl::string_view(verb) == "list" ? verb : method));
  }
  return item;
}

}  // namespace

Json OpenApiDocument(const ServedGroup& group, const ServedVersion& version) {
  const std::string prefix =
      absl::StrCat(group.group.empty() ? "/api/" : "/apis/", group.ApiVersion(version));
  Json paths = Json::Object();
  Json schemas = Json::Object();
  MessageSchemas messages(schemas);
  for (const ResourceType* type : version.types) {
    const std::string collection =
        absl::StrCat(prefix, type->namespaced() ? "/namespaces/{namespace}/" : "/", type->plural);
    paths.Set(collection, PathItem(*type, {{"list", "get"}, {"create", "post"}}));
    paths.Set(
        absl::StrCat(collection, "/{name}"),
        PathItem(*type,
                 {{"get", "get"}, {"update", "put"}, {"patch", "patch"}, {"delete", "delete"}}));
    Json schema = KindSchema(*type, messages);
    schemas.Set(SchemaNameOf(*type), std::move(schema));
  }
  return Json::Object(
      {{"openapi", "3.0.0"},
       {"info", Json::Object({{"title", "Kubernetes"}, {"version", kServedKubernetesVersion}})},
       {"paths", std::move(paths)},
       {"components", Json::Object({{"schemas", std::move(schemas)}})}});
}

}  // namespace maniple::devcluster
