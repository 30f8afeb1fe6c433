// Preemption must come to rest on nodes too: random histories of gangs of up to three pods on up to
// three nodes, with and without Queues, in which every victim is submitted again at once and the
// preemptor takes its room at once. The fears are a cycle of evictions, and gangs that are left
// with less than their quorum.
//
// As in the loop, nobody evicts whom it had to leave for. A history ends when nobody can start or
// preempt any more; a state that comes back is a cycle. MANIPLE_ROOM_HISTORIES=20000 asks for that
// many of each kind instead of a few.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "queue/tournament.h"
#include "scheduler/cycle/victims/preemption.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"
#include "test/support/worlds.h"

namespace maniple::cycle_preemption_room_histories_test {
namespace {

struct Submitted {
  std::optional<QuotaNodeId> queue;
  int32_t priority = 0;
  int64_t pods = 1, min_member = 1, gpus = 1;  // of each pod
};

struct Setting {
  QuotaTree tree;
  std::vector<int64_t> nodes;  // their GPUs
  std::vector<Submitted> gangs;
  PreemptionPolicy policy;
};

// The gang as it stands.
struct Standing {
  bool runs = false;
  uint32_t generation = 0;    // of its pods; those that were evicted come back as others
  std::vector<int64_t> pods;  // that run, by number
  bool reclaimed = false;     // by another Queue, at some time
  std::set<size_t> has_left_for;
  friend auto operator<=>(const Standing& a, const Standing& b) {
    return std::tie(a.runs, a.pods, a.reclaimed, a.has_left_for) <=>
           std::tie(b.runs, b.pods, b.reclaimed, b.has_left_for);
  }
};

class History {
 public:
  History(Setting setting, FairSharing fair_sharing)
      : setting_(std::move(setting)),
        fair_sharing_(fair_sharing),
        standing_(setting_.gangs.size()) {
    for (size_t n = 0; n < setting_.nodes.size(); ++n) {
      cluster_.Add(MakeNode(absl::StrCat("n", n)).Gpu(setting_.nodes[n]));
    }
    for (size_t i = 0; i < setting_.gangs.size(); ++i) {
      const Submitted& gang = setting_.gangs[i];
      cluster_.Add(MakePodGroup(NameOf(i)).MinMember(static_cast<int32_t>(gang.min_member)));
      for (int64_t p = 0; p < gang.pods; ++p) Submit(i, p);
    }
  }

  enum class End { kRest, kCycle };
  End Play() {
    for (arrived_ = 1; arrived_ <= standing_.size(); ++arrived_) {
      if (ComeToRest() == End::kCycle) return End::kCycle;
    }
    return End::kRest;
  }
  int64_t preemptions = 0, surplus_alone = 0, without_queue = 0;

 private:
  static std::string NameOf(size_t gang) { return absl::StrCat("g", gang); }
  MakePod PodOf(size_t gang, int64_t pod) const {
    MakePod made(absl::StrCat(NameOf(gang), "-", pod));
    made.Group(NameOf(gang)).Gpu(setting_.gangs[gang].gpus).Index(pod);
    made.Uid(absl::StrCat(NameOf(gang), "-", pod, "-", standing_[gang].generation));
    return made;
  }
  void Submit(size_t gang, int64_t pod) { cluster_.Add(PodOf(gang, pod)); }
  [[nodiscard]] Demand ChargeOf(size_t gang, size_t pods) const {
    if (!setting_.gangs[gang].queue.has_value()) return {};
    const int64_t gpus = setting_.gangs[gang].gpus * static_cast<int64_t>(pods);
    return {{.cell = QuotaCellId(0), .amount = Amount(gpus)}};
  }
  [[nodiscard]] absl::Time TimeOf(size_t gang) const {
    return cluster_.now - absl::Hours(1) + absl::Seconds(static_cast<int64_t>(gang));
  }

  End ComeToRest() {
    std::set<std::vector<Standing>> seen;
    std::vector<bool> failed(standing_.size(), false);  // since something changed
    while (const std::optional<size_t> gang = Next(failed)) {
      if (!Serve(*gang)) {
        failed[*gang] = true;
        continue;
      }
      if (!seen.insert(standing_).second) return End::kCycle;
      failed.assign(standing_.size(), false);
    }
    return End::kRest;
  }
  // As gangs are served: the first of each Queue, and of these the winner of the tournament; those
  // without a Queue when no other is left.
  [[nodiscard]] std::optional<size_t> Next(const std::vector<bool>& failed) const {
    std::map<QuotaNodeId, size_t> heads;
    std::optional<size_t> loose;
    for (size_t i = 0; i < arrived_; ++i) {
      if (standing_[i].runs || failed[i]) continue;
      const Submitted& gang = setting_.gangs[i];
      if (!gang.queue.has_value()) {
        if (!loose.has_value() || gang.priority > setting_.gangs[*loose].priority) loose = i;
        continue;
      }
      const auto [head, is_new] = heads.try_emplace(*gang.queue, i);
      if (gang.priority > setting_.gangs[head->second].priority) head->second = i;
    }
    Tournament tournament(setting_.tree, fair_sharing_);
    for (const auto& [queue, i] : heads) {
      tournament.SetHead(queue, QueueHead{.priority = setting_.gangs[i].priority,
                                          .queued = TimeOf(i),
                                          .namespace_name = "default",
                                          .name = NameOf(i),
                                          .demand = ChargeOf(i, QuorumOf(i))});
    }
    const std::optional<QuotaNodeId> winner = tournament.Winner();
    return winner.has_value() ? heads.at(*winner) : loose;
  }
  [[nodiscard]] size_t QuorumOf(size_t gang) const {
    return static_cast<size_t>(setting_.gangs[gang].min_member);
  }

