// ClusterState after any history of events, against another that is told only what there is in the
// end, in another order. Fears: a decision depends on which kind of object is listed first; what an
// object said before, or one that is gone, is still counted; an edit is seen only with the next
// event of another object; a sweep forgets what is in use.
// For more histories: MANIPLE_EVENT_HISTORIES, from MANIPLE_EVENT_HISTORIES_FIRST on.
#include "scheduler/state/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "test/oracle/state/picture_of_state.h"
#include "test/oracle/state/world_of_events.h"
#include "test/support/worlds.h"

namespace maniple::state_order_of_events_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

ClusterStateOptions Options() { return {.producers = {.kinds = BuiltinForeignKinds()}}; }

const ObjectEvent kServed = KindServed{
    .kind = WorldOfEvents::UpstreamGroups(), .state = ServedState::kServed, .version = "v1beta1"};

constexpr uint32_t kMostPods = 300;  // that come in one history

enum class Sweeps : uint8_t { kNever, kOften };

// One history, seen as it happens, and looked at afresh now and then.
class History final {
 public:
  History(uint64_t seed, Sweeps sweeps) : world_(seed), random_(~seed), sweeps_(sweeps) {}

  void Run(int steps) {
    state_.Apply(kServed, kNow, delta_);
    for (int step = 0; step < steps; ++step) {
      state_.Apply(world_.Next(), kNow, delta_);
      if (sweeps_ == Sweeps::kOften && random_.OneIn(5)) state_.Sweep({});
      if (random_.OneIn(4)) Promise();
      if (!random_.OneIn(10) || !world_.is_settled()) continue;
      TakeBackPromises();
      CompareWithAFreshOne();
      ASSERT_FALSE(::testing::Test::HasFailure()) << "step " << step;
    }
  }

 private:
  // Keeps room for some pod, or learns ahead of the watch that it is bound.
  void Promise() {
    const SnapshotPtr snapshot = state_.Publish();
    const std::vector<NodeId>& nodes = snapshot->order->by_name;
    const PodId pod(static_cast<uint32_t>(random_.Below(kMostPods)));
    const PodFacts* facts = state_.FindPod(pod);
    if (nodes.empty() || facts == nullptr) return;
    const NodeId node = nodes[random_.Below(nodes.size())];
    if (random_.OneIn(3)) {
      holds_.push_back(state_.Hold(node, facts->shape));
    } else if (facts->gang.valid() && facts->node_name.empty()) {
      promised_.push_back(pod);
      if (random_.OneIn(3)) return state_.NoteBound(pod, "n1", delta_);
      state_.Reserve(pod, node);
    }
  }
  void TakeBackPromises() {
    for (const PodId pod : std::exchange(promised_, {})) state_.Release(pod, delta_);
    for (const HoldId hold : std::exchange(holds_, {})) state_.ReleaseHold(hold, delta_);
    if (state_.HasMoved()) state_.FileMoved(delta_);
    world_.NoRoomIsKept();
  }

  void CompareWithAFreshOne() {
    std::vector<ObjectEvent> events = world_.AllThereIs();
    for (size_t i = events.size(); i > 1; --i) std::swap(events[i - 1], events[random_.Below(i)]);
    ClusterState fresh(Options());
    Delta delta;
    fresh.Apply(kServed, kNow, delta);
    for (const ObjectEvent& event : events) fresh.Apply(event, kNow, delta);
    ASSERT_EQ(fresh.CheckInvariants().message(), "");
    ASSERT_EQ(state_.CheckInvariants().message(), "");
    Compare(PictureOfState(state_), PictureOfState(fresh));
  }

  static void Compare(const PictureOfState& now, const PictureOfState& fresh) {
    for (const auto& [what, text] : now.facts()) {
      const auto at = fresh.facts().find(what);
      EXPECT_EQ(text, at == fresh.facts().end() ? "nothing" : at->second) << what;
    }
    EXPECT_EQ(now.facts().size(), fresh.facts().size());
    for (const auto& [pod, constraints] : now.constraints()) {
      const auto at = fresh.constraints().find(pod);
      if (at == fresh.constraints().end()) continue;
      EXPECT_TRUE(constraints == at->second) << "the shape of pod " << pod;
    }
  }

  WorldOfEvents world_;
  Random random_;
  const Sweeps sweeps_;
  ClusterState state_{Options()};
  Delta delta_;  // nobody reads it
  std::vector<PodId> promised_;
  std::vector<HoldId> holds_;
};

class OrderOfEvents : public ::testing::TestWithParam<uint64_t> {};

TEST_P(OrderOfEvents, MakesNoDifferenceToWhatIsThereInTheEnd) {
  History(GetParam(), Sweeps::kNever).Run(300);
}

TEST_P(OrderOfEvents, MakesNoDifferenceWhateverIsSweptAwayMeanwhile) {
  History(GetParam(), Sweeps::kOften).Run(300);
}

uint64_t First() { return static_cast<uint64_t>(Setting("MANIPLE_EVENT_HISTORIES_FIRST", 0)); }
uint64_t Last() { return First() + static_cast<uint64_t>(Worlds("MANIPLE_EVENT_HISTORIES", 8)); }

INSTANTIATE_TEST_SUITE_P(Seeds, OrderOfEvents, ::testing::Range<uint64_t>(First(), Last()));

}  // namespace
}  // namespace maniple::state_order_of_events_test
