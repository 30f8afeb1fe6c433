// The present quorum of a gang whose producer makes its members in stages.
//
// Pure. A quorum that counts members which their producer makes only after others run would wait
// for ever; a quorum without them would bind half a stage.
#pragma once

#include <vector>

#include "api/model/maniple_types.h"
#include "api/producers/foreign_gang.h"
#include "queue/gang.h"

namespace maniple {

// The declared spec without the parts that cannot exist yet. Members are of sub-groups as
// rank.sub_group says.
[[nodiscard]] PodGroupSpec StagedSpec(const ForeignGang& declared,
                                      const std::vector<Member>& members);

}  // namespace maniple
