// Who uses which claim, and who has to be looked at again when a storage object changes. The fear
// is that a pod keeps what a claim asked of it before the claim, its volume or its class changed,
// so that it runs where the volume is not; and that everybody is looked at for every change.
#include "scheduler/state/volume_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/unit/state/volume_table_fixture.h"

namespace maniple::state_volume_table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr auto kClaim = ResourceKind::kPersistentVolumeClaim;
constexpr auto kVolume = ResourceKind::kPersistentVolume;
constexpr char kCsi[] = "csi.example.com";

ObjectEvent Unreadable(ResourceKind kind, const char* name) {
  return ObjectInvalid{{kind, kind == kClaim ? "default" : "", name}, "u", "odd"};
}
ObjectEvent Gone(ResourceKind kind, const char* name) {
  return DeletionOf(kind, name, "", kind == kClaim ? "default" : "");
}

class VolumeTableTest : public ::testing::Test {
 protected:
  void Tell(const ObjectEvent& event) { maniple::Tell(table_, event); }
  void Use(uint32_t pod, const Pod& object) {
    table_.SetUse(PodId(pod), object);
    (void)NeedsOf(pod);
  }
  VolumeNeeds NeedsOf(uint32_t pod) { return table_.NeedsOf(PodId(pod)); }
  VolumeTrouble TroubleOf(uint32_t pod) { return NeedsOf(pod).trouble; }
  // Whose needs are to be worked out again; they are.
  std::vector<uint32_t> Stale() {
    std::vector<uint32_t> out;
    for (const PodId pod : table_.TakeStale()) {
      out.push_back(pod.index());
      (void)table_.NeedsOf(pod);
    }
    return out;
  }
  std::vector<NodeAttachments> LimitsOf(absl::string_view node,
                                        bool all_stand_there = false) const {
    return table_.LimitsOf(node, [all_stand_there](PodId) { return all_stand_there; });
  }
  // … by this event.
  std::vector<uint32_t> StaleBy(const ObjectEvent& event) {
    (void)Stale();
    Tell(event);
    return Stale();
  }
  std::vector<uint32_t> UsersOfRewritten() {
    std::vector<uint32_t> users;
    table_.TakeUsersOfRewritten([&](PodId pod) { users.push_back(pod.index()); });
    return users;
  }
  // What the pod takes: "exclusive default/data", "attached csi.example.com h".
  std::vector<std::string> UsesOf(uint32_t pod) {
    std::vector<std::string> out;
    for (const VolumeUse& use : NeedsOf(pod).uses) {
      const bool attached = use.kind == VolumeUseKind::kAttached;
      out.push_back((attached ? "attached " + use.driver + " " : "exclusive ") + use.name);
    }
    return out;
  }
  // Where its volumes are: the hosts of bound ones.
  std::vector<std::string> HostsOf(uint32_t pod) {
    std::vector<std::string> out;
    for (const NodeTerms& terms : NeedsOf(pod).reachable) {
      for (const std::string& host : terms.front().expressions.front().values) out.push_back(host);
    }
    return out;
  }
  std::optional<std::vector<NodeTerms>> ProvisioningOf(uint32_t pod) {
    const VolumeNeeds needs = NeedsOf(pod);
    EXPECT_THAT(needs.unbound, SizeIs(1));
    return needs.unbound.empty() ? std::nullopt : needs.unbound.front().provision_where;
  }

  VolumeTable table_;
};

// ---- who uses what

