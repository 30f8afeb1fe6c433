#include "scheduler/mig/mig_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "api/gpu/gpu_resource.h"
#include "api/gpu/mig_profile.h"
#include "scheduler/mig/cover.h"

namespace maniple {
namespace {

// Where pods that want one resource are not alike, a node is tried with each of them served first;
// beyond this many ways only with the largest.
constexpr size_t kMostWays = 16;
// A bound that lets no sum overflow, whatever the labels say.
constexpr int64_t kMost = int64_t{1} << 30;

using Units = std::vector<int64_t>;  // by resource
using Gives = std::vector<int32_t>;  // by demand

// A possible division of a node, by its use for this plan.
struct Choice {
  std::string config;
  Units units;
};

class Planner final {
 public:
  explicit Planner(const MigPlanInput& input) : input_(input) { MergeDemands(); }

  MigPlan Plan() {
    SortNodes();
    MigPlan plan;
    plan.served_before = KeepWholeGpus();
    GroupNodes();
    problem_.most_steps = input_.most_steps;
    for (const MigDemand& demand : demands_) problem_.demand.push_back(demand.pods);
    const CoverAnswer answer = SolveCover(problem_);
    plan.served = plan.served_before + answer.met;
    plan.served_before += answer.met_before;
    plan.proven = answer.proven;
    for (size_t g = 0; g < groups_.size(); ++g) Propose(g, answer.nodes[g], plan);
    std::sort(plan.proposals.begin(), plan.proposals.end());
    return plan;
  }

 private:
  struct Group {
    std::vector<const MigPlanNode*> nodes;  // by name
    std::vector<std::string> configs;       // by setting; "" = as it is
  };
  using GroupKey = std::tuple<std::string, int32_t, std::string, int32_t, Units>;

  // Demands that every node treats alike are one.
  void MergeDemands() {
    std::map<std::tuple<int32_t, int64_t, std::vector<bool>>, MigDemand> merged;
    for (const MigDemand& demand : input_.demands) {
      if (demand.pods <= 0 || demand.per_pod <= 0 || demand.per_pod > kMost) continue;
      std::vector<bool> where;
      for (const int32_t most : demand.most) where.push_back(most > 0);
      const auto [at, is_new] =
          merged.try_emplace({demand.resource, -demand.per_pod, where}, demand);
      if (is_new) continue;
      MigDemand& one = at->second;
      one.pods += std::min(demand.pods, kMost);
      for (size_t i = 0; i < one.most.size(); ++i) {
        one.most[i] = std::min(one.most[i], demand.most[i]);
      }
    }
    for (auto& [key, demand] : merged) {
      demand.pods = std::min(demand.pods, kMost);
      demands_.push_back(std::move(demand));  // of one resource, the largest pods first
    }
  }

  void SortNodes() {
    for (const MigPlanNode& node : input_.nodes) nodes_.push_back(&node);
    std::sort(nodes_.begin(), nodes_.end(),
              [](const MigPlanNode* a, const MigPlanNode* b) { return a->name < b->name; });
  }

  [[nodiscard]] bool IsWhole(const MigDemand& demand) const {
    return input_.resources[static_cast<size_t>(demand.resource)] == kNvidiaGpu;
  }
  [[nodiscard]] static int64_t RoomFor(const MigDemand& demand, int64_t units, int32_t kind) {
    return std::min<int64_t>(std::max<int64_t>(0, units) / demand.per_pod,
                             demand.most[static_cast<size_t>(kind)]);
  }

  // Gives existing room to pods that wait for whole GPUs, on nodes that may not change first. The
  // nodes that these pods could use are no candidates any more. Returns the number of pods served.
  int64_t KeepWholeGpus() {
    int64_t served = 0;
    for (const bool may_change : {false, true}) {
      std::erase_if(nodes_, [&](const MigPlanNode* node) {
        if ((node->table != nullptr) != may_change) return false;
        const int64_t here = ServeWholeGpus(*node);
        served += here;
        return may_change && here > 0;
      });
    }
    return served;
  }

  int64_t ServeWholeGpus(const MigPlanNode& node) {
    int64_t served = 0, taken = 0;
    for (MigDemand& demand : demands_) {
      if (!IsWhole(demand) || demand.pods == 0) continue;
      const int64_t free = node.free[static_cast<size_t>(demand.resource)] - taken;
      const int64_t pods = std::min(demand.pods, RoomFor(demand, free, node.kind));
      demand.pods -= pods;
      taken += pods * demand.per_pod;
      served += pods;
    }
    return served;
  }

  void GroupNodes() {
    std::map<GroupKey, size_t> at;
    for (const MigPlanNode* node : nodes_) {
      GroupKey key{"", 0, "", node->kind, UsefulOf(*node)};
      if (node->table != nullptr) {
        std::get<0>(key) = node->table->model;
        std::get<1>(key) = node->gpus;
        std::get<2>(key) = node->config;
      }
      const auto [it, is_new] = at.try_emplace(std::move(key), groups_.size());
      if (is_new) groups_.emplace_back();
      groups_[it->second].nodes.push_back(node);
    }
    for (Group& group : groups_) problem_.groups.push_back(SettingsOf(group));
  }

  // The whole GPUs of a node have been given away already, or are of no use to waiting pods.
  [[nodiscard]] Units UsefulOf(const MigPlanNode& node) const {
    Units units = node.free;
    for (size_t r = 0; r < units.size(); ++r) {
      if (input_.resources[r] == kNvidiaGpu) units[r] = 0;
    }
    return units;
  }

