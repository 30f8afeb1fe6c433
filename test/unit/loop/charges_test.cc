// The charges of gangs at the desk. Fears: a gang is charged to a Queue that does not let it in, or
// to the one that it names by now instead of the one that admitted it; what is charged is not given
// back; a pod on a node that is gone changes its flavor; a price is paid twice.
#include "scheduler/loop/desk/charges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/support/builders.h"

namespace maniple::loop_charges_test {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class ChargesTest : public ::testing::Test {
 protected:
  ChargesTest() {
    for (const char* name : {"h100", "a100"}) {
      ResourceFlavor flavor;
      flavor.meta.name = name;
      flavor.node_labels.Set("model", name);
      Put(ObjectUpserted{flavor});
    }
    Put(MakeNode("n1").Gpu(8).Label("model", "h100"));
    Put(MakeNode("n2").Gpu(8).Label("model", "a100"));
    PutQueue("team", "");
  }
  void Put(const ObjectEvent& event) {
    warm_.Apply(event, kNow);
    for (const NodeId node : std::exchange(warm_.news.nodes_gone, {})) warm_.ledger.NodeGone(node);
    (void)warm_.FollowQuota();
    warm_.news.nodes_changed.clear();
  }
  // It selects the namespaces with the label; "": all.
  void PutQueue(const std::string& name, const std::string& selected) {
    Queue queue;
    queue.meta.name = name;
    queue.meta.uid = "uid";
    for (const char* flavor : {"h100", "a100"}) {
      queue.quotas.push_back(
          {.flavor = flavor, .resources = {{.resource = kGpuResource, .nominal = Amount(8)}}});
    }
    if (!selected.empty()) queue.namespace_selector = Labelled("space", selected);
    Put(ObjectUpserted{queue});
  }
  [[nodiscard]] Case Look(const std::string& name) {
    const auto id = warm_.state.GangNamed({.namespace_name = "default", .name = name});
    Case c = *desk_.Open(*id, kNow);
    charges_.ChargeQuota(c);
    return *desk_.Open(*id, kNow);
  }
  [[nodiscard]] int64_t Used(const std::string& queue, const std::string& flavor) const {
    const QuotaBook& book = warm_.ledger.book();
    const QuotaNodeId id = book.QueueNamed(queue);
    const QuotaCellId cell = book.CellNamed(flavor, kGpuResource);
    return id.valid() && cell.valid() ? book.tree().Usage(id, cell).units() : 0;
  }
  void RunOn(const std::string& node, const std::string& pod = "g-0") {
    Put(MakePodGroup("g").Queue("team").MinMember(1));
    Put(MakePod(pod).Group("g").Gpu(4).On(node));
  }
  // "g" has 4 and 2 GPUs on n1, and leaves.
  void LeavesN1() {
    RunOn("n1");
    (void)Look("g");
    Put(MakePod("g-0").Group("g").Gpu(4).On("n1").Deleting());
    Put(MakePod("g-1").Group("g").Gpu(2).On("n1").Deleting());
    (void)Look("g");
  }
  // It waits for "g" to leave, with room for one pod of 4 GPUs kept there.
  void ClaimOn(const std::string& node, const std::string& gang) {
    Put(MakePodGroup(gang).Queue("team").MinMember(1));
    Put(MakePod(gang + "-0").Group(gang).Gpu(4));
    Claim claim;
    for (const Member& member : Look("g").gang.members) claim.awaited.push_back(member.pod);
    const Case c = Look(gang);
    claim.rooms.push_back({.hold = HoldId(),
                           .node = *warm_.state.NodeNamed(node),
                           .shape = c.gang.members.front().shape});
    c.record.claim = std::move(claim);
    charges_.NamePayers(c);
    charges_.ChargeQuota(c);
  }

