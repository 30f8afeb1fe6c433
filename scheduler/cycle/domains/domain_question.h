// The question and the answer of a search within a topology. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/cycle/search/search.h"
#include "scheduler/cycle/topology/member_groups.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {

struct DomainSearch {
  const QuorumProblem& problem;
  std::vector<Kind>& kinds;
  DecideScope scope;
  const DomainChoice& choice;
  const MemberGroups& groups;
  std::span<const Pinned> pinned;
};

struct DomainResult {
  SearchResult search;
  std::vector<std::string> paths;  // kFound: the domains; empty when none was asked for or needed
  std::optional<NodeSet> best;     // not found, and a domain is required: the one that came closest
  std::string best_path;
  int64_t domains = 0;  // of the required level
};

enum class SearchGoal : uint8_t { kNodes, kAnswerOnly };

}  // namespace maniple
