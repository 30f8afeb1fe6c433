// The claims of a gang before it is bound: all of them are bound, or what was asked for is taken
// back.
#include "scheduler/bind/gang_volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two claims: "made" is for a provisioner, "found" for the volume pv.
class Volumes : public ::testing::Test {
 protected:
  Volumes() {
    for (size_t i = 0; i < 2; ++i) {
      ClaimSight& sight = sights_[i];
      sight.there = true;
      sight.claim_version = sight.volume_version = "1";
      sight.volume = VolumeStanding::kFree;
    }
  }

  static std::vector<ClaimGoal> Goals() {
    ClaimGoal made{.namespace_name = "default", .name = "made", .uid = "u1", .node = "n1"};
    ClaimGoal found{.namespace_name = "default", .name = "found", .uid = "u2", .node = "n2"};
    found.volume = "pv";
    return {made, found};
  }

  // What is sent: "select made" and the like.
  std::vector<std::string> Settle() {
    std::vector<SendVolumeWrite> actions;
    VolumeStep step{now_, random_, actions};
    volumes_.Settle(sights_, step);
    std::vector<std::string> sent;
    for (const SendVolumeWrite& action : actions) {
      const std::string& claim = volumes_.goals()[action.goal].name;
      switch (action.what) {
        case VolumeWrite::kSetAside:
          sent.push_back("set aside for " + claim);
          break;
        case VolumeWrite::kSelectNode:
          sent.push_back("select for " + claim);
          break;
        case VolumeWrite::kTakeBack:
          sent.push_back("take back from " + claim);
          break;
      }
    }
    return sent;
  }
  void Reply(const std::string& claim, VolumeReplyKind kind) {
    std::vector<SendVolumeWrite> actions;
    VolumeStep step{now_, random_, actions};
    volumes_.OnReply(absl::StrCat("default/", claim), {.kind = kind, .detail = "no"}, step);
  }
  void ShowSelected(const std::string& node) {
    sights_[0].selected_node = node;
    sights_[0].claim_version += "1";
  }
  // Both writes are sent, done and shown.
  void Begin() {
    EXPECT_THAT(Settle(), ElementsAre("select for made", "set aside for found"));
    Reply("made", VolumeReplyKind::kDone);
    Reply("found", VolumeReplyKind::kDone);
    ShowSelected("n1");
    sights_[1].volume = VolumeStanding::kOurs;
    sights_[1].volume_version = "2";
    EXPECT_THAT(Settle(), IsEmpty());
  }

  Random random_{1};
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  GangVolumes volumes_{BackoffPolicy{}, {}, Goals(), now_ + absl::Minutes(10)};
  std::vector<ClaimSight> sights_ = std::vector<ClaimSight>(2);
};

TEST_F(Volumes, AreReadyOnceEveryClaimIsBound) {
  Begin();
  sights_[0].bound = true;
  EXPECT_THAT(Settle(), IsEmpty());
  EXPECT_EQ(volumes_.phase(), VolumePhase::kBinding);
  EXPECT_EQ(volumes_.bound(), 1);
  sights_[1].bound = true;
  EXPECT_THAT(Settle(), IsEmpty());
  EXPECT_EQ(volumes_.phase(), VolumePhase::kReady);
}

TEST_F(Volumes, AreSentOnceForAVersionThatDoesNotShowThem) {
  Settle();
  EXPECT_THAT(Settle(), IsEmpty());  // under way
  Reply("made", VolumeReplyKind::kDone);
  EXPECT_THAT(Settle(), IsEmpty());  // done, and the watch is behind
  EXPECT_EQ(volumes_.phase(), VolumePhase::kBinding);
}

TEST_F(Volumes, ANodeThatIsTakenAwayBeforeTheWatchHasShownItIsTakenAwayAllTheSame) {
  Settle();
  Reply("made", VolumeReplyKind::kDone);
  Reply("found", VolumeReplyKind::kDone);
  sights_[0].claim_version = "3";  // 2 was ours, and nobody saw it
  Settle();
  EXPECT_EQ(volumes_.phase(), VolumePhase::kFailed);
  EXPECT_THAT(volumes_.trouble(), HasSubstr("no volume could be made"));
}

TEST_F(Volumes, AreTriedAgainAfterAWhileWhenAWriteFails) {
  Settle();
  Reply("made", VolumeReplyKind::kAgain);
  EXPECT_THAT(Settle(), IsEmpty());
  const absl::Time next = volumes_.NextDeadline();
  EXPECT_GT(next, now_);
  EXPECT_LT(next, now_ + absl::Minutes(1));
  now_ = next;
  EXPECT_THAT(Settle(), ElementsAre("select for made"));
  EXPECT_GT(volumes_.NextDeadline(), now_);  // nothing spins
}

TEST_F(Volumes, GoOnWhereAnEarlierLeaderLeftOff) {
  ShowSelected("n1");
  sights_[1].bound = true;
  EXPECT_THAT(Settle(), IsEmpty());
  sights_[0].bound = true;
  Settle();
  EXPECT_EQ(volumes_.phase(), VolumePhase::kReady);
}

