// Gangs of several shapes in clusters in which few domains are good, against an exact answer: the
// fear is that a search gives up where somebody would have found a place, or calls proven what is
// not.
//
// For more worlds: MANIPLE_SHAPES_WORLDS, from MANIPLE_SHAPES_FIRST on.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "queue/quota_tree.h"
#include "test/oracle/cycle/exact_shapes.h"
#include "test/oracle/cycle/shapes_world.h"
#include "test/oracle/cycle/shapes_world_maker.h"
#include "test/oracle/cycle/topology_case.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple::cycle_shapes_oracle_test {
namespace {

constexpr char kRackLabel[] = "example.com/rack";
constexpr char kBlockLabel[] = "example.com/block";
constexpr char kHostLabel[] = "kubernetes.io/hostname";
constexpr int kPort = 9000;

std::string NameOf(WorldLevel level) {
  switch (level) {
    case WorldLevel::kNone:
      return "";
    case WorldLevel::kBlock:
      return "block";
    case WorldLevel::kRack:
      return "rack";
    case WorldLevel::kHost:
      return kHostLabel;  // that no Topology names it makes no difference
  }
  return "";
}

class WorldCluster final {
 public:
  explicit WorldCluster(const ShapesWorld& world) : world_(world) {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "block", .node_label = kBlockLabel},
                       {.name = "rack", .node_label = kRackLabel},
                       {.name = "host", .node_label = kHostLabel}};
    cluster_.Add(ObjectUpserted{topology});
    for (size_t n = 0; n < world.nodes.size(); ++n) AddNode(n);
    AddGang();
  }

  Decision Decide() {
    const GangRequest request = cluster_.RequestOf("gang");
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const std::optional<QuotaAsk> ask = Ask(request);
    return maniple::Decide({.snapshot = *snapshot,
                            .request = request,
                            .now = cluster_.now,
                            .quota = ask.has_value() ? &*ask : nullptr},
                           cluster_.profile());
  }

  // "" when the plan breaks nothing.
  std::string Wrong(const Plan& plan) {
    std::vector<WorldNode> nodes = world_.nodes;
    std::vector<std::optional<int>> on(world_.members.size());
    for (const Placement& placement : plan.placements) {
      const size_t member = NumberOf(cluster_.state().FindPod(placement.pod)->name);
      const size_t node = NumberOf(cluster_.state().NodeName(placement.node));
      if (on[member].has_value()) return absl::StrCat("m", member, " twice");
      on[member] = static_cast<int>(node);
      const WorldShape& shape = ShapeOf(member);
      WorldNode& it = nodes[node];
      it.gpus -= shape.gpus;
      it.cores -= shape.cores;
      const bool port_twice = shape.port && it.port_taken;
      it.port_taken = it.port_taken || shape.port;
      if (it.gpus < 0 || it.cores < 0 || port_twice) return absl::StrCat("too much on n", node);
      if (shape.pool >= 0 && shape.pool != it.pool) return absl::StrCat("m", member, " elsewhere");
    }
    if (!InDomains(on)) return "a domain is broken";
    if (!IsQuorum(on)) return "no quorum";
    return WithinQuota(on) ? "" : "more than the quota, or a shape on two flavors";
  }

 private:
  static size_t NumberOf(absl::string_view name) {
    return static_cast<size_t>(std::atoi(std::string(name.substr(1)).c_str()));
  }
  [[nodiscard]] const WorldShape& ShapeOf(size_t member) const {
    return world_.shapes[static_cast<size_t>(world_.members[member].shape)];
  }

  void AddNode(size_t n) {
    const WorldNode& it = world_.nodes[n];
    const std::string name = absl::StrCat("n", n);
    cluster_.Add(MakeNode(name)
                     .Gpu(8)
                     .Cpu(64)
                     .Label(kHostLabel, name)
                     .Label(kBlockLabel, absl::StrCat("b", it.block))
                     .Label(kRackLabel, absl::StrCat("r", it.rack))
                     .Label("pool", absl::StrCat("p", it.pool)));
    MakePod other(absl::StrCat("other", n));
    other.Scheduler("other").Gpu(8 - it.gpus).Cpu((64 - it.cores) * 1000);
    if (it.port_taken) other.Port(kPort);
    cluster_.Add(other.On(name));
  }
  void AddGang() {
    PodGroup group = MakePodGroup("gang").MinMember(world_.min_member);
    group.spec.topology.required = NameOf(world_.required);
    for (size_t g = 0; g < world_.sub_groups.size(); ++g) {
      group.spec.sub_groups.push_back(
          {.name = absl::StrCat("s", g),
           .min_member = world_.sub_groups[g].needs,
           .topology = {.required = NameOf(world_.sub_groups[g].required)}});
    }
    cluster_.Add(ObjectUpserted{group});
    for (size_t m = 0; m < world_.members.size(); ++m) {
      const WorldShape& shape = ShapeOf(m);
      MakePod pod(absl::StrCat("m", m));
      pod.Group("gang").Index(static_cast<int64_t>(m)).Gpu(shape.gpus).Cpu(shape.cores * 1000);
      if (shape.port) pod.Port(kPort);
      if (shape.pool >= 0) pod.Selector("pool", absl::StrCat("p", shape.pool));
      if (const int g = world_.members[m].sub_group; g >= 0) pod.SubGroup(absl::StrCat("s", g));
      cluster_.Add(pod);
    }
  }
  std::optional<QuotaAsk> Ask(const GangRequest& request) {
    if (world_.quota.empty()) return std::nullopt;
    QuotaNodeSpec queue;
    std::vector<NodeSet> pools(world_.quota.size(),
                               NodeSet(cluster_.state().Publish()->blocks.size()));
    for (uint32_t f = 0; f < pools.size(); ++f) {
      queue.limits.push_back({.cell = QuotaCellId(f), .nominal = Amount(world_.quota[f])});
    }
    for (size_t n = 0; n < world_.nodes.size(); ++n) {
      const NodeId node = cluster_.state().NodeNamed(absl::StrCat("n", n)).value();
      pools[static_cast<size_t>(world_.nodes[n].pool)][BlockOf(node)].Set(RowOf(node));
    }
    tree_ = QuotaTree({queue}, std::vector<uint32_t>(pools.size(), 0));
    QuotaAsk ask{.tree = &tree_, .queue = QuotaNodeId(0), .options = {}};
    for (const Want& want : request.wants) {
      if (ask.options.contains(want.shape)) continue;
      const int64_t gpus = ShapeOf(NumberOf(cluster_.state().FindPod(want.pod)->name)).gpus;
      for (uint32_t f = 0; f < pools.size(); ++f) {
        QuotaOption option{.nodes = pools[f], .each = {}, .flavor = absl::StrCat("f", f)};
        if (gpus > 0) option.each.push_back({.cell = QuotaCellId(f), .amount = Amount(gpus)});
        ask.options[want.shape].push_back(std::move(option));
      }
    }
    return ask;
  }

  [[nodiscard]] bool InDomains(const std::vector<std::optional<int>>& on) const {
    const int groups = static_cast<int>(world_.sub_groups.size());
    for (int g = -1; g < groups; ++g) {
      const WorldLevel level =
          g < 0 ? world_.required : world_.sub_groups[static_cast<size_t>(g)].required;
      std::set<int> domains;
      for (size_t m = 0; m < on.size(); ++m) {
        if (!on[m].has_value() || (g >= 0 && world_.members[m].sub_group != g)) continue;
        domains.insert(world_.DomainOf(*on[m], level));
      }
      if (domains.size() > 1) return false;
    }
    return true;
  }
  [[nodiscard]] bool IsQuorum(const std::vector<std::optional<int>>& on) const {
    int placed = 0;
    std::vector<int> parts(world_.sub_groups.size(), 0);
    for (size_t m = 0; m < on.size(); ++m) {
      if (!on[m].has_value()) continue;
      ++placed;
      if (world_.members[m].sub_group >= 0) {
        ++parts[static_cast<size_t>(world_.members[m].sub_group)];
      }
    }
    for (size_t g = 0; g < parts.size(); ++g) {
      if (parts[g] < world_.sub_groups[g].needs) return false;
    }
    return placed >= world_.min_member;
  }
  [[nodiscard]] bool WithinQuota(const std::vector<std::optional<int>>& on) const {
    std::vector<int> left = world_.quota;
    std::map<int, int> flavor_of;
    for (size_t m = 0; m < on.size() && !left.empty(); ++m) {
      if (!on[m].has_value()) continue;
      const int pool = world_.nodes[static_cast<size_t>(*on[m])].pool;
      if (flavor_of.try_emplace(world_.members[m].shape, pool).first->second != pool) return false;
      if ((left[static_cast<size_t>(pool)] -= ShapeOf(m).gpus) < 0) return false;
    }
    return true;
  }

  const ShapesWorld& world_;
  TestCluster cluster_;
  QuotaTree tree_;
};

