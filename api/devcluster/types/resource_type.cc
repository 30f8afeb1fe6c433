#include "api/devcluster/types/resource_type.h"

#include "absl/strings/str_cat.h"

namespace maniple::devcluster {

const Subresource* ResourceType::FindSubresource(absl::string_view name) const {
  for (const Subresource& subresource : subresources) {
    if (subresource.name == name) return &subresource;
  }
  return nullptr;
}

std::string ResourceType::api_version() const {
  return group.empty() ? version : absl::StrCat(group, "/", version);
}

std::string ResourceType::group_resource() const {
  return group.empty() ? plural : absl::StrCat(plural, ".", group);
}

}  // namespace maniple::devcluster
