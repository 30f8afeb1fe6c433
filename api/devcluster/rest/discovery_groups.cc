// Which groups, versions and resources are served: the documents of /api and /apis.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/devcluster/rest/discovery_documents.h"

namespace maniple::devcluster {
namespace {

// "v1beta2" as (stability, major, minor): larger is preferred. Stability 0 is no Kubernetes version
// at all.
std::tuple<int, int, int> Rank(absl::string_view version) {
  if (version.empty() || version[0] != 'v') return {0, 0, 0};
  version.remove_prefix(1);
  const auto digits = [&version] {
    size_t end = 0;
    while (end < version.size() && version[end] >= '0' && version[end] <= '9') ++end;
    int value = -1;
    if (!absl::SimpleAtoi(version.substr(0, end), &value)) value = -1;
    version.remove_prefix(end);
    return value;
  };
  const int major = digits();
  if (major < 0) return {0, 0, 0};
  if (version.empty()) return {3, major, 0};
  for (const auto& [word, stability] : {std::pair("beta", 2), std::pair("alpha", 1)}) {
    if (version.substr(0, absl::string_view(word).size()) != word) continue;
    version.remove_prefix(absl::string_view(word).size());
    const int minor = digits();
    if (minor >= 0 && version.empty()) return {stability, major, minor};
    break;
  }
  return {0, 0, 0};
}

Json ClientAddresses() {
  return Json::Array({Json::Object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", "127.0.0.1"}})});
}

Json GroupVersion(const ServedGroup& group, const ServedVersion& version) {
  return Json::Object(
      {{"groupVersion", Json(group.ApiVersion(version))}, {"version", Json(version.version)}});
}

Json KindReference(absl::string_view group, absl::string_view version, absl::string_view kind) {
  return Json::Object({{"group", Json(group)}, {"version", Json(version)}, {"kind", Json(kind)}});
}

Json AggregatedResource(const ResourceType& type) {
  Json resource =
      Json::Object({{"resource", Json(type.plural)},
                    {"responseKind", KindReference(type.group, type.version, type.kind)},
                    {"scope", type.namespaced() ? "Namespaced" : "Cluster"},
                    {"singularResource", Json(type.singular)},
                    {"verbs", Json::Strings(type.verbs)}});
  if (!type.short_names.empty()) resource.Set("shortNames", Json::Strings(type.short_names));
  if (!type.categories.empty()) resource.Set("categories", Json::Strings(type.categories));
  Json subresources = Json::Array();
  for (const Subresource& sub : type.subresources) {
    subresources.Append(
        Json::Object({{"subresource", Json(sub.name)},
                      {"responseKind", KindReference(sub.group, sub.version, sub.kind)},
                      {"verbs", Json::Strings(sub.verbs)}}));
  }
  if (subresources.size() > 0) resource.Set("subresources", std::move(subresources));
  return resource;
}

}  // namespace

std::string ServedGroup::ApiVersion(const ServedVersion& version) const {
  return group.empty() ? version.version : absl::StrCat(group, "/", version.version);
}

bool PreferredVersion(absl::string_view a, absl::string_view b) {
  const std::tuple<int, int, int> rank_a = Rank(a);
  const std::tuple<int, int, int> rank_b = Rank(b);
  return rank_a != rank_b ? rank_a > rank_b : a < b;
}

std::vector<ServedGroup> ServedGroups(const TypeRegistry& registry) {
  std::vector<ServedGroup> groups(1);  // the core group is first even if it were empty
  for (const ResourceType* type : registry.All()) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const ServedGroup& one) { return one.group == type->group; });
    if (group == groups.end()) group = groups.insert(groups.end(), ServedGroup{type->group, {}});
    auto version =
        std::find_if(group->versions.begin(), group->versions.end(),
                     [&](const ServedVersion& one) { return one.version == type->version; });
    if (version == group->versions.end()) {
      version = group->versions.insert(group->versions.end(), ServedVersion{type->version, {}});
    }
    version->types.push_back(type);
  }
  for (ServedGroup& group : groups) {
    std::sort(group.versions.begin(), group.versions.end(),
              [](const ServedVersion& a, const ServedVersion& b) {
                return PreferredVersion(a.version, b.version);
              });
  }
  return groups;
}

