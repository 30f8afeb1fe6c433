// The economy of Queues against a naive model, over random histories: Queues, Cohorts and flavors
// edited and deleted, nodes relabelled, gangs submitted, finished and deleted, the scheduler
// restarted. The fear: parking, waking, incremental usage or the bracket of the tournament start
// another gang, or none, where recomputing everything would have started this one.
//
// The size is in histories; MANIPLE_ECONOMY_HISTORIES=20000 is the full one.
// MANIPLE_ECONOMY_FIRST=N begins with seed N.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/support/economy_model.h"
#include "test/support/loop_driver.h"
#include "test/support/worlds.h"

namespace maniple {
namespace {

constexpr int kDefaultHistories = 150;
constexpr int kSteps = 30;
constexpr size_t kMostWaiting = 12;
constexpr char kFlavorLabel[] = "example.com/flavor";

enum class Flavors : uint8_t { kNone, kTwo };

class History final {
 public:
  History(uint64_t seed, Flavors flavors) : random_(seed), flavors_(flavors) {
    // Every cell exists from the start, so that what is used outside of all quotas counts alike.
    economy::Member all;
    AddNode("plain", "");
    all.limits.push_back({.flavor = ""});
    if (flavors_ == Flavors::kTwo) {
      for (const char* flavor : {"f0", "f1"}) {
        PutFlavor(flavor);
        AddNode(absl::StrCat("on-", flavor), flavor);
        all.limits.push_back({.flavor = flavor});
      }
    }
    if (flavors_ == Flavors::kTwo) AddNode("moving", "");
    PutQueue("everything", all);
    const auto queues = static_cast<int>(2 + random_.Below(4));
    for (int i = 0; i < static_cast<int>(random_.Below(4)); ++i) EditCohort();
    for (int i = 0; i < queues; ++i) EditQueue();
    d_.Settle();
    model_.Settle();
  }

  // Plays and compares; false after the first difference.
  [[nodiscard]] bool Run() {
    for (step_ = 0; step_ < kSteps; ++step_) {
      const std::vector<std::string> illegal_before = Illegal();
      forced_ = false;
      const uint64_t changes = random_.OneIn(4) ? 1 + random_.Below(3) : 1;
      for (uint64_t i = 0; i < changes; ++i) Change();
      d_.Settle();
      model_.Settle();
      if (!Agree()) return false;
      if (!forced_ && illegal_before.empty() && !Illegal().empty()) {
        ADD_FAILURE() << "not legal any more: " << absl::StrJoin(Illegal(), " ") << "\nhistory:\n"
                      << absl::StrJoin(told_, "\n");
        return false;
      }
      d_.now += absl::Seconds(random_.Below(3));
    }
    return true;
  }
  [[nodiscard]] int started() const { return started_; }

 private:
  // By the closed form, on the nodes where pods really are.
  [[nodiscard]] std::vector<std::string> Illegal() const {
    std::vector<std::string> illegal;
    for (const auto& [name, queue] : model_.queues) {
      if (!model_.Legal(name)) illegal.push_back(name);
    }
    return illegal;
  }

  void Tell(std::string line) { told_.push_back(absl::StrCat(step_, ": ", std::move(line))); }

  std::string AnyQueue() { return absl::StrCat("q", random_.Below(5)); }
  std::string AnyCohort() { return absl::StrCat("c", random_.Below(4)); }

  std::vector<economy::Limit> AnyLimits() {
    std::vector<std::string> listed = {""};
    if (flavors_ == Flavors::kTwo) {
      const std::vector<std::vector<std::string>> lists = {
          {""},         {"f0"},     {"f1"},     {"f0", "f1"},
          {"f1", "f0"}, {"f0", ""}, {"", "f1"}, {"f1", "", "f0"}};
      listed = lists[random_.Below(lists.size())];
    }
    std::vector<economy::Limit> limits;
    for (const std::string& flavor : listed) {
      economy::Limit& limit = limits.emplace_back();
      limit.flavor = flavor;
      limit.nominal = random_.OneIn(4) ? 0 : static_cast<int64_t>(random_.Below(9));
      if (random_.OneIn(3)) limit.borrowing = static_cast<int64_t>(random_.Below(6));
      if (random_.OneIn(3)) limit.lending = static_cast<int64_t>(random_.Below(6));
    }
    return limits;
  }

  [[nodiscard]] static std::vector<FlavorQuota> QuotasOf(
      const std::vector<economy::Limit>& limits) {
    std::vector<FlavorQuota> quotas;
    const auto amount = [](const std::optional<int64_t>& cores) {
      return cores.has_value() ? std::optional(Amount(*cores * 1000)) : std::nullopt;
    };
    for (const economy::Limit& limit : limits) {
      quotas.push_back({.flavor = limit.flavor,
                        .resources = {{.resource = "cpu",
                                       .nominal = Amount(limit.nominal * 1000),
                                       .borrowing_limit = amount(limit.borrowing),
                                       .lending_limit = amount(limit.lending)}}});
    }
    return quotas;
  }

