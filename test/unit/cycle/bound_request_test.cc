// A request with the profile bound to its shapes. Fears: a shape has two numbers, or an order that
// follows from hashes; one refused shape takes another's place; images keep apart what no node
// tells apart; a shape is bound though the work is spent.
#include "scheduler/cycle/search/bound_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple::cycle_bound_request_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BoundRequestTest : public ::testing::Test {
 protected:
  BoundRequestTest() {
    cluster_.Add(MakeNode("n1").Gpu(8));
    cluster_.Add(MakePodGroup("g").MinMember(1));
  }
  void Submit(MakePod pod) { cluster_.Add(pod.Group("g")); }
  BoundRequest Bound(const GangRequest& request) {
    snapshot_ = cluster_.state().Publish();
    return BoundRequest({.snapshot = *snapshot_, .now = cluster_.now, .seed = 1}, request,
                        cluster_.profile());
  }

  TestCluster cluster_;
  SnapshotPtr snapshot_;
};

TEST_F(BoundRequestTest, NumbersTheDistinctShapesInOrderOfFirstSight) {
  for (int i = 0; i < 20; ++i) Submit(MakePod(absl::StrCat("g-", 10 + i)).Gpu(1 + i % 6));
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    GangRequest request = cluster_.RequestOf("g");
    for (size_t i = request.wants.size(); i > 1; --i) {
      std::swap(request.wants[i - 1], request.wants[random.Below(i)]);
    }
    const BoundRequest bound = Bound(request);
    std::vector<ShapeId> seen;
    ASSERT_EQ(bound.problem().kinds.size(), request.wants.size());
    for (size_t i = 0; i < request.wants.size(); ++i) {
      const uint32_t kind = bound.problem().kinds[i];
      ASSERT_LE(kind, seen.size()) << "the next new number, or a known one";
      if (kind == seen.size()) seen.push_back(request.wants[i].shape);
      EXPECT_EQ(seen[kind], request.wants[i].shape);
    }
    EXPECT_EQ(bound.shapes(), seen);
    EXPECT_EQ(bound.problem().kind_count, 6u);
  }
}

TEST_F(BoundRequestTest, TheProblemIsThatOfTheRequestWithoutABudget) {
  Submit(MakePod("g-0").Gpu(1));
  Submit(MakePod("g-1").Gpu(1));
  GangRequest request = cluster_.RequestOf("g");
  request.need = {.total = 2, .sub_groups = {1}};
  const BoundRequest bound = Bound(request);
  EXPECT_EQ(bound.problem().total, 2);
  EXPECT_THAT(bound.problem().sub_groups, ElementsAre(1));
  EXPECT_EQ(bound.problem().wants.data(), request.wants.data());
  EXPECT_GT(bound.problem().budget.CountOf(0), 1'000'000);
}

TEST_F(BoundRequestTest, AShapeThatAPluginRefusesHasNoRoomAndKeepsItsPlace) {
  Submit(MakePod("g-0").Gpu(1).Unsupported("spec.x: why"));
  Submit(MakePod("g-1").Gpu(2));
  const GangRequest request = cluster_.RequestOf("g");
  const BoundRequest bound = Bound(request);
  const Overlay overlay(*snapshot_, Overlay::View::kNow);
  BoundKinds made = bound.Bind(Question::kNow, overlay);
  const BoundKinds kinds = std::move(made);
  ASSERT_EQ(kinds.kinds.size(), 2u);
  EXPECT_EQ(kinds.kinds[0].bound, nullptr);
  EXPECT_FALSE(kinds.bound[0].ok());
  EXPECT_EQ(kinds.kinds[0].shape, bound.shapes()[0]);
  ASSERT_EQ(kinds.kinds[1].bound, &*kinds.bound[1]) << "also once it has moved";
  EXPECT_EQ(kinds.kinds[1].bound->RoomOn(overlay, nullptr).total, 4);
}

TEST_F(BoundRequestTest, TheQuestionDecidesWhetherACordonStands) {
  cluster_.Add(MakeNode("n1").Gpu(8).Cordoned());
  Submit(MakePod("g-0").Gpu(4));
  const GangRequest request = cluster_.RequestOf("g");
  const BoundRequest bound = Bound(request);
  const Overlay overlay(*snapshot_, Overlay::View::kNow);
  const auto room = [&](Question question) {
    return bound.Bind(question, overlay).kinds[0].bound->RoomOn(overlay, nullptr).total;
  };
  EXPECT_EQ(room(Question::kNow), 0);
  EXPECT_EQ(room(Question::kEver), 2);
}

TEST_F(BoundRequestTest, NoShapeIsBoundOnceTheWorkIsSpent) {
  Submit(MakePod("g-0").Gpu(1));
  Submit(MakePod("g-1").Gpu(2));
  const GangRequest request = cluster_.RequestOf("g");
  const BoundRequest bound = Bound(request);
  const int64_t of_one =
      BoundShape::StepsToBind(*snapshot_, snapshot_->tables->ShapeOf(bound.shapes()[0]));
  SearchWork work(of_one);
  const Overlay overlay(*snapshot_, Overlay::View::kNow, &work);
  const BoundKinds kinds = bound.Bind(Question::kNow, overlay);
  EXPECT_NE(kinds.kinds[0].bound, nullptr);
  EXPECT_EQ(kinds.kinds[1].bound, nullptr);
  EXPECT_TRUE(work.spent()) << "so that the refusal is known for what it is";
}

TEST_F(BoundRequestTest, ImagesAreLookedAtOnlyWhereSomeNodeHasThem) {
  Submit(MakePod("g-0").Gpu(1).Runs("app:1"));
  GangRequest request = cluster_.RequestOf("g");
  const ShapeId with_images = request.wants[0].shape;
  request.wants[0].scored_as = with_images;
  request.wants[0].shape = cluster_.state().Publish()->tables->ShapeOf(with_images).room_shape;
  ASSERT_NE(request.wants[0].shape, with_images);
  const auto bound_as = [&] {
    const BoundRequest bound = Bound(request);
    EXPECT_THAT(bound.shapes(), ElementsAre(request.wants[0].shape));
    const Overlay overlay(*snapshot_, Overlay::View::kNow);
    return bound.Bind(Question::kNow, overlay).kinds[0].bound->shape().id;
  };
  EXPECT_EQ(bound_as(), request.wants[0].shape);
  cluster_.Add(MakeNode("n2").Gpu(8).Image("app:1", 2000));
  EXPECT_EQ(bound_as(), with_images);
}

TEST_F(BoundRequestTest, ARequestOfNobodyHasNoShapes) {
  const BoundRequest bound = Bound({});
  EXPECT_THAT(bound.shapes(), IsEmpty());
  const Overlay overlay(*snapshot_, Overlay::View::kNow);
  EXPECT_THAT(bound.Bind(Question::kNow, overlay).kinds, IsEmpty());
}

}  // namespace
}  // namespace maniple::cycle_bound_request_test