Json ApiVersionsDocument() {
  return Json::Object({{"kind", "APIVersions"},
                       {"versions", Json::Array({Json("v1")})},
                       {"serverAddressByClientCIDRs", ClientAddresses()}});
}

Json ApiGroupDocument(const ServedGroup& group) {
  Json versions = Json::Array();
  for (const ServedVersion& version : group.versions) versions.Append(GroupVersion(group, version));
  return Json::Object({{"kind", "APIGroup"},
                       {"apiVersion", "v1"},
                       {"name", Json(group.group)},
                       {"versions", std::move(versions)},
                       {"preferredVersion", GroupVersion(group, group.versions.front())}});
}

Json ApiGroupListDocument(const std::vector<ServedGroup>& groups) {
  Json list = Json::Array();
  for (const ServedGroup& group : groups) {
    if (group.group.empty()) continue;
    Json entry = ApiGroupDocument(group);
    entry.Erase("kind");
    entry.Erase("apiVersion");
    list.Append(std::move(entry));
  }
  return Json::Object(
      {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(list)}});
}

Json ResourceListDocument(const ServedGroup& group, const ServedVersion& version) {
  Json resources = Json::Array();
  for (const ResourceType* type : version.types) {
    Json resource = Json::Object({{"name", Json(type->plural)},
                                  {"singularName", Json(type->singular)},
                                  {"namespaced", type->namespaced()},
                                  {"kind", Json(type->kind)},
                                  {"verbs", Json::Strings(type->verbs)}});
    if (!type->short_names.empty()) resource.Set("shortNames", Json::Strings(type->short_names));
    if (!type->categories.empty()) resource.Set("categories", Json::Strings(type->categories));
    resources.Append(std::move(resource));
    for (const Subresource& sub : type->subresources) {
      Json entry = Json::Object({{"name", Json(absl::StrCat(type->plural, "/", sub.name))},
                                 {"singularName", ""},
                                 {"namespaced", type->namespaced()}});
      if (sub.group != type->group || sub.version != type->version) {
        entry.Set("group", Json(sub.group));
        entry.Set("version", Json(sub.version));
      }
      entry.Set("kind", Json(sub.kind));
      entry.Set("verbs", Json::Strings(sub.verbs));
      resources.Append(std::move(entry));
    }
  }
  return Json::Object({{"kind", "APIResourceList"},
                       {"apiVersion", "v1"},
                       {"groupVersion", Json(group.ApiVersion(version))},
                       {"resources", std::move(resources)}});
}

Json AggregatedDocument(const std::vector<ServedGroup>& groups, GroupSet which,
                        absl::string_view version) {
  Json items = Json::Array();
  for (const ServedGroup& group : groups) {
    if (group.group.empty() != (which == GroupSet::kCore)) continue;
    Json versions = Json::Array();
    for (const ServedVersion& served : group.versions) {
      Json resources = Json::Array();
      for (const ResourceType* type : served.types) resources.Append(AggregatedResource(*type));
      versions.Append(Json::Object({{"version", Json(served.version)},
                                    {"resources", std::move(resources)},
                                    {"freshness", "Current"}}));
    }
    Json metadata = Json::Object();
    if (!group.group.empty()) metadata.Set("name", Json(group.group));
    items.Append(
        Json::Object({{"metadata", std::move(metadata)}, {"versions", std::move(versions)}}));
  }
  return Json::Object({{"kind", "APIGroupDiscoveryList"},
                       {"apiVersion", Json(absl::StrCat("apidiscovery.k8s.io/", version))},
                       {"metadata", Json::Object()},
                       {"items", std::move(items)}});
}

}  // namespace maniple::devcluster
