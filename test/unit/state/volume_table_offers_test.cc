// Which volumes are offered, what is seen of a claim that is being bound, and whether a node
// reaches what is bound. The fear is that a volume is offered which somebody has, that a claim
// counts as bound before it is, or that one is left for another of the same name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/unit/state/volume_table_fixture.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kClaim = ResourceKind::kPersistentVolumeClaim;
constexpr auto kVolume = ResourceKind::kPersistentVolume;

class VolumeOffers : public ::testing::Test {
 protected:
  VolumeOffers() { Tell(MakeClass("local")); }

  void Tell(const ObjectEvent& event) { maniple::Tell(table_, event); }
  void Use(const Pod& object) { table_.SetUse(PodId(1), object); }
  // The names of the volumes that are offered now; "as before" if nothing changed.
  std::vector<std::string> Offered() {
    const bool changed = table_.free_volumes_changed();
    const std::optional<std::vector<FreeVolume>> volumes = table_.TakeFreeVolumes();
    EXPECT_EQ(changed, volumes.has_value());
    if (!volumes.has_value()) return {"as before"};
    std::vector<std::string> out;
    for (const FreeVolume& volume : *volumes) out.push_back(volume.name);
    return out;
  }
  ClaimSight Sight() const { return table_.SightOf(goal_); }
  VolumeStanding StandingOf(const ObjectEvent& volume) {
    Tell(volume);
    return Sight().volume;
  }
  bool Reached(absl::string_view node) const {
    StringMap labels;
    labels.Set("kubernetes.io/hostname", "n1");
    return table_.Reached(PodId(1), node, labels);
  }

  VolumeTable table_;
  ClaimGoal goal_{.pod = PodId(1),
                  .namespace_name = "default",
                  .name = "data",
                  .uid = "uid-claim-data",
                  .node = "n1",
                  .volume = "pv"};
};

// ---- volumes that are offered

TEST_F(VolumeOffers, AreTheFreeVolumesOfClassesThatWait) {
  Tell(MakeClass("now").Immediate());
  Tell(MakeVolume("big").Class("local").Size(9));
  Tell(MakeVolume("b").Class("local").Size(1));
  Tell(MakeVolume("a").Class("local").Size(1));
  Tell(MakeVolume("at-once").Class("now"));
  Tell(MakeVolume("of-no-class"));
  Tell(MakeVolume("of-unknown-class").Class("unknown"));
  Tell(MakeVolume("taken").Class("local").For("data"));
  Tell(MakeVolume("not-ready").Class("local").Unavailable());
  PersistentVolume leaving = MakeVolume("leaving").Class("local");
  leaving.meta.deleted = absl::FromUnixSeconds(1);
  Tell(ObjectUpserted{leaving});
  EXPECT_THAT(Offered(), ElementsAre("a", "b", "big"));
  EXPECT_THAT(Offered(), ElementsAre("as before"));
}

TEST_F(VolumeOffers, CarryEverythingThatDecidesWhomTheyServe) {
  PersistentVolume volume = MakeVolume("pv").Class("local").Size(5).Label("tier", "1").OnHost("n1");
  volume.modes = kReadWriteMany;
  volume.block = true;
  volume.attributes_class = "gold";
  Tell(ObjectUpserted{volume});
  const std::optional<std::vector<FreeVolume>> offered = table_.TakeFreeVolumes();
  ASSERT_TRUE(offered.has_value());
  EXPECT_THAT(*offered, ElementsAre(FreeVolume{.storage_class = "local",
                                               .capacity = Amount(5),
                                               .name = "pv",
                                               .modes = kReadWriteMany,
                                               .block = true,
                                               .attributes_class = "gold",
                                               .labels = volume.meta.labels,
                                               .where = volume.node_affinity}));
}

