#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "scheduler/report/events.h"
#include "scheduler/report/message.h"
#include "scheduler/report/quota_report.h"
#include "scheduler/report/reason.h"
#include "scheduler/report/status.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Gang TheGang(int32_t min_member = 4) {
  Gang gang;
  gang.key = {.namespace_name = "default", .name = "a"};
  gang.group_exists = true;
  gang.group_uid = "g-1";
  gang.group_generation = 3;
  gang.spec.min_member = min_member;
  return gang;
}

TEST(Reasons, EveryReasonHasItsOwnName) {
  std::set<absl::string_view> names;
  for (int i = 0; i <= static_cast<int>(WaitReason::kInvalidSpec); ++i) {
    names.insert(WaitReasonName(static_cast<WaitReason>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(WaitReason::kInvalidSpec) + 1);
  EXPECT_FALSE(names.contains(""));
}

TEST(Reasons, OnlyLackOfNodesIsUnschedulableToAutoscalers) {
  for (int i = 0; i <= static_cast<int>(WaitReason::kInvalidSpec); ++i) {
    const auto reason = static_cast<WaitReason>(i);
    const bool buys_nodes = reason == WaitReason::kNoFit || reason == WaitReason::kTopologyNoFit ||
                            reason == WaitReason::kNeverFits;
    EXPECT_EQ(PodReasonName(reason) == "Unschedulable", buys_nodes) << WaitReasonName(reason);
  }
}

TEST(Messages, ARejectionSaysHowManyFitAndWhyTheNodesDoNot) {
  Tables tables;
  tables.resources = {{.name = "pods"}, {.name = "cpu"}, {.name = "nvidia.com/gpu", .gpu = true}};
  const Rejection rejection = {
      .wanted = 5,
      .placeable = 0,
      .nodes = 4,
      .reasons = {
          {.reason = {.id = kReasonInsufficient, .resource = ResourceId(2), .want = 8, .have = 0},
           .nodes = 4}}};
  const std::string text = RejectionText(rejection, tables);
  EXPECT_THAT(text, HasSubstr("0 of 5 pods fit: 4 nodes: "));
  EXPECT_THAT(text, HasSubstr("nvidia.com/gpu"));
  EXPECT_THAT(RejectionText({.wanted = 2, .placeable = 1, .of_some = true, .nodes = 4}, tables),
              HasSubstr("1 of 2 pods of one shape fit"));
  EXPECT_THAT(RejectionText({.wanted = 1, .nodes = 0}, tables), HasSubstr("there are no nodes"));
  EXPECT_EQ(RejectionText({.code = RejectionCode::kUnsupported, .detail = "spec.x: no"}, tables),
            "spec.x: no");
}

TEST(Messages, WhatAPodIsToldHoldsNoNumber) {
  for (int i = 0; i <= static_cast<int>(WaitReason::kInvalidSpec); ++i) {
    const std::string text = PodWaitText(TheGang(), static_cast<WaitReason>(i));
    EXPECT_EQ(text.find_first_of("0123456789"), std::string::npos) << text;
  }
}

TEST(GroupStatus, ConditionsKeepTheirTimeWhileTheirStatusStays) {
  const Gang gang = TheGang(1);
  const Assembly assembly = Assemble(gang);
  StatusFacts facts{.gang = gang,
                    .assembly = assembly,
                    .standing = {GangPhase::kPending, WaitReason::kNoFit, "m"}};
  const PodGroupStatus first = MakeGroupStatus(facts, {}, kNow + absl::Milliseconds(300));
  const Condition* scheduled = FindCondition(first.conditions, kConditionScheduled);
  ASSERT_NE(scheduled, nullptr);
  EXPECT_EQ(scheduled->status, "False");
  EXPECT_EQ(scheduled->reason, "NoFit");
  EXPECT_EQ(scheduled->last_transition, kNow) << "whole seconds, as the server keeps them";
  EXPECT_EQ(scheduled->observed_generation, 3);

  facts.standing = {GangPhase::kPending, WaitReason::kNeverFits, "m"};
  const PodGroupStatus second = MakeGroupStatus(facts, first, kNow + absl::Seconds(60));
  EXPECT_EQ(FindCondition(second.conditions, kConditionScheduled)->last_transition, kNow);
  facts.standing = {GangPhase::kRunning, WaitReason::kBound, ""};
  const PodGroupStatus third = MakeGroupStatus(facts, second, kNow + absl::Seconds(90));
  EXPECT_EQ(FindCondition(third.conditions, kConditionScheduled)->last_transition,
            kNow + absl::Seconds(90));
}

TEST(GroupStatus, ADisruptionIsSetFalseAgain) {
  const Gang gang = TheGang();
  const Assembly assembly = Assemble(gang);
  StatusFacts facts{.gang = gang,
                    .assembly = assembly,
                    .standing = {GangPhase::kWaiting, WaitReason::kQuorumLost, "m"},
                    .quorum_lost = true};
  const PodGroupStatus lost = MakeGroupStatus(facts, {}, kNow);
  EXPECT_EQ(FindCondition(lost.conditions, kConditionDisrupted)->status, "True");
  facts.quorum_lost = false;
  facts.standing = {GangPhase::kRunning, WaitReason::kBound, ""};
  EXPECT_EQ(
      FindCondition(MakeGroupStatus(facts, lost, kNow).conditions, kConditionDisrupted)->status,
      "False");
}

TEST(GroupStatus, QuotaIsReservedWhileAnythingOfAQuorumIsBound) {
  Gang gang = TheGang();
  gang.members = {{.state = MemberState::kBound}};
  const Assembly assembly = Assemble(gang);
  StatusFacts facts{.gang = gang,
                    .assembly = assembly,
                    .standing = {GangPhase::kWaiting, WaitReason::kQuorumLost, "m"},
                    .quorum_reached_at = kNow,
                    .quorum_lost = true};
  const PodGroupStatus lost = MakeGroupStatus(facts, {}, kNow);
  EXPECT_EQ(FindCondition(lost.conditions, kConditionQuotaReserved)->status, "True");
  facts.quorum_reached_at.reset();
  EXPECT_EQ(
      FindCondition(MakeGroupStatus(facts, lost, kNow).conditions, kConditionQuotaReserved)->status,
      "False");
}

// The next leader would undo a binding that seems to last for too long.
TEST(GroupStatus, TheTimeOfReservedQuotaBeginsAnewWithTheNextBinding) {
  const Gang gang = TheGang();
  const Assembly assembly = Assemble(gang);
  StatusFacts facts{.gang = gang,
                    .assembly = assembly,
                    .standing = {GangPhase::kRunning, WaitReason::kBound, ""},
                    .quorum_reached_at = kNow};
  const PodGroupStatus ran = MakeGroupStatus(facts, {}, kNow);
  facts.quorum_reached_at.reset();
  facts.standing = {GangPhase::kBinding, WaitReason::kBinding, ""};
  const absl::Time later = kNow + absl::Hours(1);
  const PodGroupStatus binds = MakeGroupStatus(facts, ran, later);
  EXPECT_EQ(FindCondition(binds.conditions, kConditionQuotaReserved)->last_transition, later);
}

TEST(GroupStatus, NumbersAloneAreNoNews) {
  PodGroupStatus a{.phase = "Pending", .reason = "NoFit", .message = "0 of 5 pods fit"};
  a.conditions = {{.type = "Scheduled", .status = "False", .reason = "NoFit", .message = "x"}};
  PodGroupStatus b = a;
  EXPECT_EQ(CompareStatus(a, b), StatusChange::kNone);
  b.message = "1 of 5 pods fit";
  b.conditions[0].message = "y";
  b.members.total = 7;
  EXPECT_EQ(CompareStatus(a, b), StatusChange::kNumbers);
  b.reason = "NeverFits";
  EXPECT_EQ(CompareStatus(a, b), StatusChange::kNews);
  b = a;
  b.conditions[0].status = "True";
  EXPECT_EQ(CompareStatus(a, b), StatusChange::kNews);
}

TEST(GroupStatus, NodesAreSortedAndTakenOnce) {
  const Gang gang = TheGang();
  const Assembly assembly = Assemble(gang);
  const PodGroupStatus status =
      MakeGroupStatus({.gang = gang, .assembly = assembly, .nodes = {"n2", "n1", "n2"}}, {}, kNow);
  EXPECT_THAT(status.placement_nodes, ElementsAre("n1", "n2"));
}

TEST(Events, StandOnThePodGroupOrOnThePodOfAGangOfOne) {
  Gang gang = TheGang();
  EXPECT_EQ(GangBoundEvent(gang, 4, 2).kind, "PodGroup");
  EXPECT_EQ(GangBoundEvent(gang, 4, 2).note, "bound 4 pods to 2 nodes");
  gang.key.dialect = GangDialect::kSingleton;
  gang.members.push_back({.name = "a", .uid = "p-1"});
  EXPECT_EQ(GangBoundEvent(gang, 1, 1).kind, "Pod");
  EXPECT_EQ(GangBoundEvent(gang, 1, 1).uid, "p-1");
}

TEST(Events, AnUndoSaysWhy) {
  const EventNote note = GangUndoneEvent(
      TheGang(), {.cause = UndoCause::kRefused, .detail = "HTTP 403", .deleted = 3});
  EXPECT_EQ(note.reason, "Undone");
  EXPECT_THAT(note.note, HasSubstr("HTTP 403"));
  EXPECT_THAT(note.note, HasSubstr("3 bound pods were deleted"));
  const EventNote late =
      GangUndoneEvent(TheGang(), {.cause = UndoCause::kStageLate, .detail = "", .deleted = 1});
  EXPECT_EQ(late.reason, "Undone");
  EXPECT_EQ(late.note,
            "pods that came after its start were not bound within 5m; 1 bound pod was deleted");
}

TEST(QuotaReport, ASummaryFitsAColumnWhateverTheNumberOfQuotas) {
  std::vector<QuotaUsageView> rows;
  EXPECT_EQ(UsageSummary(rows), "");
  rows.push_back(
      {.flavor = "h100", .resource = "nvidia.com/gpu", .nominal = Amount(16), .used = Amount(12)});
  rows.push_back({.resource = "cpu", .nominal = Amount(4000), .used = Amount(500)});
  EXPECT_EQ(UsageSummary(rows), "h100/gpu 12/16, cpu 500m/4");
  rows.push_back({.resource = "a"});
  EXPECT_EQ(UsageSummary(rows), "h100/gpu 12/16, cpu 500m/4, a 0/0");
  rows.push_back({.resource = "b"});
  rows.push_back({.resource = "c"});
  EXPECT_EQ(UsageSummary(rows), "h100/gpu 12/16, cpu 500m/4, a 0/0, and 2 more");
}

// What a queue keeps for itself never reaches the cohort in the algebra, but its pods do run there.
TEST(QuotaReport, ACohortsUseHoldsWhatItsQueuesDoNotLend) {
  QuotaBook book;
  Cohort cohort;
  cohort.meta.name = "teams";
  Queue queue;
  queue.meta.name = "a";
  queue.cohort = "teams";
  queue.quotas = {
      {.resources = {{.resource = "cpu", .nominal = Amount(8000), .lending_limit = Amount(0)}}}};
  book.Note(ObjectUpserted{cohort});
  book.Note(ObjectUpserted{queue});
  book.Rebuild();
  const Demand demand = {{book.CellNamed("", "cpu"), Amount(3000)}};
  book.tree().Add(book.QueueNamed("a"), demand);
  ASSERT_EQ(book.tree().Usage(book.CohortNamed("teams"), demand[0].cell), Amount(0));
  const std::vector<QuotaUsageView> rows = UsageOfCohort("teams", book);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].used, Amount(3000));
  EXPECT_EQ(UsageOfCohort("nobody", book).size(), 0u);
  EXPECT_EQ(FairShareOf(QuotaNodeId(), book), 0);
}

}  // namespace
}  // namespace maniple
