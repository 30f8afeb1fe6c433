// Preemption for gangs with domains, slices and sub-groups, against a naive search over every
// placement: the fears are plans that break a domain once the victims are gone, gangs evicted for
// nothing or dearer than need be, and refusals where evicting would help.
//
// The naive side takes victims away and looks at labels and room alone. For more cases:
// MANIPLE_PREEMPTION_TOPOLOGY_CASES, from MANIPLE_PREEMPTION_TOPOLOGY_FIRST on.
#include "scheduler/cycle/victims/preemption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "test/oracle/cycle/naive_placements.h"
#include "test/oracle/cycle/topology_case.h"
#include "test/oracle/cycle/topology_case_maker.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple::cycle_preemption_topology_test {
namespace {

constexpr int32_t kOurPriority = 10;
constexpr TopologyCaseLimits kLimits{.levels = 2, .nodes = 6, .gpus = 6, .members = 5};

// Of victims, up to which all are tried.
constexpr int64_t kMostChoices = 64;

struct DrawnPod {
  int node = 0, gpus = 1;
};
// A gang that runs and can do without any `surplus` of its pods.
struct DrawnGang {
  int32_t priority = 0;
  bool queued = false, protected_still = false;
  bool in_budget = false;  // its first pod is, and the budget is spent
  std::vector<DrawnPod> pods;
  int surplus = 0;
};

// Which pods of each running gang are gone, as bits.
using Gone = std::vector<uint32_t>;

uint32_t Everything(const DrawnGang& gang) { return (uint32_t{1} << gang.pods.size()) - 1; }
bool MayGo(const DrawnGang& gang, uint32_t pods) {
  if (pods == 0) return true;
  if (gang.queued || gang.protected_still || gang.priority >= kOurPriority) return false;
  if (gang.in_budget && (pods & 1) != 0) return false;
  return pods == Everything(gang) || std::popcount(pods) <= gang.surplus;
}
// All that may go of it, nothing first.
std::vector<uint32_t> WaysToGo(const DrawnGang& gang) {
  std::vector<uint32_t> ways;
  for (uint32_t pods = 0; pods <= Everything(gang); ++pods) {
    if (MayGo(gang, pods)) ways.push_back(pods);
  }
  return ways;
}

// Gangs that run in what room the case leaves.
class GangMaker final {
 public:
  explicit GangMaker(uint64_t seed) : random_(seed * 2 + 1) {}

  std::vector<DrawnGang> Make(const TopologyCase& c) {
    std::vector<int> free;
    for (size_t n = 0; n < c.gpus.size(); ++n) free.push_back(c.gpus[n] - c.used[n]);
    std::vector<DrawnGang> gangs;
    const bool small = random_.OneIn(3);
    const int tries = small ? 12 + Below(30) : 1 + Below(random_.OneIn(3) ? 24 : 8);
    for (int t = 0; t < tries; ++t) {
      DrawnGang gang = DrawGang(free, small);
      if (!gang.pods.empty()) gangs.push_back(std::move(gang));
    }
    return gangs;
  }

 private:
  int Below(int limit) { return static_cast<int>(random_.Below(static_cast<uint64_t>(limit))); }

  DrawnGang DrawGang(std::vector<int>& free, bool small) {
    DrawnGang gang{.priority = kOurPriority - 1 - Below(3)};
    if (random_.OneIn(6)) gang.priority = kOurPriority + Below(2);
    gang.queued = random_.OneIn(12);
    gang.protected_still = random_.OneIn(12);
    gang.in_budget = random_.OneIn(12);
    const int gpus = small ? 1 : 1 + Below(3);
    const int pods = small ? 1 : 1 + Below(3);
    for (int p = 0; p < pods; ++p) {
      const int node = Below(static_cast<int>(free.size()));
      int& room = free[static_cast<size_t>(node)];
      if (room < gpus) continue;
      room -= gpus;
      gang.pods.push_back({.node = node, .gpus = gpus});
    }
    if (gang.pods.size() > 1 && random_.OneIn(3)) {
      gang.surplus = 1 + Below(static_cast<int>(gang.pods.size()) - 1);
    }
    return gang;
  }

