// Which volume each claim of a placed gang gets. The fear is that one volume is promised twice,
// that a claim gets one which its node cannot reach or which does not serve it, and that a gang is
// told that there are not volumes enough while there are.
#include "scheduler/bind/volume_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"
#include "test/support/storage_builders.h"
#include "test/support/volume_plan_fixture.h"

namespace maniple::bind_volume_plan_test {
namespace {

using ::testing::ElementsAre;

constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kCsi[] = "csi.example.com";

class VolumePlanTest : public ::testing::Test {
 protected:
  VolumePlanTest() {
    for (const absl::string_view name : {"n1", "n2"}) Add(MakeNode(name).Label(kHost, name));
    Add(MakeClass("local"));
  }
  void Add(const ObjectEvent& event) { cluster_.Add(event); }
  // A claim of that name, and a pod of the same name that uses it.
  void AddUser(MakeClaim claim) {
    const PersistentVolumeClaim built = claim;
    Add(claim);
    Add(MakePod(built.meta.name).In(built.meta.namespace_name).Claim(built.meta.name));
  }
  // "claim=volume", or "claim@node" where one is to be made; "none" if there are not enough.
  std::vector<std::string> Plan(const PlanWorld::Places& places) {
    const std::optional<std::vector<ClaimGoal>> goals = cluster_.Plan(places);
    if (!goals.has_value()) return {"none"};
    std::vector<std::string> out;
    for (const ClaimGoal& goal : *goals) {
      out.push_back(goal.volume.empty() ? absl::StrCat(goal.name, "@", goal.node)
                                        : absl::StrCat(goal.name, "=", goal.volume));
    }
    return out;
  }

