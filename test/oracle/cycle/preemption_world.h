// Small worlds of Queues and running gangs, for tests of preemption that are about quota.
//
//   PreemptionWorld world("root; a:root 3; b:root 3");   // name[:parent]
//                                  // nominal[+borrow][/lend][~w]
//   world.Run("b1 b 1@0; c - 1@5");  // name queue size@priority; "-": no Queue
//   EXPECT_EQ(world.Preempt("a 1@0"), "b1(R)");  // victims, and causes as Kueue's letters
//
// Sizes may have halves; "3,0" is an amount of each of two cells of different flavors, or resources
// with `resources = 2`. One node holds everything, so that only quota is ever short.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/cycle/victims/preemption.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {

class PreemptionWorld final {
 public:
  explicit PreemptionWorld(absl::string_view tree, size_t resources = 1) {
    cluster_.Add(MakeNode("n").Cpu(100'000).Pods(100'000));
    std::vector<QuotaNodeSpec> specs;
    for (absl::string_view item : Items(tree)) {
      const std::vector<std::string> words = absl::StrSplit(item, ' ', absl::SkipEmpty());
      const std::vector<std::string> names = absl::StrSplit(words[0], ':');
      QuotaNodeSpec spec;
      if (names.size() > 1) spec.parent = nodes_.at(names[1]);
      nodes_[names[0]] = QuotaNodeId(static_cast<uint32_t>(specs.size()));
      if (words.size() > 1) ReadQuota(words[1], spec);
      specs.push_back(spec);
    }
    std::vector<uint32_t> resource_of_cell;
    for (uint32_t c = 0; c < cells_; ++c) resource_of_cell.push_back(resources > 1 ? c : 0);
    for (QuotaNodeSpec& spec : specs) {
      for (uint32_t c = static_cast<uint32_t>(spec.limits.size()); c < cells_; ++c) {
        spec.limits.push_back({.cell = QuotaCellId(c), .nominal = Amount(0)});
      }
    }
    tree_ = QuotaTree(specs, resource_of_cell);
    cluster_.Add(MakePod("in").Cpu(1));
  }

  PreemptionPolicy policy = {.within = WithinQueuePreemption::kLowerPriority,
                             .reclaim = ReclaimWithinCohort::kAny};
  FairSharing fair_sharing = FairSharing::kOff;
  std::vector<FairStrategy> strategies = {FairStrategy::kLessThanOrEqualToFinalShare,
                                          FairStrategy::kLessThanInitialShare};
  std::vector<RunningGang>& running() { return running_; }
  [[nodiscard]] const QuotaTree& tree() const { return tree_; }
  [[nodiscard]] QuotaNodeId Node(const std::string& name) const { return nodes_.at(name); }

  // Later ones are newer, and started later.
  void Run(absl::string_view gangs) {
    for (absl::string_view item : Items(gangs)) {
      const std::vector<std::string> words = absl::StrSplit(item, ' ', absl::SkipEmpty());
      const auto [charge, priority] = ReadSize(words[2]);
      RunningGang gang{.name = words[0], .priority = priority};
      if (words[1] != "-") gang.queue = nodes_.at(words[1]);
      gang.queued = gang.started =
          cluster_.now - absl::Hours(1) + absl::Seconds(static_cast<int64_t>(running_.size()));
      int64_t halves = 0;
      for (const CellAmount& amount : charge) halves += amount.amount.units() / 500;
      for (int64_t pod = 0; pod < std::max<int64_t>(1, halves); ++pod) {
        const std::string name = absl::StrCat(words[0], "-", pod);
        cluster_.Add(MakePod(name).Group(words[0]).Cpu(1).On("n"));
        const Member& member = cluster_.GangOf(words[0]).members.back();
        gang.gang = cluster_.GangOf(words[0]).id;
        gang.members.push_back({.pod = member.pod, .node = member.node, .shape = member.shape});
      }
      if (gang.queue.valid()) {
        gang.members.front().charge = charge;
        tree_.Add(gang.queue, charge);
      }
      running_.push_back(std::move(gang));
    }
  }

