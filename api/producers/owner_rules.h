// Owners that are read by a table of paths: the jobs of Kubeflow's training operator, and whatever
// a configuration describes.
#pragma once

#include "absl/strings/string_view.h"
#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// The rule of the kind itself, or the built-in one; of a kind without one, which makes no gangs,
// an empty rule.
[[nodiscard]] const OwnerRule& RuleOf(const ForeignKind& kind);

// That of Kubeflow's jobs whose replica types stand in spec.<replicas>.
[[nodiscard]] OwnerRule KubeflowRule(absl::string_view replicas);

[[nodiscard]] ForeignSpec ReadByRule(const OwnerRule& rule, const Cursor& root);

}  // namespace maniple
