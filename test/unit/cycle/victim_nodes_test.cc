// The node to free next. Fears: a dear node is freed before a cheap one; gangs that have left
// already are counted still; members are said to be enough though their gang has more there; a node
// that was refused, gains nothing or lies elsewhere comes up.
#include "scheduler/cycle/victims/victim_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_victim_nodes_test {
namespace {

constexpr uint32_t kNodes = 4;  // two in each of two racks
// In one walk.
constexpr int kMostFreed = 4;

// The same choice, worked out anew each time from what is taken.
class NaiveNodes final {
 public:
  NaiveNodes(const VictimTrial& trial, std::vector<int64_t> gain)
      : trial_(trial), gain_(std::move(gain)) {}

  void Refuse(uint32_t node) { gain_[node] = 0; }
  [[nodiscard]] std::optional<uint32_t> Next() const {
    std::optional<std::tuple<int32_t, int64_t, uint32_t>> best;
    for (uint32_t node = 0; node < kNodes; ++node) {
      const int64_t left = std::ssize(Left(node));
      if (gain_[node] <= 0 || left == 0) continue;
      const auto key = std::tuple(PriorityWith(node), left * 1024 / gain_[node], node);
      if (!best.has_value() || key < *best) best = key;
    }
    if (!best.has_value()) return std::nullopt;
    return std::get<uint32_t>(*best);
  }
  // The gangs that stand there still.
  [[nodiscard]] std::vector<size_t> Left(uint32_t node) const {
    std::vector<size_t> left;
    for (size_t i = 0; i < trial_.units().size(); ++i) {
      const VictimUnit& unit = trial_.units()[i];
      if (!StandsOn(unit, node) || IsGone(i, node)) continue;
      if (left.empty() || left.back() != unit.running) left.push_back(unit.running);
    }
    return left;
  }

 private:
  static bool StandsOn(const VictimUnit& unit, uint32_t node) {
    return std::ranges::any_of(unit.room,
                               [node](const FreedRoom& pod) { return pod.node == NodeId(node); });
  }
  // The gang of the unit has no pod left on the node.
  [[nodiscard]] bool IsGone(size_t unit, uint32_t node) const {
    const size_t running = trial_.units()[unit].running;
    int64_t pods =
        std::ranges::count(trial_.input().running[running].members, NodeId(node), &VictimPod::node);
    for (const size_t taken : trial_.taken()) {
      const VictimUnit& it = trial_.units()[taken];
      if (it.running == running)
        pods -= std::ranges::count(it.room, NodeId(node), &FreedRoom::node);
    }
    return pods == 0;
  }
  // The highest priority among what is taken and what stands, or stood, on the node.
  [[nodiscard]] int32_t PriorityWith(uint32_t node) const {
    int32_t highest = 0;
    for (size_t i = 0; i < trial_.units().size(); ++i) {
      const VictimUnit& unit = trial_.units()[i];
      if (!trial_.IsTaken(i) && !StandsOn(unit, node)) continue;
      highest = std::max(highest, trial_.input().running[unit.running].priority);
    }
    return highest;
  }

  const VictimTrial& trial_;
  std::vector<int64_t> gain_;
};

// Gangs without a Queue, drawn anew by each Start; pods of one shape make up all of them.
class VictimNodesTest : public ::testing::Test {
 protected:
  VictimNodesTest() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "rack", .node_label = "rack"}};
    cluster_.Add(ObjectUpserted{topology});
    for (uint32_t node = 0; node < kNodes; ++node) {
      const std::string name = absl::StrCat("n", node);
      cluster_.Add(MakeNode(name).Label("rack", node < 2 ? "r1" : "r2"));
      for (int pod = 0; pod < 10; ++pod) {
        cluster_.Add(MakePod(absl::StrCat(name, "-", pod)).Cpu(1).On(name));
      }
    }
    cluster_.Add(MakePodGroup("in").MinMember(1).Required("rack"));
    cluster_.Add(MakePod("in-0").Group("in").Cpu(1));
    request_ = cluster_.RequestOf("in");
    kinds_ = KindsOf(request_);
    snapshot_ = *cluster_.state().Publish();
  }
  void Start(std::vector<RunningGang> running) {
    running_ = std::move(running);
    input_.running = running_;
    units_.clear();
    for (size_t i = 0; i < running_.size(); ++i) {
      AppendUnits(input_, i, VictimClaim::kNoQueue, units_);
    }
    all_.resize(units_.size());
    std::iota(all_.begin(), all_.end(), size_t{0});
    rules_.emplace(input_, no_quota_);
    room_.emplace(decide_, cluster_.profile(), kinds_, std::vector<const QuotaOption*>());
    trial_.emplace(input_, *rules_, *room_, units_, nullptr);
  }
  void Put(RunningGang& gang, uint32_t node) const {
    gang.members.push_back({.node = NodeId(node), .shape = request_.wants[0].shape});
  }
  std::vector<RunningGang> Draw(Random& random) const {
    std::vector<RunningGang> running(1 + random.Below(5));
    for (RunningGang& gang : running) {
      gang.priority = static_cast<int32_t>(random.Below(3));
      for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
        Put(gang, static_cast<uint32_t>(random.Below(kNodes)));
        if (random.OneIn(3)) gang.members.back().sub_group = 0;  // it spares none
      }
      const bool spares = random.OneIn(2);
      gang.surplus = {.members = spares ? 4 : 0, .sub_groups = {0}};
    }
    return running;
  }
  // Frees one node, and refuses others, as `random` has it.
  void Walk(VictimNodes& nodes, NaiveNodes& naive, Random& random) {
    int freed = 0;
    while (freed <= kMostFreed) {
      const std::optional<uint32_t> best = naive.Next();
      const std::vector<VictimNodes::Occupant> occupants = nodes.Next();
      std::vector<size_t> gangs;
      for (const VictimNodes::Occupant& occupant : occupants) gangs.push_back(occupant.running);
      ASSERT_EQ(gangs, best.has_value() ? naive.Left(*best) : std::vector<size_t>());
      if (!best.has_value()) return;
      if (random.OneIn(4)) {
        nodes.Refuse();
        naive.Refuse(*best);
        continue;
      }
      for (const VictimNodes::Occupant& occupant : occupants) Take(occupant);
      ASSERT_TRUE(naive.Left(*best).empty());
      nodes.NoteFreed();
      ++freed;
    }
  }
  // Its members on the node if that is enough, else the whole gang in place of its members.
  void Take(const VictimNodes::Occupant& occupant) {
    for (const size_t member : occupant.members) trial_->Take(member);
    if (!occupant.members.empty()) return;
    const std::vector<size_t> taken(trial_->taken().rbegin(), trial_->taken().rend());
    for (const size_t unit : taken) {
      if (units_[unit].running == occupant.running) trial_->GiveBack(unit);
    }
    trial_->Take(*occupant.whole);
  }

  TestCluster cluster_;
  std::vector<RunningGang> running_;
  std::vector<VictimUnit> units_;
  std::vector<size_t> all_;
  std::optional<VictimTrial> trial_;

 private:
  Snapshot snapshot_;
  GangRequest request_;
  RequestKinds kinds_;
  const DecideInput decide_{.snapshot = snapshot_, .request = request_, .now = cluster_.now};
  PreemptionInput input_{.decide = decide_, .profile = cluster_.profile()};
  const QuotaContest no_quota_;
  std::optional<VictimRules> rules_;
  std::optional<FreedRoomCount> room_;
};

