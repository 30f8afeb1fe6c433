#include "scheduler/replay/shown_kinds.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

// "example.com/v1" → {"example.com", "v1"}; "v1" → {"", "v1"}.
std::pair<std::string, std::string> GroupAndVersion(const Json& object) {
  const std::string& text = object["apiVersion"].AsString();
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return {"", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

bool IsOf(const ForeignKind& kind, const Json& object) {
  return object["kind"].AsString() == kind.kind && GroupAndVersion(object).first == kind.group;
}

bool Defines(const Json& object, const ForeignKind& kind) {
  return object["kind"].AsString() == "CustomResourceDefinition" &&
         object["spec"]["group"].AsString() == kind.group &&
         object["spec"]["names"]["kind"].AsString() == kind.kind;
}

Json VersionOf(const std::string& name, bool stored) {
  Json schema = Json::Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  return Json::Object({{"name", name},
                       {"served", true},
                       {"storage", stored},
                       {"schema", Json::Object({{"openAPIV3Schema", std::move(schema)}})},
                       {"subresources", Json::Object({{"status", Json::Object()}})}});
}

Json DefinitionOf(const ForeignKind& kind, const std::set<std::string>& versions, bool namespaced) {
  Json served = Json::Array();
  for (const std::string& version : versions) {
    served.Append(VersionOf(version, version == *versions.begin()));
  }
  return Json::Object(
      {{"apiVersion", "apiextensions.k8s.io/v1"},
       {"kind", "CustomResourceDefinition"},
       {"metadata", Json::Object({{"name", absl::StrCat(kind.resource, ".", kind.group)}})},
       {"spec",
        Json::Object({{"group", kind.group},
                      {"names", Json::Object({{"kind", kind.kind},
                                              {"listKind", absl::StrCat(kind.kind, "List")},
                                              {"plural", kind.resource},
                                              {"singular", absl::AsciiStrToLower(kind.kind)}})},
                      {"scope", namespaced ? "Namespaced" : "Cluster"},
                      {"versions", std::move(served)}})}});
}

}  // namespace

ForeignKinds ShownKinds(const ForeignKinds& kinds, const std::vector<Json>& objects) {
  ForeignKinds shown;
  std::ranges::copy_if(kinds, std::back_inserter(shown), [&objects](const ForeignKind& kind) {
    return std::ranges::any_of(objects, [&kind](const Json& object) {
      return IsOf(kind, object) || Defines(object, kind);
    });
  });
  return shown;
}

std::vector<Json> DefinitionsFor(const ForeignKinds& kinds, const std::vector<Json>& objects) {
  std::vector<Json> definitions;
  for (const ForeignKind& kind : kinds) {
    std::set<std::string> versions;
    bool namespaced = false;
    for (const Json& object : objects) {
      if (!IsOf(kind, object)) continue;
      versions.insert(GroupAndVersion(object).second);
      namespaced = namespaced || !object["metadata"]["namespace"].AsString().empty();
    }
    if (!versions.empty()) definitions.push_back(DefinitionOf(kind, versions, namespaced));
  }
  return definitions;
}

}  // namespace maniple