  Random random_;
};

struct Tally {
  uint64_t cases = 0, plans = 0, refusals = 0, gave_up = 0;
  // Without domains and slices fewer would be evicted, or evicting would help.
  uint64_t plans_for_topology = 0, refusals_for_topology = 0;
  uint64_t cheapest = 0;  // plans that were compared with every choice of victims
};

class Trial final {
 public:
  Trial(uint64_t seed, Tally& tally)
      : case_(TopologyCaseMaker(seed, kLimits).Make()),
        gangs_(GangMaker(seed).Make(case_)),
        tally_(tally) {
    Build(case_, cluster_);
    for (size_t g = 0; g < gangs_.size(); ++g) Run(g);
  }

  // "" when all is well.
  std::string Compare() {
    const GangRequest request = cluster_.RequestOf("gang");
    const Gone none(gangs_.size(), 0);
    if (request.wants.empty() || request.need.Met() || Fits(none)) return "";
    ++tally_.cases;
    Gone all;
    // Of surplus all at once is more than may go, and a bound for what helps.
    for (const DrawnGang& gang : gangs_) {
      uint32_t most = 0;
      for (const uint32_t pods : WaysToGo(gang)) most |= pods;
      all.push_back(most);
    }
    const auto answer = Ask(request);
    if (const auto* no = std::get_if<NoPreemption>(&answer)) {
      if (Fits(all) && AnyHelps()) return Missed(no->message);
      ++tally_.refusals;
      tally_.refusals_for_topology += FitsAnywhere(all) ? 1 : 0;
      return "";
    }
    ++tally_.plans;
    return WrongWith(std::get<PreemptionPlan>(answer));
  }

  std::string Told() {
    std::string text = maniple::Told(case_);
    for (const DrawnGang& gang : gangs_) {
      absl::StrAppend(&text, "runs at ", gang.priority, " surplus ", gang.surplus, " may go ",
                      absl::StrJoin(WaysToGo(gang), ","), ":");
      for (const DrawnPod& pod : gang.pods) absl::StrAppend(&text, " ", pod.gpus, "@n", pod.node);
      absl::StrAppend(&text, "\n");
    }
    const auto answer = Ask(cluster_.RequestOf("gang"));
    if (const auto* no = std::get_if<NoPreemption>(&answer)) return text + no->message;
    const auto& plan = std::get<PreemptionPlan>(answer);
    absl::StrAppend(&text, absl::StrJoin(cluster_.PlacesOf(plan.plan), " "), " without");
    for (const Victim& victim : plan.victims) {
      for (const PodId pod : victim.pods) absl::StrAppend(&text, " ", NameOf(pod));
    }
    return text;
  }

 private:
  std::string NameOf(PodId pod) { return cluster_.state().FindPod(pod)->name; }

  void Run(size_t g) {
    const DrawnGang& drawn = gangs_[g];
    const std::string name = absl::StrCat("g", g);
    RunningGang gang{.name = name, .priority = drawn.priority};
    gang.queued = gang.started = cluster_.now - absl::Hours(1);
    if (drawn.queued) gang.queue = QuotaNodeId(0);
    if (drawn.protected_still) gang.protected_until = cluster_.now + absl::Seconds(1);
    for (size_t p = 0; p < drawn.pods.size(); ++p) {
      cluster_.Add(MakePod(absl::StrCat(name, "-", p))
                       .Group(name)
                       .Gpu(drawn.pods[p].gpus)
                       .Index(static_cast<int64_t>(p))
                       .On(absl::StrCat("n", drawn.pods[p].node)));
      const Member& member = cluster_.GangOf(name).members.back();
      VictimPod pod{.pod = member.pod, .node = member.node, .shape = member.shape};
      if (drawn.in_budget && p == 0) pod.budgets = {0};
      gang.members.push_back(pod);
    }
    gang.surplus.members = drawn.surplus;
    gang.gang = cluster_.GangOf(name).id;
    running_.push_back(std::move(gang));
  }

