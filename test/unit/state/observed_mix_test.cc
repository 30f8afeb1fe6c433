// The mix of requests as the state observes it. The fear: a mix that forgets, that never changes,
// or that changes with every pod, so that no score could be remembered.
#include "scheduler/state/observed_mix.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

// Shapes by what they ask for, without a cluster around them.
class Shapes final {
 public:
  Shapes() : queries_(labels_), table_(draft_, gpus_, queries_) {}
  ShapeId Asking(absl::string_view resource, int64_t amount) {
    table_.NumberForNodes({std::string(resource)});
    return AskingForWhatNoNodeHas(resource, amount);
  }
  ShapeId AskingForWhatNoNodeHas(absl::string_view resource, int64_t amount) {
    PodConstraints constraints;
    constraints.requests = {{.resource = std::string(resource), .amount = Amount(amount)}};
    return table_.Intern(constraints, {}).id;
  }
  [[nodiscard]] ObservedMix Mix() const { return {table_, draft_}; }
  [[nodiscard]] const PodShape& Of(ShapeId shape) const { return table_.Of(shape); }

 private:
  GpuRules gpus_;
  PodLabels labels_;
  PodQueries queries_;
  DraftTables draft_;
  ShapeTable table_;
};

void Arrive(ObservedMix& mix, ShapeId shape, int pods) {
  for (int i = 0; i < pods; ++i) mix.NoteArrival(shape);
}

// "amount of first resource: thousandths of a pod" per request.
std::string TextOf(const RequestMix* mix) {
  if (mix == nullptr) return "none";
  std::string text;
  for (const TypicalRequest& request : mix->requests()) {
    absl::StrAppend(&text, request.amounts.front().second, ":", request.pods, " ");
  }
  return text;
}

// The fear: pods with GPUs that somebody has made up decide where others' are placed.
TEST(ObservedMix, CountsOnlyGpusThatNodesHave) {
  Shapes shapes;
  ObservedMix mix = shapes.Mix();
  Arrive(mix, shapes.AskingForWhatNoNodeHas("made.up/gpu", 1), 1000);
  EXPECT_EQ(mix.Renew(), nullptr);
  Arrive(mix, shapes.Asking("nvidia.com/gpu", 1), 64);
  EXPECT_EQ(TextOf(mix.Renew().get()), "1:64000 ");
}

TEST(ObservedMix, IsNoneUntilEnoughPodsWithGpusWereSeen) {
  Shapes shapes;
  ObservedMix mix = shapes.Mix();
  Arrive(mix, shapes.Asking("cpu", 1000), 1000);
  Arrive(mix, shapes.Asking("nvidia.com/gpu", 1), 63);
  EXPECT_EQ(mix.Renew(), nullptr);
  Arrive(mix, shapes.Asking("nvidia.com/gpu", 1), 64);
  EXPECT_EQ(TextOf(mix.Renew().get()), "1:127000 ");
}

TEST(ObservedMix, ListsTheGreatestDemandFirst) {
  Shapes shapes;
  ObservedMix mix = shapes.Mix();
  Arrive(mix, shapes.Asking("nvidia.com/mig-1g.10gb", 7), 60);
  Arrive(mix, shapes.Asking("nvidia.com/gpu", 1), 40);
  Arrive(mix, shapes.Asking("nvidia.com/gpu", 8), 28);
  const std::shared_ptr<const RequestMix> seen = mix.Renew();
  EXPECT_EQ(TextOf(seen.get()), "8:28000 7:60000 1:40000 ");
  const auto slices = seen->RequestOf(shapes.Of(shapes.Asking("nvidia.com/mig-1g.10gb", 2)));
  ASSERT_TRUE(slices.has_value());
  EXPECT_EQ(seen->fill().WorkOf(*slices), 2 * 142);
  EXPECT_FALSE(seen->RequestOf(shapes.Of(shapes.Asking("amd.com/gpu", 2))).has_value());
}

