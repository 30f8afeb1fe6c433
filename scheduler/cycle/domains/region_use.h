// The use of a region by a gang of one shape that fits into it. From the preferred levels
// down to slices and nodes, it takes at each the fewest domains and the least room left over.
// Used by counted_search.cc, which chooses the region.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/cycle/domains/bin_choice.h"
#include "scheduler/cycle/domains/sliced_nodes.h"
#include "scheduler/cycle/room/shape_room.h"
#include "scheduler/cycle/search/search.h"
#include "scheduler/cycle/topology/member_groups.h"
#include "scheduler/cycle/topology/topology.h"

namespace maniple {

// Room in one domain of a level, with that of the slices' domains in it.
struct DomainCount {
  int64_t room = 0;
  std::vector<uint32_t> slice_domains;  // ascending
  std::vector<int64_t> slice_room;
};

// Can the domain take it, by count? kGaveUp: the count does not tell.
[[nodiscard]] Packing::Answer Takes(const DomainCount& count, const SliceDemand& demand);

// A region, narrowed down to the domains that the gang would use in it, and the cost of that.
struct Outlook {
  std::vector<int64_t> cost;  // domains and left-over room by level, then the negative score
  std::vector<uint32_t> domains;
  size_t broadest = 0;  // how many of `domains` are of the broadest level
  std::vector<RankedNode> nodes;

  [[nodiscard]] bool CheaperThan(const Outlook& other) const {
    return cost != other.cost ? cost < other.cost : domains < other.domains;
  }
};

// Borrows all for its life.
class RegionUse final {
 public:
  // `pinned`: members that stand; `quorum`: how many are placed at most.
  RegionUse(const DomainWish& wish, std::span<const Pinned> pinned, const Snapshot& base,
            int64_t quorum);

  // From the level `depth` of the wish on. REQUIRES: the region takes the demand.
  [[nodiscard]] Outlook Look(std::vector<RankedNode> region, size_t depth,
                             const SliceDemand& demand) const;
  // Members of the quorum onto the nodes of an outlook for the demand.
  [[nodiscard]] std::vector<MemberPlace> Place(Outlook outlook, const SliceDemand& demand,
                                               const std::vector<size_t>& quorum) const;
  [[nodiscard]] int64_t PodsPlaced(const SliceDemand& demand) const;

 private:
  struct Divided;
  [[nodiscard]] std::vector<bool> Held(const DomainLevel& level) const;
  [[nodiscard]] Outlook LookByLevel(std::vector<RankedNode> region, size_t depth,
                                    const SliceDemand& demand) const;
  [[nodiscard]] Outlook LookBySlice(const std::vector<RankedNode>& region,
                                    const SliceDemand& demand) const;
  void AddSlices(Divided& divided) const;

  const DomainWish& wish_;
  std::span<const Pinned> pinned_;
  const Snapshot& base_;
  int64_t quorum_;
  std::vector<bool> slice_held_;  // by domain of the slices' level
};

}  // namespace maniple
