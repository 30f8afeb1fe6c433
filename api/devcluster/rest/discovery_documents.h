// The documents that discovery.cc serves. Functions of the registry; private to this room.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/type_registry.h"

namespace maniple::devcluster {

// The types of a group's version.
struct ServedVersion {
  std::string version;
  std::vector<const ResourceType*> types;
};
// A group with its versions, the preferred one first.
struct ServedGroup {
  std::string group;
  std::vector<ServedVersion> versions;

  // "v1", "apps/v1"
  [[nodiscard]] std::string ApiVersion(const ServedVersion& version) const;
};
// The core group first, then in the order of the registry.
[[nodiscard]] std::vector<ServedGroup> ServedGroups(const TypeRegistry& registry);

// v2 before v1, v1 before v1beta2 before v1beta1 before v1alpha1 before anything else.
[[nodiscard]] bool PreferredVersion(absl::string_view a, absl::string_view b);

// discovery_groups.cc: the plain forms, and the aggregated one.
[[nodiscard]] Json ApiVersionsDocument();
[[nodiscard]] Json ApiGroupDocument(const ServedGroup& group);
[[nodiscard]] Json ApiGroupListDocument(const std::vector<ServedGroup>& groups);
[[nodiscard]] Json ResourceListDocument(const ServedGroup& group, const ServedVersion& version);
// `version` of apidiscovery.k8s.io: "v2" or "v2beta1". Either the core group or the others.
enum class GroupSet { kCore, kOthers };
[[nodiscard]] Json AggregatedDocument(const std::vector<ServedGroup>& groups, GroupSet which,
                                      absl::string_view version);

// discovery_openapi.cc: OpenAPI v3 of one group version.
[[nodiscard]] Json OpenApiDocument(const ServedGroup& group, const ServedVersion& version);

}  // namespace maniple::devcluster
