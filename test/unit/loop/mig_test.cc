// Idle nodes are divided for those who wait. Fears: a node with running GPU pods is touched; pods
// land on a node that is about to change; a second plan follows for what the first one brings; the
// configuration goes back and forth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/loop/records/errands.h"
#include "test/support/loop_driver.h"
#include "test/support/mig_nodes.h"

namespace maniple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kSmall[] = "nvidia.com/mig-1g.10gb";

LoopDriver::Settings With(MigReconfigure mode) {
  LoopDriver::Settings settings;
  settings.mig.reconfigure = mode;
  return settings;
}

class LoopMig : public ::testing::Test {
 protected:
  void Start(MigReconfigure mode, int nodes) {
    driver.emplace(With(mode));
    for (int i = 1; i <= nodes; ++i) driver->Put(MigCapableNode(absl::StrCat("n", i)));
    driver->Settle();
  }
  // A gang whose pods want one resource each.
  void Submit(absl::string_view gang, int pods, absl::string_view resource, int64_t amount = 1,
              absl::string_view queue = "") {
    PodGroup group = MakePodGroup(gang).MinMember(pods).Queue(queue);
    group.meta.created = driver->now;
    driver->api.Put(group);
    for (int i = 0; i < pods; ++i) {
      Pod pod = MakePod(absl::StrCat(gang, "-", i)).Group(gang).Wants(resource, amount);
      pod.meta.created = driver->now;
      driver->api.Put(pod);
    }
  }
  void GiveTeam(int64_t slices) {
    Queue queue;
    queue.meta.name = "team";
    queue.quotas = {{.resources = {{.resource = kSmall, .nominal = Amount(slices)}}}};
    driver->api.Put(queue);
  }
  // Of two nodes n1 is divided already, and team has ten slices of it in use.
  void StartWithTeam(MigReconfigure mode, int64_t slices) {
    Start(mode, 2);
    CarryOut("n1", kSmall, 56);
    GiveTeam(slices);
    Submit("runs", 1, kSmall, 10, "team");
    driver->Settle();
    ASSERT_EQ(driver->Bound("runs"), 1);
  }
  // The division of n1 meets the fault, and nobody can tell whether it was done.
  void KeepsOthersOffForAWhileAfter(Fault fault) {
    fault.on = "PATCH /api/v1/nodes/n1";
    Start(MigReconfigure::kOn, 1);
    Submit("slices", 3, kSmall);
    driver->Settle(absl::Seconds(55));
    driver->api.Break(fault);
    driver->Settle(absl::Seconds(10));
    ASSERT_EQ(driver->api.Count(fault.on), 1);
    Submit("whole", 1, kGpuResource, 8);
    driver->Settle(absl::Seconds(20));
    EXPECT_EQ(driver->Bound("whole"), 0) << "the write may have been done";
    driver->Settle(absl::Minutes(2));
    EXPECT_EQ(driver->Bound("whole"), 1) << "it was not, and the node is what it was";
  }
  std::string ConfigOf(absl::string_view node) const {
    return std::string(driver->api.FindNode(node)->meta.labels.Get("nvidia.com/mig.config"));
  }
  std::string StateOf(absl::string_view node) const {
    return std::string(driver->api.FindNode(node)->meta.labels.Get("nvidia.com/mig.config.state"));
  }
  // As mig-manager does, once it is through with it.
  void CarryOut(absl::string_view name, absl::string_view resource, int64_t amount) {
    Node node = *driver->api.FindNode(name);
    node.meta.resource_version.clear();
    node.meta.labels.Set("nvidia.com/mig.config.state", "success");
    std::erase_if(node.allocatable, [](const ResourceAmount& each) {
      return each.resource.starts_with("nvidia.com/");
    });
    node.allocatable.push_back({std::string(resource), Amount(amount)});
    std::ranges::sort(node.allocatable);
    driver->api.Put(node);
  }

  std::optional<LoopDriver> driver;
};