  // "queue size@priority": the answer, the victims in order of name; "none" when there is none.
  std::string Preempt(const std::string& in) {
    const std::vector<std::string> words = absl::StrSplit(in, ' ');
    const auto [charge, priority] = ReadSize(words[1]);
    GangRequest request = cluster_.RequestOf("in");
    QuotaAsk ask{.tree = &tree_, .queue = nodes_.at(words[0]), .options = {}};
    ask.options[request.wants.front().shape] = {{.nodes = {}, .each = charge, .flavor = "f"}};
    const SnapshotPtr snapshot = cluster_.state().Publish();
    const DecideInput decide{
        .snapshot = *snapshot, .request = request, .now = cluster_.now, .quota = &ask};
    const auto answer = PlanPreemption({.decide = decide,
                                        .profile = cluster_.profile(),
                                        .priority = priority,
                                        .queued = queued,
                                        .policy = policy,
                                        .fair_sharing = fair_sharing,
                                        .strategies = strategies,
                                        .running = running_,
                                        .allowed = allowed});
    message = "";
    used_initial_share = false;
    if (const auto* no = std::get_if<NoPreemption>(&answer)) {
      message = no->message;
      return "none";
    }
    used_initial_share = std::get<PreemptionPlan>(answer).used_initial_share;
    std::vector<std::string> victims;
    for (const Victim& victim : std::get<PreemptionPlan>(answer).victims) {
      victims.push_back(absl::StrCat(running_[victim.running].name, Letter(victim.cause)));
    }
    return absl::StrJoin(victims, " ");
  }

  absl::Time queued = absl::FromUnixSeconds(1'700'000'000);
  std::vector<int32_t> allowed;
  std::string message;  // of the last answer
  bool used_initial_share = false;

 private:
  static std::vector<absl::string_view> Items(absl::string_view text) {
    std::vector<absl::string_view> items;
    for (absl::string_view item : absl::StrSplit(text, ';')) {
      item = absl::StripAsciiWhitespace(item);
      if (!item.empty()) items.push_back(item);
    }
    return items;
  }
  static Amount Sized(absl::string_view text) {
    double size = 0;
    CHECK(absl::SimpleAtod(text, &size)) << text;
    return Amount(static_cast<int64_t>(size * 1000));
  }
  void ReadQuota(const std::string& text, QuotaNodeSpec& spec) {
    const std::vector<std::string> weighted = absl::StrSplit(text, '~');
    if (weighted.size() > 1) spec.weight_milli = Sized(weighted[1]).units();
    uint32_t cell = 0;
    for (const absl::string_view amounts : absl::StrSplit(weighted[0], ',')) {
      QuotaLimit limit{.cell = QuotaCellId(cell++)};
      const std::vector<std::string> lent = absl::StrSplit(amounts, '/');
      if (lent.size() > 1) limit.lending = Sized(lent[1]);
      const std::vector<std::string> borrowed = absl::StrSplit(lent[0], '+');
      if (borrowed.size() > 1) limit.borrowing = Sized(borrowed[1]);
      limit.nominal = Sized(borrowed[0]);
      spec.limits.push_back(limit);
    }
    cells_ = std::max(cells_, cell);
  }
  static std::pair<Demand, int32_t> ReadSize(const std::string& text) {
    const std::vector<std::string> parts = absl::StrSplit(text, '@');
    int32_t priority = 0;
    if (parts.size() > 1) CHECK(absl::SimpleAtoi(parts[1], &priority)) << text;
    Demand demand;
    uint32_t cell = 0;
    for (const absl::string_view amount : absl::StrSplit(parts[0], ',')) {
      const QuotaCellId id(cell++);
      if (Sized(amount) != Amount(0)) demand.push_back({.cell = id, .amount = Sized(amount)});
    }
    return {demand, priority};
  }
  static absl::string_view Letter(VictimCause cause) {
    switch (cause) {
      case VictimCause::kWithoutQueue:
        return "(P)";
      case VictimCause::kInQueue:
        return "(Q)";
      case VictimCause::kInCohortReclamation:
        return "(R)";
      case VictimCause::kInCohortFairSharing:
        return "(F)";
      case VictimCause::kInCohortReclaimWhileBorrowing:
        return "(W)";
    }
    return "(?)";
  }

  TestCluster cluster_;
  std::map<std::string, QuotaNodeId> nodes_;
  uint32_t cells_ = 1;
  QuotaTree tree_;
  std::vector<RunningGang> running_;
};

}  // namespace maniple
