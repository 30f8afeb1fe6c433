// Decide against a naive search over small random clusters: the fear is that counting, trials and
// cut symmetries answer wrongly. The naive side shares no code with the decision: it looks at the
// objects themselves and tries everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "scheduler/cycle/search/search.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple {
namespace {

struct Case {
  std::vector<Node> nodes;
  std::vector<Pod> running;
  std::vector<Pod> members;  // in rank order
  std::vector<int> sub_group_of;
  std::vector<int> sub_groups;  // minimum of each
  int min_member = 1;
  int shapes = 1;
};

MakePod RandomShape(Random& random, const std::string& name) {
  MakePod pod(name);
  pod.Gpu(static_cast<int64_t>(random.Below(4)));
  pod.Cpu(static_cast<int64_t>(random.Below(4)) * 1000);
  if (random.OneIn(4)) pod.Selector("pool", random.OneIn(2) ? "a" : "b");
  if (random.OneIn(3)) pod.Tolerates("dedicated");
  if (random.OneIn(5)) pod.Port(9000 + static_cast<int32_t>(random.Below(2)));
  return pod;
}

Case RandomCase(Random& random) {
  Case c;
  const auto nodes = 1 + random.Below(random.OneIn(4) ? 6 : 4);
  for (uint64_t i = 0; i < nodes; ++i) {
    MakeNode node(absl::StrCat("n", i));
    node.Gpu(static_cast<int64_t>(random.Below(5)));
    node.Cpu(1 + static_cast<int64_t>(random.Below(6)));
    node.Pods(1 + static_cast<int64_t>(random.Below(5)));
    if (random.OneIn(2)) node.Label("pool", random.OneIn(2) ? "a" : "b");
    if (random.OneIn(5)) node.WithTaint("dedicated");
    if (random.OneIn(8)) node.Cordoned();
    c.nodes.push_back(node);
  }
  for (uint64_t i = 0; i < random.Below(5); ++i) {
    MakePod pod(absl::StrCat("run", i));
    pod.Scheduler("other").On(absl::StrCat("n", random.Below(nodes)));
    pod.Gpu(static_cast<int64_t>(random.Below(3)))
        .Cpu(static_cast<int64_t>(random.Below(3)) * 1000);
    if (random.OneIn(4)) pod.Port(9000);
    c.running.push_back(pod);
  }
  c.shapes = 1 + static_cast<int>(random.Below(3));
  std::vector<uint64_t> seeds;
  for (int i = 0; i < c.shapes; ++i) seeds.push_back(random.Next());
  const int groups = static_cast<int>(random.Below(3));
  const auto members = 1 + random.Below(random.OneIn(4) ? 6 : 4);
  std::vector<int> sizes(static_cast<size_t>(groups), 0);
  std::vector<std::pair<int, Pod>> drawn;
  for (uint64_t i = 0; i < members; ++i) {
    const std::string name = absl::StrCat("m", i);
    Random shape(seeds[random.Below(static_cast<uint64_t>(c.shapes))]);
    MakePod pod = RandomShape(shape, name);
    pod.Group("gang").Index(static_cast<int64_t>(i));
    const int group = static_cast<int>(random.Below(static_cast<uint64_t>(groups) + 1));
    if (group < groups) {
      pod.SubGroup(absl::StrCat("s", group));
      ++sizes[static_cast<size_t>(group)];
    }
    drawn.emplace_back(group, pod);
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [group, pod] : drawn) {
    c.sub_group_of.push_back(group < groups ? group : -1);
    c.members.push_back(pod);
  }
  for (const int size : sizes) {
    c.sub_groups.push_back(static_cast<int>(random.Below(static_cast<uint64_t>(size) + 1)));
  }
  c.min_member = 1 + static_cast<int>(random.Below(members));
  return c;
}

// ---- the naive side

struct NaiveNode {
  const Node* node;
  std::map<std::string, int64_t> free;
  std::multiset<int> ports;
};

class Naive final {
 public:
  // Emptied: without any pod, and every node uncordoned.
  Naive(const Case& c, bool emptied) : case_(c), emptied_(emptied) {
    for (const Node& node : c.nodes) {
      NaiveNode& naive = nodes_.emplace_back();
      naive.node = &node;
      for (const ResourceAmount& amount : node.allocatable) {
        naive.free[amount.resource] = amount.amount.units();
      }
    }
    if (emptied) return;
    for (const Pod& pod : c.running) {
      for (NaiveNode& node : nodes_) {
        if (node.node->meta.name == pod.node_name) Take(node, pod, 1);
      }
    }
  }