TEST_F(LoopMig, AnIdleNodeIsDividedAndTheGangStarts) {
  Start(MigReconfigure::kOn, 2);
  Submit("a", 3, kSmall);
  driver->Settle(absl::Seconds(50));
  EXPECT_EQ(ConfigOf("n1"), "all-disabled") << "it has not waited long enough";
  driver->Settle(absl::Seconds(30));
  EXPECT_EQ(ConfigOf("n1"), "all-1g.10gb");
  EXPECT_EQ(StateOf("n1"), "pending");
  EXPECT_EQ(driver->api.FindNode("n1")->meta.annotations.Get(kMigChangedFrom), "all-disabled");
  EXPECT_EQ(ConfigOf("n2"), "all-disabled");
  EXPECT_THAT(driver->api.events_created(),
              Contains("MigConfigChanged on n1: nvidia.com/mig.config set from all-disabled to "
                       "all-1g.10gb; with this changed, 3 instead of 0 waiting pods find their "
                       "GPUs or slices"));
  driver->Settle(absl::Minutes(5));
  EXPECT_EQ(ConfigOf("n2"), "all-disabled") << "what is coming is enough";
  CarryOut("n1", kSmall, 56);
  driver->Settle();
  EXPECT_EQ(driver->Bound("a"), 3);
  driver->Settle(absl::Hours(1));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/"), 1);
}

// It could not start on any node, and another might need this one as it is.
TEST_F(LoopMig, NoNodeIsDividedForAGangThatLacksQuotaForGood) {
  StartWithTeam(MigReconfigure::kOn, 66);
  Submit("waits", 1, kSmall, 56, "team");  // n1 has 46, and team 56
  driver->Settle(absl::Seconds(20));
  EXPECT_EQ(driver->StatusOf("waits").reason, "NoFit");
  Submit("small", 1, kSmall, 20, "team");
  driver->Settle(absl::Minutes(5));
  ASSERT_EQ(driver->Bound("small"), 1);
  EXPECT_EQ(ConfigOf("n2"), "all-disabled");
  GiveTeam(100);
  driver->Settle(absl::Minutes(1));
  EXPECT_EQ(ConfigOf("n2"), "all-1g.10gb") << "only the node is lacking now";
}

TEST_F(LoopMig, WhoLacksQuotaAndADivisionIsToldOfTheQuota) {
  StartWithTeam(MigReconfigure::kOn, 120);
  Submit("both", 2, kSmall, 56, "team");  // of 110 that are left
  driver->Settle(absl::Minutes(5));
  EXPECT_EQ(driver->StatusOf("both").reason, "QuotaExceeded");
  EXPECT_EQ(ConfigOf("n2"), "all-disabled");
  driver->api.SetPhase("runs-0", PodPhase::kSucceeded);
  driver->Settle(absl::Minutes(2));
  EXPECT_EQ(driver->StatusOf("both").reason, "NoFit");
  EXPECT_THAT(driver->StatusOf("both").message, HasSubstr("pods fit"));
  EXPECT_EQ(ConfigOf("n2"), "all-1g.10gb");
}

TEST_F(LoopMig, WhereNobodyDividesWhoLacksQuotaTooIsToldThatItNeverFits) {
  StartWithTeam(MigReconfigure::kOff, 120);
  Submit("both", 2, kSmall, 56, "team");
  driver->Settle();
  EXPECT_EQ(driver->StatusOf("both").reason, "NeverFits");
  EXPECT_THAT(driver->StatusOf("both").message, HasSubstr("even on the empty cluster"));
}

TEST_F(LoopMig, AGangThatADivisionWouldServeIsNotToldThatItNeverFits) {
  Start(MigReconfigure::kOn, 2);
  Submit("a", 3, kSmall);
  Submit("b", 113, kSmall);  // two nodes of eight GPUs with seven slices each have 112
  driver->Settle(absl::Seconds(5));
  EXPECT_EQ(driver->StatusOf("a").reason, "NoFit");
  EXPECT_EQ(driver->StatusOf("b").reason, "NeverFits");
}

TEST_F(LoopMig, ADryRunOnlySaysSoAndNotAllTheTime) {
  Start(MigReconfigure::kDryRun, 2);
  Submit("a", 3, kSmall);
  driver->Settle(absl::Minutes(5));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/"), 0);
  const auto proposed = HasSubstr("MigConfigProposed on n1: dry run");
  EXPECT_THAT(driver->api.events_created(), Contains(proposed).Times(1));
  EXPECT_THAT(driver->api.events_created(), Not(Contains(HasSubstr("on n2"))));
}

