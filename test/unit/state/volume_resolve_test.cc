// From claims and disks to what they need of a node. Fears: the worst trouble is hidden by a lesser
// one; an ephemeral claim of somebody else is used; a volume is taken for reserved that cannot
// serve; a claim may be provisioned where no storage has room; claims lose their order.
#include "scheduler/state/volume_resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"

namespace maniple::state_volume_resolve_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class VolumeResolveTest : public ::testing::Test {
 protected:
  void Add(const PersistentVolumeClaim& claim) {
    objects_.claims[ClaimKey(claim.meta.namespace_name, claim.meta.name)].object = claim;
  }
  void Add(const PersistentVolume& volume) {
    objects_.volumes[volume.meta.name].object = volume;
    if (!volume.claim.has_value()) return;
    const std::string key = ClaimKey(volume.claim->namespace_name, volume.claim->name);
    objects_.volumes_for_claim.emplace(key, volume.meta.name);
  }
  void Add(const StorageClass& storage) { objects_.classes[storage.meta.name].object = storage; }

  [[nodiscard]] ResolvedVolumes Resolve(const std::vector<std::string>& claims,
                                        bool ephemeral = false) const {
    VolumeUser user{.namespace_name = "default", .uid = "uid-pod"};
    for (const std::string& claim : claims) user.volumes.claims.push_back({claim, ephemeral});
    return ResolveVolumes(objects_, user,
                          [](absl::string_view key) { return key == "default/shared"; });
  }
  [[nodiscard]] UnboundClaim ResolveUnbound(const std::string& claim) const {
    const ResolvedVolumes resolved = Resolve({claim});
    EXPECT_EQ(resolved.needs.trouble, VolumeTrouble::kNone);
    EXPECT_THAT(resolved.needs.unbound, SizeIs(1));
    return resolved.needs.unbound.empty() ? UnboundClaim() : resolved.needs.unbound[0];
  }

  StorageObjects objects_;
};

TEST_F(VolumeResolveTest, TheWorstTroubleIsToldWithTheFirstClaimThatHasIt) {
  objects_.claims["default/unreadable"];
  Add(MakeVolume("pv").Class("c"));
  Add(MakeClaim("lost").BoundTo("pv").Lost());
  Add(MakeClaim("leaving").BoundTo("pv").Deleting());
  Add(MakeClaim("gone").BoundTo("nowhere"));
  Add(MakeClaim("named").Names("pv"));
  Add(MakeClaim("classless").Class("unknown"));
  std::vector<std::string> by_trouble = {"",        "absent", "",      "unreadable", "lost",
                                         "leaving", "gone",   "named", "classless"};
  std::vector<std::string> claims = {"absent", "unreadable", "lost",     "leaving",
                                     "gone",   "named",      "classless"};
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::string> some(claims.begin(), claims.begin() + 1 + int(random.Below(7)));
    const ResolvedVolumes resolved = Resolve(some);
    const auto worst = std::ranges::find_if(by_trouble, [&](const std::string& name) {
      return std::ranges::find(some, name) != some.end();
    });
    ASSERT_EQ(resolved.trouble_claim, *worst);
    ASSERT_EQ(static_cast<size_t>(resolved.needs.trouble), size_t(worst - by_trouble.begin()));
    std::swap(claims[random.Below(7)], claims[random.Below(7)]);
  }
}

TEST_F(VolumeResolveTest, EachTroubleHasWordsOfItsOwn) {
  std::set<std::string> texts;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(VolumeTrouble::kNoClass); ++i) {
    const std::string text = TroubleText(static_cast<VolumeTrouble>(i), "data");
    EXPECT_TRUE(texts.insert(text).second) << text;
    EXPECT_EQ(text.empty(), i == 0);
    EXPECT_EQ(text.starts_with("claim \"data\" "), i != 0) << text;
  }
}

TEST_F(VolumeResolveTest, ABoundVolumeIsAttachedWhereItIsReached) {
  Add(MakeVolume("pv").OnHost("n1").Csi("driver", "handle").Label(kZoneLabels[2], "b__a"));
  Add(MakeClaim("shared").BoundTo("pv").OwnedBy("uid-pod").Modes(kReadWriteOncePod));
  const VolumeNeeds needs = Resolve({"shared", "shared"}).needs;
  EXPECT_THAT(needs.reachable, SizeIs(1));
  EXPECT_THAT(needs.zones, ElementsAre(ZoneNeed{std::string(kZoneLabels[2]), {"a", "b"}}));
  ASSERT_THAT(needs.uses, SizeIs(2)) << "and one pod at a time";
  EXPECT_EQ(needs.uses[0].name, "handle");
  EXPECT_EQ(needs.uses[1].name, "default/shared");
  const VolumeNeeds ephemeral = Resolve({"shared"}, true).needs;
  EXPECT_THAT(ephemeral.zones, IsEmpty());
  EXPECT_THAT(ephemeral.uses, SizeIs(1));
}

TEST_F(VolumeResolveTest, AnEphemeralClaimMustBelongToThePod) {
  Add(MakeVolume("pv"));
  Add(MakeClaim("own").BoundTo("pv").OwnedBy("uid-pod"));
  Add(MakeClaim("other").BoundTo("pv").OwnedBy("uid-other"));
  Add(MakeClaim("nobodys").BoundTo("pv"));
  EXPECT_EQ(Resolve({"own"}, true).needs.trouble, VolumeTrouble::kNone);
  EXPECT_EQ(Resolve({"other"}, true).needs.trouble, VolumeTrouble::kForeignClaim);
  EXPECT_EQ(Resolve({"nobodys"}, true).needs.trouble, VolumeTrouble::kForeignClaim);
  EXPECT_EQ(Resolve({"other"}).needs.trouble, VolumeTrouble::kNone);
}

