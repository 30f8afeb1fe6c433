// PodGroup of scheduling.k8s.io: v1beta1, v1alpha3 and v1alpha2; CompositePodGroup, a group of
// them.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// A basic one asks for no gang.
[[nodiscard]] ForeignSpec ReadUpstreamGroup(const Cursor& root);
// Its minimum counts groups. The members of a basic one need not start together.
[[nodiscard]] ForeignSpec ReadCompositeGroup(const Cursor& root);

}  // namespace maniple
