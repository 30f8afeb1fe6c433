#include "test/oracle/cycle/preemption_case.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "test/support/builders.h"

namespace maniple {
namespace {

class PreemptionCaseMaker final {
 public:
  explicit PreemptionCaseMaker(uint64_t seed) : random_(seed) {}

  void Make(PreemptionCase& world) {
    Topology topology{.levels = {{.name = "rack", .node_label = "rack"}}};
    topology.meta.name = "default";
    world.cluster.Add(ObjectUpserted{topology});
    nodes_ = Draw(1, 4);
    flavors_ = random_.OneIn(3) ? 2 : 1;
    for (int64_t n = 0; n < nodes_; ++n) {
      world.cluster.Add(MakeNode(absl::StrCat("n", n)).Gpu(4).Label("rack", n < 2 ? "r1" : "r2"));
    }
    world.in_queue = !random_.OneIn(8);
    for (int budget = 0; budget < 3; ++budget) {
      world.allowed.push_back(static_cast<int32_t>(random_.Below(3)));
    }
    DrawQuota(world);
    DrawRunning(world);
    DrawRequest(world);
  }

 private:
  // Sets of victims that a case may have at most.
  static constexpr int64_t kMostSets = 300;

  // A member of a gang as it is drawn.
  struct Drawn {
    int64_t node = -1;  // -1: it succeeded
    int sub_group = -1;
    int unit = -1;  // what leaves together
  };