TEST_F(Volumes, AProvisionerThatTakesTheNodeAwayCannotMakeOne) {
  Begin();
  ShowSelected("");
  Settle();
  EXPECT_EQ(volumes_.phase(), VolumePhase::kFailed);
  EXPECT_THAT(volumes_.trouble(), HasSubstr("claim default/made: no volume could be made"));
}

TEST_F(Volumes, WhatWasAskedForIsTakenBackWhenAnotherClaimFails) {
  Begin();
  sights_[1].there = false;
  EXPECT_THAT(Settle(), ElementsAre("take back from made"));
  EXPECT_EQ(volumes_.phase(), VolumePhase::kUndoing);
  EXPECT_THAT(volumes_.trouble(), HasSubstr("claim default/found is gone"));
  Reply("made", VolumeReplyKind::kAgain);
  now_ = volumes_.NextDeadline();
  EXPECT_THAT(Settle(), ElementsAre("take back from made"));
  Reply("made", VolumeReplyKind::kDone);
  EXPECT_THAT(Settle(), IsEmpty());
  EXPECT_EQ(volumes_.phase(), VolumePhase::kUndoing);
  ShowSelected("");
  Settle();
  EXPECT_EQ(volumes_.phase(), VolumePhase::kFailed);
}

TEST_F(Volumes, ANodeThatAnEarlierLeaderSelectedIsLeftAlone) {
  ShowSelected("n1");
  Settle();
  Reply("found", VolumeReplyKind::kAgain);
  sights_[1].volume = VolumeStanding::kOthers;
  EXPECT_THAT(Settle(), IsEmpty());
  EXPECT_EQ(volumes_.phase(), VolumePhase::kFailed);
}

TEST_F(Volumes, TakingBackEndsInTime) {
  Begin();
  sights_[1].there = false;
  Settle();
  now_ += absl::Minutes(1);
  Settle();
  EXPECT_EQ(volumes_.phase(), VolumePhase::kFailed);
}

TEST_F(Volumes, FailWhenTheTimeIsUpOrAWriteIsRefused) {
  Begin();
  now_ += absl::Minutes(10);
  sights_[1].bound = true;
  EXPECT_THAT(Settle(), ElementsAre("take back from made"));
  EXPECT_THAT(volumes_.trouble(), HasSubstr("1 of 2 claims were bound in time"));

  GangVolumes refused(BackoffPolicy{}, {}, Goals(), now_ + absl::Minutes(10));
  std::vector<SendVolumeWrite> actions;
  VolumeStep step{now_, random_, actions};
  sights_[0].selected_node.clear();
  refused.Settle(sights_, step);
  refused.OnReply("default/made", {.kind = VolumeReplyKind::kRefused, .detail = "no right"}, step);
  refused.Settle(sights_, step);
  EXPECT_EQ(refused.phase(), VolumePhase::kFailed);
  EXPECT_THAT(refused.trouble(), HasSubstr("no right"));
}

TEST_F(Volumes, AVolumeThatAnotherTookIsNotFoughtFor) {
  Begin();
  sights_[1].volume = VolumeStanding::kFree;  // the controller has taken it from the claim
  Settle();
  EXPECT_EQ(volumes_.phase(), VolumePhase::kUndoing);
  EXPECT_THAT(volumes_.trouble(), HasSubstr("is not kept for it any more"));
}

TEST_F(Volumes, AreWithdrawnOnlyWhileNothingHasGoneWrong) {
  Begin();
  std::vector<SendVolumeWrite> actions;
  VolumeStep step{now_, random_, actions};
  volumes_.Withdraw("the gang has been edited", step);
  EXPECT_EQ(volumes_.phase(), VolumePhase::kUndoing);
  EXPECT_TRUE(volumes_.withdrawn());

  GangVolumes failed(BackoffPolicy{}, {}, Goals(), now_ + absl::Minutes(10));
  failed.Cancel("it has to leave", step);
  failed.Withdraw("the gang has been edited", step);
  EXPECT_FALSE(failed.withdrawn());
  EXPECT_THAT(failed.trouble(), HasSubstr("it has to leave"));
}

TEST(VolumeReplies, ARefusalIsWhatNoRetryCanCure) {
  const auto kind = [](int code) {
    return ReadVolumeReply({.outcome = WriteOutcome::kAnswered, .http_status = code}).kind;
  };
  EXPECT_EQ(kind(200), VolumeReplyKind::kDone);
  for (const int code : {401, 408, 409, 429, 500, 503}) {
    EXPECT_EQ(kind(code), VolumeReplyKind::kAgain) << code;
  }
  for (const int code : {400, 403, 404, 422}) {
    EXPECT_EQ(kind(code), VolumeReplyKind::kRefused) << code;
  }
  EXPECT_EQ(ReadVolumeReply({.outcome = WriteOutcome::kUnknown}).kind, VolumeReplyKind::kAgain);
}

}  // namespace
}  // namespace maniple
