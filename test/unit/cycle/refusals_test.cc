// The wording of rejections. Fears: a request that makes no sense is searched; members that stand
// apart are blamed though the quorum can do without their group; a list of thousands of pods is
// told; a code that stands for a proof is given where nothing was proven.
#include "scheduler/cycle/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_refusals_test {
namespace {

using ::testing::HasSubstr;

class RefusalsTest : public ::testing::Test {
 protected:
  RefusalsTest() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "rack", .node_label = "rack"}};
    cluster_.Add(ObjectUpserted{topology});
    for (const char* node : {"a1", "a2", "b1", "b2"}) {
      cluster_.Add(MakeNode(node).Gpu(8).Label("rack", std::string(node, 1)));
    }
  }
  void Member(absl::string_view name, absl::string_view node = "") {
    MakePod pod(name);
    pod.Group("g").Gpu(4);
    if (!node.empty()) pod.On(node);
    cluster_.Add(pod);
  }

  // Calls `look` with the refusals of a decision on the request.
  void With(const GangRequest& request, const std::function<void(const Refusals&)>& look) {
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const Overlay now(*snapshot, Overlay::View::kNow, nullptr);
    const BoundRequest bound({.snapshot = *snapshot, .now = cluster_.now, .seed = 1}, request,
                             cluster_.profile());
    BoundKinds today = bound.Bind(Question::kNow, now);
    GangSearch search(*snapshot, request, bound.problem());
    LevelStore levels;
    ASSERT_TRUE(search.Resolve(levels).ok());
    look(Refusals(bound, search, today));
  }

  TestCluster cluster_;
};

TEST_F(RefusalsTest, AQuorumOfMoreMembersThanThereAreMakesNoSense) {
  cluster_.Add(MakePodGroup("g").MinMember(3));
  Member("g-0");
  Member("g-1");
  With(cluster_.RequestOf("g"), [](const Refusals& refusals) {
    const std::optional<Rejection> lacking = refusals.MembersLacking();
    ASSERT_TRUE(lacking.has_value());
    EXPECT_EQ(lacking->code, RejectionCode::kInvalidSpec);
    EXPECT_EQ(lacking->detail, "the quorum of g needs 3 more members, and only 2 exist");
  });
  Member("g-2");
  With(cluster_.RequestOf("g"),
       [](const Refusals& refusals) { EXPECT_FALSE(refusals.MembersLacking().has_value()); });
}

TEST_F(RefusalsTest, ASurplusOfNobodyMakesNoSense) {
  cluster_.Add(MakePodGroup("g").MinMember(1));
  Member("g-0", "a1");
  GangRequest request = cluster_.RequestOf("g");
  request.scope = DecideScope::kSurplus;
  With(request,
       [](const Refusals& refusals) { EXPECT_TRUE(refusals.MembersLacking().has_value()); });
}

TEST_F(RefusalsTest, MembersThatStandInTwoRacksAreNamedWithTheirNodes) {
  cluster_.Add(MakePodGroup("g").MinMember(3).Required("rack"));
  Member("g-0", "a1");
  Member("g-1", "b1");
  Member("g-2");
  With(cluster_.RequestOf("g"), [](const Refusals& refusals) {
    const std::optional<Rejection> torn = refusals.TornApart();
    ASSERT_TRUE(torn.has_value());
    EXPECT_EQ(torn->code, RejectionCode::kTopologyNoFit);
    EXPECT_EQ(torn->detail, "members that stand already are not in one rack: g-0 on a1, g-1 on b1");
    EXPECT_EQ(torn->nodes, 4);
  });
}

TEST_F(RefusalsTest, OfManyThatStandApartAFewAreNamed) {
  cluster_.Add(MakePodGroup("g").MinMember(12).Required("rack"));
  for (int i = 0; i < 11; ++i) {
    cluster_.Add(MakePod(absl::StrCat("g-", 10 + i)).Group("g").Gpu(0).On(i == 0 ? "a1" : "b1"));
  }
  Member("g-99");
  With(cluster_.RequestOf("g"), [](const Refusals& refusals) {
    const std::optional<Rejection> torn = refusals.TornApart();
    ASSERT_TRUE(torn.has_value());
    EXPECT_THAT(torn->detail, HasSubstr("g-17 on b1, and 3 more"));
  });
}