  void AddNode(const std::string& name, const std::string& flavor) {
    Node node = MakeNode(name).Cpu(1'000'000).Pods(100'000);
    if (!flavor.empty()) node.meta.labels = StringMap({{kFlavorLabel, flavor}});
    d_.api.Put(node);
    model_.label_of_node[name] = flavor;
  }
  void PutFlavor(const std::string& name) {
    ResourceFlavor flavor;
    flavor.meta.name = name;
    flavor.node_labels = StringMap({{kFlavorLabel, name}});
    d_.api.Put(flavor);
    model_.flavors.insert(name);
  }

  ObjectMeta NextOf(const std::string& name) {
    ObjectMeta meta;
    meta.name = name;
    meta.uid = absl::StrCat("uid-", name);
    meta.generation = ++generation_;
    return meta;
  }
  void PutQueue(const std::string& name, const economy::Member& member) {
    Queue queue;
    queue.meta = NextOf(name);
    queue.cohort = member.above;
    queue.quotas = QuotasOf(member.limits);
    queue.fair_share_weight_milli = member.weight_milli;
    if (member.strict) queue.ordering = QueueOrdering::kStrictFifo;
    if (member.stopped) queue.stop = StopPolicy::kHold;
    d_.api.Put(queue);
    model_.queues[name] = member;
    model_.QuotaEdited();
    Tell(absl::StrCat("queue ", name, " ", Text(member)));
  }

  static std::string Text(const economy::Member& member) {
    std::string text =
        absl::StrCat("above=", member.above, " weight=", member.weight_milli,
                     member.strict ? " strict" : "", member.stopped ? " stopped" : "");
    for (const economy::Limit& limit : member.limits) {
      absl::StrAppend(&text, " [", limit.flavor, " N", limit.nominal, " B",
                      limit.borrowing.value_or(-1), " L", limit.lending.value_or(-1), "]");
    }
    return text;
  }

  void EditQueue() {
    const int64_t weights[] = {0, 500, 1000, 1000, 2000};
    const std::string name = AnyQueue();
    economy::Member member;
    if (!random_.OneIn(5)) member.above = AnyCohort();
    member.limits = AnyLimits();
    // Which of several flavors a gang would be charged in changes while it waits, and Queues of one
    // Cohort are compared by what it was when the gang last failed.
    if (member.limits.size() > 1) member.above.clear();
    member.weight_milli = weights[random_.Below(5)];
    member.strict = random_.OneIn(4);
    member.stopped = random_.OneIn(8);
    PutQueue(name, member);
  }

  void EditCohort() {
    const int64_t weights[] = {0, 1000, 1000, 3000};
    const std::string name = AnyCohort();
    economy::Member member;
    if (random_.OneIn(2)) member.above = AnyCohort();
    if (random_.OneIn(2)) member.limits = AnyLimits();
    member.weight_milli = weights[random_.Below(4)];
    Cohort cohort;
    cohort.meta = NextOf(name);
    cohort.parent = member.above;
    cohort.quotas = QuotasOf(member.limits);
    cohort.fair_share_weight_milli = member.weight_milli;
    d_.api.Put(cohort);
    model_.cohorts[name] = member;
    model_.QuotaEdited();
    Tell(absl::StrCat("cohort ", name, " ", Text(member)));
  }

  void DeleteQuota() {
    const bool queue = random_.OneIn(2);
    const std::string name = queue ? AnyQueue() : AnyCohort();
    if ((queue ? model_.queues : model_.cohorts).erase(name) == 0) return;
    d_.api.Delete(queue ? ResourceKind::kQueue : ResourceKind::kCohort, name);
    model_.QuotaEdited();
    Tell(absl::StrCat("delete ", name));
  }

  void ToggleFlavor() {
    const std::string name = absl::StrCat("f", random_.Below(2));
    if (model_.flavors.erase(name) > 0) {
      d_.api.Delete(ResourceKind::kResourceFlavor, name);
    } else {
      PutFlavor(name);
    }
    model_.QuotaEdited();
    Tell(absl::StrCat("toggle flavor ", name));
  }

  void Relabel() {
    const std::string label = random_.OneIn(2) ? "" : absl::StrCat("f", random_.Below(2));
    AddNode("moving", label);
    model_.NodesEdited();
    Tell(absl::StrCat("relabel moving ", label));
  }

  void Submit() {
    const auto waits = std::ranges::count_if(
        model_.gangs, [](const auto& entry) { return !entry.second.started; });
    if (waits > static_cast<int64_t>(kMostWaiting)) return;
    const std::string name = absl::StrCat("g", 1000 + ++submitted_);
    economy::Gang gang{.queue = AnyQueue(),
                       .priority = static_cast<int32_t>(random_.Below(3)),
                       .created = absl::ToUnixSeconds(d_.now),
                       .pods = static_cast<int64_t>(1 + random_.Below(3)),
                       .each = static_cast<int64_t>(1 + random_.Below(2))};
    PodGroup group =
        MakePodGroup(name).MinMember(static_cast<int32_t>(gang.pods)).Queue(gang.queue);
    group.meta.created = d_.now;
    d_.api.Put(group);
    for (int64_t i = 0; i < gang.pods; ++i) {
      Pod pod = MakePod(absl::StrCat(name, "-", i))
                    .Group(name)
                    .Cpu(gang.each * 1000)
                    .Priority(gang.priority);
      pod.meta.created = d_.now;
      d_.api.Put(pod);
    }
    Tell(absl::StrCat("submit ", name, " to ", gang.queue, " ", gang.pods, "x", gang.each,
                      " priority ", gang.priority));
    model_.gangs.emplace(name, gang);
  }

  enum class End : uint8_t { kFinish, kDelete };
  void EndAny(End end) {
    std::vector<std::string> names;
    for (const auto& [name, gang] : model_.gangs) {
      if (gang.started || end == End::kDelete) names.push_back(name);
    }
    if (names.empty()) return;
    const std::string name = names[random_.Below(names.size())];
    const economy::Gang gang = model_.gangs.at(name);
    for (int64_t i = 0; i < gang.pods; ++i) {
      const std::string pod = absl::StrCat(name, "-", i);
      if (end == End::kFinish) d_.api.SetPhase(pod, PodPhase::kSucceeded);
      if (end == End::kDelete) d_.api.Delete(ResourceKind::kPod, pod);
    }
    if (end == End::kDelete) d_.api.Delete(ResourceKind::kPodGroup, name);
    model_.gangs.erase(name);
    if (gang.started) model_.UsageChanged(gang.queue);
    Tell(absl::StrCat(end == End::kFinish ? "finish " : "delete ", name));
  }

  void Restart() {
    d_.Restart();
    model_.Restarted();
    Tell("restart");
  }

  void Change() {
    const uint64_t die = random_.Below(flavors_ == Flavors::kTwo ? 24 : 20);
    if (die < 9) return Submit();
    if (die < 13) return EndAny(End::kFinish);
    if (die < 15) return EndAny(End::kDelete);
    if (die == 19) return Restart();
    forced_ = true;
    if (die < 17) return EditQueue();
    if (die < 18) return EditCohort();
    if (die < 19) return DeleteQuota();
    if (die < 21) return ToggleFlavor();
    return Relabel();
  }

  bool Agree() {
    std::vector<std::string> differences;
    for (auto& [name, gang] : model_.gangs) {
      const int bound = d_.Bound(name);
      if (gang.started && gang.node.empty() && bound == gang.pods) {
        gang.node = d_.NodeOf(absl::StrCat(name, "-0"));
        ++started_;
      }
      if (bound == (gang.started ? gang.pods : 0)) continue;
      differences.push_back(
          absl::StrCat(name, gang.started ? " should be bound, has " : " should wait, has ", bound,
                       " of ", gang.pods, " bound: ", d_.StatusOf(name).message));
    }
    if (differences.empty() && !testing::Test::HasFailure()) return true;
    ADD_FAILURE() << absl::StrJoin(differences, "\n") << "\nhistory:\n"
                  << absl::StrJoin(told_, "\n") << "\nlog:\n"
                  << absl::StrJoin(d_.log(), "\n");
    return false;
  }

  Random random_;
  const Flavors flavors_;
  LoopDriver d_;
  economy::Model model_;
  std::vector<std::string> told_;
  int step_ = 0;
  int submitted_ = 0, started_ = 0;
  bool forced_ = false;  // in this step quotas, flavors or nodes were changed under what runs
  int64_t generation_ = 0;
};

void Compare(Flavors flavors) {
  const auto histories = static_cast<int>(Worlds("MANIPLE_ECONOMY_HISTORIES", kDefaultHistories));
  const auto first = static_cast<int>(Setting("MANIPLE_ECONOMY_FIRST", 1));
  int64_t started = 0;
  for (int seed = first; seed < first + histories; ++seed) {
    History history(static_cast<uint64_t>(seed), flavors);
    if (!history.Run()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
    started += history.started();
  }
  testing::Test::RecordProperty("gangs_started", static_cast<int>(started));
  EXPECT_GT(started, histories * 2) << "too few gangs start: the histories say nothing";
}

TEST(LoopEconomy, StartsTheGangsThatRecomputingEverythingWouldStart) { Compare(Flavors::kNone); }
TEST(LoopEconomy, ChoosesFlavorsAsRecomputingEverythingWould) { Compare(Flavors::kTwo); }

}  // namespace
}  // namespace maniple
