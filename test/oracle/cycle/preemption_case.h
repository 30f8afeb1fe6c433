// Small random worlds in which a gang looks for victims: Queues, flavors, racks, running gangs with
// sub-groups, surplus and budgets. Plain values, for tests that try every set of victims
// (naive_preemption.h).
//
//   PreemptionCase world;
//   DrawPreemptionCase(seed, world);
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduler/cycle/victims/preemption.h"
#include "test/support/test_cluster.h"

namespace maniple {

// What a running gang needs so as to stand, as its PodGroup says it.
struct QuorumWords {
  int64_t min_member = 1;
  std::vector<int64_t> sub_groups;  // their minima
  // Of members that succeeded, then of the bound ones in rank order: -1, or the sub-group.
  std::vector<int> succeeded, bound;
  // Of the bound ones: -1, or the number of what leaves together, all of it of one sub-group.
  std::vector<int> units;

  // Is the quorum still there without these of the bound ones, given as bits?
  [[nodiscard]] bool StandsWithout(uint32_t gone) const {
    std::vector<int> left = succeeded;
    for (size_t i = 0; i < bound.size(); ++i) {
      if (((gone >> i) & 1) == 0) left.push_back(bound[i]);
    }
    for (size_t part = 0; part < sub_groups.size(); ++part) {
      if (std::ranges::count(left, static_cast<int>(part)) < sub_groups[part]) return false;
    }
    return static_cast<int64_t>(left.size()) >= min_member;
  }
  [[nodiscard]] bool LeavesUnitsWhole(uint32_t gone) const {
    for (size_t i = 0; i < units.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const bool apart = ((gone >> i) & 1) != ((gone >> k) & 1);
        if (units[i] >= 0 && units[i] == units[k] && apart) return false;
      }
    }
    return true;
  }
  // May exactly these leave together? Surplus, or all.
  [[nodiscard]] bool MayLeave(uint32_t gone) const {
    return gone == (uint32_t{1} << bound.size()) - 1 ||
           (StandsWithout(gone) && LeavesUnitsWhole(gone));
  }
};

struct PreemptionCase {
  TestCluster cluster;
  QuotaTree tree;
  std::vector<QuotaNodeId> queues;
  std::vector<RunningGang> running;
  std::vector<QuorumWords> quorums;  // parallel to it
  std::vector<int32_t> allowed;
  GangRequest request;
  QuotaAsk ask;
  bool in_queue = true;
  int32_t priority = 0;
  absl::Time queued;
  PreemptionPolicy policy;
  FairSharing fair_sharing = FairSharing::kOn;
  std::vector<FairStrategy> strategies;
  OwnVictims own_victims = OwnVictims::kAlways;
  IgnorePdb ignore_pdb = IgnorePdb::kNever;
};

void DrawPreemptionCase(uint64_t seed, PreemptionCase& world);

}  // namespace maniple
