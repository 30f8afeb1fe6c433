// The search for room: one shape by counting; several, or one whose members bear on each other
// across nodes, by trial on the overlay. Where the trials fail and counts prove, numbers of members
// are packed (joint_search.h), then bounded backtracking follows. Where counts do not prove,
// members come one by one.
//
// Knows shapes and members, nothing of topology or reasons. Deterministic: ties go by node name,
// then by position.
#pragma once

#include <vector>

#include "scheduler/cycle/search/search_question.h"

namespace maniple {

// Places the quorum, exactly as many members as it needs. Leaves the overlay as it was.
[[nodiscard]] SearchResult PlaceQuorum(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                       Overlay& overlay, const NodeSet* within);

// The same question without the answer's nodes: kFound has no places. Cheaper where counting alone
// tells.
[[nodiscard]] SearchResult CouldPlaceQuorum(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                            Overlay& overlay, const NodeSet* within);

// Places as many wants as fit, in rank order; kFound with at least one. Leaves the overlay as it
// was.
[[nodiscard]] SearchResult PlaceSurplus(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                        Overlay& overlay, const NodeSet* within);

// As ShareOut, the best of `nodes`. REQUIRES: they have room for so many pods.
[[nodiscard]] std::vector<NodeId> ChooseNodes(std::vector<RankedNode> nodes, int64_t pods);

// As PlaceQuorum, by counting and greedy trials alone: kGaveUp where these leave it open.
[[nodiscard]] SearchResult TryToPlace(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                      Overlay& overlay, const NodeSet* within);

// The quorum out of members that all have a place; kGaveUp where the budget covers none.
[[nodiscard]] SearchResult QuorumOf(const QuorumProblem& problem, std::vector<MemberPlace> places);

struct MemberGroups;
struct SearchLimits {
  const NodeSet* within = nullptr;       // null: any node
  const MemberGroups* groups = nullptr;  // null: no members are bound to each other
};
// Every choice of members and nodes, within bounds; see exhaustive.cc.
[[nodiscard]] SearchResult PlaceExhaustively(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                             Overlay& overlay, const SearchLimits& limits,
                                             const SearchBounds& bounds);
// The same for members that bear on each other across nodes, which come one by one; see
// one_by_one.cc.
[[nodiscard]] SearchResult PlaceOneByOne(const QuorumProblem& problem, std::vector<Kind>& kinds,
                                         Overlay& overlay, const SearchLimits& limits);

}  // namespace maniple