  int64_t Draw(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most - least + 1)));
  }
  int64_t FlavorOf(int64_t node) const { return node % flavors_; }
  static Demand Charge(int64_t flavor, int64_t gpus, int64_t cpus) {
    const auto cell = static_cast<uint32_t>(2 * flavor);
    Demand demand;
    if (gpus > 0) demand.push_back({.cell = QuotaCellId(cell), .amount = Amount(gpus)});
    if (cpus > 0) demand.push_back({.cell = QuotaCellId(cell + 1), .amount = Amount(cpus)});
    return demand;
  }

  void DrawLimits(bool tight, int64_t most, QuotaNodeSpec& spec) {
    for (uint32_t cell = 0; cell < 2 * flavors_; ++cell) {
      QuotaLimit amounts{.cell = QuotaCellId(cell), .nominal = Amount(Draw(0, most))};
      if (cell % 2 == 1 && !tight) amounts.nominal = Amount(20);
      if (random_.OneIn(8)) amounts.lending = Amount(1);
      if (random_.OneIn(8)) amounts.borrowing = Amount(2);
      spec.limits.push_back(amounts);
    }
  }
  void DrawQuota(PreemptionCase& world) {
    const bool tight = random_.OneIn(2);
    std::vector<QuotaNodeSpec> specs(1);
    DrawLimits(tight, random_.OneIn(4) ? 3 : 0, specs[0]);
    for (QuotaLimit& limit : specs[0].limits) limit.borrowing = std::nullopt;
    const bool nested = random_.OneIn(3);
    if (nested) {
      specs.push_back({.parent = QuotaNodeId(0)});
      DrawLimits(tight, 3, specs.back());
    }
    const int64_t count = Draw(1, 3);
    for (int64_t q = 0; q < count; ++q) {
      world.queues.push_back(QuotaNodeId(static_cast<uint32_t>(specs.size())));
      const uint32_t parent = nested && random_.OneIn(2) ? 1 : 0;
      specs.push_back({.parent = QuotaNodeId(parent),
                       .weight_milli = random_.OneIn(3) ? Draw(0, 3) * 1000 : 1000});
      DrawLimits(tight, tight ? 5 : 9, specs.back());
    }
    std::vector<uint32_t> resources;
    for (uint32_t cell = 0; cell < 2 * flavors_; ++cell) resources.push_back(cell % 2);
    world.tree = QuotaTree(specs, resources);
  }

  void DrawRunning(PreemptionCase& world) {
    std::vector<int64_t> free(static_cast<size_t>(nodes_), 4);
    int64_t sets = 1;
    for (int g = 0; g < 7; ++g) {
      const int64_t gpus = Draw(1, 4), cpus = Draw(0, 2);
      QuorumWords words = DrawQuorum();
      std::vector<Drawn> members;
      std::vector<int64_t> left = free;
      const int64_t pods = Draw(1, words.sub_groups.empty() && random_.OneIn(2) ? 2 : 4);
      for (int64_t p = 0; p < pods; ++p) {
        Drawn member{.node = Draw(0, nodes_ - 1)};
        if (!words.sub_groups.empty()) {
          member.sub_group = static_cast<int>(Draw(-1, std::ssize(words.sub_groups) - 1));
        }
        if (random_.OneIn(12)) {
          words.succeeded.push_back(member.sub_group);
          member.node = -1;
        } else if (left[static_cast<size_t>(member.node)] < gpus) {
          continue;
        } else {
          left[static_cast<size_t>(member.node)] -= gpus;
          words.bound.push_back(member.sub_group);
        }
        members.push_back(member);
      }
      if (!words.sub_groups.empty() && random_.OneIn(2)) DrawUnits(members, words);
      if (words.bound.empty() || sets * SetsOf(words) > kMostSets) continue;
      sets *= SetsOf(words);
      free = left;
      Run(absl::StrCat("g", g), members, Charge(0, gpus, cpus), std::move(words), world);
    }
  }
  QuorumWords DrawQuorum() {
    QuorumWords words;
    words.min_member = random_.OneIn(2) ? 4 : Draw(1, 3);
    if (!random_.OneIn(4)) return words;
    words.min_member = Draw(1, 2);
    words.sub_groups = {Draw(0, 1), Draw(0, 2)};
    return words;
  }
  // Replicas of two hosts each, and perhaps half of one.
  static void DrawUnits(std::vector<Drawn>& members, QuorumWords& words) {
    std::vector<int> hosts(words.sub_groups.size(), 0);
    for (Drawn& member : members) {
      if (member.node < 0) continue;
      if (member.sub_group >= 0) {
        const auto part = static_cast<size_t>(member.sub_group);
        member.unit = 10 * member.sub_group + hosts[part]++ / 2;
      }
      words.units.push_back(member.unit);
    }
  }
  // Nothing, and all that may leave together.
  static int64_t SetsOf(const QuorumWords& words) {
    int64_t sets = 1;
    for (uint32_t gone = 1; gone < uint32_t{1} << words.bound.size(); ++gone) {
      sets += words.MayLeave(gone);
    }
    return sets;
  }

  // `asks` as if charged in the first flavor.
  void Run(const std::string& name, const std::vector<Drawn>& members, const Demand& asks,
           QuorumWords words, PreemptionCase& world) {
    const bool queued = world.in_queue ? !random_.OneIn(6) : random_.OneIn(3);
    MakePodGroup group(name);
    group.MinMember(static_cast<int32_t>(words.min_member));
    for (size_t part = 0; part < words.sub_groups.size(); ++part) {
      group.SubGroup(absl::StrCat("s", part), static_cast<int32_t>(words.sub_groups[part]));
    }
    world.cluster.Add(group);
    for (size_t p = 0; p < members.size(); ++p) {
      MakePod pod(absl::StrCat(name, "-", p));
      pod.Group(name).Index(static_cast<int64_t>(p));
      for (const CellAmount& ask : asks) {
        ask.cell.index() == 0 ? pod.Gpu(ask.amount.units()) : pod.Cpu(ask.amount.units() * 100);
      }
      if (members[p].sub_group >= 0) pod.SubGroup(absl::StrCat("s", members[p].sub_group));
      pod.On(absl::StrCat("n", std::max<int64_t>(0, members[p].node)));
      if (members[p].node < 0) pod.Phase(PodPhase::kSucceeded);
      world.cluster.Add(pod);
    }
    const Gang& model = world.cluster.GangOf(name);
    RunningGang gang{.gang = model.id, .name = name, .priority = static_cast<int32_t>(Draw(0, 3))};
    if (queued) gang.queue = world.queues[random_.Below(world.queues.size())];
    gang.queued = world.cluster.now - absl::Seconds(Draw(0, 5));
    gang.started = world.cluster.now - absl::Seconds(Draw(-1, 5));
    if (random_.OneIn(10)) gang.protected_until = world.cluster.now + absl::Seconds(1);
    gang.surplus = SurplusOf(model);
    words.bound.clear();
    words.units.clear();
    for (const Member& member : model.members) {
      if (member.state != MemberState::kBound) continue;
      const Drawn& drawn = members[static_cast<size_t>(member.rank.index)];
      words.bound.push_back(drawn.sub_group);
      words.units.push_back(drawn.unit);
      VictimPod pod{.pod = member.pod, .node = member.node, .shape = member.shape};
      pod.sub_group = member.rank.sub_group;
      pod.unit = drawn.unit;
      for (CellAmount ask : asks) {
        if (!queued) break;
        ask.cell = QuotaCellId(ask.cell.index() + static_cast<uint32_t>(2 * FlavorOf(drawn.node)));
        pod.charge.push_back(ask);
      }
      if (queued) world.tree.Add(gang.queue, pod.charge);
      if (random_.OneIn(5)) pod.budgets = DrawBudgets();
      gang.members.push_back(std::move(pod));
    }
    world.running.push_back(std::move(gang));
    world.quorums.push_back(std::move(words));
  }
  std::vector<uint32_t> DrawBudgets() {
    std::vector<uint32_t> budgets;
    for (uint32_t budget = 0; budget < 3; ++budget) {
      if (random_.OneIn(2)) budgets.push_back(budget);
    }
    return budgets;
  }

  void DrawRequest(PreemptionCase& world) {
    const int64_t pods = Draw(1, 3);
    const int64_t gpus = Draw(1, 4), cpus = Draw(0, 2);
    const int64_t other_gpus = random_.OneIn(3) ? Draw(1, 4) : gpus;
    MakePodGroup group("in");
    group.MinMember(static_cast<int32_t>(pods));
    if (random_.OneIn(3)) group.Required("rack");
    world.cluster.Add(group);
    for (int64_t p = 0; p < pods; ++p) {
      const int64_t asks = p == 0 ? other_gpus : gpus;
      world.cluster.Add(
          MakePod(absl::StrCat("in-", p)).Group("in").Gpu(asks).Cpu(cpus * 100).Index(p));
    }
    world.request = world.cluster.RequestOf("in");
    world.ask.tree = &world.tree;
    world.ask.queue = world.queues.front();
    for (size_t p = 0; p < world.request.wants.size(); ++p) {
      std::vector<QuotaOption>& options = world.ask.options[world.request.wants[p].shape];
      if (options.empty()) options = DrawOptions(p == 0 ? other_gpus : gpus, cpus);
    }
    DrawPolicy(world);
  }
  // The flavors that the shape may use, in some order; not always all.
  std::vector<QuotaOption> DrawOptions(int64_t gpus, int64_t cpus) {
    std::vector<QuotaOption> options;
    const int64_t first = Draw(0, flavors_ - 1);
    for (int64_t i = 0; i < flavors_; ++i) {
      const int64_t flavor = (first + i) % flavors_;
      QuotaOption option{.nodes = {}, .each = Charge(flavor, gpus, cpus), .flavor = ""};
      if (flavors_ > 1) option.nodes = NodesOf(flavor);
      options.push_back(std::move(option));
    }
    if (options.size() > 1 && random_.OneIn(4)) options.pop_back();
    return options;
  }
  NodeSet NodesOf(int64_t flavor) const {
    NodeSet nodes(1);
    for (int64_t n = 0; n < nodes_; ++n) {
      if (FlavorOf(n) == flavor) nodes[0].Set(RowOf(NodeId(static_cast<uint32_t>(n))));
    }
    return nodes;
  }
  void DrawPolicy(PreemptionCase& world) {
    constexpr FairStrategy kFinal = FairStrategy::kLessThanOrEqualToFinalShare;
    constexpr FairStrategy kInitial = FairStrategy::kLessThanInitialShare;
    world.priority = static_cast<int32_t>(Draw(0, 4));
    world.queued = world.cluster.now - absl::Seconds(Draw(0, 5));
    world.policy = {.within = static_cast<WithinQueuePreemption>(random_.Below(3)),
                    .reclaim = static_cast<ReclaimWithinCohort>(random_.Below(3)),
                    .borrowing_preempts_lower = random_.OneIn(2)};
    if (random_.OneIn(2)) world.policy.borrow_threshold = static_cast<int32_t>(Draw(0, 2));
    world.fair_sharing = random_.OneIn(2) ? FairSharing::kOn : FairSharing::kOff;
    const std::vector<std::vector<FairStrategy>> strategies = {
        {kFinal}, {kFinal}, {kInitial}, {kFinal, kInitial}, {}};
    world.strategies = strategies[random_.Below(strategies.size())];
    if (random_.OneIn(4)) world.own_victims = OwnVictims::kWithinNominal;
  }

  Random random_;
  int64_t nodes_ = 1, flavors_ = 1;
};

}  // namespace

void DrawPreemptionCase(uint64_t seed, PreemptionCase& world) {
  PreemptionCaseMaker(seed).Make(world);
}

}  // namespace maniple