  std::variant<PreemptionPlan, NoPreemption> Ask(const GangRequest& request) {
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const DecideInput decide{.snapshot = *snapshot, .request = request, .now = cluster_.now};
    const std::vector<int32_t> allowed = {0};
    return PlanPreemption({.decide = decide,
                           .profile = cluster_.profile(),
                           .priority = kOurPriority,
                           .queued = cluster_.now,
                           .policy = {},
                           .strategies = {},
                           .running = running_,
                           .allowed = allowed});
  }

  // The case as it is when that much of the running gangs is gone.
  [[nodiscard]] TopologyCase Without(const Gone& gone) const {
    TopologyCase c = case_;
    for (size_t g = 0; g < gangs_.size(); ++g) {
      const std::vector<DrawnPod>& pods = gangs_[g].pods;
      for (size_t p = 0; p < pods.size(); ++p) {
        if (((gone[g] >> p) & 1) != 0) continue;
        c.used[static_cast<size_t>(pods[p].node)] += pods[p].gpus;
      }
    }
    return c;
  }
  [[nodiscard]] bool Fits(const Gone& gone) const {
    const TopologyCase c = Without(gone);
    return NaivePlacements(c).Any();
  }
  // … if there were no domains.
  [[nodiscard]] bool FitsAnywhere(const Gone& gone) const {
    TopologyCase c = Without(gone);
    c.topology = {};
    for (TopologyRequest& topology : c.sub_group_topologies) topology = {};
    return NaivePlacements(c).Any();
  }

  // A refusal where evicting would help.
  std::string Missed(const std::string& message) {
    if (!absl::StrContains(message, "was found")) return absl::StrCat("refused: ", message);
    ++tally_.gave_up;
    return "";
  }

  // Calls visit() with each choice of victims that is legal, until it says that it has seen enough.
  // False: there are too many, and it was not called.
  template <typename Visit>
  bool ForEachChoice(Visit&& visit) const {
    std::vector<std::vector<uint32_t>> ways;
    int64_t choices = 1;
    for (const DrawnGang& gang : gangs_) {
      ways.push_back(WaysToGo(gang));
      choices *= static_cast<int64_t>(ways.back().size());
      if (choices > kMostChoices) return false;
    }
    Gone gone(gangs_.size(), 0);
    for (int64_t choice = 0; choice < choices; ++choice) {
      int64_t rest = choice;
      for (size_t g = 0; g < gangs_.size(); ++g) {
        const auto count = static_cast<int64_t>(ways[g].size());
        gone[g] = ways[g][static_cast<size_t>(rest % count)];
        rest /= count;
      }
      if (visit(gone) == NaivePlacements::Walk::kStop) break;
    }
    return true;
  }
  // Some legal choice of victims makes room; true as well where there are too many to try.
  [[nodiscard]] bool AnyHelps() const {
    bool helps = false;
    const bool tried = ForEachChoice([&](const Gone& gone) {
      helps = helps || Fits(gone);
      return helps ? NaivePlacements::Walk::kStop : NaivePlacements::Walk::kOn;
    });
    return helps || (!tried && std::ranges::none_of(gangs_, [](const DrawnGang& gang) {
             return gang.surplus > 0 && gang.in_budget;
           }));
  }

  // None: somebody goes who may not, or in part.
  std::optional<Gone> GoneBy(const PreemptionPlan& plan) {
    Gone gone(gangs_.size(), 0);
    for (const Victim& victim : plan.victims) {
      const DrawnGang& gang = gangs_[victim.running];
      uint32_t& pods = gone[victim.running];
      for (const PodId pod : victim.pods) {
        for (size_t p = 0; p < gang.pods.size(); ++p) {
          if (NameOf(pod) == absl::StrCat("g", victim.running, "-", p)) pods |= uint32_t{1} << p;
        }
      }
      const bool all_named = std::popcount(pods) == static_cast<int>(victim.pods.size());
      if (!all_named || pods == 0 || !MayGo(gang, pods)) return std::nullopt;
    }
    return gone;
  }