TEST_F(VolumeTableTest, AChangedClaimConcernsItsUsersAndNobodyElse) {
  Use(1, MakePod("p1").Claim("data"));
  Use(2, MakePod("p2").Claim("other").Claim("data"));
  Use(3, MakePod("p3").Claim("other"));
  Use(4, MakePod("p4").In("elsewhere").Claim("data"));
  EXPECT_THAT(StaleBy(MakeClaim("data")), ElementsAre(1, 2));
  EXPECT_THAT(StaleBy(MakeClaim("data").In("elsewhere")), ElementsAre(4));
  EXPECT_THAT(StaleBy(MakeClaim("nobody's")), IsEmpty());
  EXPECT_THAT(StaleBy(MakeClaim("data")), IsEmpty()) << "as often as somebody likes";
  EXPECT_THAT(UsersOfRewritten(), ElementsAre(1, 2)) << "it may be being bound";
  EXPECT_THAT(UsersOfRewritten(), IsEmpty()) << "told once";
  PersistentVolumeClaim noted = MakeClaim("data");
  noted.meta.annotations.Set("scheduling.maniple.dev/note", "x");
  EXPECT_THAT(StaleBy(ObjectUpserted{noted}), IsEmpty());
  EXPECT_THAT(StaleBy(MakeClaim("data").Selected("n")), ElementsAre(1, 2));
  EXPECT_THAT(StaleBy(MakeClaim("data").BoundTo("pv")), ElementsAre(1, 2));
  EXPECT_THAT(StaleBy(MakeClaim("data").BoundTo("pv")), IsEmpty()) << "as often as somebody likes";
}

TEST_F(VolumeTableTest, AnEphemeralVolumeUsesTheClaimOfThePodsName) {
  Use(1, MakePod("p").Ephemeral("scratch"));
  EXPECT_THAT(StaleBy(MakeClaim("p-scratch").OwnedBy("uid-p")), ElementsAre(1));
  EXPECT_THAT(StaleBy(MakeClaim("scratch")), IsEmpty());
}

TEST_F(VolumeTableTest, APodThatIsForgottenOrHasEndedUsesNothing) {
  Use(1, MakePod("p1").Claim("data"));
  Use(2, MakePod("p2").Claim("data"));
  Use(3, MakePod("p3").Claim("data").Phase(PodPhase::kFailed));
  EXPECT_FALSE(table_.Uses(PodId(3)));
  table_.Forget(PodId(1));
  table_.SetUse(PodId(2), MakePod("p2").Claim("data").Phase(PodPhase::kSucceeded));
  EXPECT_FALSE(table_.Uses(PodId(2)));
  EXPECT_THAT(StaleBy(MakeClaim("data")), IsEmpty());
  EXPECT_EQ(NeedsOf(1), VolumeNeeds{});
  EXPECT_THAT(table_.ToBind(PodId(1)), IsEmpty());
}

TEST_F(VolumeTableTest, APodThatIsForgottenIsNotStale) {
  Use(1, MakePod("p").Claim("data"));
  Tell(MakeClaim("data"));
  EXPECT_TRUE(table_.any_stale());
  table_.Forget(PodId(1));
  EXPECT_FALSE(table_.any_stale());
}

TEST_F(VolumeTableTest, ADiskOfThePodItselfFollowsNoObject) {
  Use(1, MakePod("p").Disk({.kind = DiskKind::kGcePersistentDisk, .name = "data"}));
  EXPECT_TRUE(table_.Uses(PodId(1)));
  EXPECT_THAT(StaleBy(MakeClaim("data")), IsEmpty());
  ASSERT_THAT(NeedsOf(1).uses, SizeIs(1));
  EXPECT_EQ(NeedsOf(1).uses.front().disk.name, "data");
}

// ---- what follows from a change

TEST_F(VolumeTableTest, ABoundClaimFollowsItsVolume) {
  Use(1, MakePod("p1").Claim("data"));
  Use(2, MakePod("p2").Claim("other"));
  Tell(MakeClaim("data").BoundTo("pv"));
  Tell(MakeClaim("other").BoundTo("pv-2"));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNoVolume);
  EXPECT_THAT(StaleBy(MakeVolume("pv").OnHost("n1")), ElementsAre(1));
  EXPECT_THAT(HostsOf(1), ElementsAre("n1"));
  EXPECT_THAT(StaleBy(MakeVolume("pv").OnHost("n2")), ElementsAre(1));
  EXPECT_THAT(HostsOf(1), ElementsAre("n2"));
  EXPECT_THAT(StaleBy(MakeClaim("data").BoundTo("pv-2")), ElementsAre(1));
  EXPECT_THAT(StaleBy(MakeVolume("pv").OnHost("n3")), IsEmpty());
  EXPECT_THAT(StaleBy(MakeVolume("pv-2").OnHost("n4")), ElementsAre(1, 2));
}

