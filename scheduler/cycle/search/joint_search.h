// Searches for several shapes at once in one set of nodes after the other, exactly as far as
// numbers tell. A set that is struck out has no place for them: that is proven.
//
// Where every shape's counts prove, kFound and kProven are exact,
// also with domains of sub-groups and slices. kGaveUp is the answer when the work is spent,
// when the quota covers only some members, or when members bear on each other across nodes.
// Borrows its arguments, for the length of a search; one thread. The overlay is left as it was.
//
//   JointSearch joint(problem, kinds, nullptr, overlay, nullptr);
//   for (const std::vector<uint32_t>& rack : joint.ByDomain(racks)) joint.Search(rack)…
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cycle/search/shape_packing.h"

namespace maniple {

class JointSearch final {
 public:
  // `groups` null: no members are bound to each other; `within` null: all nodes.
  JointSearch(const QuorumProblem& problem, std::vector<Kind>& kinds, const MemberGroups* groups,
              Overlay& overlay, const NodeSet* within);
  JointSearch(const JointSearch&) = delete;
  JointSearch& operator=(const JointSearch&) = delete;

  // Nodes with room for some member, by number.
  [[nodiscard]] std::vector<std::vector<uint32_t>> ByDomain(const DomainLevel& level) const;

  // The quorum on these nodes. The work is shared by all calls.
  [[nodiscard]] SearchResult Search(std::span<const uint32_t> nodes);
  [[nodiscard]] SearchResult SearchEverywhere();

 private:
  friend class DomainAssignment;
  [[nodiscard]] SearchResult PlacesOn(std::span<const PackedNode> nodes);
  [[nodiscard]] SearchResult Lacking(SearchResult::Outcome outcome) const;

  const MemberClasses classes_;
  const Overlay& overlay_;
  bool applies_ = false;      // a set that is struck out is proven
  bool counts_prove_ = true;  // … and so is a place that is found
  SearchWork work_;
  NodePatterns patterns_;
  ShapePacking packing_;
  QuorumTarget quorum_;
  RoomyNodes room_;
};

}  // namespace maniple