TEST(ObservedMix, StaysTheSameUntilATenthIsOfOtherKinds) {
  Shapes shapes;
  ObservedMix mix = shapes.Mix();
  const ShapeId one = shapes.Asking("nvidia.com/gpu", 1), two = shapes.Asking("nvidia.com/gpu", 2);
  Arrive(mix, one, 1000);
  const auto first = mix.Renew();
  Arrive(mix, one, 1000);
  EXPECT_EQ(mix.Renew(), first) << "more of the same";
  Arrive(mix, two, 64);
  EXPECT_EQ(mix.Renew(), first) << "3 % of the pods, 6 % of the work";
  Arrive(mix, two, 64);
  EXPECT_NE(mix.Renew(), first) << "6 % of the pods, but 11 % of the work";
}

TEST(ObservedMix, ForgetsHalfOfTheArrivalsInADayAndKeepsWhatRuns) {
  Shapes shapes;
  ObservedMix mix = shapes.Mix();
  const ShapeId one = shapes.Asking("nvidia.com/gpu", 1), two = shapes.Asking("nvidia.com/gpu", 2);
  mix.NoteTime(kStart);
  Arrive(mix, one, 1000);
  mix.NoteCharge(two, 100);
  const auto first = mix.Renew();
  EXPECT_EQ(TextOf(first.get()), "1:1000000 2:100000 ");
  mix.NoteTime(kStart + ObservedMix::kHalfLife);
  mix.NoteTime(kStart);  // a clock that went back changes nothing
  const auto second = mix.Renew();
  ASSERT_EQ(second->requests().size(), 2);
  EXPECT_NEAR(static_cast<double>(second->requests()[0].pods), 500'000, 500);
  EXPECT_EQ(second->requests()[1].pods, 100'000);
  mix.NoteTime(kStart + 100 * ObservedMix::kHalfLife);
  EXPECT_EQ(TextOf(mix.Renew().get()), "2:100000 ");
  mix.NoteCharge(two, -100);
  mix.NoteTime(kStart + 101 * ObservedMix::kHalfLife);
  EXPECT_EQ(TextOf(mix.Renew().get()), "2:100000 ") << "the last that was known";
}

TEST(ObservedMix, IsTheSameForTheSameHistory) {
  Shapes shapes;
  ObservedMix first = shapes.Mix(), second = shapes.Mix();
  Random random(5);
  for (int i = 0; i < 64 * 40; ++i) {
    const ShapeId shape =
        shapes.Asking("nvidia.com/gpu", 1 + static_cast<int64_t>(random.Below(1 + i / 200)));
    for (ObservedMix* mix : {&first, &second}) {
      mix->NoteTime(kStart + absl::Minutes(i));
      mix->NoteArrival(shape);
    }
    ASSERT_EQ(TextOf(first.Renew().get()), TextOf(second.Renew().get())) << i;
  }
}

TEST(ObservedMix, IsPartOfTheSnapshotAndCountsPodsOfEverySchedulerOnce) {
  TestCluster cluster;
  cluster.Add(MakeNode("n1").Gpu(8).Pods(100));
  cluster.Add(MakePodGroup("g").MinMember(1));
  EXPECT_EQ(cluster.state().Publish()->mix, nullptr);
  for (int i = 0; i < 40; ++i) {
    cluster.Add(MakePod(absl::StrCat("ours-", i)).Group("g").Gpu(2));
    MakePod theirs(absl::StrCat("theirs-", i));
    theirs.Scheduler("other").Gpu(1);
    cluster.Add(theirs);
    theirs.On("n1");
    cluster.Add(theirs);
  }
  const SnapshotPtr snapshot = cluster.state().Publish();
  ASSERT_NE(snapshot->mix, nullptr);
  EXPECT_TRUE(cluster.state().CheckInvariants().ok()) << cluster.state().CheckInvariants();
  // Each of theirs arrived and runs; those of ours arrived.
  int64_t pods = 0;
  for (const TypicalRequest& request : snapshot->mix->requests()) pods += request.pods;
  EXPECT_EQ(pods, 120'000);
  EXPECT_EQ(cluster.state().Publish()->mix, snapshot->mix);
  for (int i = 0; i < 40; ++i) {
    cluster.Add(DeletionOf(ResourceKind::kPod, absl::StrCat("theirs-", i)));
  }
  EXPECT_TRUE(cluster.state().CheckInvariants().ok()) << cluster.state().CheckInvariants();
}

}  // namespace
}  // namespace maniple