TEST_F(RefusalsTest, APartThatStandsApartIsBlamedOnlyIfTheQuorumNeedsMoreOfIt) {
  TopologyRequest in_one_rack;
  in_one_rack.required = "rack";
  cluster_.Add(MakePodGroup("g").MinMember(4).SubGroup("part", 3, in_one_rack));
  for (const auto& [name, node] :
       std::vector<std::pair<const char*, const char*>>{{"g-0", "a1"}, {"g-1", "b1"}}) {
    cluster_.Add(MakePod(name).Group("g").SubGroup("part").Gpu(4).On(node));
  }
  cluster_.Add(MakePod("g-2").Group("g").SubGroup("part").Gpu(4));
  Member("g-3");
  GangRequest request = cluster_.RequestOf("g");
  With(request, [](const Refusals& refusals) { EXPECT_TRUE(refusals.TornApart().has_value()); });
  request.need = {.total = 1, .sub_groups = {0}};
  With(request, [](const Refusals& refusals) {
    EXPECT_FALSE(refusals.TornApart().has_value()) << "g-3 will do";
  });
}

TEST_F(RefusalsTest, MembersInOneRackAreNotApart) {
  cluster_.Add(MakePodGroup("g").MinMember(3).Required("rack"));
  Member("g-0", "a1");
  Member("g-1", "a2");
  Member("g-2");
  With(cluster_.RequestOf("g"),
       [](const Refusals& refusals) { EXPECT_FALSE(refusals.TornApart().has_value()); });
}

TEST_F(RefusalsTest, ARefusalOfAPluginHasTheCodeOfItsStatus) {
  Member("g-0");
  cluster_.Add(MakePodGroup("g").MinMember(1));
  With(cluster_.RequestOf("g"), [](const Refusals& refusals) {
    const Rejection unsupported = refusals.Of(absl::UnimplementedError("spec.x: why"));
    EXPECT_EQ(unsupported.code, RejectionCode::kUnsupported);
    EXPECT_EQ(unsupported.detail, "spec.x: why");
    ASSERT_EQ(unsupported.reasons.size(), 1u) << "every node is counted";
    EXPECT_EQ(unsupported.reasons[0].nodes, 4);
    const Rejection volumes = refusals.Of(absl::FailedPreconditionError("claim"));
    EXPECT_EQ(volumes.code, RejectionCode::kVolumesNotReady);
    EXPECT_EQ(refusals.Of(absl::InvalidArgumentError("level")).code, RejectionCode::kInvalidSpec);
    EXPECT_EQ(refusals.GivenUp().code, RejectionCode::kSearchLimitReached);
    EXPECT_EQ(refusals.GivenUp().wanted, 1);
  });
}

TEST_F(RefusalsTest, TheShapeThatIsLackedIsCountedNodeByNode) {
  cluster_.Add(MakePodGroup("g").MinMember(2));
  Member("g-0");
  cluster_.Add(MakePod("g-1").Group("g").Gpu(16));
  With(cluster_.RequestOf("g"), [this](const Refusals& refusals) {
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const Overlay now(*snapshot, Overlay::View::kNow, nullptr);
    DomainResult result;
    result.search.shortage = {.kind = 1, .wanted = 1, .placeable = 0};
    const Rejection rejection =
        refusals.Of(RejectionCode::kNoFit, result, now, Refusals::Quota::kInTheWay);
    EXPECT_TRUE(rejection.quota_in_the_way);
    EXPECT_TRUE(rejection.of_some) << "of one of two";
    EXPECT_THAT(cluster_.ReasonsOf(rejection),
                ::testing::ElementsAre("4: insufficient nvidia.com/gpu (want 16, have 8)"));
    const Rejection gave_up =
        refusals.Of(RejectionCode::kSearchLimitReached, result, now, Refusals::Quota::kNotInTheWay);
    EXPECT_FALSE(gave_up.of_some);
    EXPECT_EQ(gave_up.wanted, 2) << "how many of one shape could be placed is unknown";
  });
}

}  // namespace
}  // namespace maniple::cycle_refusals_test
