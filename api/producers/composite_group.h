// The quorum of a gang whose members are PodGroups: a CompositePodGroup of scheduling.k8s.io, and
// those in it.
//
// A function of its arguments. Each PodGroup is a sub-group; the tree above them is flattened.
#pragma once

#include <string>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "api/model/foreign.h"
#include "api/producers/object_table.h"

namespace maniple {

// The sub-group that a PodGroup is: its name, if it is short enough for one.
[[nodiscard]] std::string PartNameOfGroup(absl::string_view group);

// `groups`: the PodGroups that have `composite` above them, by name. Of a composite with more
// groups than have to be there the oldest count, so that a group which comes late breaks no quorum;
// the others are parts without a minimum. Of one with fewer, a part stands for what is missing.
[[nodiscard]] ForeignSpec QuorumOfGroups(const ObjectSlot& composite,
                                         const absl::btree_set<absl::string_view>& groups,
                                         const ObjectTable& table);

}  // namespace maniple
