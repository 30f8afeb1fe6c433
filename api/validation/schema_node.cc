#include "api/validation/schema_node.h"

#include <algorithm>

namespace maniple {

const SchemaNode* SchemaNode::Property(absl::string_view name) const {
  const auto at = std::lower_bound(
      properties.begin(), properties.end(), name,
      [](const auto& property, absl::string_view wanted) { return property.name < wanted; });
  return at != properties.end() && at->name == name ? &at->schema : nullptr;
}

const SchemaNode* SchemaNode::Member(absl::string_view name) const {
  const SchemaNode* property = Property(name);
  return property != nullptr ? property : additional.get();
}

}  // namespace maniple
