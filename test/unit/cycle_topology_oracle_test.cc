// Decide against a naive search over every placement on small random clusters with up to three
// levels and NVLink domains that do not nest in them: the fear is that counting, packing and cut
// searches refuse what would fit, accept what breaks a constraint, or choose what costs more.
//
// The naive side looks at labels and room alone and tries everything. For more cases:
// MANIPLE_TOPOLOGY_CASES, from MANIPLE_TOPOLOGY_FIRST on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "scheduler/cycle/bound_shape.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

constexpr char kNvlinkLabel[] = "nvidia.com/gpu.clique";
constexpr int64_t kMany = 1'000'000;

uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// One member of the gang as the case draws it.
struct Drawn {
  int job = 0;
  int64_t index = -1;
  int sub_group = -1;
  int shape = 0;
  int node = -1;  // it stands there already
};

struct Case {
  std::vector<std::map<std::string, std::string>> labels;  // by node
  std::vector<int> gpus, used;                             // by node
  int levels = 1;
  std::vector<int> shapes;  // GPUs
  std::vector<Drawn> members;
  std::vector<int> sub_group_needs;
  std::vector<TopologyRequest> sub_group_topologies;
  TopologyRequest topology;
  int min_member = 1;
};

// GPUs of a member, of those that are to be placed.
std::set<int> SizesWanted(const Case& c) {
  std::set<int> sizes;
  for (const Drawn& member : c.members) {
    if (member.node < 0) sizes.insert(c.shapes[static_cast<size_t>(member.shape)]);
  }
  return sizes;
}
bool IsMixed(const Case& c) { return SizesWanted(c).size() > 1; }

std::string LevelLabel(int level) { return absl::StrCat("example.com/l", level); }

class CaseMaker final {
 public:
  explicit CaseMaker(uint64_t seed) : random_(seed) {}

