// PodGroups that stood for the gangs of other objects, and whose pods are gone. Fears: a gang that
// has ended or was evicted is called invalid; its status keeps what was so when its pods were
// there; it counts as pending for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/unit/loop/producers_fixture.h"

namespace maniple {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LoopLeftBehind : public LoopProducers {
 protected:
  // Two pods of Job "train", of eight GPUs each, which run for a minute.
  void RunJob() {
    Queue queue;
    queue.meta.name = "q";
    queue.meta.uid = "uid-q";
    queue.within_queue = WithinQueuePreemption::kLowerPriority;
    d_.api.Put(queue);
    Put({.kind = kJobs,
         .name = "train",
         .spec = R"({"completionMode":"Indexed","completions":2,"parallelism":2})"});
    Submit({.prefix = "train",
            .to = 2,
            .owner = OwnerReference{"Job", "train", "u-train", "batch/v1"},
            .queue = "q"});
    d_.Settle(absl::Minutes(1));
    ASSERT_EQ(BoundOf("train"), 2);
    ASSERT_THAT(StandingFor("train"), SizeIs(1));
  }
  void SetPhases(PodPhase phase) {
    for (const char* pod : {"train-0", "train-1"}) d_.api.SetPhase(pod, phase);
    d_.Settle(absl::Minutes(1));
  }
  void CleanUp() {
    for (const char* pod : {"train-0", "train-1"}) d_.api.Delete(ResourceKind::kPod, pod);
    d_.Settle(absl::Minutes(1));
  }
  // "phase reason: message", as the PodGroup and the view say it; they are to say the same.
  [[nodiscard]] std::string Told() {
    const std::vector<PodGroup> groups = StandingFor("train");
    if (groups.size() != 1) return absl::StrCat(groups.size(), " PodGroups");
    const PodGroupStatus& status = groups[0].status;
    const std::string told = absl::StrCat(status.phase, " ", status.reason, ": ", status.message);
    const GangView* view = d_.ViewOf(groups[0].meta.name);
    if (view == nullptr) return "no gang";
    const std::string shown = absl::StrCat(view->phase, " ", view->reason, ": ", view->message);
    return told == shown ? told : absl::StrCat(told, " / ", shown);
  }
  [[nodiscard]] int Pending() { return d_.loop().View(d_.now)->queues.front().pending; }
  [[nodiscard]] bool IsCalledInvalid() const {
    return std::ranges::any_of(d_.api.events_created(), [](const std::string& event) {
      return absl::StartsWith(event, "InvalidSpec");
    });
  }
};

TEST_F(LoopLeftBehind, AJobThatHasEndedStaysCompletedWhenItsPodsAreCleanedAway) {
  RunJob();
  SetPhases(PodPhase::kSucceeded);
  ASSERT_EQ(Told(), "Completed Bound: 2 pods succeeded");
  CleanUp();
  EXPECT_EQ(Told(), "Completed Bound: 2 pods succeeded");
  EXPECT_EQ(Pending(), 0);
  EXPECT_FALSE(IsCalledInvalid());
  d_.Restart();
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(Told(), "Completed Bound: 2 pods succeeded");
  EXPECT_EQ(Pending(), 0);
  EXPECT_FALSE(IsCalledInvalid());
}

TEST_F(LoopLeftBehind, AJobThatHasFailedStaysFailedWhenItsPodsAreCleanedAway) {
  RunJob();
  SetPhases(PodPhase::kFailed);
  ASSERT_THAT(Told(), HasSubstr("Failed"));
  CleanUp();
  EXPECT_THAT(Told(), ::testing::StartsWith("Failed "));
  EXPECT_THAT(Told(), ::testing::Not(HasSubstr(" / ")));
  EXPECT_EQ(Pending(), 0);
  EXPECT_FALSE(IsCalledInvalid());
}

TEST_F(LoopLeftBehind, ASuspendedJobWaitsForItsPodsAndHoldsNothing) {
  RunJob();
  CleanUp();
  EXPECT_THAT(Told(), HasSubstr("0 of 2 pods exist"));
  EXPECT_THAT(Told(), ::testing::StartsWith("Waiting "));
  EXPECT_THAT(Told(), ::testing::Not(HasSubstr("spec.source")));
  ASSERT_THAT(StandingFor("train"), SizeIs(1));
  EXPECT_THAT(StandingFor("train")[0].status.placement_nodes, IsEmpty());
  EXPECT_EQ(StandingFor("train")[0].status.members.bound, 0);
  EXPECT_FALSE(IsCalledInvalid());
}

TEST_F(LoopLeftBehind, APreemptedJobWaitsForItsPodsToBeMadeAgain) {
  RunJob();
  d_.Submit({.gang = "urgent", .pods = 4, .queue = "q", .priority = 100});
  d_.Settle(absl::Minutes(1));
  ASSERT_EQ(d_.Bound("urgent"), 4);
  EXPECT_THAT(Told(), ::testing::StartsWith("Waiting Preempted: preempted by "));
  EXPECT_THAT(Told(), HasSubstr("0 of 2 pods exist"));
  EXPECT_THAT(StandingFor("train")[0].status.placement_nodes, IsEmpty());
  EXPECT_FALSE(IsCalledInvalid());
  d_.Restart();
  d_.Settle(absl::Minutes(1));
  EXPECT_THAT(Told(), HasSubstr("Waiting Preempted: "));
  EXPECT_FALSE(IsCalledInvalid());
}

// The rules of what starts are the same as ever: its name is no gang for anybody else's pods.
TEST_F(LoopLeftBehind, APodThatNamesThePodGroupStartsNothing) {
  RunJob();
  CleanUp();
  ASSERT_THAT(StandingFor("train"), SizeIs(1));
  const std::string name = StandingFor("train")[0].meta.name;
  for (const char* pod : {"thief-0", "thief-1"}) d_.api.Put(MakePod(pod).Group(name).Gpu(8));
  d_.Settle(absl::Minutes(1));
  EXPECT_EQ(BoundOf("thief"), 0);
  EXPECT_THAT(Told(), HasSubstr("Pending InvalidSpec: spec.source: it stands for Job train"));
}

TEST_F(LoopLeftBehind, APodGroupThatNobodyEverDeclaredIsInvalidWithoutPodsToo) {
  PodGroup forged = MakePodGroup("forged").MinMember(1);
  forged.spec.source = {.api_version = "batch/v1", .kind = "Job", .name = "big", .uid = "u-big"};
  d_.api.Put(forged);
  d_.Settle(absl::Seconds(5));
  ASSERT_NE(d_.ViewOf("forged"), nullptr);
  EXPECT_EQ(d_.ViewOf("forged")->reason, "InvalidSpec");
}

}  // namespace
}  // namespace maniple
