// What a node can still attach, as decisions see it. Fears: a volume of a pod that is placed counts
// twice, as used and as unused; one of a pod that is taken back counts not at all.
#include "scheduler/state/cluster_state.h"

#include <gtest/gtest.h>

#include "test/support/builders.h"
#include "test/support/storage_builders.h"

namespace maniple::state_attach_limits_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// One node can attach one volume of the driver, and one is attached that nobody there uses.
class AttachLimits : public ::testing::Test {
 protected:
  void Apply(const ObjectEvent& event) { state_.Apply(event, kNow, delta_); }
  void Attached() {
    Apply(MakeNode("n"));
    Apply(AttachLimit("n", "driver", 1));
    Apply(MakeVolume("pv").Class("c").Csi("driver", "h"));
    Apply(Attachment("a", "pv", "n"));
  }
  [[nodiscard]] int64_t Unused() {
    return state_.Publish()->blocks[0]->rows().attach_limits.at(0).unused;
  }
  [[nodiscard]] PodId Reserved() {
    const PodId pod = state_.PodWithUid("uid-p").value();
    state_.Reserve(pod, state_.NodeNamed("n").value());
    return pod;
  }

  ClusterState state_{ClusterStateOptions{}};
  Delta delta_;
};

TEST_F(AttachLimits, FollowAPodThatIsPlacedAndTakenBack) {
  Attached();
  Apply(MakeClaim("c").BoundTo("pv"));
  Apply(MakePod("p").Claim("c"));
  EXPECT_EQ(Unused(), 1);
  const PodId pod = Reserved();
  EXPECT_EQ(Unused(), 0);
  state_.Release(pod, delta_);
  EXPECT_EQ(Unused(), 1);
}

TEST_F(AttachLimits, AreToldForShapesThatAttachVolumesOnly) {
  Attached();
  Apply(MakeClaim("c").BoundTo("pv"));
  Apply(MakePod("p").Claim("c"));
  Apply(MakePod("without"));
  const auto unused = [this](const char* pod) {
    const PodFacts* facts = state_.FindPod(state_.PodWithUid(absl::StrCat("uid-", pod)).value());
    return state_.UnusedAttachments(facts->shape, state_.NodeNamed("n").value());
  };
  EXPECT_EQ(unused("p"), 1);
  EXPECT_EQ(unused("without"), 0);
}

TEST_F(AttachLimits, FollowAPodThatIsTakenBackAfterItsClaimWasBound) {
  Attached();
  Apply(MakeClass("c"));
  Apply(MakeClaim("c").Class("c"));
  Apply(MakePod("p").Claim("c"));
  const PodId pod = Reserved();
  Apply(MakeClaim("c").Class("c").BoundTo("pv"));
  EXPECT_EQ(Unused(), 0);
  state_.Release(pod, delta_);
  EXPECT_EQ(Unused(), 1);
}

TEST_F(AttachLimits, OfANodeThatAppearsAfterItsPodsCountTheirVolumesOnce) {
  Apply(AttachLimit("n", "driver", 1));
  Apply(MakeVolume("pv").Csi("driver", "h"));
  Apply(Attachment("a", "pv", "n"));
  Apply(MakeClaim("c").BoundTo("pv"));
  Apply(MakePod("p").Claim("c").On("n"));
  Apply(MakeNode("n"));
  EXPECT_EQ(Unused(), 0);
}

}  // namespace
}  // namespace maniple::state_attach_limits_test
