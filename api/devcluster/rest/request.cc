#include "api/devcluster/rest/request.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/codec/yaml.h"
#include "api/devcluster/types/names.h"
#include "api/devcluster/types/protobuf_body.h"
#include "api/http/http.h"

namespace maniple::devcluster {
namespace {

std::string MediaTypeOf(absl::string_view content_type) {
  return absl::AsciiStrToLower(
      absl::StripAsciiWhitespace(content_type.substr(0, content_type.find(';'))));
}

ApiError Unrecognized(absl::string_view kind, absl::string_view why) {
  return BadRequest(
      absl::StrCat("the object provided is unrecognized (must be of type ", kind, "): ", why));
}

ApiOr<Json> FromYaml(absl::string_view text, absl::string_view kind) {
  absl::StatusOr<std::vector<YamlDocument>> documents = ParseYaml(text);
  if (!documents.ok()) return Unrecognized(kind, documents.status().message());
  if (documents->empty()) return Json();
  return std::move(documents->front().value);
}

}  // namespace

Query::Query(absl::string_view text) {
  for (const absl::string_view part : absl::StrSplit(text, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    parameters_.emplace_back(QueryDecoded(pair.first), QueryDecoded(pair.second));
  }
}

const std::string& Query::Get(absl::string_view name) const {
  static const auto& none = *new std::string();
  for (const auto& [key, value] : parameters_) {
    if (key == name) return value;
  }
  return none;
}

bool Query::Has(absl::string_view name) const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const auto& parameter) { return parameter.first == name; });
}

std::vector<std::string> Query::All(absl::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

bool Query::IsTrue(absl::string_view name) const {
  const std::string& value = Get(name);
  if (value.empty()) return Has(name);
  return value == "1" || value == "t" || absl::EqualsIgnoreCase(value, "true");
}

std::optional<ResourcePath> ParseResourcePath(absl::string_view path) {
  std::vector<std::string> parts;
  for (const absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    parts.push_back(PercentDecoded(part));
  }
  ResourcePath out;
  size_t at = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    out.version = parts[1];
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    out.group = parts[1];
    out.version = parts[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  if (parts[at] == "watch" && parts.size() > at + 1) {
    out.watch = true;
    ++at;
  }
  // "namespaces/x" alone is a Namespace; with a resource after it, the scope of that.
  const bool scoped = parts[at] == "namespaces" && parts.size() > at + 2 &&
                      !(out.group.empty() && parts.size() == at + 3 &&
                        (parts[at + 2] == "status" || parts[at + 2] == "finalize"));
  if (scoped) {
    out.namespace_name = parts[at + 1];
    at += 2;
  }
  out.plural = parts[at++];
  if (at < parts.size()) out.name = parts[at++];
  if (at < parts.size()) out.subresource = parts[at++];
  if (at < parts.size()) return std::nullopt;
  return out;
}

ApiOr<Json> DecodeBody(const ApiRequest& request, absl::string_view kind) {
  const std::string media_type = MediaTypeOf(request.content_type);
  if (media_type == "application/yaml") return FromYaml(request.body, kind);
  if (media_type == kProtobufContentType) {
    absl::StatusOr<Json> decoded = DecodeProtobufBody(request.body);
    if (decoded.ok()) return *std::move(decoded);
    if (absl::IsUnimplemented(decoded.status())) {
      return UnsupportedMediaType(decoded.status().message());
    }
    return Unrecognized(kind, decoded.status().message());
  }
  if (!media_type.empty() && media_type != "application/json") {
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf");
  }
  absl::StatusOr<Json> parsed = Json::Parse(request.body);
  if (!parsed.ok()) {
    return Unrecognized(kind, absl::StrCat("couldn't get version/kind; json parse error: ",
                                           parsed.status().message()));
  }
  return *std::move(parsed);
}

ApiOr<Json> DecodeObject(const ApiRequest& request, const ResourceType& type) {
  API_ASSIGN_OR_RETURN(Json object, DecodeBody(request, type.kind));
  if (!object.is_object()) {
    return Unrecognized(type.kind,
                        "couldn't get version/kind; json parse error: the body is no object");
  }
  if (const Json* metadata = object.Find("metadata");
      metadata != nullptr && !metadata->is_object() && !metadata->is_null()) {
    return CannotBeHandled(type.version, type.kind,
                           "json: cannot unmarshal metadata into Go struct field ObjectMeta");
  }
  const std::string version = object["apiVersion"].AsString();
  const std::string kind = object["kind"].AsString();
  if (type.custom && kind.empty()) {
    return Unrecognized(type.kind,
                        absl::StrCat("Object 'Kind' is missing in '",
                                     absl::string_view(request.body).substr(0, 256), "'"));
  }
  if (!version.empty() && version != type.api_version()) {
    return BadRequest(absl::StrCat("the API version in the data (", version,
                                   ") does not match the expected API version (",
                                   type.api_version(), ")"));
  }
  if (!kind.empty() && kind != type.kind) {
    return BadRequest(absl::StrCat(
        kind, " in version \"", type.version, "\" cannot be handled as a ", type.kind,
        ": converting (", type.version, ".", kind, ") to (", type.kind, "): unknown conversion"));
  }
  object.Set("apiVersion", type.api_version());
  object.Set("kind", type.kind);
  return object;
}

ApiError InvalidOptions(absl::string_view kind, std::vector<StatusCause> causes) {
  ResourceType options;
  options.group = "meta.k8s.io";
  options.kind = std::string(kind);
  return Invalid(options, "", std::move(causes));
}

ApiOr<DryRun> ParseDryRun(const Query& query, absl::string_view options_kind) {
  for (const std::string& value : query.All("dryRun")) {
    if (value != "All") {
      return InvalidOptions(options_kind, {NotSupportedValue("dryRun", value, {"All"})});
    }
  }
  return query.Has("dryRun") ? DryRun::kAll : DryRun::kNo;
}

bool IsAcceptable(absl::string_view accept) {
  if (absl::StripAsciiWhitespace(accept).empty()) return true;
  for (const absl::string_view range : absl::StrSplit(accept, ',')) {
    const std::string type = MediaTypeOf(range);
    if (type == "*/*" || type == "application/*" || type == "application/json" ||
        type == "application/yaml" || type == kProtobufContentType) {
      return true;
    }
  }
  return false;
}

ReplyForm ParseAccept(absl::string_view accept) {
  for (const absl::string_view range : absl::StrSplit(accept, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(range, ';');
    const std::string type = absl::AsciiStrToLower(absl::StripAsciiWhitespace(parts[0]));
    const bool json = type == "application/json" || type == "*/*" || type == "application/*";
    if (!json && type != "application/yaml") continue;
    absl::string_view as;
    for (const absl::string_view parameter : parts) {
      absl::string_view value = absl::StripAsciiWhitespace(parameter);
      if (absl::ConsumePrefix(&value, "as=")) as = value;
    }
    if (as == "Table") return ReplyForm::kTable;
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      return ReplyForm::kPartialMetadata;
    }
    if (as.empty()) return json ? ReplyForm::kJson : ReplyForm::kYaml;
  }
  return ReplyForm::kJson;
}

}  // namespace maniple::devcluster
