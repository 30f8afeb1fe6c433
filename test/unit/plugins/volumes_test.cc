// The filters of volumes against the cases of kube-scheduler's rules, by what a decision says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kBetaZone[] = "failure-domain.beta.kubernetes.io/zone";
constexpr char kOutOfReach[] = "cannot reach a volume of the pod";
constexpr char kWrongZone[] = "in another zone than a volume of the pod";
constexpr char kLimit[] = "can attach no more volumes";
constexpr char kDiskTaken[] = "a disk of the pod is in use there";
constexpr char kClaimTaken[] = "a ReadWriteOncePod claim of the pod is in use by another pod";

class Volumes : public ::testing::Test {
 protected:
  void Add(const ObjectEvent& event) { cluster_.Add(event); }
  // Where the gang of that name goes; "1 node: why" and the like if it does not fit; what is wrong
  // if it is not asked of the nodes at all.
  std::vector<std::string> Ask(absl::string_view gang = "p") {
    const Decision decision = cluster_.Decide(gang);
    if (std::holds_alternative<Plan>(decision)) return cluster_.PlacesOf(decision);
    const auto& rejection = std::get<Rejection>(decision);
    if (rejection.code == RejectionCode::kVolumesNotReady) {
      const Gang& asked = cluster_.GangOf(gang);
      return {cluster_.state().VolumeTroubleOf(asked.members.front().pod)};
    }
    return cluster_.ReasonsOf(decision);
  }
  static std::string One(absl::string_view reason) { return absl::StrCat("1: ", reason); }

  TestCluster cluster_;
};

TEST_F(Volumes, ABoundVolumeIsReachedOnlyWhereItsAffinitySaysSo) {
  Add(MakeNode("n1").Label("kubernetes.io/hostname", "n1"));
  Add(MakeNode("n2").Label("kubernetes.io/hostname", "n2"));
  Add(MakeClaim("data").BoundTo("pv"));
  Add(MakeVolume("pv").OnHost("n2"));
  Add(MakePod("p").Claim("data"));
  EXPECT_THAT(Ask(), ElementsAre("p=n2"));
  Add(MakeVolume("pv").OnHost("n3"));
  EXPECT_THAT(Ask(), ElementsAre(absl::StrCat("2: ", kOutOfReach)));
  Add(MakeVolume("pv"));
  EXPECT_EQ(Ask().size(), 1);
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster_.Decide("p")));
}

TEST_F(Volumes, EveryBoundVolumeMustBeReached) {
  Add(MakeNode("n1").Label(kZone, "a").Label("rack", "1"));
  Add(MakeNode("n2").Label(kZone, "a").Label("rack", "2"));
  Add(MakeClaim("x").BoundTo("pv-x"));
  Add(MakeClaim("y").BoundTo("pv-y"));
  Add(MakeVolume("pv-x").Where(kZone, {"a", "b"}));
  Add(MakeVolume("pv-y").Where("rack", {"2"}));
  Add(MakePod("p").Claim("x").Claim("y"));
  EXPECT_THAT(Ask(), ElementsAre("p=n2"));
}

TEST_F(Volumes, ZonesOfAVolumeMustAgreeWithTheNodesIfItHasAny) {
  Add(MakeNode("n1").Label(kZone, "a"));
  Add(MakeClaim("data").BoundTo("pv"));
  Add(MakePod("p").Claim("data"));
  Add(MakeVolume("pv").Label(kZone, "a"));
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
  Add(MakeVolume("pv").Label(kZone, "b__ a"));
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
  Add(MakeVolume("pv").Label(kZone, "b"));
  EXPECT_THAT(Ask(), ElementsAre(One(kWrongZone)));
  Add(MakeVolume("pv").Label(kZone, "b__"));  // says nothing
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
  Add(MakeVolume("pv").Label(kBetaZone, "a"));  // of the beta, and the node has today's label
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
  Add(MakeVolume("pv").Label("topology.kubernetes.io/region", "r"));  // the node has no region
  EXPECT_THAT(Ask(), ElementsAre(One(kWrongZone)));
  Add(MakeNode("n1"));  // no label of a zone at all
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
}

