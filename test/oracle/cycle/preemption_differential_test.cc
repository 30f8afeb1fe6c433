// Preemption against a try of every set of victims in every order, over small random worlds: the
// fears are victims that the policies forbid, gangs left with less than their quorum, plans that do
// not help, victims too many, cheaper ones overlooked, and plans not found.
//
// MANIPLE_PREEMPTION_CASES=100000 asks for that many instead of a few, from
// MANIPLE_PREEMPTION_FIRST on.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/oracle/cycle/naive_preemption.h"
#include "test/oracle/cycle/preemption_case.h"
#include "test/oracle/cycle/topology_case.h"
#include "test/support/worlds.h"

namespace maniple::cycle_preemption_differential_test {
namespace {

enum class Outcome { kSkipped, kNone, kPlan, kDearer, kGaveUp };

// One option for each shape, in the order in which they are tried.
std::vector<NaivePreemption::Options> ChoicesOf(const PreemptionCase& world) {
  std::vector<NaivePreemption::Options> choices(1);
  if (!world.in_queue) return {world.ask.options};
  for (const Want& want : world.request.wants) {
    if (choices.front().contains(want.shape)) continue;
    std::vector<NaivePreemption::Options> more;
    for (const NaivePreemption::Options& choice : choices) {
      for (const QuotaOption& option : world.ask.options.at(want.shape)) {
        more.push_back(choice);
        more.back()[want.shape] = {option};
      }
    }
    choices = std::move(more);
  }
  return choices;
}

std::variant<PreemptionPlan, NoPreemption> Ask(PreemptionCase& world, const DecideInput& decide) {
  return PlanPreemption({.decide = decide,
                         .profile = world.cluster.profile(),
                         .priority = world.priority,
                         .queued = world.queued,
                         .policy = world.policy,
                         .fair_sharing = world.fair_sharing,
                         .strategies = world.strategies,
                         .own_victims = world.own_victims,
                         .ignore_pdb = world.ignore_pdb,
                         .running = world.running,
                         .allowed = world.allowed});
}

std::string Told(const PreemptionCase& world) {
  std::string text = absl::StrCat(
      world.in_queue ? "in a queue" : "without a queue", ", priority ", world.priority, ", within ",
      world.policy.within, ", reclaim ", world.policy.reclaim, ", while borrowing ",
      world.policy.borrowing_preempts_lower, ", fair sharing ",
      world.fair_sharing == FairSharing::kOn, ", strategies ", world.strategies.size(), "\n");
  for (size_t g = 0; g < world.running.size(); ++g) {
    const RunningGang& gang = world.running[g];
    absl::StrAppend(&text, gang.name, " of queue ", gang.queue.valid() ? gang.queue.index() : 0,
                    " at ", gang.priority, ", surplus ", gang.surplus.members, ":");
    for (const VictimPod& pod : gang.members) {
      absl::StrAppend(&text, " n", pod.node.index(), " sub-group ", pod.sub_group, " budgets ",
                      absl::StrJoin(pod.budgets, "+"), " charge");
      for (const CellAmount& charge : pod.charge) {
        absl::StrAppend(&text, " ", charge.cell.index(), "=", charge.amount.units());
      }
      absl::StrAppend(&text, ";");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// What is wrong with the plan, "" = nothing.
std::pair<Outcome, std::string> Judge(const NaivePreemption& naive,
                                      const std::map<uint32_t, NaiveCost>& good,
                                      const PreemptionPlan& plan) {
  const std::optional<uint32_t> set = naive.SetOf(plan);
  if (!set.has_value()) return {Outcome::kPlan, "a victim that nobody may evict"};
  const auto at = good.find(*set);
  if (at == good.end()) {
    return {Outcome::kPlan, absl::StrCat("illegal or insufficient: ", *set, " of ", good.size())};
  }
  bool least = true;
  for (const auto& [other, cost] : good) {
    if (other != *set && (other & *set) == other) return {Outcome::kPlan, "not all are needed"};
    least = least && at->second <= cost;
  }
  return {least ? Outcome::kPlan : Outcome::kDearer, ""};
}

// With budgets passed as the world says; none: nobody finds victims.
std::optional<std::pair<Outcome, std::string>> CompareWithin(
    PreemptionCase& world, const std::variant<PreemptionPlan, NoPreemption>& answer) {
  const auto* plan = std::get_if<PreemptionPlan>(&answer);
  for (const NaivePreemption::Options& choice : ChoicesOf(world)) {
    NaivePreemption naive(world, choice);
    const auto good = naive.Good(NaivePreemption::Reach::kContested);
    if (plan != nullptr) {
      const std::optional<uint32_t> set = naive.SetOf(*plan);
      if (set.has_value() && good.contains(*set)) return Judge(naive, good, *plan);
      const auto all = naive.Good(NaivePreemption::Reach::kAnybody);
      const bool here = set.has_value() && all.contains(*set);
      if (here || !good.empty()) return Judge(naive, all, *plan);
    }
    if (good.empty()) continue;
    const std::string& message = std::get<NoPreemption>(answer).message;
    if (absl::StrContains(message, "was found")) return {{Outcome::kGaveUp, ""}};
    return {{Outcome::kNone,
             absl::StrCat("a plan exists: ", good.begin()->first, "; ours says ", message)}};
  }
  return std::nullopt;
}

// `past_budgets` counts cases in which nobody would be found within budgets.
std::pair<Outcome, std::string> Compare(uint64_t seed, IgnorePdb ignored, std::string& told,
                                        uint64_t& past_budgets) {
  PreemptionCase world;
  DrawPreemptionCase(seed, world);
  told = Told(world);
  world.ignore_pdb = ignored;
  const SnapshotPtr snapshot = world.cluster.state().Publish();
  const DecideInput decide{.snapshot = *snapshot,
                           .request = world.request,
                           .now = world.cluster.now,
                           .quota = world.in_queue ? &world.ask : nullptr};
  if (FindPlan(decide, world.cluster.profile()).has_value()) return {Outcome::kSkipped, ""};
  const auto answer = Ask(world, decide);
  // No budget is passed where others can leave within theirs.
  world.ignore_pdb = IgnorePdb::kNever;
  if (auto within = CompareWithin(world, answer)) return *std::move(within);
  world.ignore_pdb = ignored;
  if (auto past = CompareWithin(world, answer)) {
    ++past_budgets;
    return *std::move(past);
  }
  const bool none = std::holds_alternative<NoPreemption>(answer);
  return {Outcome::kNone, none ? "" : "there is no legal plan"};
}

void ExpectAgreement(IgnorePdb ignored) {
  const auto cases = static_cast<uint64_t>(Worlds("MANIPLE_PREEMPTION_CASES", 4000));
  const auto first = static_cast<uint64_t>(Setting("MANIPLE_PREEMPTION_FIRST", 0));
  std::map<Outcome, uint64_t> tally;
  uint64_t past_budgets = 0;
  for (uint64_t seed = first; seed < first + cases; ++seed) {
    std::string told;
    const auto [outcome, problem] = Compare(seed, ignored, told, past_budgets);
    EXPECT_EQ(problem, "") << "seed " << seed << "\n" << told;
    if (outcome == Outcome::kDearer) GTEST_LOG_(INFO) << "dearer than need be: seed " << seed;
    if (outcome == Outcome::kGaveUp) GTEST_LOG_(INFO) << "overlooked: seed " << seed;
    ++tally[outcome];
  }
  GTEST_LOG_(INFO) << tally[Outcome::kPlan] << " plans, " << tally[Outcome::kDearer] << " dearer, "
                   << tally[Outcome::kNone] << " without, " << tally[Outcome::kGaveUp]
                   << " overlooked, " << tally[Outcome::kSkipped] << " skipped";
  EXPECT_LE(tally[Outcome::kDearer] * 100, tally[Outcome::kPlan]);
  EXPECT_LE(tally[Outcome::kGaveUp] * 1000, tally[Outcome::kPlan]);
  // Both answers are common.
  EXPECT_GT(tally[Outcome::kPlan], cases / 20);
  EXPECT_GT(tally[Outcome::kNone], cases / 20);
  EXPECT_EQ(past_budgets > cases / 1000, ignored != IgnorePdb::kNever) << past_budgets;
}

TEST(PreemptionDifferential, AgreesWithATryOfEverySetOfVictimsInEveryOrder) {
  ExpectAgreement(IgnorePdb::kNever);
}

TEST(PreemptionDifferential, AgreesWhereWhatIsReclaimedMayPassItsBudgets) {
  ExpectAgreement(IgnorePdb::kReclaim);
}

TEST(PreemptionDifferential, AgreesWhereEverybodyMayPassItsBudgets) {
  ExpectAgreement(IgnorePdb::kAlways);
}

}  // namespace
}  // namespace maniple::cycle_preemption_differential_test