TEST_F(VolumeOffers, EndWhenTheVolumeIsTakenOrGone) {
  Tell(MakeVolume("a").Class("local"));
  Tell(MakeVolume("b").Class("local"));
  Tell(MakeVolume("c").Class("local"));
  EXPECT_THAT(Offered(), ElementsAre("a", "b", "c"));
  Tell(MakeVolume("a").Class("local").For("data"));
  EXPECT_THAT(Offered(), ElementsAre("b", "c"));
  Tell(DeletionOf(kVolume, "b", "", ""));
  EXPECT_THAT(Offered(), ElementsAre("c"));
  Tell(ObjectInvalid{{kVolume, "", "c"}, "u", "odd"});
  EXPECT_THAT(Offered(), IsEmpty());
  Tell(MakeVolume("c").Class("local"));
  EXPECT_THAT(Offered(), ElementsAre("c"));
}

TEST_F(VolumeOffers, ChangeWithTheirClass) {
  Tell(MakeVolume("pv").Class("late"));
  EXPECT_THAT(Offered(), IsEmpty());
  Tell(MakeClass("late"));
  EXPECT_THAT(Offered(), ElementsAre("pv"));
  Tell(ObjectInvalid{{ResourceKind::kStorageClass, "", "late"}, "u", "odd"});
  EXPECT_THAT(Offered(), IsEmpty());
  Tell(MakeClass("late"));
  EXPECT_THAT(Offered(), ElementsAre("pv"));
  Tell(DeletionOf(ResourceKind::kStorageClass, "late", "", ""));
  EXPECT_THAT(Offered(), IsEmpty());
}

TEST_F(VolumeOffers, DoNotHoldWhatIsAsGoodAsTaken) {
  Tell(MakeVolume("a").Class("local"));
  Tell(MakeVolume("b").Class("local"));
  Tell(MakeVolume("c").Class("local"));
  table_.Assume(PodId(1), "a");
  table_.Assume(PodId(1), "b");
  table_.Assume(PodId(2), "c");
  EXPECT_THAT(Offered(), IsEmpty());
  Tell(MakeVolume("a").Class("local").Size(7));  // an event of it changes nothing about that
  EXPECT_THAT(Offered(), IsEmpty());
  table_.Unassume(PodId(1));
  EXPECT_THAT(Offered(), ElementsAre("b", "a"));
  table_.Unassume(PodId(1));
  EXPECT_THAT(Offered(), ElementsAre("as before"));
}

TEST_F(VolumeOffers, HoldAgainWhatWasAssumedForAPodThatIsGone) {
  Tell(MakeVolume("pv").Class("local"));
  Use(MakePod("p").Claim("data"));
  table_.Assume(PodId(1), "pv");
  EXPECT_THAT(Offered(), IsEmpty());
  table_.Forget(PodId(1));
  EXPECT_THAT(Offered(), ElementsAre("pv"));
}

// ---- what is seen of a claim

TEST_F(VolumeOffers, AClaimIsThereOnlyUnderItsUidAndWhileItStays) {
  EXPECT_FALSE(Sight().there);
  Tell(MakeClaim("data"));
  EXPECT_TRUE(Sight().there);
  Tell(MakeClaim("data").Deleting());
  EXPECT_FALSE(Sight().there);
  Tell(MakeClaim("data").Lost());
  EXPECT_FALSE(Sight().there);
  Tell(ObjectInvalid{{kClaim, "default", "data"}, "u", "odd"});
  EXPECT_FALSE(Sight().there);
  Tell(MakeClaim("data"));
  goal_.uid = "of-an-earlier-one";
  EXPECT_FALSE(Sight().there);
}

TEST_F(VolumeOffers, AClaimIsBoundOnceItsVolumeIsSeenToo) {
  Tell(MakeClaim("data").Names("made"));
  EXPECT_TRUE(Sight().named);
  EXPECT_FALSE(Sight().bound);
  Tell(MakeClaim("data").BoundTo("made"));
  EXPECT_FALSE(Sight().bound);
  Tell(MakeVolume("made"));
  EXPECT_TRUE(Sight().bound);
  Tell(ObjectInvalid{{kVolume, "", "made"}, "u", "odd"});
  EXPECT_FALSE(Sight().bound);
}

