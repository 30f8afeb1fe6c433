// Gangs of several shapes, and of sub-groups with domains of their own, where one domain among many
// will do and each shape alone would fit into all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "queue/quota_tree.h"
#include "test/support/builders.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;

class ShapesTest : public ::testing::Test {
 protected:
  ShapesTest() {
    Topology topology;
    topology.meta.name = "default";
    topology.levels = {{.name = "block", .node_label = "example.com/block"},
                       {.name = "rack", .node_label = "example.com/rack"},
                       {.name = "host", .node_label = "kubernetes.io/hostname"}};
    cluster_.Add(ObjectUpserted{topology});
  }
  MakeNode NodeIn(absl::string_view block, absl::string_view rack, absl::string_view name) {
    MakeNode node(name);
    node.Gpu(8).Cpu(64).Label("example.com/block", block).Label("example.com/rack", rack);
    node.Label("kubernetes.io/hostname", name);
    return node;
  }
  // Twenty racks of two nodes, and behind them, if it is asked for, one of three.
  enum class Last : uint8_t { kGood, kBad };
  void Racks(Last last) {
    for (int rack = 10; rack < 30; ++rack) {
      for (const char* node : {"a", "b"}) {
        cluster_.Add(NodeIn("b", absl::StrCat("r", rack), absl::StrCat("r", rack, node)));
      }
    }
    if (last == Last::kBad) return;
    for (const char* node : {"z1", "z2", "z3"}) cluster_.Add(NodeIn("b", "z", node));
  }
  std::vector<std::string> Places(absl::string_view gang) {
    return cluster_.PlacesOf(cluster_.Decide(gang));
  }
  RejectionCode CodeOf(absl::string_view gang) {
    const Decision decision = cluster_.Decide(gang);
    const auto* rejection = std::get_if<Rejection>(&decision);
    return rejection == nullptr ? RejectionCode{} : rejection->code;
  }