  std::string WrongWith(const PreemptionPlan& plan) {
    std::optional<Gone> gone = GoneBy(plan);
    if (!gone.has_value()) return "a victim that may not be one";
    const TopologyCase without = Without(*gone);
    if (std::string wrong = NaivePlacements(without).Take(plan.plan, cluster_); !wrong.empty()) {
      return wrong;
    }
    if (std::string wrong = Needless(*gone); !wrong.empty()) return wrong;
    return Cheaper(*gone);
  }

  // A victim that could have been spared.
  std::string Needless(Gone gone) {
    bool for_topology = false;
    for (size_t g = 0; g < gangs_.size(); ++g) {
      const uint32_t ours = gone[g];
      for (const uint32_t fewer : WaysToGo(gangs_[g])) {
        if (fewer == ours || (fewer & ours) != fewer) continue;
        gone[g] = fewer;
        if (Fits(gone)) return absl::StrCat("g", g, " goes for nothing: ", fewer, " is enough");
        for_topology = for_topology || FitsAnywhere(gone);
      }
      gone[g] = ours;
    }
    tally_.plans_for_topology += for_topology ? 1 : 0;
    return "";
  }

  using Cost = std::tuple<std::optional<int32_t>, int, std::optional<int32_t>, int>;
  [[nodiscard]] Cost CostOf(const Gone& gone) const {
    auto [highest, gangs, highest_of_surplus, pods] = Cost();
    for (size_t g = 0; g < gangs_.size(); ++g) {
      if (gone[g] == 0) continue;
      const bool whole = std::popcount(gone[g]) > gangs_[g].surplus;
      if (whole) ++gangs;
      std::optional<int32_t>& top = whole ? highest : highest_of_surplus;
      top = std::max(top, std::optional(gangs_[g].priority));
      pods += std::popcount(gone[g]);
    }
    return {highest, gangs, highest_of_surplus, pods};
  }

  // Where there are few candidates: a cheaper choice that was overlooked.
  std::string Cheaper(const Gone& ours) {
    std::string cheaper;
    const Cost cost = CostOf(ours);
    const bool tried = ForEachChoice([&](const Gone& other) {
      if (CostOf(other) >= cost || !Fits(other)) return NaivePlacements::Walk::kOn;
      cheaper = absl::StrCat("cheaper: ", absl::StrJoin(other, ","));
      return NaivePlacements::Walk::kStop;
    });
    tally_.cheapest += tried ? 1 : 0;
    return cheaper;
  }

  const TopologyCase case_;
  const std::vector<DrawnGang> gangs_;
  Tally& tally_;
  TestCluster cluster_;
  std::vector<RunningGang> running_;
};

TEST(PreemptionTopology, EvictsWhereATryOfEveryPlacementSaysSoAndNobodyForNothing) {
  const auto cases = static_cast<uint64_t>(Worlds("MANIPLE_PREEMPTION_TOPOLOGY_CASES", 1'500));
  const auto first = static_cast<uint64_t>(Setting("MANIPLE_PREEMPTION_TOPOLOGY_FIRST", 1));
  Tally tally;
  int wrong = 0;
  for (uint64_t seed = first; seed < first + cases && wrong < 5; ++seed) {
    Trial trial(seed, tally);
    const std::string failure = trial.Compare();
    if (failure.empty()) continue;
    ADD_FAILURE() << "case " << seed << ": " << failure << "\n" << trial.Told();
    ++wrong;
  }
  std::cout << tally.cases << " cases, " << tally.plans << " plans, " << tally.plans_for_topology
            << " with victims for topology alone, " << tally.cheapest << " the cheapest of all, "
            << tally.refusals << " refusals, " << tally.refusals_for_topology
            << " for topology alone, " << tally.gave_up << " given up\n";
  // Both answers are common, and so is topology as their reason.
  EXPECT_GE(tally.plans_for_topology, cases / 100);
  EXPECT_GE(tally.refusals_for_topology, cases / 100);
  EXPECT_LE(tally.gave_up * 100, tally.plans);
  EXPECT_GT(tally.cheapest, tally.plans / 4);
}

}  // namespace
}  // namespace maniple::cycle_preemption_topology_test