TEST_F(VolumeOffers, AClaimShowsTheNodeAndTheVersionsThatAWriteMustName) {
  PersistentVolumeClaim claim = MakeClaim("data").Selected("n1");
  claim.meta.resource_version = "3";
  PersistentVolume volume = MakeVolume("pv");
  volume.meta.resource_version = "4";
  Tell(ObjectUpserted{claim});
  Tell(ObjectUpserted{volume});
  EXPECT_FALSE(Sight().named);
  EXPECT_EQ(Sight().selected_node, "n1");
  EXPECT_EQ(Sight().claim_version, "3");
  EXPECT_EQ(Sight().volume_version, "4");
  EXPECT_EQ(Sight().volume_uid, "uid-volume-pv");
}

TEST_F(VolumeOffers, AVolumeIsOursOnlyByTheUidOfTheClaim) {
  Tell(MakeClaim("data"));
  EXPECT_EQ(Sight().volume, VolumeStanding::kNone);
  EXPECT_EQ(StandingOf(MakeVolume("pv")), VolumeStanding::kFree);
  EXPECT_EQ(StandingOf(MakeVolume("pv").Unavailable()), VolumeStanding::kNone);
  EXPECT_EQ(StandingOf(MakeVolume("pv").For("data")), VolumeStanding::kFree);  // by name alone
  EXPECT_EQ(StandingOf(MakeVolume("pv").For("data", "uid-claim-data")), VolumeStanding::kOurs);
  EXPECT_EQ(StandingOf(MakeVolume("pv").For("data", "earlier")), VolumeStanding::kOthers);
  EXPECT_EQ(StandingOf(MakeVolume("pv").For("other")), VolumeStanding::kOthers);
  PersistentVolume leaving = MakeVolume("pv").For("data", "uid-claim-data");
  leaving.meta.deleted = absl::FromUnixSeconds(1);
  EXPECT_EQ(StandingOf(ObjectUpserted{leaving}), VolumeStanding::kNone);
}

// ---- what is still to be bound

TEST_F(VolumeOffers, ClaimsAreToBeBoundSmallestFirstAndEqualOnesAsInTheSpec) {
  Tell(MakeClaim("big").Class("local").Size(9));
  Tell(MakeClaim("z").Class("local").Size(1));
  Tell(MakeClaim("a").Class("local").Size(1));
  Tell(MakeClaim("bound").Class("local").BoundTo("pv"));
  Tell(MakeVolume("pv"));
  Use(MakePod("p").Claim("big").Claim("z").Claim("bound").Claim("a"));
  const std::vector<ClaimToBind> to_bind = table_.ToBind(PodId(1));
  std::vector<std::string> names;
  std::vector<UnboundClaim> needs;
  for (const ClaimToBind& claim : to_bind) {
    names.push_back(claim.name);
    needs.push_back(claim.need);
  }
  EXPECT_THAT(names, ElementsAre("z", "a", "big"));
  EXPECT_EQ(needs, table_.NeedsOf(PodId(1)).unbound);
  EXPECT_EQ(to_bind.front().uid, "uid-claim-z");
}

TEST_F(VolumeOffers, ANodeIsToldToAProvisionerForAllClaimsOfThePodOrTheyAreTorn) {
  Tell(MakeClass("fast", "csi"));
  Tell(MakeClaim("a").Class("fast").Selected("n1"));
  Tell(MakeClaim("b").Class("fast").Selected("n1"));
  Use(MakePod("p").Claim("a").Claim("b"));
  EXPECT_EQ(table_.NeedsOf(PodId(1)).selected_node, "n1");
  EXPECT_FALSE(table_.NeedsOf(PodId(1)).torn);
  EXPECT_TRUE(table_.NeedsOf(PodId(1)).unbound.front().provision_only);
  Tell(MakeClaim("b").Class("fast").Selected("n2"));
  EXPECT_TRUE(table_.NeedsOf(PodId(1)).torn);
  Tell(MakeClaim("b").Class("fast"));  // the provisioner took it back
  EXPECT_FALSE(table_.NeedsOf(PodId(1)).torn);
}