TEST_F(VolumeTableTest, AVolumeSetAsideConcernsWhoItIsForAndWhoItWasFor) {
  Tell(MakeClass("local"));
  Tell(MakeClaim("a").Class("local"));
  Tell(MakeClaim("b").Class("local"));
  Use(1, MakePod("p1").Claim("a"));
  Use(2, MakePod("p2").Claim("b"));
  EXPECT_THAT(StaleBy(MakeVolume("pv").Class("local").OnHost("n1")), IsEmpty());  // for anybody
  EXPECT_THAT(StaleBy(MakeVolume("pv").Class("local").OnHost("n1").For("a", "uid-claim-a")),
              ElementsAre(1));
  EXPECT_TRUE(NeedsOf(1).unbound.front().reserved_where.has_value());
  EXPECT_THAT(table_.ToBind(PodId(1)).front().reserved_volume, "pv");
  EXPECT_THAT(StaleBy(MakeVolume("pv").Class("local").OnHost("n1").For("b")), ElementsAre(1, 2));
  EXPECT_FALSE(NeedsOf(1).unbound.front().reserved_where.has_value());
  EXPECT_TRUE(NeedsOf(2).unbound.front().reserved_where.has_value());
  EXPECT_THAT(StaleBy(Gone(kVolume, "pv")), ElementsAre(2));
  EXPECT_FALSE(NeedsOf(2).unbound.front().reserved_where.has_value());
}

TEST_F(VolumeTableTest, AClassConcernsOnlyClaimsOfItThatAreNotBound) {
  Tell(MakeClaim("waits").Class("fast"));
  Tell(MakeClaim("bound").Class("fast").BoundTo("pv"));
  Tell(MakeClaim("other").Class("slow"));
  Use(1, MakePod("p1").Claim("waits"));
  Use(2, MakePod("p2").Claim("bound"));
  Use(3, MakePod("p3").Claim("other"));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNoClass);
  EXPECT_THAT(StaleBy(MakeClass("fast", kCsi)), ElementsAre(1));
  EXPECT_THAT(ProvisioningOf(1), Optional(IsEmpty()));  // everywhere
  EXPECT_THAT(StaleBy(MakeClass("fast", kCsi).Where("zone", {"a"})), ElementsAre(1));
  EXPECT_THAT(ProvisioningOf(1), Optional(SizeIs(1)));
  EXPECT_THAT(StaleBy(MakeClass("fast", kCsi).Immediate()), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNotBound);
  EXPECT_THAT(StaleBy(Gone(ResourceKind::kStorageClass, "fast")), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNoClass);
  // Once it is bound its class is history.
  Tell(MakeClaim("waits").Class("fast").BoundTo("pv"));
  EXPECT_THAT(StaleBy(MakeClass("fast", kCsi)), IsEmpty());
}