TEST_F(Volumes, WhatIsWrongWithAClaimIsSaidOfIt) {
  Add(MakeNode("n1"));
  Add(MakeClass("now", "csi").Immediate());
  Add(MakePod("p").Claim("data"));
  EXPECT_THAT(Ask(), ElementsAre("claim \"data\" does not exist"));
  Add(MakeClaim("data").Class("now"));
  EXPECT_THAT(Ask(), ElementsAre("claim \"data\" is not bound yet"));
  Add(MakeClaim("data").Class("none"));
  EXPECT_THAT(Ask(),
              ElementsAre("claim \"data\" is not bound, and its storage class does not exist"));
  Add(MakeClaim("data").BoundTo("pv"));
  EXPECT_THAT(Ask(), ElementsAre("claim \"data\" is bound to a volume that does not exist"));
  Add(MakeVolume("pv"));
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
  Add(MakeClaim("data").BoundTo("pv").Deleting());
  EXPECT_THAT(Ask(), ElementsAre("claim \"data\" is being deleted"));
  Add(MakeClaim("data").BoundTo("pv").Lost());
  EXPECT_THAT(Ask(), ElementsAre("claim \"data\" has lost its volume"));
  Add(ObjectInvalid{{ResourceKind::kPersistentVolumeClaim, "default", "data"}, "u", "odd"});
  EXPECT_THAT(
      Ask(),
      ElementsAre("claim \"data\" cannot be used: it, its volume or its class cannot be read"));
  Add(DeletionOf(ResourceKind::kPersistentVolumeClaim, "data"));
  EXPECT_THAT(Ask(), ElementsAre("claim \"data\" does not exist"));
}

TEST_F(Volumes, AnEphemeralClaimMustBelongToThePod) {
  Add(MakeNode("n1"));
  Add(MakeVolume("pv"));
  Add(MakePod("p").Ephemeral("scratch"));
  EXPECT_THAT(Ask(), ElementsAre("claim \"p-scratch\" does not exist"));
  Add(MakeClaim("p-scratch").BoundTo("pv"));
  EXPECT_THAT(Ask(), ElementsAre("claim \"p-scratch\" was not made for the pod, whose ephemeral "
                                 "volume needs that name"));
  Add(MakeClaim("p-scratch").BoundTo("pv").OwnedBy("uid-p"));
  EXPECT_THAT(Ask(), ElementsAre("p=n1"));
}

TEST_F(Volumes, AMemberWithoutItsClaimDoesNotKeepTheOthersFromStarting) {
  Add(MakeNode("n1"));
  Add(MakeVolume("pv"));
  Add(MakeClaim("data").BoundTo("pv"));
  Add(MakePodGroup("g").MinMember(2));
  Add(MakePod("g-0").Group("g").Claim("missing"));
  Add(MakePod("g-1").Group("g").Claim("data"));
  EXPECT_THAT(Ask("g"), ElementsAre("claim \"missing\" does not exist"));
  Add(MakePod("g-2").Group("g"));
  EXPECT_THAT(Ask("g"), UnorderedElementsAre("g-1=n1", "g-2=n1"));
}

TEST_F(Volumes, PodsWithAClaimEachAreOfOneShape) {
  Add(MakeVolume("pv-0").Csi("csi", "h0"));
  Add(MakeVolume("pv-1").Csi("csi", "h1"));
  Add(MakeClaim("data-0").BoundTo("pv-0"));
  Add(MakeClaim("data-1").BoundTo("pv-1"));
  Add(MakePodGroup("g").MinMember(2));
  Add(MakePod("g-0").Group("g").Claim("data-0"));
  Add(MakePod("g-1").Group("g").Claim("data-1"));
  const auto shape = [&](size_t i) { return cluster_.GangOf("g").members[i].shape; };
  EXPECT_EQ(shape(0), shape(1));
  // Somebody else comes to use one of the volumes, and leaves again.
  Add(MakePod("other").Scheduler("else").Claim("data-1"));
  EXPECT_NE(shape(0), shape(1));
  Add(DeletionOf(ResourceKind::kPod, "other"));
  EXPECT_EQ(shape(0), shape(1));
}

