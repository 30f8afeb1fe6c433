// The phase that foreign groups are told. Fears: Volcano's Unknown, which restarts jobs, is
// written; its controllers make no pods, since a phase stays Pending; a condition says the contrary
// of the phase; x-k8s is told that pods exist which do not.
#include "scheduler/report/foreign_phase.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"

namespace maniple::report_foreign_phase_test {
namespace {

using Dialect = ForeignStatusTarget::Dialect;

struct PhaseCase {
  Standing standing;
  Assembly assembly;
  bool admits = true;
};

template <typename Visit>
void ForEachCase(const Visit& visit) {
  for (int phase = 0; phase <= static_cast<int>(GangPhase::kFailed); ++phase) {
    for (int reason = 0; reason <= static_cast<int>(WaitReason::kInvalidSpec); ++reason) {
      for (int bits = 0; bits < 4; ++bits) {
        PhaseCase one{.standing = {.phase = static_cast<GangPhase>(phase),
                                   .reason = static_cast<WaitReason>(reason),
                                   .message = "m"}};
        one.assembly.members_ready = (bits & 1) != 0;
        one.admits = (bits & 2) != 0;
        visit(one);
      }
    }
  }
}

std::string PhaseOf(Dialect dialect, const PhaseCase& one) {
  return std::string(PhaseInDialect(
      dialect, {.standing = one.standing, .assembly = one.assembly, .queue_admits = one.admits}));
}

TEST(ForeignPhases, AreWordsOfTheirDialect) {
  const std::set<std::string> volcano = {"", "Pending", "Inqueue", "Running", "Completed"};
  const std::set<std::string> xk8s = {"Pending", "Scheduling", "Running", "Finished", "Failed"};
  ForEachCase([&](const PhaseCase& one) {
    EXPECT_TRUE(volcano.contains(PhaseOf(Dialect::kVolcano, one)));
    EXPECT_TRUE(xk8s.contains(PhaseOf(Dialect::kXk8s, one)));
  });
}

TEST(ForeignPhases, VolcanoMakesPodsAsSoonAsTheQueueAdmits) {
  ForEachCase([](const PhaseCase& one) {
    const bool waits =
        one.standing.phase == GangPhase::kWaiting || one.standing.phase == GangPhase::kPending;
    if (!waits) return;
    const bool may = one.admits && one.standing.reason != WaitReason::kInvalidSpec;
    EXPECT_EQ(PhaseOf(Dialect::kVolcano, one), may ? "Inqueue" : "Pending");
  });
}

TEST(ForeignPhases, VolcanosStaysRunningWhileWhatIsLeftOfAGangRuns) {
  for (const GangPhase phase : {GangPhase::kWaiting, GangPhase::kBinding}) {
    PhaseCase one{.standing = {.phase = phase, .reason = WaitReason::kQuorumLost}};
    EXPECT_EQ(PhaseOf(Dialect::kVolcano, one), "Inqueue");
    one.assembly.counts.bound = 1;
    EXPECT_EQ(PhaseOf(Dialect::kVolcano, one), "Running");
  }
}

TEST(ForeignPhases, SchedulingIsSaidOfGangsWhoseMembersExist) {
  ForEachCase([](const PhaseCase& one) {
    const GangPhase phase = one.standing.phase;
    const bool begins = phase == GangPhase::kPending || phase == GangPhase::kBinding;
    EXPECT_EQ(PhaseOf(Dialect::kXk8s, one) == "Scheduling", begins && one.assembly.members_ready);
    if (phase == GangPhase::kRunning) {
      EXPECT_EQ(PhaseOf(Dialect::kXk8s, one), "Running");
    }
  });
}

TEST(ForeignPhases, AConditionSaysWhatThePhaseSays) {
  ForEachCase([](const PhaseCase& one) {
    const std::string phase = PhaseOf(Dialect::kVolcano, one);
    const ForeignPhase written =
        PhaseToWrite(Dialect::kVolcano, "u", phase, one.standing, absl::FromUnixMillis(1500));
    EXPECT_EQ(written.uid, "u");
    EXPECT_EQ(written.phase, phase);
    ASSERT_EQ(written.conditions.size(), 1u);
    const bool stands = phase == "Running" || phase == "Completed";
    EXPECT_EQ(written.conditions[0].type, stands ? "Scheduled" : "Unschedulable");
    EXPECT_EQ(written.conditions[0].last_transition, absl::FromUnixSeconds(1));
    EXPECT_TRUE(PhaseToWrite(Dialect::kXk8s, "u", phase, one.standing, absl::UnixEpoch())
                    .conditions.empty());
  });
}

}  // namespace
}  // namespace maniple::report_foreign_phase_test
