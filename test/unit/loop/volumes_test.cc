// Fear: while the volumes of a plan are being bound the gang is as good as forgotten.
#include <gtest/gtest.h>

#include <string>

#include "test/support/loop_driver.h"
#include "test/support/storage_builders.h"

namespace maniple {
namespace {

class LoopVolumesTest : public ::testing::Test {
 protected:
  LoopVolumesTest() {
    d_.Put(MakeClass("fast", "csi.example.com"));
    d_.Put(Data());
  }
  // What is written of claims; with 200 the answer comes, and the watch shows nothing yet.
  void ClaimsAreAnswered(int code) {
    d_.api.Break({.on = "persistentvolumeclaims", .times = -1, .code = code});
  }
  static MakeClaim Data() { return MakeClaim("data").Class("fast").Size(10); }
  void VolumeIsMade() {
    d_.Put(MakeVolume("pv").Class("fast").Size(10).For("data", "uid-claim-data"));
    d_.Put(Data().BoundTo("pv"));
  }
  void PutMember(Pod pod) {
    pod.meta.created = d_.now;
    d_.api.Put(std::move(pod));
  }
  // Two members run, and the volume of a third is being made.
  void SurplusWaitsForItsVolume() {
    d_.Nodes(4, 8);
    ClaimsAreAnswered(503);
    d_.Submit({.gang = "a", .pods = 2});
    d_.Settle();
    PutMember(MakePod("a-2").Group("a").Gpu(8).Claim("data"));
    d_.Settle(absl::Seconds(1));
    ASSERT_EQ(d_.Bound("a"), 2);
  }

  LoopDriver d_;
};

TEST_F(LoopVolumesTest, AGangWhoseSurplusWaitsForAVolumeRuns) {
  SurplusWaitsForItsVolume();
  d_.Settle(absl::Seconds(15));
  EXPECT_EQ(d_.StatusOf("a").phase, "Running");
  EXPECT_EQ(d_.StatusOf("a").reason, "Bound");
}

TEST_F(LoopVolumesTest, SurplusThatWaitsForAVolumeGivesWayToAReplacement) {
  SurplusWaitsForItsVolume();
  d_.api.Delete(ResourceKind::kPod, "a-1");
  d_.Settle(absl::Seconds(1));
  EXPECT_EQ(d_.StatusOf("a").reason, "QuorumLost");
  PutMember(MakePod("a-3").Group("a").Gpu(8));
  d_.Settle(absl::Seconds(1));
  EXPECT_NE(d_.NodeOf("a-3"), "");
  EXPECT_EQ(d_.StatusOf("a").reason, "Bound");
}

TEST_F(LoopVolumesTest, SurplusThatGotItsVolumeMayBeTheReplacement) {
  SurplusWaitsForItsVolume();
  d_.api.Delete(ResourceKind::kPod, "a-1");
  d_.Settle(absl::Seconds(1));
  VolumeIsMade();
  d_.Settle(absl::Seconds(10));
  EXPECT_NE(d_.NodeOf("a-2"), "");
  EXPECT_EQ(d_.StatusOf("a").reason, "Bound");
}

}  // namespace
}  // namespace maniple
