// Room in the domains of a level for a gang of several shapes, by count. Used by domain_search.cc
// and narrowing.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/cycle/domains/domain_question.h"

namespace maniple {

struct DomainRoom {
  uint32_t domain = 0;
  std::vector<int64_t> limits;  // per kind
  bool takes_all = true;
  int64_t units = 0;  // usable by the gang: GPUs, or members of all kinds
};

// By domain of the level; `within` null: of all nodes.
[[nodiscard]] std::vector<DomainRoom> RoomByDomain(const DomainSearch& ask,
                                                   const DomainLevel& level, const Overlay& overlay,
                                                   const NodeSet* within);
// The least of these units that any quorum takes.
[[nodiscard]] int64_t LeastUnits(const DomainSearch& ask, const Tables& tables);

}  // namespace maniple