  bool Feasible() { return Try(0, 0, std::vector<int>(case_.sub_groups.size(), 0)); }

  bool Fits(const NaiveNode& node, const Pod& pod) const {
    const PodConstraints& wants = pod.constraints;
    for (const auto& [key, value] : wants.node_selector.entries()) {
      if (node.node->meta.labels.Get(key) != value) return false;
    }
    if (!node.node->taints.empty() && wants.tolerations.empty()) return false;
    if (node.node->unschedulable && !emptied_) return false;
    const auto free_of = [&node](const std::string& resource) {
      const auto it = node.free.find(resource);
      return it == node.free.end() ? 0 : it->second;
    };
    for (const ResourceAmount& amount : wants.requests) {
      if (free_of(amount.resource) < amount.amount.units()) return false;
    }
    for (const HostPort& port : wants.host_ports) {
      if (node.ports.contains(port.port)) return false;
    }
    return free_of("pods") >= 1;
  }
  static void Take(NaiveNode& node, const Pod& pod, int64_t times) {
    for (const ResourceAmount& amount : pod.constraints.requests) {
      node.free[amount.resource] -= times * amount.amount.units();
    }
    node.free["pods"] -= times;
    for (const HostPort& port : pod.constraints.host_ports) {
      if (times > 0) {
        node.ports.insert(port.port);
      } else {
        node.ports.erase(node.ports.find(port.port));
      }
    }
  }
  NaiveNode& Named(const std::string& name) {
    for (NaiveNode& node : nodes_) {
      if (node.node->meta.name == name) return node;
    }
    return nodes_.front();
  }

 private:
  bool Try(size_t at, int placed, const std::vector<int>& by_group) {
    bool met = placed >= case_.min_member;
    for (size_t g = 0; g < by_group.size(); ++g) met = met && by_group[g] >= case_.sub_groups[g];
    if (met) return true;
    if (at == case_.members.size()) return false;
    const Pod& pod = case_.members[at];
    std::vector<int> with = by_group;
    if (case_.sub_group_of[at] >= 0) ++with[static_cast<size_t>(case_.sub_group_of[at])];
    for (NaiveNode& node : nodes_) {
      if (!Fits(node, pod)) continue;
      Take(node, pod, 1);
      const bool found = Try(at + 1, placed + 1, with);
      Take(node, pod, -1);
      if (found) return true;
    }
    return Try(at + 1, placed, by_group);
  }

  const Case& case_;
  bool emptied_;
  std::vector<NaiveNode> nodes_;
};

// ---- the comparison

class Comparison final {
 public:
  explicit Comparison(const Case& c) : case_(c) {
    for (const Node& node : c.nodes) cluster_.Add(ObjectUpserted{node});
    for (const Pod& pod : c.running) cluster_.Add(ObjectUpserted{pod});
    MakePodGroup group("gang");
    group.MinMember(c.min_member);
    for (size_t g = 0; g < c.sub_groups.size(); ++g) {
      group.SubGroup(absl::StrCat("s", g), c.sub_groups[g]);
    }
    cluster_.Add(group);
    for (const Pod& pod : c.members) cluster_.Add(ObjectUpserted{pod});
  }

  // "" when the answer is right.
  std::string Check() {
    const Decision decision = cluster_.Decide("gang");
    if (const Plan* plan = std::get_if<Plan>(&decision)) return CheckPlan(*plan);
    return CheckRejection(std::get<Rejection>(decision));
  }
  // The exhaustive search alone, which decisions fall back on only when greedy trials have failed.
  std::string CheckExhaustive() {
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const GangRequest request = cluster_.RequestOf("gang");
    std::vector<ShapeId> shapes;
    std::vector<uint32_t> kind_of;
    for (const Want& want : request.wants) {
      const auto at = std::find(shapes.begin(), shapes.end(), want.shape);
      kind_of.push_back(static_cast<uint32_t>(at - shapes.begin()));
      if (at == shapes.end()) shapes.push_back(want.shape);
    }
    std::vector<BoundShape> bound;
    for (const ShapeId shape : shapes) {
      bound.push_back(*BoundShape::Bind({.snapshot = *snapshot, .now = cluster_.now},
                                        snapshot->tables->ShapeOf(shape), cluster_.profile()));
    }
    std::vector<Kind> kinds;
    for (size_t k = 0; k < shapes.size(); ++k) {
      kinds.push_back({.shape = shapes[k], .bound = &bound[k]});
    }
    const QuorumProblem problem = ProblemOf(request, kind_of, static_cast<uint32_t>(shapes.size()));
    Overlay overlay(*snapshot, Overlay::View::kNow);
    const SearchResult result =
        PlaceExhaustively(problem, kinds, overlay, {}, {.steps = 100'000'000});
    const bool feasible = Naive(case_, false).Feasible();
    if ((result.outcome == SearchResult::Outcome::kFound) != feasible) return "feasibility differs";
    if (result.outcome == SearchResult::Outcome::kGaveUp) return "gave up";
    if (!feasible) return "";
    Plan plan;
    for (const MemberPlace& place : result.places) {
      plan.placements.push_back({.pod = request.wants[place.want].pod, .node = place.node});
    }
    return CheckPlan(plan);
  }
  bool gave_up() const { return gave_up_; }
  bool placed() const { return placed_; }