TEST_F(VictimNodesTest, TheBestNodeIsTheOneThatATryOfAllFinds) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Start(Draw(random));
    std::vector<int64_t> gain(kNodes);
    for (int64_t& members : gain) members = static_cast<int64_t>(random.Below(4));
    std::optional<uint32_t> rack;
    if (random.OneIn(2)) rack = random.Below(2);
    VictimNodes nodes(*trial_, all_, gain, rack);
    NaiveNodes naive(*trial_, gain);
    for (uint32_t node = 0; node < kNodes; ++node) {
      if (rack.has_value() && node / 2 != *rack) naive.Refuse(node);
    }
    Walk(nodes, naive, random);
    if (HasFatalFailure()) return;
  }
}

TEST_F(VictimNodesTest, AFreedNodeDoesNotComeUpAgain) {
  std::vector<RunningGang> running(3);
  for (const uint32_t node : {0, 1}) Put(running[0], node);
  Put(running[1], 1);
  Put(running[2], 2);
  Start(running);
  const std::vector<int64_t> gain(kNodes, 1);
  VictimNodes nodes(*trial_, all_, gain, std::nullopt);
  for (const size_t gang : {0, 1, 2}) {
    const std::vector<VictimNodes::Occupant> occupants = nodes.Next();
    ASSERT_EQ(occupants.size(), 1u) << gang;
    EXPECT_EQ(occupants[0].running, gang);
    Take(occupants[0]);
    nodes.NoteFreed();
  }
  EXPECT_TRUE(nodes.Next().empty());
}

TEST_F(VictimNodesTest, AReplicaThatIsTakenHasLeftItsOtherNode) {
  std::vector<RunningGang> running(1);
  for (const uint32_t node : {0, 1, 2}) Put(running[0], node);
  running[0].members[1].unit = running[0].members[0].unit = 0;
  running[0].surplus.members = 2;
  Start(running);
  std::vector<int64_t> gain(kNodes, 1);
  gain[2] = 0;
  VictimNodes nodes(*trial_, all_, gain, std::nullopt);
  const std::vector<VictimNodes::Occupant> occupants = nodes.Next();
  ASSERT_EQ(occupants.size(), 1u);
  ASSERT_EQ(occupants[0].members.size(), 1u);
  Take(occupants[0]);
  nodes.NoteFreed();
  EXPECT_TRUE(nodes.Next().empty());
}

TEST_F(VictimNodesTest, MembersAreNotEnoughWhereAnotherMayNotGo) {
  std::vector<RunningGang> running(1);
  for (const uint32_t node : {0, 0}) Put(running[0], node);
  running[0].members[0].budgets = {0, 1};
  running[0].surplus.members = 1;
  Start(running);
  const std::vector<int64_t> gain(kNodes, 1);
  VictimNodes nodes(*trial_, all_, gain, std::nullopt);
  const std::vector<VictimNodes::Occupant> occupants = nodes.Next();
  ASSERT_EQ(occupants.size(), 1u);
  EXPECT_FALSE(occupants[0].whole.has_value());
  EXPECT_TRUE(occupants[0].members.empty());
}

}  // namespace
}  // namespace maniple::cycle_victim_nodes_test
