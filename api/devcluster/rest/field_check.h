// Whether an object has the fields of its kind and no others: fieldValidation.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/rest/request.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

enum class FieldValidation { kIgnore, kWarn, kStrict };
// fieldValidation=; kWarn when absent, 422 when it is none of them.
ApiOr<FieldValidation> ParseFieldValidation(const Query& query, absl::string_view options_kind);

// `unknown field "spec.x"`, `duplicate field "spec.y"`; `text` is the JSON that the object was read
// from, empty when it came as something else.
[[nodiscard]] std::vector<std::string> StrictProblems(const ResourceType& type, const Json& object,
                                                      absl::string_view text);

// Paths of members that stand twice in one object of a JSON text. REQUIRES: the text is JSON.
[[nodiscard]] std::vector<std::string> DuplicateFields(absl::string_view text);

}  // namespace maniple::devcluster
