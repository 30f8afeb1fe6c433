// The choice of members that make the quorum, given the room for pods of each shape.
// Pure functions.
//
// Members of one shape are interchangeable for room, so the question is asked per kind.
// A kind is a dense number for the shape of a member within this gang.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/cycle/question/decision.h"
#include "scheduler/cycle/question/quota_ask.h"

namespace maniple {

struct QuorumProblem {
  std::span<const Want> wants;  // in rank order
  std::vector<uint32_t> kinds;  // parallel to wants
  uint32_t kind_count = 0;
  int64_t total = 0;                // members to place
  std::vector<int32_t> sub_groups;  // of these at least so many of each sub-group
  QuotaBudget budget;               // the quota that the members may draw on

  [[nodiscard]] int64_t CountOf(uint32_t kind) const;
  // The least members of the kind in any quorum.
  [[nodiscard]] int64_t LeastOf(uint32_t kind) const;
  // The sub-group of a want, or none when it is in no sub-group that has a need.
  [[nodiscard]] std::optional<size_t> SubGroupOf(const Want& want) const;
};

// The same question about some of the wants.
struct QuorumPart {
  std::vector<Want> wants;
  QuorumProblem problem;  // looks into `wants`: not to be copied
  QuorumPart() = default;
  QuorumPart(QuorumPart&&) = default;
};
[[nodiscard]] QuorumPart PartOf(const QuorumProblem& problem, const std::vector<size_t>& wants);

// REQUIRES: kinds is parallel to request.wants.
[[nodiscard]] QuorumProblem ProblemOf(const GangRequest& request, std::vector<uint32_t> kinds,
                                      uint32_t kind_count);

// The shortage of one kind.
struct Shortage {
  uint32_t kind = 0;
  int64_t wanted = 0;     // members of the kind in any quorum
  int64_t placeable = 0;  // fewer
};
// `limits` bound from above how many of each kind can be placed at all. Not null: no choice of
// members reaches the quorum.
[[nodiscard]] std::optional<Shortage> ProvenShortage(const QuorumProblem& problem,
                                                     std::span<const int64_t> limits);

// Members that make the quorum with at most limits[k] of kind k and within the budget: in rank
// order within each sub-group, then over the rest; a member that has no room left is passed over.
// Indices into wants, ascending. Null: none found in this order (exact for one kind).
[[nodiscard]] std::optional<std::vector<size_t>> SelectQuorum(const QuorumProblem& problem,
                                                              std::span<const int64_t> limits);

// The same without limits but the budget, and whoever comes first in rank: if those cost too much,
// others that the budget covers. Null: none, or none found in a few steps.
[[nodiscard]] std::optional<std::vector<size_t>> SelectWithinBudget(const QuorumProblem& problem);

// False: no choice of members reaches the quorum within the budget, room aside. Exact where one
// cell is drawn on, and of several cells for gangs of few kinds; of others it may say yes though
// every choice exceeds one of the cells.
[[nodiscard]] bool BudgetMayCover(const QuorumProblem& problem);

}  // namespace maniple
