#include "api/devcluster/rest/discovery.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/devcluster/rest/discovery_documents.h"
#include "api/devcluster/types/served_version.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {
namespace {

constexpr absl::string_view kPlainJson = "application/json";

// FNV-1a, in hex: the tag of a document is the same in every process that serves it.
std::string ContentTag(absl::string_view bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

ApiReply TaggedReply(const ApiRequest& request, std::string body, absl::string_view content_type) {
  ApiReply reply;
  reply.content_type = std::string(content_type);
  reply.body = std::move(body);
  const std::string tag = absl::StrCat("\"", ContentTag(reply.body), "\"");
  reply.headers = {{"ETag", tag}, {"Vary", "Accept"}};
  for (absl::string_view wanted : absl::StrSplit(request.if_none_match, ',')) {
    wanted = absl::StripAsciiWhitespace(wanted);
    absl::ConsumePrefix(&wanted, "W/");
    if (wanted != tag) continue;
    reply.status = 304;
    reply.body.clear();
    break;
  }
  return reply;
}

ApiReply DocumentReply(const ApiRequest& request, const Json& document,
                       absl::string_view content_type) {
  return TaggedReply(request, document.Dump(), content_type);
}

ApiReply TextReply(absl::string_view text) {
  ApiReply reply;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = std::string(text);
  return reply;
}

// The version of aggregated discovery that the client likes best, or "" for the plain form.
std::string AggregatedVersion(absl::string_view accept) {
  for (absl::string_view entry : absl::StrSplit(accept, ',')) {
    std::vector<std::string> parts = absl::StrSplit(entry, ';');
    for (std::string& part : parts) part = std::string(absl::StripAsciiWhitespace(part));
    if (parts[0] != kPlainJson && parts[0] != "*/*" && parts[0] != "application/*") continue;
    const auto has = [&](absl::string_view parameter) {
      return std::find(parts.begin(), parts.end(), parameter) != parts.end();
    };
    if (!has("as=APIGroupDiscoveryList")) {
      if (parts.size() == 1 || absl::StartsWith(parts[1], "q=")) return "";
      continue;
    }
    for (const char* version : {"v2", "v2beta1"}) {
      if (has(absl::StrCat("v=", version))) return version;
    }
  }
  return "";
}

ApiReply GroupsReply(const ApiRequest& request, const std::vector<ServedGroup>& groups,
                     GroupSet which) {
  const std::string version = AggregatedVersion(request.accept);
  if (version.empty()) {
    return DocumentReply(
        request, which == GroupSet::kCore ? ApiVersionsDocument() : ApiGroupListDocument(groups),
        kPlainJson);
  }
  return DocumentReply(request, AggregatedDocument(groups, which, version),
                       absl::StrCat("application/json;g=apidiscovery.k8s.io;v=", version,
                                    ";as=APIGroupDiscoveryList"));
}

// "api/v1" and "apis/apps/v1" as OpenAPI v3 calls them.
std::string OpenApiKey(const ServedGroup& group, const ServedVersion& version) {
  return absl::StrCat(group.group.empty() ? "api/" : "apis/", group.ApiVersion(version));
}

// The address of each document carries its tag, so that clients may keep it for ever.
ApiReply OpenApiRoot(const ApiRequest& request, const std::vector<ServedGroup>& groups) {
  Json paths = Json::Object();
  for (const ServedGroup& group : groups) {
    for (const ServedVersion& version : group.versions) {
      const std::string key = OpenApiKey(group, version);
      const std::string tag = ContentTag(OpenApiDocument(group, version).Dump());
      paths.Set(key, Json::Object({{"serverRelativeURL",
                                    Json(absl::StrCat("/openapi/v3/", key, "?hash=", tag))}}));
    }
  }
  return DocumentReply(request, Json::Object({{"paths", std::move(paths)}}), kPlainJson);
}

std::optional<ApiReply> OpenApiReply(const ApiRequest& request, absl::string_view key,
                                     const std::vector<ServedGroup>& groups) {
  for (const ServedGroup& group : groups) {
    for (const ServedVersion& version : group.versions) {
      if (OpenApiKey(group, version) != key) continue;
      ApiReply reply = DocumentReply(request, OpenApiDocument(group, version), kPlainJson);
      if (absl::StrContains(request.target, "hash=")) {
        reply.headers.push_back({"Cache-Control", "public, immutable"});
      }
      return reply;
    }
  }
  return std::nullopt;
}

// "1", "36", "0-maniple".
std::vector<std::string> VersionNumbers() {
  return absl::StrSplit(absl::string_view(kServedKubernetesVersion).substr(1), '.');
}

// A member of a protobuf message that is a text or a message. REQUIRES: below 128 bytes.
std::string ProtobufMember(char number, absl::string_view bytes) {
  constexpr int kLengthDelimited = 2;
  return absl::StrCat(std::string(1, static_cast<char>(number << 3 | kLengthDelimited)),
                      std::string(1, static_cast<char>(bytes.size())), bytes);
}

// OpenAPI v2 without a type. kubectl reads it before it creates a List, and lets each item pass
// whose type it does not find: the server checks the fields.
ApiReply OpenApiV2Reply(const ApiRequest& request) {
  const std::vector<std::string> numbers = VersionNumbers();
  const std::string version = absl::StrCat(numbers[0], ".", numbers[1]);
  constexpr absl::string_view kTitle = "Kubernetes";
  if (absl::StrContains(request.accept, "com.github.proto-openapi.spec.v2")) {
    constexpr char kSwagger = 1, kInfo = 2, kPaths = 8;  // of openapi.v2.Document
    const std::string info = ProtobufMember(1, kTitle) + ProtobufMember(2, version);
    return TaggedReply(
        request,
        ProtobufMember(kSwagger, "2.0") + ProtobufMember(kInfo, info) + ProtobufMember(kPaths, ""),
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  }
  return DocumentReply(
      request,
      Json::Object({{"swagger", "2.0"},
                    {"info", Json::Object({{"title", kTitle}, {"version", Json(version)}})},
                    {"paths", Json::Object()}}),
      kPlainJson);
}

Json VersionDocument() {
  const std::vector<std::string> numbers = VersionNumbers();
  return Json::Object({{"major", Json(numbers[0])},
                       {"minor", Json(numbers[1])},
                       {"gitVersion", Json(kServedKubernetesVersion)},
                       {"gitCommit", "unknown"},
                       {"gitTreeState", "clean"},
                       {"buildDate", "1970-01-01T00:00:00Z"},
                       {"goVersion", "none"},
                       {"compiler", "g++"},
                       {"platform", "linux/amd64"}});
}

Json RootDocument(const std::vector<ServedGroup>& groups) {
  Json paths = Json::Array({Json("/api"), Json("/apis")});
  for (const ServedGroup& group : groups) {
    if (!group.group.empty()) paths.Append(Json(absl::StrCat("/apis/", group.group)));
    for (const ServedVersion& version : group.versions) {
      paths.Append(Json(absl::StrCat("/", OpenApiKey(group, version))));
    }
  }
  for (const char* path :
       {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.Append(Json(path));
  }
  return Json::Object({{"paths", std::move(paths)}});
}

// /apis/GROUP, /apis/GROUP/VERSION and /api/VERSION.
std::optional<ApiReply> GroupReply(const ApiRequest& request,
                                   const std::vector<std::string>& segments,
                                   const std::vector<ServedGroup>& groups) {
  const bool core = segments[0] == "api";
  for (const ServedGroup& group : groups) {
    if (group.group != (core ? "" : segments[1])) continue;
    const size_t version_at = core ? 1 : 2;
    if (segments.size() == version_at) {
      return DocumentReply(request, ApiGroupDocument(group), kPlainJson);
    }
    for (const ServedVersion& version : group.versions) {
      if (version.version == segments[version_at]) {
        return DocumentReply(request, ResourceListDocument(group, version), kPlainJson);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ApiReply> HandleDiscovery(const ApiRequest& request, const TypeRegistry& registry) {
  if (request.method != "GET") return std::nullopt;
  absl::string_view path = absl::string_view(request.target);
  path = path.substr(0, path.find('?'));
  absl::ConsumeSuffix(&path, "/");
  if (!absl::ConsumePrefix(&path, "/") && !path.empty()) return std::nullopt;
  const std::vector<std::string> segments = absl::StrSplit(path, '/', absl::SkipEmpty());
  const std::string first = segments.empty() ? "" : segments[0];

  if (first == "healthz" || first == "livez" || first == "readyz") return TextReply("ok");
  if (first == "version" && segments.size() == 1) {
    return DocumentReply(request, VersionDocument(), kPlainJson);
  }
  if (path == "openapi/v2") return OpenApiV2Reply(request);
  // Everything below an object's collection is not ours; see before the registry is walked.
  const bool groups_path = (first == "api" && segments.size() <= 2) ||
                           (first == "apis" && segments.size() <= 3) || first.empty() ||
                           (first == "openapi" && segments.size() >= 2 && segments[1] == "v3");
  if (!groups_path) return std::nullopt;

  const std::vector<ServedGroup> groups = ServedGroups(registry);
  if (first.empty()) return DocumentReply(request, RootDocument(groups), kPlainJson);
  if (first == "openapi") {
    if (segments.size() == 2) return OpenApiRoot(request, groups);
    path.remove_prefix(absl::string_view("openapi/v3/").size());
    return OpenApiReply(request, path, groups);
  }
  if (segments.size() > 1) return GroupReply(request, segments, groups);
  return GroupsReply(request, groups, first == "api" ? GroupSet::kCore : GroupSet::kOthers);
}

}  // namespace maniple::devcluster