  // A launcher without GPUs and two workers that take a node each but for a few cores.
  void SubmitLauncherAndWorkers() {
    cluster_.Add(MakePodGroup("x").MinMember(3).Required("rack"));
    cluster_.Add(MakePod("x-0").Group("x").Index(0).Cpu(8000));
    for (const char* worker : {"x-1", "x-2"}) {
      cluster_.Add(MakePod(worker).Group("x").Index(worker[2] - '0').Cpu(60'000).Gpu(8));
    }
  }

  TestCluster cluster_;
};

TEST_F(ShapesTest, ALauncherAndItsWorkersFindTheOnlyRackThatTakesThemTogether) {
  Racks(Last::kGood);
  SubmitLauncherAndWorkers();
  EXPECT_THAT(Places("x"), ElementsAre("x-0=z3", "x-1=z1", "x-2=z2"));
}

TEST_F(ShapesTest, WhereNoRackTakesTheShapesTogetherThatIsProven) {
  Racks(Last::kBad);
  SubmitLauncherAndWorkers();
  EXPECT_EQ(CodeOf("x"), RejectionCode::kNeverFits);
}

TEST_F(ShapesTest, ALeaderAndTwoWorkersFindTheOnlyRackWithRoomForAllThree) {
  Racks(Last::kGood);
  cluster_.Add(MakePodGroup("x").MinMember(3).Required("rack"));
  cluster_.Add(MakePod("x-0").Group("x").Index(0).Gpu(4));
  for (const char* worker : {"x-1", "x-2"}) {
    cluster_.Add(MakePod(worker).Group("x").Index(worker[2] - '0').Gpu(8));
  }
  EXPECT_EQ(cluster_.PlacesOf(cluster_.Decide("x")).size(), 3);
}

TEST_F(ShapesTest, TwoUnlikePodsFindTheOneHostAmongNearlyEmptyOnes) {
  for (int n = 10; n < 30; ++n) {
    const std::string name = absl::StrCat("n", n);
    cluster_.Add(NodeIn("b", "r", name));
    cluster_.Add(MakePod(absl::StrCat("other-", n)).Scheduler("other").Gpu(1).On(name));
  }
  cluster_.Add(NodeIn("b", "r", "z"));
  cluster_.Add(MakePodGroup("x").MinMember(2).Required("host"));
  cluster_.Add(MakePod("x-0").Group("x").Index(0).Gpu(3));
  cluster_.Add(MakePod("x-1").Group("x").Index(1).Gpu(5));
  EXPECT_THAT(Places("x"), ElementsAre("x-0=z", "x-1=z"));
}

// Forty racks in twenty blocks have room for two members each, one rack for three.
TEST_F(ShapesTest, ASubGroupFindsTheOnlyRackThatTakesItAmongManyBlocks) {
  for (int block = 10; block < 30; ++block) {
    for (int node = 0; node < 4; ++node) {
      const std::string name = absl::StrCat("b", block, "n", node);
      cluster_.Add(NodeIn(absl::StrCat("b", block), absl::StrCat("r", node / 2), name));
    }
  }
  for (int node = 0; node < 4; ++node) {
    cluster_.Add(NodeIn("z", node < 3 ? "r1" : "r2", absl::StrCat("z", node)));
  }
  cluster_.Add(
      MakePodGroup("x").MinMember(4).Required("block").SubGroup("whole", 3, {.required = "rack"}));
  for (int i = 0; i < 4; ++i) {
    MakePod pod(absl::StrCat("x-", i));
    pod.Group("x").Index(i).Gpu(8);
    if (i > 0) pod.SubGroup("whole");
    cluster_.Add(pod);
  }
  EXPECT_THAT(Places("x"), ElementsAre("x-1=z0", "x-2=z1", "x-3=z2", "x-0=z3"));
}

// The launcher is surplus to the quorum where it cannot be placed.
TEST_F(ShapesTest, AMemberThatFitsNowhereBesideTheOthersIsPassedOver) {
  for (const char* node : {"a", "b"}) cluster_.Add(NodeIn("b", "r", node));
  cluster_.Add(MakePodGroup("x").MinMember(3).Required("rack"));
  for (const char* pod : {"x-0", "x-1"}) {
    cluster_.Add(MakePod(pod).Group("x").Index(pod[2] - '0').Gpu(6));
  }
  cluster_.Add(MakePod("x-2").Group("x").Index(2).Gpu(3));
  cluster_.Add(MakePod("x-3").Group("x").Index(3).Gpu(2));
  EXPECT_THAT(Places("x"), ElementsAre("x-0=a", "x-1=b", "x-3=a"));
}

// Flavors n0 … n3, each with a node of its own.
class FlavorsTest : public ShapesTest {
 protected:
  void AddFlavors(const std::vector<int>& nominal) {
    for (uint32_t flavor = 0; flavor < nominal.size(); ++flavor) {
      const std::string name = absl::StrCat("n", flavor);
      cluster_.Add(MakeNode(name).Gpu(8).Label("pool", absl::StrCat("f", flavor)));
      queue_.limits.push_back({.cell = QuotaCellId(flavor), .nominal = Amount(nominal[flavor])});
      const NodeId node = cluster_.state().NodeNamed(name).value();
      NodeSet nodes(BlockOf(node) + 1);
      nodes[BlockOf(node)].Set(RowOf(node));
      options_.push_back(
          {.nodes = nodes, .each = {{QuotaCellId(flavor), Amount(1)}}, .flavor = name});
    }
  }
  Decision DecideWithQuota(absl::string_view gang) {
    const QuotaTree tree({queue_}, std::vector<uint32_t>(options_.size()));
    const GangRequest request = cluster_.RequestOf(gang);
    QuotaAsk ask{.tree = &tree, .queue = QuotaNodeId(0), .options = {}};
    for (const Want& want : request.wants) ask.options[want.shape] = options_;
    const SnapshotPtr snapshot = cluster_.state().Publish();
    return Decide({.snapshot = *snapshot, .request = request, .now = cluster_.now, .quota = &ask},
                  cluster_.profile());
  }

 private:
  QuotaNodeSpec queue_;
  std::vector<QuotaOption> options_;
};

// There are 256 choices of flavors, and the last of them is the one.
TEST_F(FlavorsTest, FourRolesFindTheFlavorsThatTheyName) {
  AddFlavors({8, 8, 8, 8});
  cluster_.Add(MakePodGroup("x").MinMember(4));
  for (int i = 0; i < 4; ++i) {
    cluster_.Add(MakePod(absl::StrCat("x-", i))
                     .Group("x")
                     .Index(i)
                     .Gpu(1)
                     .Selector("pool", absl::StrCat("f", 3 - i)));
  }
  EXPECT_THAT(cluster_.PlacesOf(DecideWithQuota("x")),
              ElementsAre("x-0=n3", "x-1=n2", "x-2=n1", "x-3=n0"));
}

TEST_F(FlavorsTest, APlanSaysWhichFlavorsWereTriedBeforeAndWhatTheyLacked) {
  AddFlavors({1, 8, 8, 8});
  cluster_.Add(MakePod("other").Scheduler("other").Gpu(8).On("n1"));
  cluster_.Add(MakePodGroup("x").MinMember(2));
  for (const char* pod : {"x-0", "x-1"}) cluster_.Add(MakePod(pod).Group("x").Gpu(4));
  const Decision decision = DecideWithQuota("x");
  EXPECT_THAT(cluster_.PlacesOf(decision), ElementsAre("x-0=n2", "x-1=n2"));
  const std::vector<RefusedFlavors>& refused = std::get<Plan>(decision).refused;
  ASSERT_EQ(refused.size(), 2);
  EXPECT_THAT(refused[0].flavors, ElementsAre("n0"));
  EXPECT_EQ(refused[0].lacks, RefusedFlavors::Lacks::kQuota);
  EXPECT_THAT(refused[1].flavors, ElementsAre("n1"));
  EXPECT_EQ(refused[1].lacks, RefusedFlavors::Lacks::kRoom);
}

}  // namespace
}  // namespace maniple
