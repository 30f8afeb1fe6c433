// PodGroups that stand for gangs which others declare. Fears: a write is sent twice, or never
// again, or too often; one is made for a gang with nothing to say; one that nobody needs stays, or
// goes early.
#include "scheduler/loop/desk/stand_ins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace maniple::loop_stand_ins_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
const Standing kRuns{.phase = GangPhase::kRunning, .reason = WaitReason::kBound};
const Standing kWaits{.phase = GangPhase::kPending, .reason = WaitReason::kNoFit};

class StandInsTest : public ::testing::Test {
 protected:
  StandInsTest() {
    gang_.id = GangId(0);
    gang_.key = {.namespace_name = "default", .name = "g"};
    gang_.spec.source = {.api_version = "v1", .kind = "Pod"};
    gang_.members.resize(1);
    gang_.foreign = std::make_shared<const ForeignGang>();
    desk_.records[gang_.id] = std::make_unique<GangRecord>(kStart);
  }
  Case Now() { return {gang_, *desk_.records.at(gang_.id), Assembly(), now_}; }
  // "POST", "PATCH" or "DELETE", for each write that follows from a look at the gang.
  std::vector<std::string> Writes(const Standing& standing) {
    Case c = Now();
    c.record.status_due = absl::InfiniteFuture();
    if (gang_.foreign != nullptr) {
      stand_ins_.KeepStandIn(c, standing);
    } else {
      stand_ins_.DropStandIn(c);
    }
    std::vector<std::string> methods;
    for (const WriteCommand& write : std::exchange(desk_.writes, {})) {
      const HttpMethod method = write.request.method;
      methods.emplace_back(method == HttpMethod::kPost    ? "POST"
                           : method == HttpMethod::kPatch ? "PATCH"
                                                          : "DELETE");
    }
    return methods;
  }
  void Hear(int http_status, const char* reason = "") {
    WriteResult result{.http_status = http_status};
    result.status.reason = reason;
    stand_ins_.HearStandIn(gang_.id, result, now_);
  }
  // The phases that are written to the foreign group, as they follow from a look at it.
  int PhasesToldOf(GangPhase phase) {
    Case c = Now();
    c.record.status_due = absl::InfiniteFuture();
    stand_ins_.TellProducer(c, {.phase = phase, .reason = WaitReason::kNoFit});
    return static_cast<int>(std::exchange(desk_.writes, {}).size());
  }
  void HearPhase(int http_status) {
    stand_ins_.HearPhase({.gang = gang_.id}, {.http_status = http_status}, now_);
  }
  void IsXk8sGroup(const char* phase) {
    ForeignGang foreign;
    foreign.status = ForeignStatusTarget{.path = "/path", .phase = phase};
    gang_.foreign = std::make_shared<const ForeignGang>(std::move(foreign));
  }
  // As the watch shows it.
  void Stands(int32_t min_member) {
    gang_.group_exists = true;
    gang_.stand_in = StandIn{.uid = "uid", .spec = StorableSpec(gang_.spec)};
    gang_.stand_in->spec.min_member = min_member;
  }
  void AllPodsGo() {
    gang_.foreign = nullptr;
    gang_.members.clear();
  }
  void PodsComeBack(int32_t min_member) {
    gang_.foreign = std::make_shared<const ForeignGang>();
    gang_.members.resize(1);
    gang_.spec.min_member = min_member;
  }
  [[nodiscard]] absl::Duration Due() { return desk_.records.at(gang_.id)->status_due - now_; }

  WarmState warm_{LoopOptions()};
  Desk desk_{warm_};
  StandIns stand_ins_{desk_};
  Gang gang_;
  absl::Time now_ = kStart;
};

TEST_F(StandInsTest, IsMadeAtOnceForAGangThatRunsAndAfterASecondForOneThatWaits) {
  EXPECT_THAT(Writes(kWaits), IsEmpty());
  EXPECT_EQ(Due(), absl::Seconds(1));
  now_ += absl::Seconds(1);
  EXPECT_THAT(Writes(kWaits), ElementsAre("POST"));
  EXPECT_THAT(Writes(kRuns), IsEmpty()) << "it is under way";
}

TEST_F(StandInsTest, IsMadeForNoGangThatEndsBeforeItHasSomethingToSay) {
  now_ += absl::Hours(1);
  for (const GangPhase phase : {GangPhase::kCompleted, GangPhase::kFailed}) {
    EXPECT_THAT(Writes({.phase = phase}), IsEmpty());
  }
  EXPECT_THAT(Writes(kRuns), ElementsAre("POST"));
}

TEST_F(StandInsTest, IsMadeAgainWhenTheWatchDoesNotShowIt) {
  EXPECT_THAT(Writes(kRuns), ElementsAre("POST"));
  Hear(201);
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  EXPECT_EQ(Due(), absl::Seconds(10));
  now_ += absl::Seconds(10);
  EXPECT_THAT(Writes(kRuns), ElementsAre("POST"));
  Hear(403);
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  EXPECT_LE(Due(), absl::Seconds(1)) << "the first pause";
  Stands(gang_.spec.min_member);
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  EXPECT_FALSE(desk_.records.at(gang_.id)->stand_in.has_value());
}