TEST_F(LoopMig, OffMeansNothingAtAll) {
  Start(MigReconfigure::kOff, 2);
  Submit("a", 3, kSmall);
  driver->Settle(absl::Minutes(30));
  EXPECT_EQ(driver->api.Count("/nodes/"), 0);
  EXPECT_THAT(driver->api.events_created(), Not(Contains(HasSubstr("Mig"))));
}

TEST_F(LoopMig, NodesWithGpuPodsOfWhomeverAreNotTouched) {
  Start(MigReconfigure::kOn, 3);
  driver->Put(MakePod("ours").Gpu(1).On("n1").Phase(PodPhase::kRunning));
  driver->Put(MakePod("theirs").Gpu(1).On("n2").Scheduler("other").Phase(PodPhase::kRunning));
  // Its device plugin is away; the pod is not.
  driver->Put(MigCapableNode("n3").Gpu(0));
  driver->Put(MakePod("left").Gpu(1).On("n3").Phase(PodPhase::kRunning));
  driver->Settle();
  Submit("a", 3, kSmall);
  driver->Settle(absl::Minutes(10));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/"), 0);
  driver->api.Delete(ResourceKind::kPod, "theirs");
  driver->Settle(absl::Seconds(30));
  EXPECT_EQ(ConfigOf("n2"), "all-1g.10gb");
  EXPECT_EQ(ConfigOf("n1"), "all-disabled");
}

TEST_F(LoopMig, GangsOfWholeGpusKeepTheNodesThatTheyCouldUse) {
  Start(MigReconfigure::kOn, 2);
  Submit("whole", 3, kGpuResource, 8);
  Submit("slices", 3, kSmall);
  driver->Settle(absl::Minutes(10));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/"), 0);
  for (int i = 0; i < 3; ++i) driver->api.Delete(ResourceKind::kPod, absl::StrCat("whole-", i));
  driver->Settle(absl::Minutes(1));
  EXPECT_EQ(ConfigOf("n1"), "all-1g.10gb");
}

TEST_F(LoopMig, BetweenTheWriteAndItsShowingNobodyLandsOnTheNode) {
  Start(MigReconfigure::kOn, 1);
  Submit("slices", 3, kSmall);
  driver->Settle(absl::Seconds(59));
  driver->api.StallWatches();
  driver->Settle(absl::Seconds(10));
  ASSERT_EQ(driver->api.Count("PATCH /api/v1/nodes/n1"), 1);
  driver->Restart();  // … which hears all, with the label on the node
  Submit("whole", 1, kGpuResource, 8);
  driver->Settle(absl::Seconds(5));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/"), 1);
}

TEST_F(LoopMig, ANodeUnderChangeTakesPodsWithoutGpusOnly) {
  Start(MigReconfigure::kOn, 1);
  Submit("slices", 3, kSmall);
  driver->Settle(absl::Seconds(61));
  ASSERT_EQ(StateOf("n1"), "pending");
  Submit("whole", 1, kGpuResource, 8);
  Submit("cpu", 1, "cpu", 1000);
  driver->Settle(absl::Seconds(5));
  EXPECT_EQ(driver->Bound("cpu"), 1);
  EXPECT_EQ(driver->Bound("whole"), 0) << "though n1 still reports its GPUs";
  CarryOut("n1", kSmall, 56);
  driver->Settle();
  EXPECT_EQ(driver->Bound("slices"), 3);
}

TEST_F(LoopMig, APodThatComesWhileTheWriteIsUnderWayIsKeptOff) {
  KeepsOthersOffForAWhileAfter({.act = FaultAct::kDrop});
}

TEST_F(LoopMig, AServerThatFailsMayHaveFailedAfterTheDeed) {
  KeepsOthersOffForAWhileAfter({.code = 500});
}