  WarmState warm_{LoopOptions()};
  Desk desk_{warm_};
  RoomHolders room_holders_{desk_};
  Charges charges_{desk_, room_holders_};
};

TEST_F(ChargesTest, PodsAreChargedByTheirNodesUntilTheyAreGoneOrTerminal) {
  RunOn("n1");
  Put(MakePod("g-1").Group("g").Gpu(2).On("n2"));
  Put(MakePod("g-2").Group("g").Gpu(1));  // it waits
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4);
  EXPECT_EQ(Used("team", "a100"), 2);
  Put(MakePod("g-0").Group("g").Gpu(4).On("n1").Deleting());
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4) << "it is on its way out, and counts";
  Put(MakePod("g-0").Group("g").Gpu(4).On("n1").Phase(PodPhase::kFailed));
  Put(DeletionOf(ResourceKind::kPod, "g-1", "uid-g-1"));
  (void)Look("g");
  EXPECT_TRUE(warm_.ledger.NothingCharged());
  EXPECT_TRUE(charges_.unadmitted().empty());
}

TEST_F(ChargesTest, APodStaysWithTheFlavorOfItsNodeWhenThatIsGone) {
  RunOn("n1");
  (void)Look("g");
  Put(DeletionOf(ResourceKind::kNode, "n1", "", ""));
  for (int again = 0; again < 3; ++again) {
    (void)Look("g");
    EXPECT_EQ(Used("team", "h100"), 4);
  }
  Put(MakeNode("n1").Gpu(8).Label("model", "a100"));  // another machine
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 0);
  EXPECT_EQ(Used("team", "a100"), 4);
}

TEST_F(ChargesTest, AnAdmittedGangStaysInItsQueueWhateverItNamesByNow) {
  PutQueue("other", "");
  RunOn("n1");
  (void)Look("g");
  Put(MakePodGroup("g").Queue("other").MinMember(1));
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4);
  EXPECT_EQ(Used("other", "h100"), 0);
  PutQueue("team", "nobody");
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4) << "who was admitted stays charged";
}

TEST_F(ChargesTest, ADeletedQueueIsChargedForNothingAndMadeAnewForWhatItAdmitted) {
  RunOn("n1");
  (void)Look("g");
  Put(DeletionOf(ResourceKind::kQueue, "team", "uid", ""));
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 0);
  PutQueue("team", "");
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4);
}

TEST_F(ChargesTest, WhoeverIsNotLetInIsChargedToNobodyUntilTheQueueLetsItIn) {
  PutQueue("team", "elsewhere");
  RunOn("n1");
  const GangId gang = Look("g").gang.id;
  EXPECT_TRUE(warm_.ledger.NothingCharged());
  EXPECT_TRUE(charges_.unadmitted().contains(gang));
  PutQueue("team", "");
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4);
  EXPECT_FALSE(charges_.unadmitted().contains(gang));
}

TEST_F(ChargesTest, AGangThatIsForgottenIsChargedForNothing) {
  PutQueue("closed", "elsewhere");
  RunOn("n1");
  charges_.Forget(Look("g").gang.id, kNow);
  EXPECT_TRUE(warm_.ledger.NothingCharged());
  Put(MakePodGroup("h").Queue("closed").MinMember(1));
  Put(MakePod("h-0").Group("h").Gpu(1).On("n2"));
  charges_.Forget(Look("h").gang.id, kNow);
  EXPECT_TRUE(charges_.unadmitted().empty());
}

TEST_F(ChargesTest, HeldQuotaIsChargedBesideThePodsAndIsFreeToItsHolder) {
  RunOn("n1");
  Case c = Look("g");
  const QuotaCellId cell = warm_.ledger.book().CellNamed("a100", kGpuResource);
  c.record.reservation = Reservation{.held = {{cell, Amount(3)}}};
  room_holders_.Add(c.gang.id);
  charges_.ChargeQuota(c);
  EXPECT_EQ(Used("team", "h100"), 4);
  EXPECT_EQ(Used("team", "a100"), 3);
  const QuotaNodeId queue = warm_.ledger.book().QueueNamed("team");
  EXPECT_EQ(charges_.AllHeldQuota(), (HeldQuota{{{queue, cell}, Amount(3)}}));
  const GangRequest request = desk_.RequestOf(c, ItemKind::kQuorum);
  EXPECT_EQ(charges_.Suppose(c, request).tree().Usage(queue, cell), Amount(0));
  charges_.LeaveLine(c);
  EXPECT_EQ(Used("team", "a100"), 0);
  EXPECT_EQ(Used("team", "h100"), 4);
}

