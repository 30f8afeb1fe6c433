// Fears: a node that somebody needs as it is gets divided; a proposal helps nobody; two plans undo
// each other for ever.
#include "scheduler/mig/mig_plan.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace maniple::mig_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kWhole[] = "nvidia.com/gpu";

const MigTables& Tables() {
  static const MigTables tables;
  return tables;
}

// Nodes of eight H100, and pods that want one resource each.
class World final {
 public:
  World() { input_.resources = {kWhole}; }

  MigPlanNode& Node(const std::string& name, const std::string& config, int32_t gpus = 8) {
    input_.nodes.push_back({.name = name,
                            .table = Tables().OfModel("H100-80GB"),
                            .gpus = gpus,
                            .config = config,
                            .free = std::vector<int64_t>(input_.resources.size(), 0)});
    if (config == "all-disabled") input_.nodes.back().free[0] = gpus;
    return input_.nodes.back();
  }
  // REQUIRES: nodes come after it.
  void Wants(const std::string& resource, int64_t pods, int64_t per_pod = 1) {
    if (resource != kWhole) input_.resources.push_back(resource);
    const size_t at = resource == kWhole ? 0 : input_.resources.size() - 1;
    input_.demands.push_back({.resource = static_cast<int32_t>(at),
                              .per_pod = per_pod,
                              .pods = pods,
                              .most = {1000, 0}});
  }
  MigPlanInput& input() { return input_; }
  MigPlan Plan() const { return PlanMig(input_); }
  std::vector<std::string> Proposals() const {
    std::vector<std::string> out;
    for (const MigProposal& each : Plan().proposals) {
      out.push_back(absl::StrCat(each.node, "=", each.config));
    }
    return out;
  }

 private:
  MigPlanInput input_;
};

TEST(MigPlan, AnIdleNodeIsDividedForThoseWhoWait) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 3);
  world.Node("n1", "all-disabled");
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=all-1g.10gb"));
  EXPECT_EQ(world.Plan().served_before, 0);
  EXPECT_EQ(world.Plan().served, 3);
  EXPECT_TRUE(world.Plan().proven);
}

TEST(MigPlan, ThreeKindsShareOneBalancedNode) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 3);
  world.Wants("nvidia.com/mig-2g.20gb", 3);
  world.Wants("nvidia.com/mig-3g.40gb", 3);
  world.Node("n2", "all-disabled");
  world.Node("n1", "all-disabled");
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=all-balanced"));
}

TEST(MigPlan, WholeGpusThatSomebodyWaitsForStayWhole) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 100);
  world.Wants(kWhole, 16, 8);
  world.Node("n1", "all-disabled");
  EXPECT_THAT(world.Proposals(), IsEmpty()) << "two of them would need more than there is";
  world.Node("n2", "all-3g.40gb");
  EXPECT_THAT(world.Proposals(), ElementsAre("n2=all-1g.10gb"));
}

TEST(MigPlan, OnlyAsManyNodesStayWholeAsWholeGpusAreWaitedFor) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 100);
  world.Wants(kWhole, 1, 8);
  for (const char* name : {"n1", "n2", "n3", "n4"}) world.Node(name, "all-disabled");
  EXPECT_THAT(world.Proposals(), ElementsAre("n2=all-1g.10gb", "n3=all-1g.10gb"));
}

TEST(MigPlan, WholeGpusOfNodesThatMayNotChangeAreUsedFirst) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 1);
  world.Wants(kWhole, 1, 4);
  world.Node("n1", "all-disabled");
  MigPlanNode& busy = world.Node("n2", "all-disabled");
  busy.table = nullptr;
  busy.free[0] = 5;
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=all-1g.10gb"));
}

TEST(MigPlan, DividedNodesThatNobodyNeedsBecomeWholeAgain) {
  World world;
  world.Wants(kWhole, 2, 8);
  world.Node("n1", "all-1g.10gb");
  world.Node("n2", "all-1g.10gb", 4);
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=all-disabled")) << "n2 has four only";
}

TEST(MigPlan, SlicesThatAreFreeAlreadyAreCounted) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 10);
  MigPlanNode& busy = world.Node("n1", "all-1g.10gb");
  busy.table = nullptr;
  busy.free[1] = 10;
  world.Node("n2", "all-disabled");
  EXPECT_THAT(world.Proposals(), IsEmpty());
  world.input().nodes[0].free[1] = 9;
  EXPECT_THAT(world.Proposals(), ElementsAre("n2=all-1g.10gb"));
}

TEST(MigPlan, ANodeWhoseSlicesServeIsNotTakenForAsManyOthers) {
  World world;
  world.Wants("nvidia.com/mig-3g.40gb", 16);
  world.Wants("nvidia.com/mig-4g.40gb", 8);
  world.Node("n1", "all-3g.40gb").free[1] = 16;
  EXPECT_THAT(world.Proposals(), IsEmpty());
}