TEST_F(VolumeTableTest, CapacityConcernsClaimsOfItsClassNowAndBefore) {
  Tell(MakeClass("fast", kCsi));
  Tell(MakeClass("slow", kCsi));
  Tell(MakeClaim("a").Class("fast").Size(10));
  Tell(MakeClaim("b").Class("slow").Size(10));
  Tell(TrackingDriver(kCsi));
  Use(1, MakePod("p1").Claim("a"));
  Use(2, MakePod("p2").Claim("b"));
  EXPECT_EQ(ProvisioningOf(1), std::nullopt);
  EXPECT_TRUE(NeedsOf(1).unbound.front().short_of_capacity);
  CsiStorageCapacity pool;
  pool.meta.name = "pool";
  pool.meta.namespace_name = "default";
  pool.storage_class = "fast";
  pool.nodes = Labelled("zone", "a");
  pool.largest = Amount(10);
  EXPECT_THAT(StaleBy(ObjectUpserted{pool}), ElementsAre(1));
  EXPECT_THAT(ProvisioningOf(1), Optional(SizeIs(1)));
  pool.largest = Amount(9);
  EXPECT_THAT(StaleBy(ObjectUpserted{pool}), ElementsAre(1));
  EXPECT_EQ(ProvisioningOf(1), std::nullopt);
  pool.largest = Amount(20);
  pool.storage_class = "slow";
  EXPECT_THAT(StaleBy(ObjectUpserted{pool}), ElementsAre(1, 2));
  EXPECT_THAT(ProvisioningOf(2), Optional(SizeIs(1)));
  EXPECT_THAT(StaleBy(DeletionOf(ResourceKind::kCsiStorageCapacity, "pool")), ElementsAre(2));
  EXPECT_EQ(ProvisioningOf(2), std::nullopt);
}

TEST_F(VolumeTableTest, ADriverConcernsClaimsOfTheClassesThatItProvisions) {
  Tell(MakeClass("fast", kCsi));
  Tell(MakeClass("local"));
  Tell(MakeClaim("a").Class("fast").Size(10));
  Tell(MakeClaim("b").Class("local").Size(10));
  Use(1, MakePod("p1").Claim("a"));
  Use(2, MakePod("p2").Claim("b"));
  EXPECT_THAT(ProvisioningOf(1), Optional(IsEmpty()));
  EXPECT_THAT(StaleBy(TrackingDriver(kCsi)), ElementsAre(1));
  EXPECT_EQ(ProvisioningOf(1), std::nullopt);
  EXPECT_THAT(StaleBy(Gone(ResourceKind::kCsiDriver, kCsi)), ElementsAre(1));
  EXPECT_THAT(ProvisioningOf(1), Optional(IsEmpty()));
  EXPECT_THAT(StaleBy(TrackingDriver("other")), IsEmpty());
}

TEST_F(VolumeTableTest, LimitsOfANodeConcernNoPod) {
  Tell(MakeClaim("data").BoundTo("pv"));
  Use(1, MakePod("p").Claim("data"));
  EXPECT_THAT(StaleBy(AttachLimit("n1", kCsi, 3)), IsEmpty());
  EXPECT_THAT(LimitsOf("n1"), ElementsAre(NodeAttachments{kCsi, 3}));
  EXPECT_THAT(LimitsOf("n2"), IsEmpty());
  EXPECT_THAT(StaleBy(Gone(ResourceKind::kCsiNode, "n1")), IsEmpty());
  EXPECT_THAT(LimitsOf("n1"), IsEmpty());
}

TEST_F(VolumeTableTest, WhatIsAttachedAndUsedByNobodyThereTakesFromTheLimit) {
  Tell(AttachLimit("n1", kCsi, 3));
  Tell(MakeVolume("pv").Csi(kCsi, "h"));
  Tell(MakeClaim("data").BoundTo("pv"));
  Use(1, MakePod("p").Claim("data"));
  (void)NeedsOf(1);
  (void)table_.TakeStaleLimits();
  Tell(Attachment("a", "pv", "n1"));
  EXPECT_THAT(table_.TakeStaleLimits(), ElementsAre("n1"));
  EXPECT_THAT(LimitsOf("n1"), ElementsAre(NodeAttachments{kCsi, 3, 1}));
  EXPECT_THAT(LimitsOf("n1", /*all_stand_there=*/true), ElementsAre(NodeAttachments{kCsi, 3}));
  Tell(Attachment("again", "pv", "n1"));
  Tell(Attachment("of-no-volume", "gone", "n1"));
  EXPECT_THAT(LimitsOf("n1"), ElementsAre(NodeAttachments{kCsi, 3, 1}));
  Tell(Attachment("again", "pv", "n2"));
  Tell(Attachment("a", "pv", "n2"));
  EXPECT_THAT(LimitsOf("n1"), ElementsAre(NodeAttachments{kCsi, 3}));
  EXPECT_THAT(table_.TakeStaleLimits(), ElementsAre("n1", "n2"));
  table_.NoteUsersChanged("n3");
  EXPECT_THAT(table_.TakeStaleLimits(), IsEmpty());
  table_.NoteUsersChanged("n2");
  EXPECT_THAT(table_.TakeStaleLimits(), ElementsAre("n2"));
}