  PlanWorld cluster_;
};

// ---- volumes that exist

TEST_F(VolumePlanTest, EveryClaimGetsAVolumeThatItsNodeReaches) {
  Add(MakeVolume("pv-1").Class("local").OnHost("n1"));
  Add(MakeVolume("pv-2").Class("local").OnHost("n2"));
  AddUser(MakeClaim("a").Class("local"));
  AddUser(MakeClaim("b").Class("local"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n2"}}), ElementsAre("a=pv-1", "b=pv-2"));
  EXPECT_THAT(Plan({{"a", "n2"}, {"b", "n1"}}), ElementsAre("a=pv-2", "b=pv-1"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n1"}}), ElementsAre("none"));
}

TEST_F(VolumePlanTest, TheGoalSaysForWhomAndWhereTheVolumeIs) {
  Add(MakeVolume("pv").Class("local"));
  AddUser(MakeClaim("a").In("team").Class("local"));
  const std::optional<std::vector<ClaimGoal>> goals = cluster_.Plan({{"a", "n2"}});
  ASSERT_TRUE(goals.has_value());
  ASSERT_EQ(goals->size(), 1u);
  EXPECT_EQ(goals->front().pod, cluster_.PodNamed("a"));
  EXPECT_EQ(goals->front().namespace_name, "team");
  EXPECT_EQ(goals->front().uid, "uid-claim-a");
  EXPECT_EQ(goals->front().node, "n2");
}

TEST_F(VolumePlanTest, OnePodsClaimsGetTheSmallestVolumesThatServeThem) {
  Add(MakeVolume("v10").Class("local").Size(10));
  Add(MakeVolume("v5").Class("local").Size(5));
  Add(MakeVolume("v1").Class("local").Size(1));
  Add(MakeClaim("big").Class("local").Size(4));
  Add(MakeClaim("small").Class("local").Size(2));
  Add(MakePod("p").Claim("big").Claim("small"));
  EXPECT_THAT(Plan({{"p", "n1"}}), ElementsAre("small=v5", "big=v10"));
}

TEST_F(VolumePlanTest, OfEqualSizeTheFirstClaimGetsTheFirstName) {
  Add(MakeVolume("v2").Class("local").Size(5));
  Add(MakeVolume("v1").Class("local").Size(5));
  Add(MakeVolume("v3").Class("local").Size(5));
  Add(MakeClaim("z").Class("local").Size(5));
  Add(MakeClaim("a").Class("local").Size(5));
  Add(MakePod("p").Claim("z").Claim("a"));
  EXPECT_THAT(Plan({{"p", "n1"}}), ElementsAre("z=v1", "a=v2"));
}

TEST_F(VolumePlanTest, WhoCameFirstMovesOnForOneThatCanHaveNoOther) {
  Add(MakeVolume("v1").Class("local").Size(1).Label("tier", "gold"));
  Add(MakeVolume("v2").Class("local").Size(2).OnHost("n1"));
  AddUser(MakeClaim("a").Class("local"));
  AddUser(MakeClaim("b").Class("local").Select("tier", "gold"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n1"}}), ElementsAre("a=v2", "b=v1"));
  EXPECT_THAT(Plan({{"a", "n2"}, {"b", "n1"}}), ElementsAre("none"));  // a reaches v1 alone
}

TEST_F(VolumePlanTest, AWholeRowOfClaimsMovesOn) {
  // Each could have its own and the next; all take their own until the last comes, who wants v0.
  constexpr int kClaims = 100;
  PlanWorld::Places places;
  for (int i = 0; i <= kClaims; ++i) {
    const std::string node = absl::StrCat("row-", i);
    Add(MakeNode(node).Label(kHost, node));
    MakeVolume volume(absl::StrCat("v", i));
    volume.Class("local").Size(1 + i);
    volume.Where(kHost, {node, absl::StrCat("row-", i == 0 ? kClaims : i - 1)});
    Add(volume);
    AddUser(MakeClaim(absl::StrCat("c", i)).Class("local"));
    places.emplace_back(absl::StrCat("c", i), node);
  }
  std::vector<std::string> wanted;
  for (int i = 0; i < kClaims; ++i) wanted.push_back(absl::StrCat("c", i, "=v", i));
  EXPECT_THAT(Plan({places.begin(), places.end() - 1}), ::testing::ElementsAreArray(wanted));
  // Without its own the last can only have v0, and everybody moves by one.
  Add(DeletionOf(ResourceKind::kPersistentVolume, absl::StrCat("v", kClaims), "", ""));
  Add(MakeVolume("spare").Class("local").Size(999).OnHost(absl::StrCat("row-", kClaims - 1)));
  wanted.clear();
  for (int i = 0; i + 1 < kClaims; ++i) wanted.push_back(absl::StrCat("c", i, "=v", i + 1));
  wanted.push_back(absl::StrCat("c", kClaims - 1, "=spare"));
  wanted.push_back(absl::StrCat("c", kClaims, "=v0"));
  EXPECT_THAT(Plan(places), ::testing::ElementsAreArray(wanted));
}

TEST_F(VolumePlanTest, OnAFleetEveryMemberGetsTheDiskOfItsOwnNode) {
  // More hosts than a label has values for before it is kept as a column.
  PlanWorld::Places places;
  std::vector<std::string> wanted;
  for (int i = 0; i < 100; ++i) {
    const std::string node = absl::StrCat("fleet-", i);
    Add(MakeNode(node).Label(kHost, node));
    Add(MakeVolume(absl::StrCat("disk-", i)).Class("local").Size(100 - i).OnHost(node));
    AddUser(MakeClaim(absl::StrCat("c", i)).Class("local"));
    places.emplace_back(absl::StrCat("c", i), node);
    wanted.push_back(absl::StrCat("c", i, "=disk-", i));
  }
  EXPECT_THAT(Plan(places), ::testing::ElementsAreArray(wanted));
}

TEST_F(VolumePlanTest, AVolumeThatDoesNotServeTheClaimIsNotGiven) {
  Add(MakeClass("other"));
  AddUser(MakeClaim("a").Class("local").Size(5).Modes(kReadWriteOnce).Select("tier", "gold"));
  const auto plan_with = [this](MakeVolume& volume) {
    Add(volume);
    return Plan({{"a", "n1"}}).front();
  };
  const auto good = [] { return MakeVolume("pv").Class("local").Size(5).Label("tier", "gold"); };
  EXPECT_EQ(plan_with(good().Size(4)), "none");
  EXPECT_EQ(plan_with(good().Class("other")), "none");
  EXPECT_EQ(plan_with(good().Modes(kReadOnlyMany)), "none");
  EXPECT_EQ(plan_with(good().Label("tier", "tin")), "none");
  EXPECT_EQ(plan_with(good().OnHost("n2")), "none");
  EXPECT_EQ(plan_with(good().Unavailable()), "none");
  EXPECT_EQ(plan_with(good().Modes(kReadWriteOnce | kReadOnlyMany)), "a=pv");
  PersistentVolume block = good();
  block.block = true;
  Add(ObjectUpserted{block});
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("none"));
  PersistentVolume gold = good();
  gold.attributes_class = "gold";
  Add(ObjectUpserted{gold});
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("none"));
}

// ---- claims that members share

TEST_F(VolumePlanTest, AClaimOfSeveralMembersIsBoundOnceForTheFirst) {
  Add(MakeVolume("pv-1").Class("local").OnHost("n1"));
  Add(MakeVolume("pv-2").Class("local").OnHost("n2"));
  Add(MakeClaim("shared").Class("local"));
  Add(MakePod("p").Claim("shared"));
  Add(MakePod("q").Claim("shared"));
  EXPECT_THAT(Plan({{"p", "n1"}, {"q", "n1"}}), ElementsAre("shared=pv-1"));
  EXPECT_THAT(Plan({{"q", "n2"}, {"p", "n1"}}), ElementsAre("shared=pv-2"));
}

TEST_F(VolumePlanTest, ClaimsOfOneNameInTwoNamespacesAreTwo) {
  Add(MakeVolume("pv-1").Class("local"));
  Add(MakeVolume("pv-2").Class("local"));
  Add(MakeClaim("a").Class("local"));
  Add(MakeClaim("a").In("team").Class("local"));
  Add(MakePod("p").Claim("a"));
  Add(MakePod("q").In("team").Claim("a"));
  EXPECT_THAT(Plan({{"p", "n1"}, {"q", "n1"}}), ElementsAre("a=pv-1", "a=pv-2"));
}

// ---- volumes that are set aside

TEST_F(VolumePlanTest, AVolumeThatWasSetAsideGoesToItsClaimAndToNobodyElse) {
  Add(MakeVolume("small").Class("local").Size(1));
  Add(MakeVolume("kept").Class("local").Size(9).For("a", "uid-claim-a"));
  AddUser(MakeClaim("a").Class("local"));
  AddUser(MakeClaim("b").Class("local"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n1"}}), ElementsAre("a=kept", "b=small"));
  AddUser(MakeClaim("c").Class("local"));
  EXPECT_THAT(Plan({{"b", "n1"}, {"c", "n1"}}), ElementsAre("none"));
}

TEST_F(VolumePlanTest, WhereASetAsideVolumeIsOutOfReachNoOtherIsTaken) {
  Add(MakeVolume("small").Class("local").OnHost("n2"));
  Add(MakeVolume("kept").Class("local").OnHost("n1").For("a"));
  AddUser(MakeClaim("a").Class("local"));
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("a=kept"));
  EXPECT_THAT(Plan({{"a", "n2"}}), ElementsAre("none"));
  Add(MakeClass("local", kCsi));
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("a=kept"));
  EXPECT_THAT(Plan({{"a", "n2"}}), ElementsAre("a@n2"));
}

// ---- volumes that are to be made

TEST_F(VolumePlanTest, AVolumeIsMadeWhereNoneFits) {
  Add(MakeClass("fast", kCsi));
  Add(MakeVolume("pv").Class("fast").Size(5).OnHost("n1"));
  AddUser(MakeClaim("a").Class("fast").Size(5));
  AddUser(MakeClaim("b").Class("fast").Size(5));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n1"}}), ElementsAre("a=pv", "b@n1"));
  EXPECT_THAT(Plan({{"a", "n2"}, {"b", "n1"}}), ElementsAre("a@n2", "b=pv"));
}

TEST_F(VolumePlanTest, AVolumeIsMadeOnlyWhereItsClassAllows) {
  Add(MakeClass("fast", kCsi).Where(kHost, {"n1"}));
  AddUser(MakeClaim("a").Class("fast"));
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("a@n1"));
  EXPECT_THAT(Plan({{"a", "n2"}}), ElementsAre("none"));
}

TEST_F(VolumePlanTest, AVolumeIsMadeOnlyWhereThereIsStorageForIt) {
  Add(MakeClass("fast", kCsi));
  Add(TrackingDriver(kCsi));
  Add(CapacityOf("fast", 10, kHost, "n1"));
  Add(CapacityOf("fast", 20, kHost, "n2"));
  AddUser(MakeClaim("a").Class("fast").Size(15));
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("none"));
  EXPECT_THAT(Plan({{"a", "n2"}}), ElementsAre("a@n2"));
}

TEST_F(VolumePlanTest, WhoCanHaveOneMadeTakesOnlyWhatOthersLeave) {
  Add(MakeClass("fast", kCsi).Where(kHost, {"n1"}));
  Add(MakeVolume("pv").Class("fast"));
  AddUser(MakeClaim("a").Class("fast"));
  AddUser(MakeClaim("b").Class("fast"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n2"}}), ElementsAre("a@n1", "b=pv"));
  EXPECT_THAT(Plan({{"a", "n1"}}), ElementsAre("a=pv"));
}

TEST_F(VolumePlanTest, AClaimForWhichOneIsBeingMadeTakesNone) {
  Add(MakeClass("fast", kCsi).Where(kHost, {"n1"}));
  Add(MakeVolume("pv").Class("fast"));
  AddUser(MakeClaim("a").Class("fast").Selected("n1"));
  AddUser(MakeClaim("b").Class("fast"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n2"}}), ElementsAre("a@n1", "b=pv"));
  EXPECT_THAT(Plan({{"a", "n1"}, {"b", "n1"}}), ElementsAre("a@n1", "b=pv"));
  EXPECT_THAT(Plan({{"a", "n2"}}), ElementsAre("none"));  // nobody can make it there
}

}  // namespace
}  // namespace maniple::bind_volume_plan_test
