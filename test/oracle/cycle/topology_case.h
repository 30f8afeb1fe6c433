// Random gangs on small clusters with levels and NVLink domains that do not nest in them, for tests
// that try every placement (naive_placements.h). Plain values.
//
//   const TopologyCase c = TopologyCaseMaker(seed).Make();
//   TestCluster cluster;
//   Build(c, cluster);
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {

inline constexpr char kNvlinkLabel[] = "nvidia.com/gpu.clique";

// One member of the gang as the case draws it.
struct DrawnMember {
  int job = 0;
  int64_t index = -1;
  int sub_group = -1;
  int shape = 0;
  int node = -1;  // it stands there already
};

struct TopologyCase {
  std::vector<std::map<std::string, std::string>> labels;  // by node
  std::vector<int> gpus, used;                             // by node
  int levels = 1;
  std::vector<int> shapes;  // GPUs
  std::vector<DrawnMember> members;
  std::vector<int> sub_group_needs;
  std::vector<TopologyRequest> sub_group_topologies;
  TopologyRequest topology;
  int min_member = 1;
};

// GPUs of a member, of those that are to be placed.
inline std::set<int> SizesWanted(const TopologyCase& c) {
  std::set<int> sizes;
  for (const DrawnMember& member : c.members) {
    if (member.node < 0) sizes.insert(c.shapes[static_cast<size_t>(member.shape)]);
  }
  return sizes;
}
inline bool IsMixed(const TopologyCase& c) { return SizesWanted(c).size() > 1; }

inline std::string LevelLabel(int level) { return absl::StrCat("example.com/l", level); }

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

// A cluster and the gang "gang" of pods "m0", "m1" … as the case says; what else takes room on node
// "n0" is pod "other0".
inline void Build(const TopologyCase& c, TestCluster& cluster) {
  Topology topology;
  topology.meta.name = "default";
  for (int l = 0; l < c.levels; ++l) {
    topology.levels.push_back({.name = absl::StrCat("level", l), .node_label = LevelLabel(l)});
  }
  cluster.Add(ObjectUpserted{topology});
  for (size_t n = 0; n < c.labels.size(); ++n) {
    MakeNode node(absl::StrCat("n", n));
    node.Gpu(c.gpus[n]);
    for (const auto& [key, value] : c.labels[n]) node.Label(key, value);
    cluster.Add(node);
  }
  PodGroup group = MakePodGroup("gang").MinMember(c.min_member);
  group.spec.topology = c.topology;
  for (size_t g = 0; g < c.sub_group_needs.size(); ++g) {
    group.spec.sub_groups.push_back({.name = absl::StrCat("s", g),
                                     .min_member = c.sub_group_needs[g],
                                     .topology = c.sub_group_topologies[g]});
  }
  cluster.Add(ObjectUpserted{group});
  std::vector<int> used = c.used;
  for (size_t m = 0; m < c.members.size(); ++m) {
    const DrawnMember& member = c.members[m];
    MakePod pod(absl::StrCat("m", m));
    pod.Group("gang").Gpu(c.shapes[static_cast<size_t>(member.shape)]);
    pod.Label("training.kubeflow.org/replica-type", absl::StrCat("job", member.job));
    if (member.index >= 0) pod.Index(member.index);
    if (member.sub_group >= 0) pod.SubGroup(absl::StrCat("s", member.sub_group));
    if (member.node >= 0) {
      pod.On(absl::StrCat("n", member.node));
      used[static_cast<size_t>(member.node)] -= c.shapes[static_cast<size_t>(member.shape)];
    }
    cluster.Add(pod);
  }
  for (size_t n = 0; n < used.size(); ++n) {
    if (used[n] == 0) continue;
    cluster.Add(
        MakePod(absl::StrCat("other", n)).Scheduler("other").Gpu(used[n]).On(absl::StrCat("n", n)));
  }
}

inline std::string Told(const TopologyCase& c) {
  std::string text;
  for (size_t n = 0; n < c.labels.size(); ++n) {
    absl::StrAppend(&text, "n", n, " gpus ", c.gpus[n], " used ", c.used[n]);
    for (const auto& [key, value] : c.labels[n]) absl::StrAppend(&text, " ", key, "=", value);
    absl::StrAppend(&text, "\n");
  }
  const auto tell = [&text](const TopologyRequest& t) {
    absl::StrAppend(&text, "required ", t.required, " preferred ", t.preferred, " slice ",
                    t.slice_size, " of ", t.slice_level, "\n");
  };
  tell(c.topology);
  for (size_t g = 0; g < c.sub_group_needs.size(); ++g) {
    absl::StrAppend(&text, "sub-group ", g, " needs ", c.sub_group_needs[g], " ");
    tell(c.sub_group_topologies[g]);
  }
  absl::StrAppend(&text, "min ", c.min_member, "\n");
  for (const DrawnMember& m : c.members) {
    absl::StrAppend(&text, "job ", m.job, " index ", m.index, " sub-group ", m.sub_group, " gpus ",
                    c.shapes[static_cast<size_t>(m.shape)], " on ", m.node, "\n");
  }
  return text;
}

}  // namespace maniple