// ---- what cannot be read

TEST_F(VolumeTableTest, WhatCannotBeReadIsTroubleUntilItCan) {
  Tell(MakeClass("fast", kCsi));
  Tell(MakeClaim("data").Class("fast"));
  Use(1, MakePod("p").Claim("data"));
  EXPECT_THAT(StaleBy(Unreadable(ResourceKind::kStorageClass, "fast")), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kUnreadable);
  EXPECT_THAT(StaleBy(MakeClass("fast", kCsi)), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNone);
  EXPECT_THAT(StaleBy(Unreadable(kClaim, "data")), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kUnreadable);
  EXPECT_THAT(table_.ToBind(PodId(1)), IsEmpty());
  // While it cannot, nothing that it named before concerns its users.
  EXPECT_THAT(StaleBy(MakeClass("fast", kCsi).Immediate()), IsEmpty());
  EXPECT_THAT(StaleBy(MakeClaim("data").BoundTo("pv")), ElementsAre(1));
  Tell(MakeVolume("pv"));
  EXPECT_THAT(StaleBy(Unreadable(kVolume, "pv")), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kUnreadable);
  EXPECT_THAT(StaleBy(Gone(kVolume, "pv")), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNoVolume);
}

TEST_F(VolumeTableTest, AVolumeThatCannotBeReadIsSetAsideForNobody) {
  Tell(MakeClass("local"));
  Tell(MakeClaim("data").Class("local"));
  Tell(MakeVolume("pv").Class("local").For("data"));
  Use(1, MakePod("p").Claim("data"));
  EXPECT_TRUE(NeedsOf(1).unbound.front().reserved_where.has_value());
  EXPECT_THAT(StaleBy(Unreadable(kVolume, "pv")), ElementsAre(1));
  EXPECT_FALSE(NeedsOf(1).unbound.front().reserved_where.has_value());
}

TEST_F(VolumeTableTest, CapacityThatCannotBeReadIsNotReliedOn) {
  Tell(MakeClass("fast", kCsi));
  Tell(MakeClaim("data").Class("fast").Size(10));
  Tell(TrackingDriver(kCsi));
  Tell(CapacityOf("fast", 10, "zone", "a"));
  Use(1, MakePod("p").Claim("data"));
  EXPECT_THAT(ProvisioningOf(1), Optional(SizeIs(1)));
  EXPECT_THAT(StaleBy(ObjectInvalid{
                  {ResourceKind::kCsiStorageCapacity, "kube-system", "fast-a-10"}, "u", "odd"}),
              ElementsAre(1));
  EXPECT_EQ(ProvisioningOf(1), std::nullopt);
}

// ---- deletion and re-creation

TEST_F(VolumeTableTest, AClaimThatComesBackIsReadAfresh) {
  Tell(MakeVolume("pv").OnHost("n1"));
  Tell(MakeClaim("data").BoundTo("pv"));
  Use(1, MakePod("p").Claim("data"));
  EXPECT_THAT(StaleBy(Gone(kClaim, "data")), ElementsAre(1));
  EXPECT_EQ(TroubleOf(1), VolumeTrouble::kNoClaim);
  EXPECT_THAT(HostsOf(1), IsEmpty());
  EXPECT_THAT(StaleBy(MakeVolume("pv").OnHost("n2")), IsEmpty());  // nobody names it now
  EXPECT_THAT(StaleBy(MakeClaim("data").BoundTo("pv")), ElementsAre(1));
  EXPECT_THAT(HostsOf(1), ElementsAre("n2"));
}