  // What the gang may be charged, its plan, and what the two were asked of.
  struct Question {
    GangRequest request;
    std::optional<QuotaAsk> ask;
    SnapshotPtr snapshot;
    [[nodiscard]] DecideInput Input(absl::Time now) const {
      return {.snapshot = *snapshot,
              .request = request,
              .now = now,
              .quota = ask.has_value() ? &*ask : nullptr};
    }
  };
  [[nodiscard]] Question Ask(size_t gang) {
    Question question{.request = cluster_.RequestOf(NameOf(gang)),
                      .ask = {},
                      .snapshot = cluster_.state().Publish()};
    if (!setting_.gangs[gang].queue.has_value()) return question;
    question.ask =
        QuotaAsk{.tree = &setting_.tree, .queue = *setting_.gangs[gang].queue, .options = {}};
    for (const Want& want : question.request.wants) {
      question.ask->options[want.shape] = {{.nodes = {}, .each = ChargeOf(gang, 1), .flavor = "f"}};
    }
    return question;
  }

  bool Serve(size_t gang) {
    const Question question = Ask(gang);
    const DecideInput decide = question.Input(cluster_.now);
    if (const std::optional<Plan> plan = FindPlan(decide, cluster_.profile())) {
      Start(gang, *plan);
      StartSurplus(gang);
      return true;
    }
    std::vector<size_t> index;
    const std::vector<RunningGang> running = Running(gang, index);
    const auto answer =
        PlanPreemption({.decide = decide,
                        .profile = cluster_.profile(),
                        .priority = setting_.gangs[gang].priority,
                        .queued = TimeOf(gang),
                        .policy = setting_.policy,
                        .fair_sharing = fair_sharing_,
                        .strategies = {FairStrategy::kLessThanOrEqualToFinalShare},
                        .own_victims = standing_[gang].reclaimed ? OwnVictims::kWithinNominal
                                                                 : OwnVictims::kAlways,
                        .running = running});
    const auto* plan = std::get_if<PreemptionPlan>(&answer);
    if (plan == nullptr) return false;
    for (const Victim& victim : plan->victims) Evict(index[victim.running], gang, victim);
    ++preemptions;
    Start(gang, plan->plan);
    StartSurplus(gang);
    return true;
  }
  void StartSurplus(size_t gang) {
    Question question = Ask(gang);
    question.request.scope = DecideScope::kSurplus;
    if (question.request.wants.empty()) return;
    const auto plan = FindPlan(question.Input(cluster_.now), cluster_.profile());
    if (plan.has_value()) Start(gang, *plan);
  }
  // All that run but those for which the gang had to leave.
  std::vector<RunningGang> Running(size_t preemptor, std::vector<size_t>& index) {
    std::vector<RunningGang> running;
    for (size_t i = 0; i < standing_.size(); ++i) {
      if (!standing_[i].runs || standing_[preemptor].has_left_for.contains(i)) continue;
      const Gang& model = cluster_.GangOf(NameOf(i));
      index.push_back(i);
      RunningGang gang{.gang = model.id,
                       .name = NameOf(i),
                       .queue = setting_.gangs[i].queue.value_or(QuotaNodeId()),
                       .priority = setting_.gangs[i].priority,
                       .queued = TimeOf(i),
                       .started = TimeOf(i)};
      gang.surplus = SurplusOf(model);
      for (const Member& member : model.members) {
        if (member.state != MemberState::kBound) continue;
        gang.members.push_back({.pod = member.pod,
                                .node = member.node,
                                .shape = member.shape,
                                .charge = ChargeOf(i, 1)});
      }
      running.push_back(std::move(gang));
    }
    return running;
  }

