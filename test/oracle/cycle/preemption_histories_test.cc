// Fair sharing must come to rest: random histories in which every victim is submitted again at once
// and the room of the victims goes to the preemptor at once. The fear is a cycle of evictions.
//
// A history ends when nobody can start or preempt any more; a state that comes back is a cycle.
// MANIPLE_PREEMPTION_HISTORIES=150000 asks for that many instead of a few.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "queue/tournament.h"
#include "scheduler/cycle/victims/preemption.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple::cycle_preemption_histories_test {
namespace {

constexpr FairStrategy kFinal = FairStrategy::kLessThanOrEqualToFinalShare;
constexpr FairStrategy kInitial = FairStrategy::kLessThanInitialShare;

// What the decision needs beside the quota: one node with room for everything, one waiting pod.
struct Stage {
  Stage() {
    cluster.Add(MakeNode("n").Cpu(1000).Pods(1000));
    cluster.Add(MakePod("in").Cpu(1));
    cluster.Add(MakePod("victim").Cpu(1).On("n"));
    request = cluster.RequestOf("in");
    victim = cluster.GangOf("victim").members.front();
    snapshot = cluster.state().Publish();
  }
  TestCluster cluster;
  GangRequest request;
  Member victim;
  SnapshotPtr snapshot;
};

struct Submitted {
  QuotaNodeId queue;
  int64_t size = 0;
  int32_t priority = 0;
};

// How often a gang may preempt by the initial share.
enum class Token : uint8_t { kOnce, kAlways };

struct Rules {
  std::vector<FairStrategy> strategies;
  Token token = Token::kOnce;
  OwnVictims once_reclaimed = OwnVictims::kWithinNominal;
};

class History {
 public:
  History(const Stage& stage, QuotaTree tree, std::vector<Submitted> gangs, Rules rules)
      : stage_(stage),
        tree_(std::move(tree)),
        gangs_(std::move(gangs)),
        rules_(std::move(rules)),
        runs_(gangs_.size(), false),
        spent_(gangs_.size(), false),
        reclaimed_(gangs_.size(), false) {}

  PreemptionPolicy policy = {.within = WithinQueuePreemption::kLowerPriority,
                             .reclaim = ReclaimWithinCohort::kAny};

  enum class End { kRest, kCycle };
  End Play() {
    for (arrived_ = 1; arrived_ <= gangs_.size(); ++arrived_) {
      if (ComeToRest() == End::kCycle) return End::kCycle;
    }
    return End::kRest;
  }
  int64_t preemptions = 0;
  int64_t by_initial_share = 0;

