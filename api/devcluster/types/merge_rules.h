// How lists merge when an object is patched or applied: whole, as a set of values, or item by item
// found by key fields.
//
// Built-in kinds follow the names of their fields, custom ones the x-kubernetes-list-type of their
// schema. A cursor into the type: copy it and step down. Borrows the schema.
//
//   MergeRules rules = MergeRules::OfType(*pods).Field("spec").Field("containers");
//   rules.list().keys   // {"name"}
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

struct ListRule {
  enum class Kind { kAtomic, kSet, kMap } kind = Kind::kAtomic;
  std::vector<std::string> keys = {};  // of kMap; the first is the merge key of strategic patches
};

class MergeRules final {
 public:
  [[nodiscard]] static MergeRules OfType(const ResourceType& type);

  [[nodiscard]] MergeRules Field(absl::string_view name) const;
  [[nodiscard]] MergeRules Item() const;
  // The rule for a list that stands here.
  [[nodiscard]] ListRule list() const;
  // An object that stands here is one value.
  [[nodiscard]] bool is_atomic_object() const;

 private:
  bool custom_ = false;
  std::string kind_;              // of a built-in type
  std::string field_;             // the last one stepped into
  const Json* schema_ = nullptr;  // of a custom type; null where it says nothing
};

// The item of a list that has the same key fields as `like`; nullptr when there is none.
[[nodiscard]] const Json* FindItem(const Json& list, const ListRule& rule, const Json& like);
[[nodiscard]] Json* FindItem(Json& list, const ListRule& rule, const Json& like);

}  // namespace maniple::devcluster