  CoverGroup SettingsOf(Group& group) {
    const MigPlanNode& node = *group.nodes.front();
    CoverGroup out{.nodes = static_cast<int32_t>(group.nodes.size()), .settings = {}};
    const auto add = [&](const std::string& config, const Units& units) {
      for (Gives& gives : WaysToGive(units, node.kind)) {
        out.settings.push_back({.gives = std::move(gives), .changes = !config.empty()});
        group.configs.push_back(config);
      }
    };
    add("", UsefulOf(node));
    if (node.table == nullptr) return out;
    for (const Choice& choice : ChoicesFor(*node.table, node.gpus)) {
      if (choice.config != node.config) add(choice.config, choice.units);
    }
    return out;
  }

  // The useful amounts that each configuration gives; of configurations that give the same,
  // the first by name.
  const std::vector<Choice>& ChoicesFor(const MigTable& table, int32_t gpus) {
    const auto [at, is_new] = choices_.try_emplace({&table, gpus});
    if (!is_new) return at->second;
    std::vector<MigConfig> configs = input_.configs;
    std::erase_if(configs, [&](const MigConfig& config) {
      return !config.model.empty() && config.model != table.model;
    });
    if (input_.defaults == MigPlanInput::Defaults::kOffered) {
      for (MigConfig& config : DefaultMigConfigs(table)) configs.push_back(std::move(config));
    }
    std::stable_sort(configs.begin(), configs.end(),
                     [](const MigConfig& a, const MigConfig& b) { return a.name < b.name; });
    std::vector<std::optional<size_t>> resources;
    for (const MigSlice& slice : table.slices) resources.push_back(ResourceOf(slice));
    for (size_t i = 0; i < configs.size(); ++i) {
      // A configured one takes the place of the default of that name.
      if (i > 0 && configs[i].name == configs[i - 1].name) continue;
      const std::optional<MigOffer> offer = OfferOf(configs[i], table, gpus);
      if (!offer.has_value()) continue;
      Choice choice{.config = configs[i].name, .units = Units(input_.resources.size(), 0)};
      for (size_t s = 0; s < resources.size(); ++s) {
        if (resources[s].has_value()) choice.units[*resources[s]] += offer->slices[s];
      }
      for (size_t r = 0; r < input_.resources.size(); ++r) {
        if (input_.resources[r] == kNvidiaGpu) choice.units[r] = offer->whole_gpus;
      }
      at->second.push_back(std::move(choice));
    }
    return at->second;
  }

  [[nodiscard]] std::optional<size_t> ResourceOf(const MigSlice& slice) const {
    const std::optional<MigProfile> profile = ParseMigProfile(slice.profile);
    if (!profile.has_value()) return std::nullopt;
    const auto found =
        std::find(input_.resources.begin(), input_.resources.end(), MigResourceName(*profile));
    if (found == input_.resources.end()) return std::nullopt;
    return static_cast<size_t>(found - input_.resources.begin());
  }

  // Ways to give the units of each resource to the pods that want it: with each of these first.
  [[nodiscard]] std::vector<Gives> WaysToGive(const Units& units, int32_t kind) const {
    std::vector<std::vector<size_t>> takers(units.size());  // by resource
    size_t ways = 1;
    for (size_t d = 0; d < demands_.size(); ++d) {
      const size_t r = static_cast<size_t>(demands_[d].resource);
      if (RoomFor(demands_[d], units[r], kind) > 0) takers[r].push_back(d);
    }
    for (const std::vector<size_t>& some : takers) ways *= std::max<size_t>(1, some.size());
    std::vector<Gives> out = {Gives(demands_.size(), 0)};
    for (size_t r = 0; r < units.size(); ++r) {
      if (takers[r].empty()) continue;
      const size_t firsts = ways > kMostWays ? 1 : takers[r].size();
      std::vector<Gives> with;
      for (const Gives& gives : out) {
        for (size_t first = 0; first < firsts; ++first) {
          with.push_back(gives);
          int64_t left = units[r] - Give(takers[r][first], units[r], kind, with.back());
          for (size_t i = 0; i < takers[r].size(); ++i) {
            if (i != first) left -= Give(takers[r][i], left, kind, with.back());
          }
        }
      }
      out = std::move(with);
    }
    return out;
  }

  // The units that it takes.
  int64_t Give(size_t d, int64_t units, int32_t kind, Gives& gives) const {
    const MigDemand& demand = demands_[d];
    const int64_t pods = std::min(demand.pods, RoomFor(demand, units, kind));
    gives[d] = static_cast<int32_t>(pods);
    return pods * demand.per_pod;
  }

  void Propose(size_t g, const std::vector<int32_t>& counts, MigPlan& plan) const {
    const Group& group = groups_[g];
    size_t next = 0;
    for (size_t s = 1; s < counts.size(); ++s) {
      if (group.configs[s].empty()) continue;
      for (int32_t i = 0; i < counts[s]; ++i) {
        plan.proposals.push_back({.node = group.nodes[next]->name, .config = group.configs[s]});
        ++next;
      }
    }
  }

  const MigPlanInput& input_;
  std::vector<MigDemand> demands_;
  std::vector<const MigPlanNode*> nodes_;  // by name
  std::vector<Group> groups_;              // by their first nodes
  std::map<std::pair<const MigTable*, int32_t>, std::vector<Choice>> choices_;
  CoverProblem problem_;
};

}  // namespace

MigPlan PlanMig(const MigPlanInput& input) { return Planner(input).Plan(); }

}  // namespace maniple
