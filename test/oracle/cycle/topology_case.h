// Random gangs on small clusters with levels and NVLink domains that do not nest in them, for tests
// that try every placement (naive_placements.h). Plain values.
//
//   const TopologyCase c = TopologyCaseMaker(seed).Make();  // topology_case_maker.h
//   TestCluster cluster;
//   Build(c, cluster);
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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
