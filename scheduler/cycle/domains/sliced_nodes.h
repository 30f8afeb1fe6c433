// The nodes for the members of a gang of one shape, once its region is known. They are the best
// nodes, or domain by domain the best for the slices there. Used by counted_search.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cycle/domains/bin_choice.h"
#include "scheduler/cycle/room/shape_room.h"
#include "scheduler/cycle/search/search.h"
#include "scheduler/cycle/topology/member_groups.h"

namespace maniple {

// Some wants, by their slices.
struct SliceDemand {
  struct Slice {
    std::vector<size_t> wants;         // ascending
    std::optional<uint32_t> bound_to;  // a domain of the slices' level
  };
  std::vector<Slice> slices;  // in order of rank; empty: they are in none
  std::vector<size_t> wants;  // all wants, ascending

  [[nodiscard]] int64_t pods() const { return static_cast<int64_t>(wants.size()); }
};
[[nodiscard]] SliceDemand DemandOf(const MemberGroups& groups, std::vector<size_t> wants);

// Domains of the slices' level within some region, with their room.
struct SliceBins {
  std::vector<uint32_t> domains;  // ascending
  std::vector<int64_t> room;
  std::vector<std::vector<RankedNode>> nodes;  // or empty, as long as only room matters
};
[[nodiscard]] Packing PackSlices(const SliceDemand& demand, std::span<const uint32_t> domains,
                                 std::span<const int64_t> room);

// So many pods on the best of the nodes, neighbours next to each other, and the sum of their
// scores. REQUIRES: there is room for them.
struct BestNodes {
  std::vector<NodeId> nodes;  // by pod
  int64_t score = 0;
};
[[nodiscard]] BestNodes BestOf(std::vector<RankedNode> nodes, int64_t pods);

// Slices to domains so that the sum of scores is highest, with every domain filled from its best
// nodes; of more than 512 ways to spread the slices that are short of members, a good one.
// REQUIRES: they fit.
struct SlicedPlaces {
  std::vector<MemberPlace> places;  // by want
  int64_t score = 0;
};
[[nodiscard]] SlicedPlaces BestSlices(const SliceDemand& demand, SliceBins bins);

}  // namespace maniple
