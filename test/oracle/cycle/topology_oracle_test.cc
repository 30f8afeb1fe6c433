// Decide against a naive search over every placement on small random clusters with up to three
// levels and NVLink domains that do not nest in them: the fear is that counting, packing and cut
// searches refuse what would fit, accept what breaks a constraint, or choose what costs more.
//
// The naive side looks at labels and room alone and tries everything. For more cases:
// MANIPLE_TOPOLOGY_CASES, from MANIPLE_TOPOLOGY_FIRST on.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/cycle/room/bound_shape.h"
#include "test/oracle/cycle/naive_placements.h"
#include "test/oracle/cycle/topology_case.h"
#include "test/oracle/cycle/topology_case_maker.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple::cycle_topology_oracle_test {
namespace {

constexpr int64_t kMany = 1'000'000;

// What a placement costs (semantics of "as narrow as possible", then the fewest domains, then the
// least room left over, then scores), written down as it is said.
class Cost final {
 public:
  Cost(const TopologyCase& c, const std::map<int, int64_t>& scores) : case_(c), scores_(scores) {
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

  std::vector<int64_t> Of(const NaivePlacements& naive) const {
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
  [[nodiscard]] std::string DomainOf(const NaivePlacements& naive, int node, int level) const {
    std::string path;
    for (const std::string& word : levels_[static_cast<size_t>(level)]) {
      const std::string part = naive.DomainOf(node, word);
      if (part.empty()) return "";
      absl::StrAppend(&path, part, "|");
    }
    return path;
  }
  // Empty: somebody is in no domain of the level.
  [[nodiscard]] std::set<std::string> Domains(const NaivePlacements& naive,
                                              const std::vector<int>& used, int level) const {
    std::set<std::string> domains;
    for (const int node : used) {
      const std::string domain = DomainOf(naive, node, level);
      if (domain.empty()) return {};
      domains.insert(domain);
    }
    return domains;
  }
  [[nodiscard]] std::vector<int> Nodes(const NaivePlacements& naive, const std::vector<int>& region,
                                       int level, const std::set<std::string>& domains) const {
    std::vector<int> nodes;
    for (const int node : region) {
      if (domains.count(DomainOf(naive, node, level)) > 0) nodes.push_back(node);
    }
    return nodes;
  }
  [[nodiscard]] int64_t Room(const NaivePlacements& naive, const std::vector<int>& region) const {
    int64_t room = 0;
    for (const int node : region) room += naive.RoomOn(node);
    return room;
  }

  const TopologyCase& case_;
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
  Trial(const TopologyCase& c, Tally& tally) : case_(c), tally_(tally) { Build(c, cluster_); }

  // "" when all is well.
  std::string Run() {
    const GangRequest request = cluster_.RequestOf("gang");
    if (request.wants.empty() || request.need.Met()) return "";
    ++tally_.cases;
    const bool mixed = IsMixed(case_);
    tally_.mixed += mixed ? 1 : 0;
    const Decision decision = cluster_.Decide(request);
    bool feasible = false;
    NaivePlacements naive(case_);
    const bool all_wanted = static_cast<size_t>(request.need.total) == request.wants.size() &&
                            case_.sub_group_topologies.empty();
    std::optional<std::vector<int64_t>> best;
    const std::map<int, int64_t> scores = Scores(request);
    const Cost cost(case_, scores);
    naive.ForEachPlacement([&] {
      feasible = true;
      if (!all_wanted) return NaivePlacements::Walk::kStop;
      std::vector<int64_t> it = cost.Of(naive);
      if (!best.has_value() || it < *best) best = std::move(it);
      return NaivePlacements::Walk::kOn;
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
    NaivePlacements ours(case_);
    const auto& plan = std::get<Plan>(decision);
    if (std::string wrong = ours.Take(plan, cluster_); !wrong.empty()) return wrong;
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
    return absl::StrCat(maniple::Told(case_),
                        absl::StrJoin(cluster_.PlacesOf(cluster_.Decide("gang")), " "));
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

  const TopologyCase& case_;
  Tally& tally_;
  TestCluster cluster_;
};

TEST(TopologyOracle, DecidesAsASearchOverAllPlacements) {
  const auto cases = static_cast<uint64_t>(Worlds("MANIPLE_TOPOLOGY_CASES", 3'000));
  const auto first = static_cast<uint64_t>(Setting("MANIPLE_TOPOLOGY_FIRST", 1));
  Tally tally;
  int wrong = 0;
  for (uint64_t seed = first; seed < first + cases; ++seed) {
    const TopologyCase c = TopologyCaseMaker(seed).Make();
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
  EXPECT_GT(tally.costed, tally.cases / 10);
  EXPECT_GT(tally.mixed, tally.cases / 40);
  EXPECT_LT(tally.gave_up * 1000, std::max<uint64_t>(1000, tally.cases));
}

}  // namespace
}  // namespace maniple::cycle_topology_oracle_test