TEST_F(LoopMig, AWriteThatFailedIsNotSentAgainOntoAPodThatHasComeSince) {
  Start(MigReconfigure::kOn, 1);
  driver->api.Break({.on = "PATCH /api/v1/nodes/n1", .times = 1, .code = 503});
  Submit("a", 3, kSmall);
  driver->Settle(absl::Seconds(60));
  ASSERT_EQ(driver->api.Count("PATCH /api/v1/nodes/n1"), 1);
  driver->Put(MakePod("theirs").Gpu(1).On("n1").Scheduler("other").Phase(PodPhase::kRunning));
  driver->Settle(absl::Minutes(5));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/n1"), 1);
}

TEST(Errands, NobodySendsADivisionAgainWhoDoesNotDecideItAnew) {
  Errands errands;
  const WriteCommand command = errands.Send({.kind = ErrandKind::kNodeConfig, .name = "n1"}, {});
  EXPECT_EQ(command.retry, WriteRetry::kNone);
}

TEST_F(LoopMig, AWriteThatIsRefusedIsTriedAgainLater) {
  Start(MigReconfigure::kOn, 1);
  driver->api.Break({.on = "PATCH /api/v1/nodes/n1", .times = 1, .code = 409});
  Submit("a", 3, kSmall);
  driver->Settle(absl::Seconds(65));
  EXPECT_EQ(ConfigOf("n1"), "all-disabled");
  driver->Settle(absl::Minutes(2));
  EXPECT_EQ(ConfigOf("n1"), "all-1g.10gb");
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/n1"), 2);
}

TEST_F(LoopMig, ANewLeaderDoesNotAskAgainForWhatIsComing) {
  Start(MigReconfigure::kOn, 2);
  Submit("a", 3, kSmall);
  driver->Settle(absl::Minutes(2));
  ASSERT_EQ(ConfigOf("n1"), "all-1g.10gb");
  driver->Restart();
  driver->Settle(absl::Minutes(2));
  EXPECT_EQ(ConfigOf("n2"), "all-disabled");
  CarryOut("n1", kSmall, 56);
  driver->Settle();
  EXPECT_EQ(driver->Bound("a"), 3);
}

TEST_F(LoopMig, WhereNobodyCarriesItOutNoOtherNodeIsSpent) {
  Start(MigReconfigure::kOn, 2);
  Submit("a", 3, kSmall);
  driver->Settle(absl::Minutes(17));
  Submit("b", 60, kSmall);
  driver->Settle(absl::Minutes(60));
  EXPECT_EQ(ConfigOf("n2"), "all-disabled");
  EXPECT_THAT(driver->api.events_created(),
              Contains(HasSubstr("MigConfigOverdue on n1: nobody has carried out")));
}

TEST_F(LoopMig, SlicesThatNoPlanCanServeCostNothing) {
  Start(MigReconfigure::kOn, 2);
  Submit("a", 1, "nvidia.com/mig-1g.99gb");
  Submit("b", 1, "nvidia.com/mig-7g.80gb", 9);
  driver->Settle(absl::Hours(1));
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/"), 0);
  EXPECT_THAT(driver->api.events_created(), Not(Contains(HasSubstr("Mig"))));
}

// Two kinds take turns in waiting; the one node there is follows at the pace of its hold-off.
TEST_F(LoopMig, ANodeThatAllWantInTurnsIsNotFlapping) {
  Start(MigReconfigure::kOn, 1);
  const absl::Time began = driver->now;
  for (int round = 0; round < 4; ++round) {
    const bool small = round % 2 == 0;
    const std::string gang = absl::StrCat("g", round);
    Submit(gang, 1, small ? kSmall : "nvidia.com/mig-7g.80gb");
    for (int wait = 0; wait < 200 && driver->Bound(gang) == 0; ++wait) {
      driver->Settle(absl::Seconds(10));
      if (StateOf("n1") != "pending") continue;
      CarryOut("n1", small ? kSmall : "nvidia.com/mig-7g.80gb", small ? 56 : 8);
    }
    ASSERT_EQ(driver->Bound(gang), 1) << round;
    driver->api.Delete(ResourceKind::kPod, absl::StrCat(gang, "-0"));
  }
  EXPECT_EQ(driver->api.Count("PATCH /api/v1/nodes/n1"), 4);
  EXPECT_GE(driver->now - began, absl::Minutes(30)) << "ten between two changes";
}

}  // namespace
}  // namespace maniple
