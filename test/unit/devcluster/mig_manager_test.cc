// Fear: the simulated mig-manager gives what a real one would not, and a test believes it.
#include "api/devcluster/controllers/mig_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/unit/devcluster/world.h"

namespace maniple::devcluster {
namespace {

const absl::Duration kMigDelay = MigManagerOptions().takes;

class MigManagerTest : public DevclusterWorld {
 protected:
  void SetUp() override { Start({}); }

  void AddGpuNode(const std::string& name, const std::string& more = "") {
    Create("v1", "Node",
           absl::StrCat(R"({"metadata": {"name": ")", name, R"(", "labels": {
             "nvidia.com/mig.capable": "true", "nvidia.com/mig.config": "all-disabled",
             "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960",
             "nvidia.com/gpu.count": "2")",
                        more, R"(}}, "status": {"capacity": {"cpu": "64",
             "nvidia.com/gpu": "2"}}})"));
    Settle();
  }
  Json NodeNamed(const std::string& name) {
    return *store_.Get(Type("v1", "Node").storage, {"", name});
  }
  void Label(const std::string& name, const std::string& key, const std::string& value) {
    Json node = NodeNamed(name);
    node.Mutable("metadata").Mutable("labels").Set(key, value);
    store_.Put(Type("v1", "Node").storage, std::move(node));
    Settle();
  }
  std::string StateOf(const std::string& name) {
    return NodeNamed(name)["metadata"]["labels"]["nvidia.com/mig.config.state"].AsString();
  }
  std::string Allocatable(const std::string& name, const std::string& resource) {
    const Json amount = NodeNamed(name)["status"]["allocatable"][resource];
    return amount.is_string() ? amount.AsString() : "none";
  }
};

TEST_F(MigManagerTest, ANewConfigurationPassesThroughPendingToItsSlices) {
  AddGpuNode("n1");
  EXPECT_EQ(StateOf("n1"), "") << "nobody has asked for anything";
  Label("n1", "nvidia.com/mig.config", "all-balanced");
  EXPECT_EQ(StateOf("n1"), "pending");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "none") << "the device plugin is away";
  EXPECT_EQ(Allocatable("n1", "cpu"), "64");
  Advance(kMigDelay);
  EXPECT_EQ(StateOf("n1"), "success");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/mig-1g.5gb"), "4");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/mig-2g.10gb"), "2");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/mig-3g.20gb"), "2");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "none");
  Label("n1", "nvidia.com/mig.config", "all-disabled");
  Advance(kMigDelay);
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "2");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/mig-1g.5gb"), "none");
  EXPECT_EQ(deadline(), absl::InfiniteFuture());
}

TEST_F(MigManagerTest, ABusyNodeFailsAndKeepsWhatItHad) {
  AddGpuNode("n1");
  AddPod("p", "n1", R"({"nvidia.com/gpu": "1"})");
  Settle();
  Label("n1", "nvidia.com/mig.config", "all-1g.5gb");
  Advance(kMigDelay);
  EXPECT_EQ(StateOf("n1"), "failed");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "2");
}

TEST_F(MigManagerTest, AConfigurationThatNobodyKnowsFails) {
  AddGpuNode("n1");
  for (const char* config : {"all-9g.99gb", "custom-config", "all-1g.10gb.me"}) {
    Label("n1", "nvidia.com/mig.config", config);
    Advance(kMigDelay);
    EXPECT_EQ(StateOf("n1"), "failed") << config;
  }
  Label("n1", "nvidia.com/gpu.count", "a few");
  Label("n1", "nvidia.com/mig.config", "all-1g.5gb");
  Advance(kMigDelay);
  EXPECT_EQ(StateOf("n1"), "failed");
}

TEST_F(MigManagerTest, TheLastOfSeveralConfigurationsCounts) {
  AddGpuNode("n1");
  Label("n1", "nvidia.com/mig.config", "all-1g.5gb");
  Advance(kMigDelay / 2);
  Label("n1", "nvidia.com/mig.config", "all-7g.40gb");
  Advance(kMigDelay / 2);
  EXPECT_EQ(StateOf("n1"), "pending");
  Advance(kMigDelay / 2);
  EXPECT_EQ(StateOf("n1"), "success");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/mig-7g.40gb"), "2");
}

TEST_F(MigManagerTest, OtherNodesAndOtherLabelsAreNoneOfItsBusiness) {
  AddGpuNode("n1");
  Label("n1", "nvidia.com/mig.config.state", "pending");
  Label("n1", "nvidia.com/mig.capable", "false");
  Label("n1", "nvidia.com/mig.config", "all-1g.5gb");
  Advance(absl::Hours(1));
  EXPECT_EQ(StateOf("n1"), "pending") << "somebody else's word";
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "2");
  AddGpuNode("n2");
  Label("n2", "nvidia.com/mig.config", "all-1g.5gb");
  DeleteNode("n2");
  Advance(absl::Hours(1));
}

TEST_F(MigManagerTest, ANodeThatComesInTheMiddleOfAChangeIsSomebodyElses) {
  AddGpuNode("n1", R"(, "nvidia.com/mig.config.state": "pending")");
  Advance(absl::Hours(1));
  EXPECT_EQ(StateOf("n1"), "pending");
}

class MigManagerInAReplayTest : public MigManagerTest {
 protected:
  void SetUp() override {
    const MigConfig half{.name = "half", .parts = {{.gpus = 1, .slices = {{"1g.5gb", 7}}}, {}}};
    Start({.mig = {.configs = {half},
                   .takes = absl::Minutes(1),
                   .resumes = true,
                   .asked_at = "asked-at"}});
  }
  // A node that was asked so long ago.
  void AddNodeUnderChange(const std::string& name, absl::Duration ago) {
    AddGpuNode(
        name,
        absl::StrCat(R"(, "nvidia.com/mig.config.state": "pending"},
                                  "annotations": {"asked-at": ")",
                     absl::FormatTime(absl::RFC3339_sec, now_ - ago, absl::UTCTimeZone()), R"(")"));
  }
};

TEST_F(MigManagerInAReplayTest, KnowsWhatIsConfigured) {
  AddGpuNode("n1");
  Label("n1", "nvidia.com/mig.config", "half");
  Advance(absl::Minutes(1));
  EXPECT_EQ(StateOf("n1"), "success");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/mig-1g.5gb"), "7");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "1");
}

TEST_F(MigManagerInAReplayTest, FinishesWhatWasBegunBeforeItCame) {
  AddNodeUnderChange("n1", absl::Seconds(20));
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "none");
  Advance(absl::Seconds(41));
  EXPECT_EQ(StateOf("n1"), "success");
  EXPECT_EQ(Allocatable("n1", "nvidia.com/gpu"), "2") << "all-disabled is asked for";
}

TEST_F(MigManagerInAReplayTest, AnOldWordIsNoWordOfTheChangeAtHand) {
  AddNodeUnderChange("n1", absl::Hours(2));
  Advance(absl::Seconds(59));
  EXPECT_EQ(StateOf("n1"), "pending");
  Advance(absl::Seconds(1));
  EXPECT_EQ(StateOf("n1"), "success");
}

}  // namespace
}  // namespace maniple::devcluster