 private:
  End ComeToRest() {
    std::set<std::tuple<std::vector<bool>, std::vector<bool>, std::vector<bool>>> seen;
    std::vector<bool> failed(gangs_.size(), false);  // since something changed
    while (const std::optional<size_t> gang = Next(failed)) {
      if (!Serve(*gang)) {
        failed[*gang] = true;
        continue;
      }
      if (!seen.emplace(runs_, spent_, reclaimed_).second) return End::kCycle;
      failed.assign(gangs_.size(), false);
    }
    return End::kRest;
  }
  // As gangs are served: the first of each Queue, and of these the winner of the tournament.
  [[nodiscard]] std::optional<size_t> Next(const std::vector<bool>& failed) const {
    std::map<QuotaNodeId, size_t> heads;
    for (size_t i = 0; i < arrived_; ++i) {
      if (runs_[i] || failed[i]) continue;
      const auto [head, is_new] = heads.try_emplace(gangs_[i].queue, i);
      if (gangs_[i].priority > gangs_[head->second].priority) head->second = i;
    }
    Tournament tournament(tree_, FairSharing::kOn);
    for (const auto& [queue, i] : heads) {
      tournament.SetHead(queue, QueueHead{.priority = gangs_[i].priority,
                                          .queued = TimeOf(i),
                                          .namespace_name = "default",
                                          .name = absl::StrCat("g", i),
                                          .demand = DemandOf(i)});
    }
    const std::optional<QuotaNodeId> winner = tournament.Winner();
    if (!winner.has_value()) return std::nullopt;
    return heads.at(*winner);
  }
  bool Serve(size_t gang) {
    const Demand demand = DemandOf(gang);
    if (tree_.Fits(gangs_[gang].queue, demand)) return Start(gang);
    std::vector<size_t> index;
    std::vector<RunningGang> running;
    for (size_t i = 0; i < gangs_.size(); ++i) {
      if (!runs_[i]) continue;
      index.push_back(i);
      running.push_back({.gang = GangId(1000 + static_cast<uint32_t>(i)),
                         .name = absl::StrCat("g", i),
                         .queue = gangs_[i].queue,
                         .priority = gangs_[i].priority,
                         .queued = TimeOf(i),
                         .started = TimeOf(i)});
      running.back().members.push_back({.pod = stage_.victim.pod,
                                        .node = stage_.victim.node,
                                        .shape = stage_.victim.shape,
                                        .charge = DemandOf(i)});
    }
    QuotaAsk ask{.tree = &tree_, .queue = gangs_[gang].queue, .options = {}};
    ask.options[stage_.request.wants.front().shape] = {
        {.nodes = {}, .each = demand, .flavor = "f"}};
    std::vector<FairStrategy> strategies = rules_.strategies;
    if (rules_.token == Token::kOnce && spent_[gang]) std::erase(strategies, kInitial);
    const DecideInput decide{.snapshot = *stage_.snapshot,
                             .request = stage_.request,
                             .now = stage_.cluster.now,
                             .quota = &ask};
    const auto answer = PlanPreemption(
        {.decide = decide,
         .profile = stage_.cluster.profile(),
         .priority = gangs_[gang].priority,
         .queued = TimeOf(gang),
         .policy = policy,
         .strategies = strategies,
         .own_victims = reclaimed_[gang] ? rules_.once_reclaimed : OwnVictims::kAlways,
         .running = running});
    const auto* plan = std::get_if<PreemptionPlan>(&answer);
    if (plan == nullptr) return false;
    for (const Victim& victim : plan->victims) {
      const size_t i = index[victim.running];
      runs_[i] = false;
      if (gangs_[i].queue != gangs_[gang].queue) reclaimed_[i] = true;
      tree_.Remove(gangs_[i].queue, DemandOf(i));
    }
    ++preemptions;
    if (plan->used_initial_share) {
      ++by_initial_share;
      if (rules_.token == Token::kOnce) spent_[gang] = true;
    }
    EXPECT_TRUE(tree_.Fits(gangs_[gang].queue, demand));
    return Start(gang);
  }
  bool Start(size_t gang) {
    runs_[gang] = true;
    tree_.Add(gangs_[gang].queue, DemandOf(gang));
    return true;
  }
  [[nodiscard]] Demand DemandOf(size_t gang) const {
    return {{.cell = QuotaCellId(0), .amount = Amount(gangs_[gang].size)}};
  }
  [[nodiscard]] absl::Time TimeOf(size_t gang) const {
    return stage_.cluster.now - absl::Hours(1) + absl::Seconds(static_cast<int64_t>(gang));
  }

