// Makes the gang that a group object, an owner or marks declare, from the declaration and the marks
// of the pods that are in it.
//
// A function of its arguments; the order of the marks does not matter. Scheduling thread.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "api/producers/foreign_gang.h"
#include "api/producers/gang_identity.h"
#include "api/producers/marks.h"
#include "api/producers/object_table.h"
#include "api/producers/producer_options.h"

namespace maniple {

// REQUIRES: the origin is one of those that declare a gang; `members` is not empty. `parts` says to
// which sub-group each belongs, "" = to none; without them all are in none.
[[nodiscard]] ForeignGang MakeGang(const GangIdentity& gang, const std::vector<PodMarks>& members,
                                   const ObjectTable& table, const ProducerOptions& options,
                                   const std::vector<absl::string_view>& parts = {});

}  // namespace maniple
