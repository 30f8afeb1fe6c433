// The nodes to change, and their new settings, so that as much as possible of a demand
// is met by as few changes as possible.
//
// Knows nothing of GPUs. Nodes of a group are alike, each is in one of the group's settings,
// and a setting gives so many of each kind. Exact by branch and bound within a limit of steps;
// beyond it the best answer that was found, marked as not proven. Pure; any thread.
//
//   CoverProblem problem{.demand = {10}, .groups = {{.nodes = 3, .settings = {{.gives = {0}},
//                        {.gives = {7}, .changes = true}}}}};
//   SolveCover(problem)   // two nodes into setting 1, and 10 are met
#pragma once

#include <cstdint>
#include <vector>

namespace maniple {

struct CoverSetting {
  std::vector<int32_t> gives;  // of each kind
  bool changes = false;        // a node that is put into it counts as changed
  friend bool operator==(const CoverSetting&, const CoverSetting&) = default;
};

struct CoverGroup {
  int32_t nodes = 0;
  std::vector<CoverSetting> settings;  // the first costs no change: the node as it is
};

struct CoverProblem {
  std::vector<int64_t> demand;  // of each kind
  std::vector<CoverGroup> groups;
  int64_t most_steps = 20'000;
};

struct CoverAnswer {
  // The nodes of each group in each setting; nodes in the first setting are not counted.
  std::vector<std::vector<int32_t>> nodes;
  int64_t met_before = 0, met = 0;
  int64_t changes = 0;
  bool proven = true;
};

// Most met, then fewest changes; of equals always the same one. A setting that another of its group
// outdoes at no more changes is never used.
// REQUIRES: the first setting of every group costs no change; amounts are not negative,
// and no sum of them overflows.
[[nodiscard]] CoverAnswer SolveCover(const CoverProblem& problem);

}  // namespace maniple