TEST_F(ChargesTest, AClaimIsChargedOnlyForWhatItsVictimsHaveGivenBack) {
  LeavesN1();
  ClaimOn("n1", "h");
  EXPECT_EQ(Used("team", "h100"), 6) << "what the victims have is more";
  Put(DeletionOf(ResourceKind::kPod, "g-0", "uid-g-0"));
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4) << "2 for the victim that is left, 2 for the claim";
  Put(DeletionOf(ResourceKind::kPod, "g-1", "uid-g-1"));
  (void)Look("g");
  EXPECT_EQ(Used("team", "h100"), 4) << "all of it for the claim";
}

TEST_F(ChargesTest, AClaimTakesOverWhatAForgottenVictimHad) {
  LeavesN1();
  ClaimOn("n1", "h");
  const GangId victim = Look("g").gang.id;
  for (const char* pod : {"g-0", "g-1"}) {
    Put(DeletionOf(ResourceKind::kPod, pod, absl::StrCat("uid-", pod)));
  }
  charges_.Forget(victim, kNow);
  EXPECT_EQ(Used("team", "h100"), 4);
}

TEST_F(ChargesTest, AVictimPaysForOneClaimOnlyAndOnlyInItsOwnFlavor) {
  LeavesN1();
  ClaimOn("n2", "elsewhere");
  EXPECT_EQ(Used("team", "h100"), 6);
  EXPECT_EQ(Used("team", "a100"), 4);
  ClaimOn("n1", "late");
  EXPECT_EQ(Used("team", "h100"), 10) << "its pods pay for the claim that was there before";
}

TEST_F(ChargesTest, APodThatStaysAfterAllPaysForNoClaim) {
  LeavesN1();
  ClaimOn("n1", "h");
  Put(MakePod("g-0").Group("g").Gpu(4).On("n1"));
  (void)Look("h");
  EXPECT_EQ(Used("team", "h100"), 8)
      << "6 for the pods, and 2 for the claim beside the one that goes";
}

TEST_F(ChargesTest, WhoSupposesThatVictimsAreGoneChargesTheirClaims) {
  LeavesN1();
  ClaimOn("n1", "h");
  const Gang& victims = Look("g").gang;
  const QuotaNodeId queue = warm_.ledger.book().QueueNamed("team");
  const QuotaCellId cell = warm_.ledger.book().CellNamed("h100", kGpuResource);
  absl::btree_set<PodId> gone = {victims.members.front().pod};
  using Taken = std::vector<std::pair<QuotaNodeId, Demand>>;
  EXPECT_EQ(charges_.TakenOver(gone, GangId()), (Taken{{queue, {{cell, Amount(2)}}}}));
  gone.insert(victims.members.back().pod);
  EXPECT_EQ(charges_.TakenOver(gone, GangId()), (Taken{{queue, {{cell, Amount(4)}}}}));
  const Case c = Look("h");
  EXPECT_EQ(charges_.TakenOver(gone, c.gang.id), Taken()) << "its own claim is free to it";
  const GangRequest request = desk_.RequestOf(c, ItemKind::kQuorum);
  Supposition supposition = charges_.Suppose(c, request);
  EXPECT_EQ(supposition.tree().Usage(queue, cell), Amount(6));
  charges_.SupposeClaimsPay(supposition);
  EXPECT_EQ(supposition.tree().Usage(queue, cell), Amount(10));
}

}  // namespace
}  // namespace maniple::loop_charges_test