  Case Make() {
    Case c;
    c.levels = 1 + Below(3);
    const int nodes = 1 + Below(8);
    const bool gaps = random_.OneIn(3);
    for (int n = 0; n < nodes; ++n) {
      std::map<std::string, std::string>& labels = c.labels.emplace_back();
      for (int l = 0; l < c.levels; ++l) {
        if (!gaps || !random_.OneIn(6)) labels[LevelLabel(l)] = absl::StrCat("v", Below(2 + l));
      }
      if (!gaps || !random_.OneIn(6)) labels[kNvlinkLabel] = absl::StrCat("c", Below(3));
      c.gpus.push_back(Below(5));
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

  void DrawMembers(Case& c, int nodes, int sub_groups) {
    int64_t most = 1, ways = nodes + 1;
    while (most < 6 && ways * (nodes + 1) <= 20'000) {
      ways *= nodes + 1;
      ++most;
    }
    const int members = 1 + Below(static_cast<int>(most));
    const bool ranked = !random_.OneIn(5);
    const int jobs = random_.OneIn(4) ? 2 : 1;
    std::map<std::pair<int, int>, int64_t> next;
    for (int m = 0; m < members; ++m) {
      Drawn member{.job = Below(jobs), .shape = Below(static_cast<int>(c.shapes.size()))};
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
      for (const Drawn& member : c.members) live += member.sub_group == g ? 1 : 0;
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
};

// Everything about a case that labels and numbers say, and every placement of its members.
class Naive final {
 public:
  explicit Naive(const Case& c)
      : case_(c), sizes_(SizesWanted(c)), nodes_(static_cast<int>(c.labels.size())) {
    for (int n = 0; n < nodes_; ++n) free_.push_back(c.gpus[Index(n)] - c.used[Index(n)]);
    for (size_t m = 0; m < c.members.size(); ++m) {
      if (c.members[m].node < 0) wants_.push_back(m);
      on_.push_back(c.members[m].node);
    }
  }

  // Calls visit() at every complete placement that breaks nothing, as on() says.
  template <typename Visit>
  void ForEachPlacement(Visit&& visit) {
    Descend(0, visit);
  }
  [[nodiscard]] const std::vector<int>& on() const { return on_; }
  void Set(size_t member, int node) { on_[member] = node; }

  // By the path of label values, "" when the node is in no domain of the level.
  [[nodiscard]] std::string DomainOf(int node, const std::string& word) const {
    const std::map<std::string, std::string>& labels = case_.labels[Index(node)];
    const auto value = [&labels](const std::string& key) {
      const auto it = labels.find(key);
      return it == labels.end() ? std::string() : it->second;
    };
    if (word == "nvlink" || word == kNvlinkLabel) return value(kNvlinkLabel);
    std::string path;
    for (int l = 0; l <= word.back() - '0'; ++l) {
      const std::string part = value(LevelLabel(l));
      if (part.empty()) return "";
      absl::StrAppend(&path, part, "/");
    }
    return path;
  }

  [[nodiscard]] bool QuorumMet() const {
    int placed = 0;
    std::vector<int> parts(case_.sub_group_needs.size(), 0);
    for (size_t m = 0; m < on_.size(); ++m) {
      if (on_[m] < 0) continue;
      ++placed;
      if (case_.members[m].sub_group >= 0) ++parts[static_cast<size_t>(case_.members[m].sub_group)];
    }
    for (size_t g = 0; g < parts.size(); ++g) {
      if (parts[g] < case_.sub_group_needs[g]) return false;
    }
    return placed >= case_.min_member;
  }

  // Together: all in one domain of the level.
  [[nodiscard]] bool Together(const std::vector<size_t>& members, const std::string& word) const {
    std::string common;
    for (const size_t m : members) {
      if (on_[m] < 0) continue;
      const std::string domain = DomainOf(on_[m], word);
      if (domain.empty() || (!common.empty() && common != domain)) return false;
      common = domain;
    }
    return true;
  }

  [[nodiscard]] bool DomainsHold() const {
    std::vector<size_t> all;
    std::map<int, std::vector<size_t>> sub_groups;
    std::map<std::tuple<int, int, int64_t>, std::vector<size_t>> slices;
    std::map<std::pair<int, int>, int64_t> position;
    for (size_t m = 0; m < on_.size(); ++m) {
      const Drawn& member = case_.members[m];
      all.push_back(m);
      sub_groups[member.sub_group].push_back(m);
      const TopologyRequest& sliced = SlicedBy(m);
      int64_t number = position[{member.sub_group, member.job}]++;
      if (member.index >= 0) number = member.index;
      if (sliced.slice_size == 0) continue;
      slices[{member.sub_group, member.job, number / sliced.slice_size}].push_back(m);
    }
    if (!case_.topology.required.empty() && !Together(all, case_.topology.required)) return false;
    for (const auto& [g, members] : sub_groups) {
      if (g < 0 || case_.sub_group_topologies[static_cast<size_t>(g)].required.empty()) continue;
      if (AnyWant(members) &&
          !Together(members, case_.sub_group_topologies[static_cast<size_t>(g)].required)) {
        return false;
      }
    }
    return std::all_of(slices.begin(), slices.end(), [&](const auto& slice) {
      return !AnyPlacedWant(slice.second) ||
             Together(slice.second, SlicedBy(slice.second.front()).slice_level);
    });
  }

  // In members; where there are several shapes, in GPUs of nodes that take any of them.
  [[nodiscard]] int64_t RoomOn(int node) const {
    const int free = std::max(0, case_.gpus[Index(node)] - case_.used[Index(node)]);
    const int least = *sizes_.begin();
    if (sizes_.size() == 1) return free / least;
    return free >= least ? free : 0;
  }

 private:
  static size_t Index(int node) { return static_cast<size_t>(node); }
  [[nodiscard]] const TopologyRequest& SlicedBy(size_t member) const {
    const int g = case_.members[member].sub_group;
    const bool own = g >= 0 && case_.sub_group_topologies[static_cast<size_t>(g)].slice_size > 0;
    return own ? case_.sub_group_topologies[static_cast<size_t>(g)] : case_.topology;
  }
  // What stands already is a fact; only members that are placed now can break anything.
  [[nodiscard]] bool AnyPlacedWant(const std::vector<size_t>& members) const {
    return std::any_of(members.begin(), members.end(),
                       [&](size_t m) { return case_.members[m].node < 0 && on_[m] >= 0; });
  }
  [[nodiscard]] bool AnyWant(const std::vector<size_t>& members) const {
    return AnyPlacedWant(members);
  }

  template <typename Visit>
  void Descend(size_t at, Visit&& visit) {
    if (at == wants_.size()) {
      if (QuorumMet() && DomainsHold()) visit();
      return;
    }
    const size_t member = wants_[at];
    Descend(at + 1, visit);
    const int gpus = case_.shapes[static_cast<size_t>(case_.members[member].shape)];
    for (int n = 0; n < nodes_; ++n) {
      if (free_[Index(n)] < gpus) continue;
      free_[Index(n)] -= gpus;
      on_[member] = n;
      Descend(at + 1, visit);
      on_[member] = -1;
      free_[Index(n)] += gpus;
    }
  }

  const Case& case_;
  std::set<int> sizes_;
  int nodes_;
  std::vector<int> free_;
  std::vector<size_t> wants_;  // members that are to be placed
  std::vector<int> on_;        // by member: its node, or -1
};

// What a placement costs (semantics of "as narrow as possible", then the fewest domains, then the
// least room left over, then scores), written down as it is said.
class Cost final {
 public:
  Cost(const Case& c, const std::map<int, int64_t>& scores) : case_(c), scores_(scores) {
    const TopologyRequest& t = c.topology;
    const auto nvlink = [](const std::string& w) { return w == "nvlink" || w == kNvlinkLabel; };
    const auto level = [](const std::string& w) { return w.back() - '0'; };
    const auto named = [](int l) { return absl::StrCat("level", l); };
    std::vector<std::string> crossing;
    if (!t.required.empty()) {
      levels_.push_back({t.required});
      crossing = {t.required};
    }
    if (!t.preferred.empty() && nvlink(t.preferred)) {
      if (t.required.empty()) {
        levels_.push_back({"nvlink"});
      } else if (!nvlink(t.required)) {
        levels_.push_back({t.required, "nvlink"});
      }
    } else if (!t.preferred.empty()) {
      const bool same = !t.required.empty() && !nvlink(t.required);
      for (int l = same ? level(t.required) + 1 : 0; l <= level(t.preferred); ++l) {
        std::vector<std::string> words = same ? std::vector<std::string>() : crossing;
        words.push_back(named(l));
        levels_.push_back(words);
      }
    }
  }

  std::vector<int64_t> Of(const Naive& naive) const {
    std::vector<int> used, placed;      // nodes, and those of members that are placed now
    const bool mixed = IsMixed(case_);  // then room is counted in GPUs
    int64_t score = 0, pods = 0;
    for (size_t m = 0; m < naive.on().size(); ++m) {
      const int node = naive.on()[m];
      if (node < 0) continue;
      used.push_back(node);
      if (case_.members[m].node >= 0) continue;
      placed.push_back(node);
      score += scores_.count(node) > 0 ? scores_.at(node) : 0;
      pods += mixed ? case_.shapes[static_cast<size_t>(case_.members[m].shape)] : 1;
    }
    std::vector<int> region;
    for (int n = 0; n < static_cast<int>(case_.labels.size()); ++n) region.push_back(n);
    // The narrowest level of which one domain holds everybody.
    int depth = static_cast<int>(levels_.size());
    while (depth > 0 && Domains(naive, used, depth - 1).size() != 1) --depth;
    std::vector<int64_t> cost = {-depth};
    if (depth > 0) {
      region = Nodes(naive, region, depth - 1, Domains(naive, used, depth - 1));
      cost.push_back(Room(naive, region) - pods);
    } else {
      cost.push_back(0);
    }
    for (int level = depth; level < static_cast<int>(levels_.size()); ++level) {
      std::set<std::string> domains = Domains(naive, placed, level);
      if (domains.empty()) {
        cost.insert(cost.end(), {kMany, kMany});
        continue;
      }
      // Of those that stand, who is in no domain costs nothing more.
      for (const int node : used) domains.insert(DomainOf(naive, node, level));
      domains.erase("");
      region = Nodes(naive, region, level, domains);
      cost.insert(cost.end(), {static_cast<int64_t>(domains.size()), Room(naive, region) - pods});
    }
    if (case_.topology.slice_size > 0) {
      std::set<std::string> domains;
      for (const int node : used) {
        domains.insert(naive.DomainOf(node, case_.topology.slice_level));
      }
      int64_t room = 0;
      for (const int node : region) {
        if (domains.count(naive.DomainOf(node, case_.topology.slice_level)) > 0) {
          room += naive.RoomOn(node);
        }
      }
      cost.insert(cost.end(), {static_cast<int64_t>(domains.size()), room - pods});
    }
    cost.push_back(-score);
    return cost;
  }

 private:
  [[nodiscard]] std::string DomainOf(const Naive& naive, int node, int level) const {
    std::string path;
    for (const std::string& word : levels_[static_cast<size_t>(level)]) {
      const std::string part = naive.DomainOf(node, word);
      if (part.empty()) return "";
      absl::StrAppend(&path, part, "|");
    }
    return path;
  }
  // Empty: somebody is in no domain of the level.
  [[nodiscard]] std::set<std::string> Domains(const Naive& naive, const std::vector<int>& used,
                                              int level) const {
    std::set<std::string> domains;
    for (const int node : used) {
      const std::string domain = DomainOf(naive, node, level);
      if (domain.empty()) return {};
      domains.insert(domain);
    }
    return domains;
  }
  [[nodiscard]] std::vector<int> Nodes(const Naive& naive, const std::vector<int>& region,
                                       int level, const std::set<std::string>& domains) const {
    std::vector<int> nodes;
    for (const int node : region) {
      if (domains.count(DomainOf(naive, node, level)) > 0) nodes.push_back(node);
    }
    return nodes;
  }
  [[nodiscard]] int64_t Room(const Naive& naive, const std::vector<int>& region) const {
    int64_t room = 0;
    for (const int node : region) room += naive.RoomOn(node);
    return room;
  }

  const Case& case_;
  const std::map<int, int64_t>& scores_;
  std::vector<std::vector<std::string>> levels_;  // broadest first; words that cross
};

struct Tally {
  uint64_t cases = 0, placed = 0, mixed = 0, gave_up = 0, costed = 0;
  // Of mixed shapes, ours to the optimum.
  std::vector<double> spanned;    // domains
  std::vector<double> left_over;  // GPUs left over and one, where as many domains are spanned
};

class Trial final {
 public:
  Trial(const Case& c, Tally& tally) : case_(c), tally_(tally) {
    Topology topology;
    topology.meta.name = "default";
    for (int l = 0; l < c.levels; ++l) {
      topology.levels.push_back({.name = absl::StrCat("level", l), .node_label = LevelLabel(l)});
    }
    cluster_.Add(ObjectUpserted{topology});
    for (size_t n = 0; n < c.labels.size(); ++n) {
      MakeNode node(absl::StrCat("n", n));
      node.Gpu(c.gpus[n]);
      for (const auto& [key, value] : c.labels[n]) node.Label(key, value);
      cluster_.Add(node);
    }
    PodGroup group = MakePodGroup("gang").MinMember(c.min_member);
    group.spec.topology = c.topology;
    for (size_t g = 0; g < c.sub_group_needs.size(); ++g) {
      group.spec.sub_groups.push_back({.name = absl::StrCat("s", g),
                                       .min_member = c.sub_group_needs[g],
                                       .topology = c.sub_group_topologies[g]});
    }
    cluster_.Add(ObjectUpserted{group});
    std::vector<int> used = c.used;
    for (size_t m = 0; m < c.members.size(); ++m) {
      const Drawn& member = c.members[m];
      MakePod pod(absl::StrCat("m", m));
      pod.Group("gang").Gpu(c.shapes[static_cast<size_t>(member.shape)]);
      pod.Label("training.kubeflow.org/replica-type", absl::StrCat("job", member.job));
      if (member.index >= 0) pod.Index(member.index);
      if (member.sub_group >= 0) pod.SubGroup(absl::StrCat("s", member.sub_group));
      if (member.node >= 0) {
        pod.On(absl::StrCat("n", member.node));
        used[static_cast<size_t>(member.node)] -= c.shapes[static_cast<size_t>(member.shape)];
      }
      cluster_.Add(pod);
    }
    for (size_t n = 0; n < used.size(); ++n) {
      if (used[n] == 0) continue;
      cluster_.Add(MakePod(absl::StrCat("other", n))
                       .Scheduler("other")
                       .Gpu(used[n])
                       .On(absl::StrCat("n", n)));
    }
  }

  // "" when all is well.
  std::string Run() {
    const GangRequest request = cluster_.RequestOf("gang");
    if (request.wants.empty() || request.need.Met()) return "";
    ++tally_.cases;
    const bool mixed = IsMixed(case_);
    tally_.mixed += mixed ? 1 : 0;
    const Decision decision = cluster_.Decide(request);
    bool feasible = false;
    Naive naive(case_);
    const bool all_wanted = static_cast<size_t>(request.need.total) == request.wants.size() &&
                            case_.sub_group_topologies.empty();
    std::optional<std::vector<int64_t>> best;
    const std::map<int, int64_t> scores = Scores(request);
    const Cost cost(case_, scores);
    naive.ForEachPlacement([&] {
      feasible = true;
      if (!all_wanted) return;
      std::vector<int64_t> it = cost.Of(naive);
      if (!best.has_value() || it < *best) best = std::move(it);
    });
    if (const auto* no = std::get_if<Rejection>(&decision)) {
      if (no->code == RejectionCode::kSearchLimitReached) {
        ++tally_.gave_up;
        return mixed || !case_.sub_group_topologies.empty() ? "" : "gave up";
      }
      return feasible ? absl::StrCat("refused what fits, code ", no->code, " ", no->detail) : "";
    }
    ++tally_.placed;
    if (!feasible) return "placed what does not fit";
    Naive ours(case_);
    const auto& plan = std::get<Plan>(decision);
    if (std::string wrong = Check(plan, ours); !wrong.empty()) return wrong;
    if (!all_wanted) return "";
    const std::vector<int64_t> got = cost.Of(ours);
    if (mixed) {
      tally_.spanned.push_back(Spanned(got) / Spanned(*best));
      if (tally_.spanned.back() == 1.0) tally_.left_over.push_back(Left(got) / Left(*best));
      return "";
    }
    ++tally_.costed;
    if (got == *best) return "";
    return absl::StrCat("costs ", absl::StrJoin(got, ","), " instead of ",
                        absl::StrJoin(*best, ","));
  }

  std::string Told() {
    std::string text;
    for (size_t n = 0; n < case_.labels.size(); ++n) {
      absl::StrAppend(&text, "n", n, " gpus ", case_.gpus[n], " used ", case_.used[n]);
      for (const auto& [key, value] : case_.labels[n]) absl::StrAppend(&text, " ", key, "=", value);
      absl::StrAppend(&text, "\n");
    }
    const auto tell = [&text](const TopologyRequest& t) {
      absl::StrAppend(&text, "required ", t.required, " preferred ", t.preferred, " slice ",
                      t.slice_size, " of ", t.slice_level, "\n");
    };
    tell(case_.topology);
    for (size_t g = 0; g < case_.sub_group_needs.size(); ++g) {
      absl::StrAppend(&text, "sub-group ", g, " needs ", case_.sub_group_needs[g], " ");
      tell(case_.sub_group_topologies[g]);
    }
    absl::StrAppend(&text, "min ", case_.min_member, "\n");
    for (const Drawn& m : case_.members) {
      absl::StrAppend(&text, "job ", m.job, " index ", m.index, " sub-group ", m.sub_group,
                      " gpus ", case_.shapes[static_cast<size_t>(m.shape)], " on ", m.node, "\n");
    }
    return absl::StrCat(text, absl::StrJoin(cluster_.PlacesOf(cluster_.Decide("gang")), " "));
  }

 private:
  std::map<int, int64_t> Scores(const GangRequest& request) {
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const CycleInput cycle{.snapshot = *snapshot, .now = cluster_.now};
    auto bound = BoundShape::Bind(cycle, snapshot->tables->ShapeOf(request.wants.front().shape),
                                  cluster_.profile());
    const Overlay overlay(*snapshot, Overlay::View::kNow);
    std::map<int, int64_t> scores;
    for (const RankedNode& node : bound->Ranked(overlay, bound->RoomOn(overlay, nullptr))) {
      scores[std::atoi(snapshot->NodeName(node.room.node).c_str() + 1)] = node.score;
    }
    return scores;
  }

  // Takes the plan over into `ours`; not "": it breaks something.
  std::string Check(const Plan& plan, Naive& ours) {
    std::vector<int> left;
    for (size_t n = 0; n < case_.gpus.size(); ++n) left.push_back(case_.gpus[n] - case_.used[n]);
    for (const Placement& placement : plan.placements) {
      const auto member =
          static_cast<size_t>(std::atoi(cluster_.state().FindPod(placement.pod)->name.c_str() + 1));
      const int node =
          std::atoi(std::string(cluster_.state().NodeName(placement.node)).c_str() + 1);
      ours.Set(member, node);
      left[static_cast<size_t>(node)] -=
          case_.shapes[static_cast<size_t>(case_.members[member].shape)];
      if (left[static_cast<size_t>(node)] < 0) return absl::StrCat("too much on n", node);
    }
    if (!ours.QuorumMet()) return "no quorum";
    return ours.DomainsHold() ? "" : "a domain is broken";
  }

  // Domains spanned, over all levels that are preferred and the slices.
  static double Spanned(const std::vector<int64_t>& cost) {
    double spanned = 1;
    for (size_t i = 2; i + 1 < cost.size(); i += 2) {
      spanned += static_cast<double>(std::min<int64_t>(cost[i], 8));
    }
    return spanned;
  }

  // Of the narrowest domain that holds all, and of those spanned below it.
  static double Left(const std::vector<int64_t>& cost) {
    double left = 1;
    for (size_t i = 1; i + 1 < cost.size(); i += 2) left += static_cast<double>(cost[i]);
    return left;
  }

  const Case& case_;
  Tally& tally_;
  TestCluster cluster_;
};

TEST(TopologyOracle, DecidesAsASearchOverAllPlacements) {
  const uint64_t cases = Setting("MANIPLE_TOPOLOGY_CASES", 3'000);
  const uint64_t first = Setting("MANIPLE_TOPOLOGY_FIRST", 1);
  Tally tally;
  int wrong = 0;
  for (uint64_t seed = first; seed < first + cases; ++seed) {
    const Case c = CaseMaker(seed).Make();
    Trial trial(c, tally);
    const std::string failure = trial.Run();
    if (failure.empty()) continue;
    ADD_FAILURE() << "case " << seed << ": " << failure << "\n" << trial.Told();
    if (++wrong == 5) break;
  }
  const auto p99_of = [](std::vector<double>& ratios) {
    std::ranges::sort(ratios);
    return ratios.empty() ? 1.0 : ratios[ratios.size() * 99 / 100];
  };
  const double spanned = p99_of(tally.spanned);
  const double left_over = p99_of(tally.left_over);
  std::cout << tally.cases << " cases, " << tally.placed << " placed, " << tally.costed
            << " of one shape at the least cost, " << tally.mixed << " of mixed shapes with p99 of "
            << "domains spanned " << spanned << " and of GPUs left over " << left_over << ", "
            << tally.gave_up << " given up\n";
  EXPECT_LE(spanned, 1.05);
  EXPECT_LE(left_over, 1.05);
  EXPECT_GT(tally.placed, tally.cases / 5);
}

}  // namespace
}  // namespace maniple