// A late watch, or an earlier leader: what is there is our own.
TEST_F(StandInsTest, OneThatIsThereAndDoesNotShowYetRefusesNothing) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(Writes(kRuns), ElementsAre("POST")) << "and no event";
    Hear(409, "AlreadyExists");
    now_ += absl::Minutes(1);
  }
}

TEST_F(StandInsTest, FollowsTheWordOfTheProducer) {
  Stands(gang_.spec.min_member);
  EXPECT_THAT(Writes(kWaits), IsEmpty());
  gang_.spec.min_member = 7;
  EXPECT_THAT(Writes(kWaits), ElementsAre("PATCH"));
  Hear(200);
  Stands(7);
  EXPECT_THAT(Writes(kWaits), IsEmpty());
}

// After three at once.
TEST_F(StandInsTest, FollowsTheProducerOnceASecondWithItsLastWord) {
  Stands(gang_.spec.min_member);
  const auto follows = [this](int32_t minimum) {
    gang_.spec.min_member = minimum;
    EXPECT_THAT(Writes(kWaits), ElementsAre("PATCH"));
    Hear(200);
    Stands(minimum);
  };
  for (int32_t minimum = 2; minimum < 5; ++minimum) follows(minimum);
  for (int32_t minimum = 5; minimum < 8; ++minimum) {
    gang_.spec.min_member = 9;
    EXPECT_THAT(Writes(kWaits), IsEmpty());
    EXPECT_EQ(Due(), absl::Seconds(1));
    now_ += absl::Seconds(1);
    follows(minimum);
  }
}

TEST_F(StandInsTest, DoesNotWaitForTheWatchToShowAWordThatIsOvertaken) {
  Stands(1);
  gang_.spec.min_member = 2;
  EXPECT_THAT(Writes(kWaits), ElementsAre("PATCH"));
  Hear(200);
  gang_.spec.min_member = 3;
  now_ += absl::Seconds(1);
  EXPECT_THAT(Writes(kWaits), ElementsAre("PATCH"));
}

// A start goes through three phases at once; whoever toggles its group has to wait.
TEST_F(StandInsTest, AForeignGroupIsToldOnceASecondAndItsLastPhaseAtLast) {
  IsXk8sGroup("");
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(PhasesToldOf(turn % 2 == 0 ? GangPhase::kWaiting : GangPhase::kRunning), 1);
    HearPhase(200);
    IsXk8sGroup(turn % 2 == 0 ? "Pending" : "Running");
  }
  now_ += absl::Milliseconds(400);
  EXPECT_EQ(PhasesToldOf(GangPhase::kRunning), 0);
  EXPECT_EQ(Due(), absl::Milliseconds(600));
  now_ += absl::Milliseconds(600);
  EXPECT_EQ(PhasesToldOf(GangPhase::kRunning), 1);
}

TEST_F(StandInsTest, GoesTenMinutesAfterTheLastPod) {
  Stands(1);
  AllPodsGo();
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  EXPECT_EQ(Due(), absl::Minutes(10));
  now_ += absl::Minutes(10);
  EXPECT_THAT(Writes(kRuns), ElementsAre("DELETE"));
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  Hear(500);
  now_ += absl::Minutes(1);
  EXPECT_THAT(Writes(kRuns), ElementsAre("DELETE"));
}

TEST_F(StandInsTest, OneThatAnOwnerHasIsLeftToTheGarbageCollector) {
  gang_.spec.source.kind = "Job";
  Stands(1);
  AllPodsGo();
  now_ += absl::Hours(1);
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  EXPECT_FALSE(desk_.records.at(gang_.id)->stand_in.has_value());
}

TEST_F(StandInsTest, AReplyForAGangThatIsGoneIsNotHeard) {
  EXPECT_THAT(Writes(kRuns), ElementsAre("POST"));
  desk_.records.clear();
  Hear(201);
  EXPECT_THAT(desk_.to_report, IsEmpty());
}

TEST_F(StandInsTest, GoesTenMinutesAfterTheLastPodAlsoIfThatWasGoneBeforeTheWatchShowedIt) {
  EXPECT_THAT(Writes(kRuns), ElementsAre("POST"));
  Hear(201);
  Stands(1);
  AllPodsGo();
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  EXPECT_EQ(Due(), absl::Minutes(10));
}

TEST_F(StandInsTest, FollowsTheProducerAtOnceWhenPodsComeBack) {
  Stands(1);
  AllPodsGo();
  EXPECT_THAT(Writes(kRuns), IsEmpty());
  now_ += absl::Minutes(1);
  PodsComeBack(7);
  EXPECT_THAT(Writes(kWaits), ElementsAre("PATCH"));
}

}  // namespace
}  // namespace maniple::loop_stand_ins_test
