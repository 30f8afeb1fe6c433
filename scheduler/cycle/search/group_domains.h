// Which domain each group of members is in, as members are placed and taken back.
//
// Borrows the groups; one thread, for the length of a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/framework/node_block.h"
#include "scheduler/cycle/topology/member_groups.h"

namespace maniple {

class GroupDomains final {
 public:
  // `groups` null: no members are bound to each other.
  GroupDomains(const MemberGroups* groups, size_t wants);

  // Whether the groups of the want may have a member on the node.
  [[nodiscard]] bool Allow(size_t want, NodeId node) const;
  void Join(size_t want, NodeId node);
  void Leave(size_t want);

  // The groups that the want is in, by number.
  [[nodiscard]] const std::vector<size_t>& Of(size_t want) const { return groups_of_[want]; }
  // The levels of all groups.
  [[nodiscard]] const std::vector<const DomainLevel*>& levels() const { return levels_; }

 private:
  struct Group {
    const DomainLevel* level = nullptr;
    uint32_t domain = DomainLevel::kOutside;  // none yet
    int64_t members = 0;                      // that are placed, or stand already
  };

  std::vector<Group> groups_;
  std::vector<std::vector<size_t>> groups_of_;  // by want
  std::vector<const DomainLevel*> levels_;
};

}  // namespace maniple