TEST_F(VolumeTableTest, AVolumeSetAsideForAnEarlierClaimOfThatNameIsNotForTheLaterOne) {
  Tell(MakeClass("local"));
  Tell(MakeClaim("data").Class("local"));
  Tell(MakeVolume("pv").Class("local").For("data", "uid-claim-data"));
  Use(1, MakePod("p").Claim("data"));
  PersistentVolumeClaim again = MakeClaim("data").Class("local");
  again.meta.uid = "another";
  EXPECT_THAT(StaleBy(ObjectUpserted{again}), ElementsAre(1));
  EXPECT_FALSE(NeedsOf(1).unbound.front().reserved_where.has_value());
  EXPECT_THAT(StaleBy(MakeVolume("pv").Class("local").For("data")), ElementsAre(1));  // by name
  EXPECT_TRUE(NeedsOf(1).unbound.front().reserved_where.has_value());
}

// ---- sharing

TEST_F(VolumeTableTest, AReadWriteOncePodClaimIsNamedWhileSeveralPodsNameIt) {
  Tell(MakeClaim("only").Modes(kReadWriteOncePod).BoundTo("pv"));
  Tell(MakeVolume("pv"));
  Use(1, MakePod("p1").Claim("only"));
  EXPECT_THAT(UsesOf(1), IsEmpty());
  Use(2, MakePod("p2").Claim("only"));
  EXPECT_THAT(Stale(), ElementsAre(1));
  EXPECT_THAT(UsesOf(1), ElementsAre("exclusive default/only"));
  EXPECT_THAT(UsesOf(2), ElementsAre("exclusive default/only"));
  Use(3, MakePod("p3").Claim("only"));
  EXPECT_THAT(Stale(), IsEmpty());  // nothing new for the others
  table_.Forget(PodId(1));
  EXPECT_THAT(Stale(), IsEmpty());
  table_.SetUse(PodId(2), MakePod("p2").Claim("only").Phase(PodPhase::kFailed));
  EXPECT_THAT(Stale(), ElementsAre(3));
  EXPECT_THAT(UsesOf(3), IsEmpty());
}

TEST_F(VolumeTableTest, AClaimThatBecomesReadWriteOncePodIsSoForAllItsUsers) {
  Tell(MakeClaim("data").BoundTo("pv"));
  Tell(MakeVolume("pv"));
  Use(1, MakePod("p1").Claim("data"));
  Use(2, MakePod("p2").Claim("data"));
  EXPECT_THAT(UsesOf(1), IsEmpty());
  EXPECT_THAT(StaleBy(MakeClaim("data").Modes(kReadWriteOncePod).BoundTo("pv")), ElementsAre(1, 2));
  EXPECT_THAT(UsesOf(1), ElementsAre("exclusive default/data"));
}

TEST_F(VolumeTableTest, AVolumeOfSeveralPodsIsNamedThroughWhicheverClaims) {
  Tell(MakeVolume("pv").Csi(kCsi, "h"));
  Tell(MakeVolume("pv-too").Csi(kCsi, "h"));  // the same one at the driver
  Tell(MakeClaim("a").BoundTo("pv"));
  Tell(MakeClaim("b").BoundTo("pv-too"));
  Use(1, MakePod("p1").Claim("a"));
  EXPECT_THAT(UsesOf(1), ElementsAre("attached csi.example.com "));
  Use(2, MakePod("p2").Claim("b"));
  EXPECT_THAT(Stale(), ElementsAre(1));
  EXPECT_THAT(UsesOf(1), ElementsAre("attached csi.example.com h"));
  EXPECT_THAT(UsesOf(2), ElementsAre("attached csi.example.com h"));
  EXPECT_THAT(StaleBy(MakeVolume("pv-too").Csi(kCsi, "h2")), ElementsAre(2));
  EXPECT_THAT(Stale(), ElementsAre(1));  // now that the other one has left it
  EXPECT_THAT(UsesOf(1), ElementsAre("attached csi.example.com "));
}

}  // namespace
}  // namespace maniple::state_volume_table_test
