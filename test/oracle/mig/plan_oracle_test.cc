// The planner against brute force: every legal layout of every GPU, every configuration of every
// node. The fear: it serves fewer than the best layout does, or changes more nodes than it must.
//
// MANIPLE_MIG_PLANS=100000 is the full size, MANIPLE_MIG_PLANS_FIRST the first seed.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"
#include "api/gpu/mig_profile.h"
#include "gtest/gtest.h"
#include "scheduler/mig/mig_plan.h"
#include "test/support/mig_layouts.h"
#include "test/support/worlds.h"

namespace maniple::mig_plan_oracle_test {
namespace {

const MigTables& Tables() {
  static const MigTables tables;
  return tables;
}

constexpr char kWhole[] = "nvidia.com/gpu";

// What a GPU of the model can be divided into, as counts: from the enumeration of its layouts.
const std::set<MigCounts>& CountsOfModel(const MigTable& table) {
  static std::map<std::string, std::set<MigCounts>> known;
  std::set<MigCounts>& counts = known[table.model];
  if (counts.empty()) {
    for (const MigLayout& layout : LegalLayouts(table)) counts.insert(CountsOf(table, layout));
  }
  return counts;
}

// One case: nodes, what waits (one demand of a resource), and what each node could be.
struct World {
  MigPlanInput input;
  // By node: what it could be, in units of each resource; the first is what it is.
  std::vector<std::vector<std::vector<int64_t>>> could_be;
};

std::vector<int64_t> UnitsOf(const MigPlanInput& input, const MigTable& table,
                             const MigCounts& counts, int64_t gpus) {
  std::vector<int64_t> units(input.resources.size(), 0);
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::string name = MigResourceName(*ParseMigProfile(table.slices[i].profile));
    for (size_t r = 0; r < units.size(); ++r) {
      if (input.resources[r] == name) units[r] = counts[i] * gpus;
    }
  }
  return units;
}

enum class Configs { kDefaults, kEveryLayout };

World RandomWorld(Random& random, Configs configs) {
  World world;
  MigPlanInput& input = world.input;
  input.most_steps = 5'000'000;
  std::vector<const MigTable*> tables;
  const char* models[] = {"A30-24GB", "A100-40GB", "H100-80GB", "RTX-PRO-6000-96GB", "B200-180GB"};
  for (size_t i = 0; i < 1 + random.Below(2); ++i) {
    tables.push_back(Tables().OfModel(models[random.Below(configs == Configs::kDefaults ? 5 : 2)]));
  }
  // Demand: some profiles of these models, and whole GPUs.
  std::set<std::string> resources;
  for (size_t i = 0; i < 1 + random.Below(3); ++i) {
    const MigTable& table = *tables[random.Below(tables.size())];
    const MigSlice& slice = table.slices[random.Below(table.slices.size())];
    resources.insert(MigResourceName(*ParseMigProfile(slice.profile)));
  }
  if (random.OneIn(3)) resources.insert(kWhole);
  input.resources.assign(resources.begin(), resources.end());
  const size_t most_nodes = configs == Configs::kDefaults ? 4 : 2;
  const size_t nodes = 1 + random.Below(most_nodes);
  for (size_t r = 0; r < input.resources.size(); ++r) {
    const int64_t most = random.OneIn(2) ? 6 : 40;
    input.demands.push_back(
        {.resource = static_cast<int32_t>(r),
         .per_pod = random.OneIn(4) ? 1 + static_cast<int64_t>(random.Below(3)) : 1,
         .pods = 1 + static_cast<int64_t>(random.Below(most)),
         .most = {}});
    for (int kind = 0; kind < 2; ++kind) {
      input.demands.back().most.push_back(random.OneIn(5) ? static_cast<int32_t>(random.Below(6))
                                                          : 1000);
    }
  }
  if (configs == Configs::kEveryLayout) {
    input.defaults = MigPlanInput::Defaults::kNotOffered;
    std::set<std::string> done;
    for (const MigTable* table : tables) {
      if (!done.insert(table->model).second) continue;
      input.configs.push_back({.name = "off", .model = table->model, .parts = {{}}});
      for (const MigCounts& counts : CountsOfModel(*table)) {
        MigConfig config{.name = absl::StrCat("layout-", input.configs.size()),
                         .model = table->model,
                         .parts = {{}}};
        for (size_t i = 0; i < counts.size(); ++i) {
          if (counts[i] == 0) continue;
          config.parts[0].slices.emplace_back(table->slices[i].profile, counts[i]);
        }
        input.configs.push_back(std::move(config));
      }
    }
  }
  for (size_t n = 0; n < nodes; ++n) {
    const MigTable& table = *tables[random.Below(tables.size())];
    MigPlanNode node{.name = absl::StrCat("n", n),
                     .table = random.OneIn(6) ? nullptr : &table,
                     .gpus = static_cast<int32_t>(1 + random.Below(3)),
                     .config = "none of these",
                     .kind = static_cast<int32_t>(random.Below(2)),
                     .free = std::vector<int64_t>(input.resources.size(), 0)};
    // As it is: whole, or divided somehow.
    const std::set<MigCounts>& all = CountsOfModel(table);
    if (random.OneIn(2)) {
      node.free =
          UnitsOf(input, table, *std::next(all.begin(), random.Below(all.size())), node.gpus);
    } else if (input.resources[0] == kWhole) {
      node.free[0] = node.gpus;
    }
    world.could_be.push_back({node.free});
    if (node.table != nullptr) {
      std::vector<int64_t> whole(input.resources.size(), 0);
      if (input.resources[0] == kWhole) whole[0] = node.gpus;
      world.could_be.back().push_back(whole);
      if (configs == Configs::kEveryLayout) {
        for (const MigCounts& counts : all) {
          world.could_be.back().push_back(UnitsOf(input, table, counts, node.gpus));
        }
      } else {
        for (const MigConfig& config : DefaultMigConfigs(table)) {
          const MigOffer offer = *OfferOf(config, table, node.gpus);
          world.could_be.back().push_back(UnitsOf(input, table, offer.slices, 1));
          if (input.resources[0] == kWhole && offer.whole_gpus > 0) {
            world.could_be.back().back()[0] = offer.whole_gpus;
          }
        }
      }
    }
    input.nodes.push_back(std::move(node));
  }
  return world;
}

int64_t PodsOn(const MigDemand& demand, const std::vector<int64_t>& units, int32_t kind) {
  return std::min<int64_t>(units[static_cast<size_t>(demand.resource)] / demand.per_pod,
                           demand.most[static_cast<size_t>(kind)]);
}

struct Score {
  int64_t served = 0, changes = 0;
  friend bool operator==(const Score&, const Score&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Score& score) {
    return out << score.served << " served by " << score.changes << " changes";
  }
};

// Whole GPUs that somebody can use now stay where they are; of the rest everything is tried.
class BruteForce final {
 public:
  explicit BruteForce(const World& world) : world_(world), chosen_(world.input.nodes.size(), 0) {
    for (size_t d = 0; d < world.input.demands.size(); ++d) {
      const MigDemand& demand = world.input.demands[d];
      if (world.input.resources[static_cast<size_t>(demand.resource)] != kWhole) continue;
      int64_t left = demand.pods;
      for (const bool may_change : {false, true}) {
        for (const MigPlanNode& node : world.input.nodes) {
          if ((node.table != nullptr) != may_change) continue;
          const int64_t here = std::min(left, PodsOn(demand, node.free, node.kind));
          left -= here;
          if (may_change && here > 0) kept_.insert(node.name);
        }
      }
    }
  }
  Score Best() {
    Try(0);
    return best_;
  }

