// Replicas of several hosts beyond the quorum. Fears: half a replica is started and waits; one that
// is not complete yet keeps others waiting; pods whose replica nobody tells never start.
#include "scheduler/loop/records/whole_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace maniple::loop_whole_units_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A gang whose second sub-group has replicas of two hosts.
class WholeUnitsTest : public ::testing::Test {
 protected:
  WholeUnitsTest() {
    auto foreign = std::make_shared<ForeignGang>();
    foreign->unit_sizes = {1, 2};
    gang_.foreign = std::move(foreign);
    request_.scope = DecideScope::kSurplus;
    request_.sub_group_topologies.resize(2);
  }
  void Want(uint32_t pod, int32_t sub_group, int32_t rank_group) {
    request_.wants.push_back({.pod = PodId(pod),
                              .shape = ShapeId(0),
                              .sub_group = sub_group,
                              .rank = {.group = rank_group, .index = 0}});
  }
  void Stand(uint32_t pod, int32_t sub_group, int32_t rank_group) {
    request_.pinned.push_back({.pod = PodId(pod),
                               .node = NodeId(0),
                               .shape = ShapeId(0),
                               .sub_group = sub_group,
                               .rank = {.group = rank_group, .index = 0}});
  }
  static std::vector<uint32_t> PodsOf(const GangRequest& request) {
    std::vector<uint32_t> pods;
    for (const maniple::Want& want : request.wants) pods.push_back(want.pod.index());
    return pods;
  }
  std::vector<uint32_t> Kept(const std::vector<uint32_t>& placed) const {
    Plan plan;
    for (const uint32_t pod : placed) plan.placements.push_back({PodId(pod), NodeId(pod)});
    DropPartOfUnits(request_, plan);
    std::vector<uint32_t> pods;
    for (const Placement& place : plan.placements) pods.push_back(place.pod.index());
    return pods;
  }

  Gang gang_;
  GangRequest request_;
};

TEST_F(WholeUnitsTest, AUnitThatIsNotCompleteIsNotAskedFor) {
  Want(1, 0, 0);
  Want(2, 1, 1);
  Want(3, 1, 1);
  Want(4, 1, 2);  // its other host does not exist yet
  MarkUnits(gang_, request_);
  EXPECT_THAT(PodsOf(request_), ElementsAre(1, 2, 3));
}

TEST_F(WholeUnitsTest, ThePartOfAUnitThatIsPlacedIsGivenBack) {
  Want(1, 0, 0);
  Want(2, 1, 1);
  Want(3, 1, 1);
  Want(4, 1, 2);
  Want(5, 1, 2);
  MarkUnits(gang_, request_);
  EXPECT_THAT(Kept({1, 2, 3, 4}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Kept({2, 4}), IsEmpty());
}

TEST_F(WholeUnitsTest, AHostThatIsMadeAnewJoinsTheOneThatStands) {
  Stand(1, 1, 1);
  Want(2, 1, 1);
  MarkUnits(gang_, request_);
  EXPECT_THAT(PodsOf(request_), ElementsAre(2));
  EXPECT_THAT(Kept({2}), ElementsAre(2));
}

TEST_F(WholeUnitsTest, PodsOfWhichNobodySaysTheirReplicaStartOneByOne) {
  for (uint32_t pod = 1; pod <= 5; ++pod) Want(pod, 1, 1);
  MarkUnits(gang_, request_);
  EXPECT_THAT(request_.wants, SizeIs(5));
  EXPECT_THAT(Kept({1}), ElementsAre(1));
  EXPECT_THAT(RequestsForOneUnit(request_), IsEmpty());
}

TEST_F(WholeUnitsTest, OneUnitIsAskedForWholeOrNotAtAll) {
  Want(1, 0, 0);
  Want(2, 1, 1);
  Want(3, 1, 1);
  Want(4, 1, 2);
  Want(5, 1, 2);
  MarkUnits(gang_, request_);
  const std::vector<GangRequest> requests = RequestsForOneUnit(request_);
  ASSERT_THAT(requests, SizeIs(1)) << "the units of a sub-group are alike";
  EXPECT_EQ(requests[0].scope, DecideScope::kQuorum);
  EXPECT_EQ(requests[0].need.total, 2);
  EXPECT_THAT(PodsOf(requests[0]), ElementsAre(2, 3));
}

TEST_F(WholeUnitsTest, AGangWithoutUnitsIsLeftAsItIs) {
  gang_.foreign.reset();
  Want(1, 0, 0);
  MarkUnits(gang_, request_);
  EXPECT_THAT(PodsOf(request_), ElementsAre(1));
  EXPECT_THAT(RequestsForOneUnit(request_), IsEmpty());
}

}  // namespace
}  // namespace maniple::loop_whole_units_test