TEST_F(Volumes, ANodeAttachesOnlySoManyVolumesOfADriver) {
  Add(MakeNode("n1"));
  Add(AttachLimit("n1", "csi", 3));
  for (int i = 0; i < 5; ++i) {
    Add(MakeVolume(absl::StrCat("pv-", i)).Csi("csi", absl::StrCat("h", i)));
    Add(MakeClaim(absl::StrCat("data-", i)).BoundTo(absl::StrCat("pv-", i)));
  }
  Add(MakePod("x").Scheduler("else").Claim("data-0").On("n1"));
  Add(MakePodGroup("g").MinMember(3));
  for (int i = 1; i < 4; ++i) {
    Add(MakePod(absl::StrCat("g-", i)).Group("g").Claim(absl::StrCat("data-", i)));
  }
  EXPECT_THAT(
      Ask("g"),
      ElementsAre("1: room for only 2 of this gang's pods, then can attach no more volumes"));
  Add(AttachLimit("n1", "other", 0));  // no limit for the driver in question any more
  EXPECT_EQ(Ask("g").size(), 3);
  Add(AttachLimit("n1", "csi", 1));
  EXPECT_THAT(
      Ask("g"),
      ElementsAre(
          "1: room for only 1 of this gang's pods, then can attach no more volumes"));  // ever
  Add(MakePod("p").Claim("data-4"));
  EXPECT_THAT(Ask("p"), ElementsAre(One(kLimit)));
  Add(DeletionOf(ResourceKind::kCsiNode, "n1"));
  EXPECT_EQ(Ask("g").size(), 3);
}

TEST_F(Volumes, WhatIsStillAttachedCountsUntilItIsDetached) {
  Add(MakeNode("n1"));
  Add(AttachLimit("n1", "csi", 1));
  for (const char* name : {"left", "new"}) {
    Add(MakeVolume(name).Csi("csi", name));
    Add(MakeClaim(name).BoundTo(name));
  }
  Add(MakePod("x").Scheduler("else").Claim("left").On("n1"));
  Add(Attachment("a", "left", "n1"));
  Add(MakePod("p").Claim("new"));
  EXPECT_THAT(Ask("p"), ElementsAre(One(kLimit)));
  Add(DeletionOf(ResourceKind::kPod, "x"));
  EXPECT_THAT(Ask("p"), ElementsAre(One(kLimit)));
  Add(DeletionOf(ResourceKind::kVolumeAttachment, "a"));
  EXPECT_EQ(Ask("p").size(), 1);
}

TEST_F(Volumes, OfAKindFromBeforeCsiCountAgainstTheLimitOfTheDriverThatServesThem) {
  Add(MakeNode("n1"));
  Add(AttachLimit("n1", "ebs.csi.aws.com", 2));
  Add(MakePod("x").Scheduler("else").On("n1").Attached("ebs.csi.aws.com", "vol-x"));
  Add(MakeClass("gp2", "kubernetes.io/aws-ebs"));
  Add(MakeClaim("data").Class("gp2"));  // to be made
  Add(MakePod("p").Claim("data"));
  EXPECT_EQ(Ask("p").size(), 1);
  Add(MakePod("y").Scheduler("else").On("n1").Attached("ebs.csi.aws.com", "vol-y"));
  EXPECT_THAT(Ask("p"), ElementsAre(One(kLimit)));
}

TEST_F(Volumes, OneVolumeOfSeveralPodsIsAttachedOnce) {
  Add(MakeNode("n1"));
  Add(AttachLimit("n1", "csi", 1));
  Add(MakeVolume("pv").Csi("csi", "h"));
  Add(MakeVolume("pv-2").Csi("csi", "h2"));
  Add(MakeClaim("data").BoundTo("pv"));
  Add(MakeClaim("more").BoundTo("pv-2"));
  Add(MakePodGroup("g").MinMember(3));
  for (int i = 0; i < 3; ++i) Add(MakePod(absl::StrCat("g-", i)).Group("g").Claim("data"));
  EXPECT_EQ(Ask("g").size(), 3);
  Add(MakePod("x").Scheduler("else").Claim("data").On("n1"));
  EXPECT_EQ(Ask("g").size(), 3);
  Add(MakePod("p").Claim("more"));
  EXPECT_THAT(Ask("p"), ElementsAre(One(kLimit)));
}