 private:
  void Try(size_t n) {
    if (n == chosen_.size()) {
      const Score score = ScoreNow();
      if (score.served > best_.served ||
          (score.served == best_.served && score.changes < best_.changes)) {
        best_ = score;
      }
      return;
    }
    const bool fixed = kept_.contains(world_.input.nodes[n].name);
    for (size_t c = 0; c < (fixed ? 1 : world_.could_be[n].size()); ++c) {
      chosen_[n] = c;
      Try(n + 1);
    }
    chosen_[n] = 0;
  }
  Score ScoreNow() const {
    Score score;
    for (const size_t choice : chosen_) score.changes += choice > 0 ? 1 : 0;
    for (const MigDemand& demand : world_.input.demands) {
      const bool whole = world_.input.resources[static_cast<size_t>(demand.resource)] == kWhole;
      int64_t pods = 0;
      for (size_t n = 0; n < chosen_.size(); ++n) {
        const MigPlanNode& node = world_.input.nodes[n];
        // Nodes that are kept whole for some may still give their slices, if they have any; a
        // planner need not count on that.
        if (!whole && kept_.contains(node.name)) continue;
        pods += std::max<int64_t>(0, PodsOn(demand, world_.could_be[n][chosen_[n]], node.kind));
      }
      score.served += std::min(pods, demand.pods);
    }
    return score;
  }

  const World& world_;
  std::set<std::string> kept_;
  std::vector<size_t> chosen_;
  Score best_{.served = -1};
};

void Compare(Configs configs, uint64_t salt) {
  const auto first = static_cast<int>(Setting("MANIPLE_MIG_PLANS_FIRST", 1));
  const auto cases = static_cast<int>(Worlds("MANIPLE_MIG_PLANS", 2000));
  int64_t helped = 0, changes = 0;
  for (int seed = first; seed < first + cases; ++seed) {
    Random random(static_cast<uint64_t>(seed) * 2 + salt);
    const World world = RandomWorld(random, configs);
    const MigPlan plan = PlanMig(world.input);
    ASSERT_TRUE(plan.proven) << "seed " << seed;
    const Score ours{plan.served, static_cast<int64_t>(plan.proposals.size())};
    ASSERT_EQ(ours, BruteForce(world).Best()) << "seed " << seed;
    helped += plan.served > plan.served_before ? 1 : 0;
    changes += ours.changes;
  }
  EXPECT_GT(helped, cases / 4) << "what is there serves everybody";
  std::cout << cases << " cases, 0 differences; in " << helped << " of them a plan helped, with "
            << changes << " nodes changed in all" << std::endl;
}

TEST(MigPlanOracle, ServesAsManyAsTheBestConfigurationsOfAllNodes) {
  Compare(Configs::kDefaults, 0);
}

TEST(MigPlanOracle, ServesAsManyAsTheBestOfAllLegalLayouts) { Compare(Configs::kEveryLayout, 1); }

}  // namespace
}  // namespace maniple::mig_plan_oracle_test