TEST_F(VolumeResolveTest, SmallerClaimsComeFirstAndEqualOnesInTheOrderOfTheSpec) {
  Add(MakeClass("local"));
  for (const auto& [name, size] : {std::pair("a", 5), {"b", 3}, {"c", 5}, {"d", 3}}) {
    Add(MakeClaim(name).Class("local").Size(size));
  }
  const ResolvedVolumes resolved = Resolve({"c", "d", "a", "b"});
  std::vector<std::string> names;
  for (size_t i = 0; i < resolved.to_bind.size(); ++i) {
    names.push_back(resolved.to_bind[i].name);
    EXPECT_EQ(resolved.to_bind[i].need, resolved.needs.unbound[i]);
  }
  EXPECT_THAT(names, ElementsAre("d", "b", "c", "a"));
}

TEST_F(VolumeResolveTest, ClaimsThatAreMadeForTwoNodesTearThePod) {
  Add(MakeClass("c", "driver"));
  for (const char* node : {"n1", "n2"}) Add(MakeClaim(node).Class("c").Selected(node));
  Add(MakeClaim("n1 too").Class("c").Selected("n1"));
  EXPECT_EQ(Resolve({"n1", "n1 too"}).needs.selected_node, "n1");
  EXPECT_FALSE(Resolve({"n1", "n1 too"}).needs.torn);
  EXPECT_TRUE(Resolve({"n1", "n2"}).needs.torn);
  EXPECT_TRUE(ResolveUnbound("n1").provision_only);
}

TEST_F(VolumeResolveTest, AVolumeIsReservedForTheClaimThatItCanServe) {
  Add(MakeClass("c"));
  const PersistentVolumeClaim claim = MakeClaim("data").Class("c").Size(10);
  Add(claim);
  Add(MakeVolume("a").Class("c").Size(9).For("data"));
  Add(MakeVolume("b").Class("other").Size(10).For("data"));
  Add(MakeVolume("c").Class("c").Size(10).For("data", "another uid"));
  Add(MakeVolume("d").Class("c").Size(10).For("data2"));
  EXPECT_EQ(ReservedFor(objects_, claim), nullptr);
  EXPECT_FALSE(ResolveUnbound("data").reserved_where.has_value());
  Add(MakeVolume("f").Class("c").Size(10).For("data"));
  EXPECT_EQ(ResolveUnbound("data").reserved_where, NodeTerms()) << "anywhere";
  Add(MakeVolume("e").Class("c").Size(11).For("data").OnHost("n1"));
  EXPECT_EQ(Resolve({"data"}).to_bind[0].reserved_volume, "e") << "the first by name";
  EXPECT_THAT(*ResolveUnbound("data").reserved_where, SizeIs(1));
}

// A driver that tracks capacity makes a volume where one pool at least has room for all of it.
TEST_F(VolumeResolveTest, AVolumeIsMadeWhereStorageHasRoomForIt) {
  Random random(2);
  objects_.tracks_capacity["driver"] = true;
  Add(MakeClass("c", "driver").Where("row", {"w"}));
  for (int round = 0; round < 300; ++round) {
    Add(MakeClaim("data").Class("c").Size(5));
    objects_.capacities.clear();
    std::set<std::string> racks;
    bool everywhere = false;
    for (uint64_t i = random.Below(5); i > 0; --i) {
      CsiStorageCapacity& pool = objects_.capacities[absl::StrCat("p", i)];
      pool.storage_class = random.OneIn(4) ? "other" : "c";
      if (!random.OneIn(5)) pool.largest = Amount(int64_t(4 + random.Below(3)));
      if (random.OneIn(6)) continue;  // of no node
      const std::string rack = absl::StrCat("r", random.Below(3));
      pool.nodes = random.OneIn(5) ? LabelSelector() : Labelled("rack", rack);
      if (pool.storage_class != "c" || pool.largest.value_or(Amount(0)) < Amount(5)) continue;
      pool.nodes->requirements.empty() ? static_cast<void>(everywhere = true)
                                       : static_cast<void>(racks.insert(rack));
    }
    const UnboundClaim claim = ResolveUnbound("data");
    const bool some = everywhere || !racks.empty();
    ASSERT_EQ(claim.provision_where.has_value(), some) << "round " << round;
    ASSERT_EQ(claim.short_of_capacity, !some);
    if (!some) continue;
    ASSERT_THAT(*claim.provision_where, SizeIs(everywhere ? 1 : 2)) << "the class has terms, too";
    if (everywhere) continue;
    ASSERT_THAT(claim.provision_where->back(), SizeIs(racks.size()));
  }
}

TEST_F(VolumeResolveTest, WithoutAProvisionerNoVolumeIsMade) {
  Add(MakeClass("local"));
  Add(MakeClass("made", "driver"));
  Add(MakeClaim("a").Class("local").Size(1));
  Add(MakeClaim("b").Class("made").Size(1));
  EXPECT_FALSE(ResolveUnbound("a").provision_where.has_value());
  EXPECT_THAT(*ResolveUnbound("b").provision_where, IsEmpty()) << "everywhere";
}

TEST_F(VolumeResolveTest, ALabelNamesZonesOrSaysNothing) {
  EXPECT_THAT(ZonesIn("b__a__ b "), ElementsAre("a", "b"));
  EXPECT_THAT(ZonesIn("one_zone"), ElementsAre("one_zone"));
  for (const char* label : {"", " ", "__", "a__", "__a", "a____b"}) {
    EXPECT_THAT(ZonesIn(label), IsEmpty()) << label;
  }
}

}  // namespace
}  // namespace maniple::state_volume_resolve_test