  void Evict(size_t gang, size_t preemptor, const Victim& victim) {
    Standing& it = standing_[gang];
    const Demand charge = ChargeOf(gang, victim.pods.size());
    if (!charge.empty()) setting_.tree.Remove(*setting_.gangs[gang].queue, charge);
    for (const PodId pod : victim.pods) {
      const int64_t number = NumberOf(cluster_.state().FindPod(pod)->name);
      std::erase(it.pods, number);
      Delete(gang, number);
    }
    const bool stands = it.pods.size() >= QuorumOf(gang);
    EXPECT_TRUE(stands || it.pods.empty()) << "half a gang is left";
    surplus_alone += stands;
    if (stands) return;
    const bool same_queue = setting_.gangs[gang].queue == setting_.gangs[preemptor].queue;
    without_queue += !same_queue && !setting_.gangs[gang].queue.has_value();
    it.reclaimed = it.reclaimed || !same_queue;
    it.has_left_for.insert(preemptor);
    it.runs = false;
    ++it.generation;
    for (int64_t p = 0; p < setting_.gangs[gang].pods; ++p) {
      Delete(gang, p);
      Submit(gang, p);
    }
  }
  void Delete(size_t gang, int64_t pod) {
    const std::string name = absl::StrCat(NameOf(gang), "-", pod);
    cluster_.Add(ObjectDeleted{{ResourceKind::kPod, "default", name}, ""});
  }
  void Start(size_t gang, const Plan& plan) {
    Standing& it = standing_[gang];
    it.runs = true;
    for (const Placement& place : plan.placements) {
      const int64_t pod = NumberOf(cluster_.state().FindPod(place.pod)->name);
      it.pods.push_back(pod);
      MakePod bound = PodOf(gang, pod);
      cluster_.Add(bound.On(cluster_.state().NodeName(place.node)));
    }
    std::ranges::sort(it.pods);
    const Demand charge = ChargeOf(gang, plan.placements.size());
    if (charge.empty()) return;
    EXPECT_TRUE(setting_.tree.Fits(*setting_.gangs[gang].queue, charge));
    setting_.tree.Add(*setting_.gangs[gang].queue, charge);
  }
  static int64_t NumberOf(const std::string& pod) {
    int64_t number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(pod.substr(pod.rfind('-') + 1), &number)) << pod;
    return number;
  }

  Setting setting_;
  FairSharing fair_sharing_;
  std::vector<Standing> standing_;
  TestCluster cluster_;
  size_t arrived_ = 0;  // the first ones; all that is done about each comes to rest before the next
};

QuotaNodeSpec NodeOf(QuotaNodeId parent, int64_t nominal) {
  QuotaNodeSpec spec{.parent = parent};
  spec.limits.push_back({.cell = QuotaCellId(0), .nominal = Amount(nominal)});
  return spec;
}

Setting RandomSetting(Random& random) {
  const auto draw = [&random](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random.Below(static_cast<uint64_t>(most - least + 1)));
  };
  Setting setting;
  int64_t gpus = 0;
  for (int64_t n = draw(1, 3); n > 0; --n) {
    setting.nodes.push_back(draw(2, 6));
    gpus += setting.nodes.back();
  }
  std::vector<QuotaNodeSpec> specs{NodeOf(QuotaNodeId(), 0)};
  std::vector<QuotaNodeId> queues;
  for (int64_t q = draw(1, 3); q > 0; --q) {
    queues.push_back(QuotaNodeId(static_cast<uint32_t>(specs.size())));
    specs.push_back(NodeOf(QuotaNodeId(0), draw(0, std::min<int64_t>(gpus, 6))));
  }
  setting.tree = QuotaTree(specs, {0});
  for (int64_t g = draw(3, 8); g > 0; --g) {
    Submitted gang{.queue = queues[random.Below(queues.size())],
                   .priority = static_cast<int32_t>(draw(0, 2)),
                   .pods = draw(1, 3),
                   .gpus = draw(1, 3)};
    gang.min_member = random.OneIn(3) ? draw(1, gang.pods) : gang.pods;
    if (random.OneIn(4)) gang.queue.reset();
    setting.gangs.push_back(gang);
  }
  setting.policy = {
      .within = random.OneIn(4) ? WithinQueuePreemption::kLowerOrNewerEqualPriority
                                : WithinQueuePreemption::kLowerPriority,
      .reclaim = random.OneIn(3) ? ReclaimWithinCohort::kLowerPriority : ReclaimWithinCohort::kAny};
  return setting;
}

uint64_t Histories() { return static_cast<uint64_t>(Worlds("MANIPLE_ROOM_HISTORIES", 2000)); }

void PlayMany(FairSharing fair_sharing) {
  int64_t preemptions = 0, surplus_alone = 0, without_queue = 0;
  for (uint64_t seed = 0; seed < Histories(); ++seed) {
    Random random(seed);
    History history(RandomSetting(random), fair_sharing);
    EXPECT_EQ(history.Play(), History::End::kRest) << "a cycle with seed " << seed;
    preemptions += history.preemptions;
    surplus_alone += history.surplus_alone;
    without_queue += history.without_queue;
  }
  GTEST_LOG_(INFO) << Histories() << " histories, " << preemptions << " preemptions, "
                   << surplus_alone << " of surplus alone, " << without_queue
                   << " gangs without a Queue for one with";
  const auto few = static_cast<int64_t>(Histories()) / 50;
  EXPECT_GT(preemptions, few);
  EXPECT_GT(surplus_alone, few);
  EXPECT_GT(without_queue, few);
}

TEST(PreemptionRoomHistories, ComeToRestWithFairSharing) { PlayMany(FairSharing::kOn); }
TEST(PreemptionRoomHistories, ComeToRestWithoutFairSharing) { PlayMany(FairSharing::kOff); }

}  // namespace
}  // namespace maniple::cycle_preemption_room_histories_test