TEST(MigPlan, APodThatWantsTwoSlicesNeedsBothOnOneNode) {
  World world;
  world.Wants("nvidia.com/mig-7g.80gb", 2, 2);
  world.Node("n1", "all-disabled", 1);
  EXPECT_THAT(world.Proposals(), IsEmpty());
  world.Node("n2", "all-disabled", 4);
  EXPECT_THAT(world.Proposals(), ElementsAre("n2=all-7g.80gb"));
}

TEST(MigPlan, NodesThatLetNobodyInAreLeftAlone) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 3);
  world.Node("n1", "all-disabled").kind = 1;
  EXPECT_THAT(world.Proposals(), IsEmpty());
}

TEST(MigPlan, CpuAndMemoryOfANodeCapWhatItTakes) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 12);
  world.input().demands[0].most = {4, 0};
  for (const char* name : {"n1", "n2", "n3", "n4"}) world.Node(name, "all-disabled");
  EXPECT_EQ(world.Proposals().size(), 3u);
}

TEST(MigPlan, PodsOfOneResourceThatDifferShareANode) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 20);
  world.input().demands.push_back({.resource = 1, .per_pod = 1, .pods = 20, .most = {1000, 1000}});
  world.input().demands.push_back({.resource = 1, .per_pod = 4, .pods = 4, .most = {1000, 0}});
  world.Node("n1", "all-disabled");
  world.Node("n2", "all-disabled");
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=all-1g.10gb"));
  EXPECT_EQ(world.Plan().served, 44);
}

TEST(MigPlan, ConfiguredLayoutsReplaceTheDefaultsOfTheirName) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 8);
  world.Wants("nvidia.com/mig-4g.40gb", 8);
  world.Wants(kWhole, 4);
  world.input().configs = {
      {.name = "half", .parts = {{.gpus = 4, .slices = {{"4g.40gb", 1}, {"1g.10gb", 3}}}, {}}},
      {.name = "all-1g.10gb", .parts = {{.slices = {{"1g.10gb", 1}}}}},
      {.name = "nonsense", .parts = {{.slices = {{"9g.99gb", 1}}}}}};
  world.Node("n1", "all-7g.80gb");
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=half"));
  EXPECT_EQ(world.Plan().served, 16);
  world.input().defaults = MigPlanInput::Defaults::kNotOffered;
  world.input().configs.erase(world.input().configs.begin());
  EXPECT_THAT(world.Proposals(), ElementsAre("n1=all-1g.10gb"));
}

// With the demand unchanged every plan serves more than the one before, so they end.
TEST(MigPlan, PlansThatAreCarriedOutComeToRest) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", 70);
  world.Wants("nvidia.com/mig-3g.40gb", 20);
  world.Wants("nvidia.com/mig-7g.80gb", 9);
  for (const char* name : {"n1", "n2", "n3"}) world.Node(name, "all-2g.20gb");
  int64_t served = -1;
  int plans = 0;
  for (MigPlan plan = world.Plan(); !plan.proposals.empty(); plan = world.Plan(), ++plans) {
    ASSERT_LT(plans, 3);
    ASSERT_EQ(served == -1 ? plan.served_before : served, plan.served_before);
    ASSERT_GT(plan.served, plan.served_before);
    served = plan.served;
    for (const MigProposal& proposal : plan.proposals) {
      for (MigPlanNode& node : world.input().nodes) {
        if (node.name != proposal.node) continue;
        node.config = proposal.config;
        const std::vector<MigConfig> configs = DefaultMigConfigs(*node.table);
        const auto config = std::ranges::find(configs, node.config, &MigConfig::name);
        const MigOffer offer = *OfferOf(*config, *node.table, node.gpus);
        node.free = {offer.whole_gpus, offer.slices[0], offer.slices[4], offer.slices[6]};
      }
    }
  }
  EXPECT_GE(plans, 1);
}

TEST(MigPlan, AbsurdNumbersNeitherOverflowNorHang) {
  World world;
  world.Wants("nvidia.com/mig-1g.10gb", int64_t{1} << 60);
  world.Wants("nvidia.com/mig-2g.20gb", 5, int64_t{1} << 60);
  world.Wants("nvidia.com/mig-3g.40gb", -5);
  world.Wants("nvidia.com/mig-4g.40gb", 5, 0);
  world.Wants(kWhole, int64_t{1} << 60, 1);
  world.Node("n1", "all-7g.80gb").free[1] = -(int64_t{1} << 50);
  world.Node("n2", "all-7g.80gb").free[1] = int64_t{1} << 50;
  const MigPlan plan = world.Plan();
  EXPECT_GE(plan.served, plan.served_before);
}

}  // namespace
}  // namespace maniple::mig_plan_test
