// The room that a gang would have without some pods. Fears: a count that is kept up pod by pod
// drifts from one made anew; it denies a gang that fits; where it claims to be the truth, it grants
// one that does not; members that stand in one domain are counted into another.
#include "scheduler/cycle/victims/freed_room.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/oracle/cycle/preemption_case.h"
#include "test/support/builders.h"

namespace maniple::cycle_freed_room_test {
namespace {

// Everything that a count of the first four nodes can tell, for comparisons.
std::vector<int64_t> Told(const FreedRoomCount& count) {
  std::vector<int64_t> told = {count.Enough()};
  for (uint32_t domain = 0; domain < count.domain_count(); ++domain) {
    told.push_back(count.EnoughIn(domain));
    told.push_back(count.RoomIn(domain));
  }
  for (uint32_t node = 0; node < 4; ++node) told.push_back(count.RoomAt(NodeId(node)));
  return told;
}

// A small random world without quota, and all its pods.
struct DrawnRoom {
  explicit DrawnRoom(uint64_t seed) {
    DrawPreemptionCase(seed, world);
    snapshot = world.cluster.state().Publish();
    kinds = KindsOf(world.request);
    for (const RunningGang& gang : world.running) {
      for (const VictimPod& pod : gang.members) pods.push_back({pod.node, pod.shape});
    }
  }
  // Borrows the pods.
  [[nodiscard]] DecideInput Without(const std::vector<FreedRoom>& freed) const {
    return {.snapshot = *snapshot, .request = world.request, .now = {}, .freed = freed};
  }
  [[nodiscard]] FreedRoomCount Count(const DecideInput& input) const {
    return {input, world.cluster.profile(), kinds, {}};
  }

  PreemptionCase world;
  SnapshotPtr snapshot;
  RequestKinds kinds;
  std::vector<FreedRoom> pods;
};

TEST(FreedRoom, ACountThatIsKeptUpIsTheCountMadeAnew) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const DrawnRoom drawn(seed);
    Random random(seed);
    const std::vector<FreedRoom> none;
    const DecideInput full = drawn.Without(none);
    FreedRoomCount count = drawn.Count(full);
    const std::vector<int64_t> at_first = Told(count);
    std::vector<bool> is_free(drawn.pods.size(), false);
    for (int step = 0; step < 12 && !is_free.empty(); ++step) {
      const size_t pod = random.Below(is_free.size());
      is_free[pod] ? count.TakeBack({&drawn.pods[pod], 1}) : count.Free({&drawn.pods[pod], 1});
      is_free[pod] = !is_free[pod];
      std::vector<FreedRoom> freed;
      for (size_t i = 0; i < is_free.size(); ++i) {
        if (is_free[i]) freed.push_back(drawn.pods[i]);
      }
      const DecideInput rest = drawn.Without(freed);
      ASSERT_EQ(Told(count), Told(drawn.Count(rest))) << seed;
    }
    count.Reset();
    ASSERT_EQ(Told(count), at_first) << seed;
  }
}

TEST(FreedRoom, EnoughIsTheTruthOrABoundFromAbove) {
  int exact = 0, fitting = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const DrawnRoom drawn(seed);
    Random random(seed);
    std::vector<FreedRoom> freed = drawn.pods;
    std::erase_if(freed, [&random](const FreedRoom&) { return random.OneIn(3); });
    const DecideInput rest = drawn.Without(freed);
    const FreedRoomCount count = drawn.Count(rest);
    const bool fits = FindPlan(rest, drawn.world.cluster.profile()).has_value();
    ASSERT_TRUE(count.status().ok() && (count.Enough() || !fits)) << seed;
    ASSERT_TRUE(count.Enough() == fits || !count.exact()) << seed;
    exact += count.exact();
    fitting += fits;
  }
  EXPECT_GT(exact, 100);
  EXPECT_GT(fitting, 100);
}

// Two racks of one node of 8 GPUs each; a busy pod on every node.
class RackRoomTest : public ::testing::Test {
 protected:
  RackRoomTest() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "rack", .node_label = "rack"}};
    cluster_.Add(ObjectUpserted{topology});
    for (const std::string rack : {"a", "b"}) {
      cluster_.Add(MakeNode(rack + "1").Gpu(8).Label("rack", rack));
      cluster_.Add(MakePod("busy-" + rack).Gpu(6).On(rack + "1"));
    }
  }
  // Two members of 4 GPUs each, the first perhaps on its node already.
  void Submit(const std::string& level, const std::string& first_on = "") {
    cluster_.Add(MakePodGroup("g").MinMember(2).Required(level));
    MakePod first("g-0");
    if (!first_on.empty()) first.On(first_on);
    cluster_.Add(first.Group("g").Gpu(first_on.empty() ? 4 : 2));
    cluster_.Add(MakePod("g-1").Group("g").Gpu(4));
    request_ = cluster_.RequestOf("g");
    kinds_ = KindsOf(request_);
    snapshot_ = *cluster_.state().Publish();
  }
  [[nodiscard]] FreedRoomCount Count(const std::vector<const QuotaOption*>& options = {}) const {
    return {input_, cluster_.profile(), kinds_, options};
  }
  std::vector<FreedRoom> Busy(const std::string& rack) {
    const Member& pod = cluster_.GangOf("busy-" + rack).members.front();
    return {{.node = pod.node, .shape = pod.shape}};
  }

  TestCluster cluster_;
  GangRequest request_;

 private:
  RequestKinds kinds_;
  Snapshot snapshot_;
  const DecideInput input_{.snapshot = snapshot_, .request = request_, .now = cluster_.now};
};

TEST_F(RackRoomTest, AGangOfWhichAMemberStandsFitsOnlyThere) {
  Submit("rack", "a1");
  FreedRoomCount count = Count();
  count.Free(Busy("b"));
  EXPECT_EQ(count.RoomIn(1), 2);
  EXPECT_FALSE(count.Enough());
  count.Free(Busy("a"));
  EXPECT_TRUE(count.EnoughIn(0));
  EXPECT_FALSE(count.EnoughIn(1));
}

TEST_F(RackRoomTest, NodesThatTheOptionLeavesOutHaveNoRoom) {
  Submit("rack");
  QuotaOption second{.nodes = NodeSet(1), .each = {}, .flavor = ""};
  (*second.nodes)[0].Set(1);
  FreedRoomCount count = Count({&second});
  count.Free(Busy("a"));
  count.Free(Busy("b"));
  EXPECT_EQ(count.RoomIn(0), 0);
  EXPECT_EQ(count.RoomIn(1), 2);
}

TEST_F(RackRoomTest, ARequestThatMakesNoSenseOrHasNoWorkLeftHasNoCount) {
  Submit("row");
  EXPECT_EQ(Count().status().code(), absl::StatusCode::kInvalidArgument);
  SearchWork none(-1);
  request_.work = &none;
  EXPECT_EQ(Count().status().code(), absl::StatusCode::kResourceExhausted);
}
}  // namespace
}  // namespace maniple::cycle_freed_room_test
