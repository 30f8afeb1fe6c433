// Events have two faces over one object: core/v1, in which they are stored, and events.k8s.io/v1.
// And every object has the apiVersion of the path it is read through.
//
// Pure functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

// The object as `type` shows it; the same pointer when it is stored so.
[[nodiscard]] ObjectPtr ShownAs(const ResourceType& type, const ObjectPtr& stored);
// The inverse: what a request of `type` carries, as it is stored.
[[nodiscard]] Json StoredForm(const ResourceType& type, Json shown);
// Where the field of the shown form lies in the stored one.
[[nodiscard]] std::string StoredFieldPath(const ResourceType& type, absl::string_view field);

}  // namespace maniple::devcluster