TEST_F(Volumes, ADiskIsForOnePodOfTheNodeUnlessAllOnlyRead) {
  Disk disk{.kind = DiskKind::kGcePersistentDisk, .name = "d"};
  Add(MakeNode("n1"));
  Add(MakePod("x").Scheduler("else").Disk(disk).On("n1"));
  Add(MakePod("p").Disk(disk));
  EXPECT_THAT(Ask(), ElementsAre(One(kDiskTaken)));
  disk.read_only = true;
  Add(MakePod("q").Disk(disk));
  EXPECT_THAT(Ask("q"), ElementsAre(One(kDiskTaken)));
  Add(DeletionOf(ResourceKind::kPod, "x"));
  Add(MakePod("y").Scheduler("else").Disk(disk).On("n1"));
  EXPECT_THAT(Ask("q"), ElementsAre("q=n1"));
  Add(MakePodGroup("g").MinMember(2));
  disk.read_only = false;
  disk.name = "e";
  for (int i = 0; i < 2; ++i) Add(MakePod(absl::StrCat("g-", i)).Group("g").Disk(disk));
  EXPECT_THAT(Ask("g").size(), 1);  // one of them per node, and there is one node
  Add(MakeNode("n2"));
  EXPECT_THAT(Ask("g"), UnorderedElementsAre("g-0=n1", "g-1=n2"));
}

TEST_F(Volumes, DisksOfEachKindCollideAsTheirDriversDo) {
  const auto disk = [](DiskKind kind, bool read_only) {
    return Disk{
        .kind = kind, .name = "d", .pool = "p", .monitors = {"m1", "m2"}, .read_only = read_only};
  };
  for (const DiskKind kind : {DiskKind::kGcePersistentDisk, DiskKind::kIscsi, DiskKind::kRbd}) {
    EXPECT_TRUE(Collide(disk(kind, false), disk(kind, true)));
    EXPECT_FALSE(Collide(disk(kind, true), disk(kind, true)));
  }
  EXPECT_TRUE(Collide(disk(DiskKind::kAwsElasticBlockStore, true),
                      disk(DiskKind::kAwsElasticBlockStore, true)));
  Disk elsewhere = disk(DiskKind::kRbd, false);
  elsewhere.monitors = {"m3"};
  EXPECT_FALSE(Collide(disk(DiskKind::kRbd, false), elsewhere));
  elsewhere.monitors = {"m2", "m3"};
  EXPECT_TRUE(Collide(disk(DiskKind::kRbd, false), elsewhere));
  elsewhere.pool = "q";
  EXPECT_FALSE(Collide(disk(DiskKind::kRbd, false), elsewhere));
  EXPECT_FALSE(Collide(disk(DiskKind::kIscsi, false), disk(DiskKind::kRbd, false)));
}

TEST_F(Volumes, AReadWriteOncePodClaimIsForOnePodOfTheCluster) {
  Add(MakeNode("n1"));
  Add(MakeNode("n2"));
  Add(MakeVolume("pv"));
  Add(MakeClaim("only").Modes(kReadWriteOncePod).BoundTo("pv"));
  Add(MakePod("x").Scheduler("else").Claim("only").On("n1"));
  Add(MakePod("p").Claim("only"));
  EXPECT_THAT(Ask(), ElementsAre(absl::StrCat("2: ", kClaimTaken)));
  Add(DeletionOf(ResourceKind::kPod, "x"));
  EXPECT_EQ(Ask().size(), 1);
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster_.Decide("p")));
  // Members of one gang are no better than strangers.
  Add(DeletionOf(ResourceKind::kPod, "p"));
  Add(MakePodGroup("g").MinMember(2));
  for (int i = 0; i < 2; ++i) Add(MakePod(absl::StrCat("g-", i)).Group("g").Claim("only"));
  EXPECT_FALSE(std::holds_alternative<Plan>(cluster_.Decide("g")));
  Add(MakePodGroup("g").MinMember(1));
  EXPECT_EQ(Ask("g").size(), 1);
}

TEST_F(Volumes, AReadWriteOncePodClaimIsKeptForWhoIsBeingBoundWhenAnotherComes) {
  Add(MakeNode("n1"));
  Add(MakeNode("n2"));
  Add(MakeVolume("pv"));
  Add(MakeClaim("only").Modes(kReadWriteOncePod).BoundTo("pv"));
  Add(MakePod("first").Claim("only"));
  const Placement place = std::get<Plan>(cluster_.Decide("first")).placements.front();
  cluster_.state().Reserve(place.pod, place.node);
  Add(MakePod("p").Claim("only"));
  EXPECT_THAT(Ask(), ElementsAre(absl::StrCat("2: ", kClaimTaken)));
  Delta delta;
  cluster_.state().Release(place.pod, delta);
  EXPECT_EQ(Ask().size(), 1);
}

}  // namespace
}  // namespace maniple
