// Server-side apply: a manager states the fields it wants, the server remembers whose they are.
//
// Pure functions of the live object and the applied one. Only managers that apply are remembered,
// in metadata.managedFields; other writes own nothing.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/merge_rules.h"

namespace maniple::devcluster {

enum class ApplyForce { kNo, kYes };

struct ApplyOptions {
  std::string manager;
  ApplyForce force = ApplyForce::kNo;
  absl::Time now;
};

// `live` with the fields of `applied` in it, and without those that the manager applied before but
// no longer does. A field that another manager owns with another value: 409 with a cause
// FieldManagerConflict for each, or taken over by force. `live` is null when there is no object.
ApiOr<Json> ApplyConfiguration(const Json& live, const Json& applied, const MergeRules& rules,
                               const ApplyOptions& options);

}  // namespace maniple::devcluster