TEST_F(VolumeOffers, PoolsOfOneKindAreOnePlaceToProvision) {
  Tell(MakeClass("fast", "csi"));
  Tell(TrackingDriver("csi"));
  Tell(CapacityOf("fast", 10, "zone", "a"));
  Tell(CapacityOf("fast", 20, "zone", "a"));
  Tell(MakeClaim("data").Class("fast").Size(5));
  Use(MakePod("p").Claim("data"));
  const VolumeNeeds needs = table_.NeedsOf(PodId(1));
  ASSERT_TRUE(needs.unbound.front().provision_where.has_value());
  EXPECT_THAT(*needs.unbound.front().provision_where, ElementsAre(SizeIs(1)));
}

TEST_F(VolumeOffers, AnEphemeralClaimIsItsPodsWhoeverElseNamesIt) {
  Tell(MakeVolume("pv"));
  Tell(MakeClaim("p-scratch").Modes(kReadWriteOncePod).OwnedBy("uid-p").BoundTo("pv"));
  Use(MakePod("p").Ephemeral("scratch"));
  table_.SetUse(PodId(2), MakePod("other").Claim("p-scratch"));
  EXPECT_THAT(table_.NeedsOf(PodId(1)).uses, IsEmpty());
  EXPECT_THAT(table_.NeedsOf(PodId(2)).uses, SizeIs(1));
}

// ---- whether a node reaches what is bound

TEST_F(VolumeOffers, ANodeReachesAPodsVolumesWhenAllAreBoundAndAffinityAgrees) {
  EXPECT_TRUE(Reached("n1"));  // of a pod without volumes
  Tell(MakeClaim("data").Class("local"));
  Use(MakePod("p").Claim("data"));
  EXPECT_FALSE(Reached("n1"));
  Tell(MakeClaim("data").BoundTo("pv"));
  EXPECT_FALSE(Reached("n1"));
  EXPECT_EQ(table_.TroubleOf(PodId(1)), "claim \"data\" is bound to a volume that does not exist");
  Tell(MakeVolume("pv"));
  EXPECT_TRUE(Reached("n1"));
  EXPECT_EQ(table_.TroubleOf(PodId(1)), "");
  Tell(MakeVolume("pv").OnHost("n1"));
  EXPECT_TRUE(Reached("n1"));
  Tell(MakeVolume("pv").OnHost("n2"));
  EXPECT_FALSE(Reached("n1"));
}

TEST_F(VolumeOffers, EveryVolumeMustBeReached) {
  Tell(MakeClaim("data").BoundTo("pv"));
  Tell(MakeClaim("more").BoundTo("pv-2"));
  Tell(MakeVolume("pv").OnHost("n1"));
  Tell(MakeVolume("pv-2").Where("rack", {"r"}));
  Use(MakePod("p").Claim("data").Claim("more"));
  EXPECT_FALSE(Reached("n1"));
}

TEST_F(VolumeOffers, AVolumeIsReachedThroughAnyTermButNoEmptyOne) {
  Tell(MakeClaim("data").BoundTo("pv"));
  Use(MakePod("p").Claim("data"));
  const auto reached = [this](NodeTerms terms) {
    PersistentVolume volume = MakeVolume("pv");
    volume.node_affinity = std::move(terms);
    Tell(ObjectUpserted{volume});
    return Reached("n1");
  };
  const NodeSelectorTerm elsewhere{
      .expressions = {Requires("kubernetes.io/hostname", SelectorOperator::kIn, {"n2"})}};
  const NodeSelectorTerm by_name{
      .fields = {Requires("metadata.name", SelectorOperator::kIn, {"n1"})}};
  EXPECT_FALSE(reached({}));
  EXPECT_FALSE(reached({NodeSelectorTerm{}}));
  EXPECT_FALSE(reached({elsewhere}));
  EXPECT_TRUE(reached({elsewhere, by_name}));
  NodeSelectorTerm both = elsewhere;
  both.fields = by_name.fields;
  EXPECT_FALSE(reached({both}));
}

}  // namespace
}  // namespace maniple