std::string Told(const ShapesWorld& world) {
  std::string text = absl::StrCat(world.kind, ", required ", NameOf(world.required), ", min ",
                                  world.min_member, "\n");
  for (size_t n = 0; n < world.nodes.size(); ++n) {
    const WorldNode& it = world.nodes[n];
    absl::StrAppend(&text, "n", n, " gpus ", it.gpus, " cores ", it.cores,
                    it.port_taken ? " port taken" : "", " rack ", it.rack, " block ", it.block,
                    " pool ", it.pool, "\n");
  }
  for (const WorldMember& member : world.members) {
    const WorldShape& shape = world.shapes[static_cast<size_t>(member.shape)];
    absl::StrAppend(&text, "member gpus ", shape.gpus, " cores ", shape.cores,
                    shape.port ? " port" : "", " pool ", shape.pool, " sub-group ",
                    member.sub_group, "\n");
  }
  for (const ShapesWorld::Part& part : world.sub_groups) {
    absl::StrAppend(&text, "sub-group needs ", part.needs, " required ", NameOf(part.required),
                    "\n");
  }
  for (const int gpus : world.quota) absl::StrAppend(&text, "quota ", gpus, "\n");
  return text;
}

struct Tally {
  int worlds = 0, fit = 0, gave_up = 0, gave_up_wrongly = 0;
};