 private:
  std::string CheckPlan(const Plan& plan) {
    placed_ = true;
    Naive naive(case_, false);
    std::vector<int> by_group(case_.sub_groups.size(), 0);
    size_t last = 0;
    for (const Placement& placement : plan.placements) {
      const std::string& name = cluster_.state().FindPod(placement.pod)->name;
      size_t i = 0;
      while (case_.members[i].meta.name != name) ++i;
      if (i + 1 <= last) return "placements are not in rank order, or a pod is placed twice";
      last = i + 1;
      NaiveNode& node = naive.Named(std::string(cluster_.state().NodeName(placement.node)));
      if (!naive.Fits(node, case_.members[i])) return absl::StrCat(name, " does not fit");
      Naive::Take(node, case_.members[i], 1);
      if (case_.sub_group_of[i] >= 0) ++by_group[static_cast<size_t>(case_.sub_group_of[i])];
    }
    int parts = 0;
    for (size_t g = 0; g < by_group.size(); ++g) {
      parts += case_.sub_groups[g];
      if (by_group[g] < case_.sub_groups[g]) return "a sub-group is short";
    }
    if (static_cast<int>(plan.placements.size()) != std::max(parts, case_.min_member)) {
      return absl::StrCat(plan.placements.size(), " members are placed");
    }
    return "";
  }

  std::string CheckRejection(const Rejection& rejection) {
    if (rejection.code == RejectionCode::kInvalidSpec) {
      int parts = 0;
      for (const int n : case_.sub_groups) parts += n;
      return parts > static_cast<int>(case_.members.size()) ? "" : "members are not lacking";
    }
    int64_t nodes = 0;
    for (const NodeReasonCount& count : rejection.reasons) nodes += count.nodes;
    if (nodes != static_cast<int64_t>(case_.nodes.size())) return "reasons do not add up";
    if (rejection.placeable >= rejection.wanted) return "nothing is short";
    const bool feasible = Naive(case_, false).Feasible();
    const bool ever = Naive(case_, true).Feasible();
    gave_up_ = rejection.code == RejectionCode::kSearchLimitReached;
    if (gave_up_) return case_.shapes > 1 ? "" : "gave up on one shape";
    if (feasible) return "it does fit";
    if (rejection.code == RejectionCode::kNeverFits) return ever ? "it would fit when empty" : "";
    if (rejection.code != RejectionCode::kNoFit) return "another code";
    return ever || case_.shapes > 1 ? "" : "it never fits";
  }

  const Case& case_;
  TestCluster cluster_;
  bool gave_up_ = false;
  bool placed_ = false;
};

TEST(DecideDifferential, AgreesWithATryOfEverythingOnSmallRandomClusters) {
  const auto cases = static_cast<int>(Worlds(24'000));
  int placed = 0, gave_up = 0;
  for (int seed = 0; seed < cases; ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Case c = RandomCase(random);
    Comparison comparison(c);
    ASSERT_EQ(comparison.Check(), "") << "seed " << seed;
    placed += comparison.placed();
    gave_up += comparison.gave_up();
  }
  // Both answers are common, and the search is not let off by giving up.
  EXPECT_GT(placed, cases / 5);
  EXPECT_LT(placed, cases * 4 / 5);
  EXPECT_EQ(gave_up, 0);
}

TEST(DecideDifferential, TheExhaustiveSearchAloneAgreesToo) {
  const auto end = 100'000 + static_cast<uint64_t>(Worlds(8000));
  for (uint64_t seed = 100'000; seed < end; ++seed) {
    Random random(seed);
    const Case c = RandomCase(random);
    ASSERT_EQ(Comparison(c).CheckExhaustive(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace maniple
