// Draws the cases of topology_case.h, small enough for every placement to be tried.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/oracle/cycle/topology_case.h"

namespace maniple {

struct TopologyCaseLimits {
  int levels = 3, nodes = 8, gpus = 4, members = 6;
  int64_t placements = 20'000;  // complete or not
};

class TopologyCaseMaker final {
 public:
  explicit TopologyCaseMaker(uint64_t seed, TopologyCaseLimits limits = {})
      : random_(seed), limits_(limits) {}

  TopologyCase Make() {
    TopologyCase c;
    c.levels = 1 + Below(limits_.levels);
    const int nodes = 1 + Below(limits_.nodes);
    const bool gaps = random_.OneIn(3);
    for (int n = 0; n < nodes; ++n) {
      std::map<std::string, std::string>& labels = c.labels.emplace_back();
      for (int l = 0; l < c.levels; ++l) {
        if (!gaps || !random_.OneIn(6)) labels[LevelLabel(l)] = absl::StrCat("v", Below(2 + l));
      }
      if (!gaps || !random_.OneIn(6)) labels[kNvlinkLabel] = absl::StrCat("c", Below(3));
      c.gpus.push_back(Below(limits_.gpus + 1));
      c.used.push_back(random_.OneIn(3) ? Below(c.gpus.back() + 1) : 0);
    }
    const bool mixed = random_.OneIn(4);
    c.shapes.push_back(1 + Below(2));
    if (mixed) c.shapes.push_back(1 + Below(3));
    const int sub_groups = random_.OneIn(3) ? 1 + Below(2) : 0;
    DrawMembers(c, nodes, sub_groups);
    c.topology = DrawTopology(c.levels, /*often=*/2);
    for (int g = 0; g < sub_groups; ++g) {
      c.sub_group_topologies.push_back(random_.OneIn(2) ? DrawTopology(c.levels, 2)
                                                        : TopologyRequest{});
    }
    return c;
  }

 private:
  int Below(int limit) { return static_cast<int>(random_.Below(static_cast<uint64_t>(limit))); }

  void DrawMembers(TopologyCase& c, int nodes, int sub_groups) {
    int64_t most = 1, ways = nodes + 1;
    while (most < limits_.members && ways * (nodes + 1) <= limits_.placements) {
      ways *= nodes + 1;
      ++most;
    }
    const int members = 1 + Below(static_cast<int>(most));
    const bool ranked = !random_.OneIn(5);
    const int jobs = random_.OneIn(4) ? 2 : 1;
    std::map<std::pair<int, int>, int64_t> next;
    for (int m = 0; m < members; ++m) {
      DrawnMember member{.job = Below(jobs), .shape = Below(static_cast<int>(c.shapes.size()))};
      if (sub_groups > 0) member.sub_group = Below(sub_groups + 1) - 1;
      int64_t& index = next[{member.sub_group, member.job}];
      if (ranked) member.index = index++;
      if (ranked && random_.OneIn(8)) ++index;  // a rank that is missing
      if (ranked && random_.OneIn(8)) {
        member.node = Below(nodes);
        // It takes room there as any pod does.
        const int gpus = c.shapes[static_cast<size_t>(member.shape)];
        c.used[static_cast<size_t>(member.node)] += gpus;
        c.gpus[static_cast<size_t>(member.node)] += gpus;
      }
      c.members.push_back(member);
    }
    c.min_member = random_.OneIn(2) ? members : 1 + Below(members);
    for (int g = 0; g < sub_groups; ++g) {
      int live = 0;
      for (const DrawnMember& member : c.members) live += member.sub_group == g ? 1 : 0;
      c.sub_group_needs.push_back(Below(live + 1));
    }
  }

  std::string DrawLevel(int levels) {
    if (random_.OneIn(3)) return random_.OneIn(2) ? "nvlink" : kNvlinkLabel;
    const int level = Below(levels);
    return random_.OneIn(2) ? absl::StrCat("level", level) : LevelLabel(level);
  }
  static int LevelOf(const std::string& word) {
    if (word.empty() || word == "nvlink" || word == kNvlinkLabel) return -1;
    return word.back() - '0';
  }
  TopologyRequest DrawTopology(int levels, uint64_t often) {
    TopologyRequest topology;
    if (random_.OneIn(often)) topology.required = DrawLevel(levels);
    if (random_.OneIn(often)) topology.preferred = DrawLevel(levels);
    if (random_.OneIn(often)) {
      topology.slice_level = DrawLevel(levels);
      topology.slice_size = 1 + Below(4);
      const int slice = LevelOf(topology.slice_level), required = LevelOf(topology.required);
      if (slice >= 0 && slice < required) topology.required = topology.slice_level;
    }
    return topology;
  }

  Random random_;
  TopologyCaseLimits limits_;
};

}  // namespace maniple
