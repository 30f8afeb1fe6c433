// What readers of several kinds share: counts that are noted when they make no sense, and the
// fields that group objects have in common.
//
// A wrong type is refused at the cursor, so that the object is invalid; a number that makes no
// sense becomes the problem of its spec, which says where and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

inline constexpr int64_t kMostMembers = 2147483647;  // what an int32 of Kubernetes holds

// Calls `read` with the member of that name, if there is one.
void ForMember(const Cursor& of, absl::string_view name,
               absl::FunctionRef<void(const Cursor&)> read);

// The first one stands.
void NoteProblem(ForeignSpec& spec, std::string problem);
// A number of members; one that cannot be is noted and counts as 0.
[[nodiscard]] int64_t ReadCount(const Cursor& value, ForeignSpec& spec);
// Of a sum or product of counts.
[[nodiscard]] int64_t CheckedCount(int64_t count, absl::string_view path, ForeignSpec& spec);
// Of its parts.
[[nodiscard]] int64_t MembersOf(const ForeignSpec& spec);
// Null: it has none of that name.
[[nodiscard]] const ForeignPart* PartNamed(const ForeignSpec& spec, absl::string_view name);

// What several parts ask for together: one place for them all. It is that of the part where they
// are one, unless that asks for a narrower one itself. It is that of the gang, which it narrows,
// where they are all. Else a required level is a problem. REQUIRES: `parts` is not empty.
void PlaceTogether(const std::vector<size_t>& parts, const TopologyRequest& topology,
                   absl::string_view path, ForeignSpec& spec);

// What an annotation asks for: a whole number from 0 to kMostMembers.
[[nodiscard]] std::optional<int64_t> ParseCount(absl::string_view text);

// spec.minMember, spec.queue, spec.priorityClassName, spec.scheduleTimeoutSeconds.
void ReadGroupField(const Cursor& field, ForeignSpec& spec);

}  // namespace maniple