// "" when the answer is right, or honest.
std::string Compare(const ShapesWorld& world, Tally& tally) {
  WorldCluster cluster(world);
  const Decision decision = cluster.Decide();
  const bool fits = ExactShapes(world).Fits();
  ++tally.worlds;
  tally.fit += fits ? 1 : 0;
  if (const auto* plan = std::get_if<Plan>(&decision)) {
    return fits ? cluster.Wrong(*plan) : "placed what does not fit";
  }
  const auto& no = std::get<Rejection>(decision);
  if (no.code != RejectionCode::kSearchLimitReached) {
    return fits ? absl::StrCat("refused what fits, code ", no.code, " ", no.detail) : "";
  }
  ++tally.gave_up;
  tally.gave_up_wrongly += fits ? 1 : 0;
  return "";
}

TEST(ShapesOracle, FindsTheRareGoodDomainAndNeverCallsProvenWhatFits) {
  const auto worlds = static_cast<uint64_t>(Worlds("MANIPLE_SHAPES_WORLDS", 2'000));
  const auto first = static_cast<uint64_t>(Setting("MANIPLE_SHAPES_FIRST", 1));
  std::map<std::string, Tally> tallies;
  Tally all;
  int wrong = 0;
  for (uint64_t seed = first; seed < first + worlds; ++seed) {
    const ShapesWorld world = ShapesWorldMaker(seed).Make();
    Tally& tally = tallies[world.kind];
    const int gave_up = tally.gave_up;
    const std::string failure = Compare(world, tally);
    if (tally.gave_up > gave_up) std::cout << "world " << seed << " was given up\n";
    if (failure.empty()) continue;
    ADD_FAILURE() << "world " << seed << ": " << failure << "\n" << Told(world);
    if (++wrong == 3) break;
  }
  for (const auto& [kind, tally] : tallies) {
    std::cout << kind << ": " << tally.worlds << " worlds, " << tally.fit << " fit, "
              << tally.gave_up << " given up, " << tally.gave_up_wrongly << " of them wrongly\n";
    // Both answers are common in every kind.
    EXPECT_GT(tally.fit, tally.worlds / 20) << kind;
    EXPECT_LT(tally.fit, tally.worlds - tally.worlds / 20) << kind;
    all.worlds += tally.worlds;
    all.fit += tally.fit;
    all.gave_up += tally.gave_up;
    all.gave_up_wrongly += tally.gave_up_wrongly;
  }
  EXPECT_LT(all.gave_up * 1000, std::max(1000, all.worlds));
  EXPECT_LE(all.gave_up_wrongly * 1000, all.fit);
}

}  // namespace
}  // namespace maniple::cycle_shapes_oracle_test