  const Stage& stage_;
  QuotaTree tree_;
  std::vector<Submitted> gangs_;
  Rules rules_;
  std::vector<bool> runs_, spent_;
  std::vector<bool> reclaimed_;  // by another Queue, at some time
  size_t arrived_ = 0;  // the first ones; all that is done about each comes to rest before the next
};

QuotaNodeSpec NodeOf(QuotaNodeId parent, int64_t nominal, int64_t weight_milli) {
  QuotaNodeSpec spec{.parent = parent, .weight_milli = weight_milli};
  spec.limits.push_back({.cell = QuotaCellId(0), .nominal = Amount(nominal)});
  return spec;
}

struct Setting {
  QuotaTree tree;
  std::vector<Submitted> gangs;
  WithinQueuePreemption within = WithinQueuePreemption::kLowerPriority;
};

Setting RandomSetting(Random& random) {
  const bool equal_weights = random.OneIn(3), equal_priorities = random.OneIn(3);
  std::vector<QuotaNodeSpec> specs{NodeOf(QuotaNodeId(), 0, 1000)};
  const uint64_t cohorts = random.OneIn(2) ? 0 : 1 + random.Below(2);
  const auto weight = [&]() -> int64_t {
    constexpr int64_t kWeights[] = {500, 1000, 1000, 2000, 3000, 0};
    return equal_weights ? 1000 : kWeights[random.Below(random.OneIn(6) ? 6 : 5)];
  };
  for (uint64_t c = 0; c < cohorts; ++c) {
    specs.push_back(NodeOf(QuotaNodeId(0), static_cast<int64_t>(random.Below(3)), weight()));
  }
  Setting setting;
  std::vector<QuotaNodeId> queues;
  const uint64_t count = 2 + random.Below(3);
  for (uint64_t q = 0; q < count; ++q) {
    queues.push_back(QuotaNodeId(static_cast<uint32_t>(specs.size())));
    const QuotaNodeId parent(static_cast<uint32_t>(random.Below(cohorts + 1)));
    specs.push_back(NodeOf(parent, static_cast<int64_t>(random.Below(5)), weight()));
    if (random.OneIn(6)) specs.back().limits[0].lending = Amount(1);
    if (random.OneIn(6)) specs.back().limits[0].borrowing = Amount(2);
  }
  setting.tree = QuotaTree(specs, {0});
  const uint64_t gangs = 3 + random.Below(7);
  for (uint64_t g = 0; g < gangs; ++g) {
    setting.gangs.push_back(
        {.queue = queues[random.Below(count)],
         .size = 1 + static_cast<int64_t>(random.Below(5)),
         .priority = equal_priorities ? 0 : static_cast<int32_t>(random.Below(3))});
  }
  if (random.OneIn(4)) setting.within = WithinQueuePreemption::kLowerOrNewerEqualPriority;
  return setting;
}

uint64_t Histories() { return static_cast<uint64_t>(Worlds("MANIPLE_PREEMPTION_HISTORIES", 3000)); }

struct Tally {
  uint64_t cycles = 0;
  int64_t preemptions = 0, by_initial_share = 0;
};

Tally PlayMany(const Rules& rules, uint64_t first_seed) {
  const Stage stage;
  Tally tally;
  for (uint64_t seed = first_seed; seed < first_seed + Histories(); ++seed) {
    Random random(seed);
    Setting setting = RandomSetting(random);
    History history(stage, std::move(setting.tree), std::move(setting.gangs), rules);
    history.policy.within = setting.within;
    if (history.Play() == History::End::kCycle) {
      ++tally.cycles;
      if (tally.cycles < 4) GTEST_LOG_(INFO) << "a cycle with seed " << seed;
    }
    tally.preemptions += history.preemptions;
    tally.by_initial_share += history.by_initial_share;
  }
  GTEST_LOG_(INFO) << Histories() << " histories, " << tally.preemptions << " preemptions, "
                   << tally.by_initial_share << " by initial share, " << tally.cycles << " cycles";
  return tally;
}

TEST(PreemptionHistories, TheFinalShareAloneAlwaysComesToRest) {
  const Tally tally = PlayMany({.strategies = {kFinal}}, 0);
  EXPECT_EQ(tally.cycles, 0u);
  EXPECT_GT(tally.preemptions, static_cast<int64_t>(Histories()) / 2);
}

TEST(PreemptionHistories, TheInitialShareOncePerGangComesToRest) {
  const Tally tally = PlayMany({.strategies = {kFinal, kInitial}}, 0);
  EXPECT_EQ(tally.cycles, 0u);
  EXPECT_GT(tally.by_initial_share, static_cast<int64_t>(Histories()) / 100);
}

TEST(PreemptionHistories, TheInitialShareAloneOncePerGangComesToRest) {
  EXPECT_EQ(PlayMany({.strategies = {kInitial}}, 0).cycles, 0u);
}

// Queues of 3, 2 and 2: the first submits 3, 3 and 1, the second 4.
TEST(PreemptionHistories, FourGangsWouldTakeTurnsForEverIfTheInitialShareWereNotUsedUp) {
  const Stage stage;
  const QuotaNodeId root(0), q0(1), q1(2);
  const QuotaTree tree({NodeOf(QuotaNodeId(), 0, 1000), NodeOf(root, 3, 1000),
                        NodeOf(root, 2, 1000), NodeOf(root, 2, 1000)},
                       {0});
  const std::vector<Submitted> gangs = {{q0, 3}, {q0, 3}, {q0, 1}, {q1, 4}};
  const std::vector<FairStrategy> both = {kFinal, kInitial};
  History always(stage, tree, gangs, {.strategies = both, .token = Token::kAlways});
  EXPECT_EQ(always.Play(), History::End::kCycle);
  History once(stage, tree, gangs, {.strategies = both, .token = Token::kOnce});
  EXPECT_EQ(once.Play(), History::End::kRest);
  EXPECT_GT(once.by_initial_share, 0);
  History final_only(stage, tree, gangs, {.strategies = {kFinal}});
  EXPECT_EQ(final_only.Play(), History::End::kRest);
}

// Each Queue has 1. What borrows is reclaimed by the other's small gang, over which that one's own
// large gang then borrows. (The gang of 4 can never start: it keeps the small one from being
// first.)
TEST(PreemptionHistories, TwoQueuesWouldReclaimForEverWhatTheOtherBorrowsOverItsOwn) {
  const Stage stage;
  const QuotaNodeId root(0), q1(1), q2(2);
  const QuotaTree tree(
      {NodeOf(QuotaNodeId(), 0, 1000), NodeOf(root, 1, 1000), NodeOf(root, 1, 1000)}, {0});
  const std::vector<Submitted> gangs = {{q1, 2, 2}, {q2, 2, 2}, {q2, 3, 2},
                                        {q1, 1, 1}, {q1, 3, 2}, {q2, 1, 0}};
  History always(stage, tree, gangs,
                 {.strategies = {kFinal}, .once_reclaimed = OwnVictims::kAlways});
  EXPECT_EQ(always.Play(), History::End::kCycle);
  History once(stage, tree, gangs, {.strategies = {kFinal}});
  EXPECT_EQ(once.Play(), History::End::kRest);
  EXPECT_GT(once.preemptions, 0);
}

}  // namespace
}  // namespace maniple::cycle_preemption_histories_test
