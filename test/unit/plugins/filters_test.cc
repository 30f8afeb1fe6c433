// Each filter against the cases of kube-scheduler's rules, by what a decision for one pod on one
// node says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/builders.h"
#include "test/support/node_answers.h"
#include "test/support/test_cluster.h"

namespace maniple {
namespace {

constexpr char kMismatch[] = "does not match the pod's node selector or affinity";

MakePod Wanting(SelectorRequirement requirement) {
  return MakePod("p").Affinity({{.expressions = {std::move(requirement)}, .fields = {}}});
}

TEST(NodeAffinity, KnowsEveryOperator) {
  const MakeNode node = MakeNode("n1").Label("gen", "5").Label("zone", "a");
  using enum SelectorOperator;
  EXPECT_EQ(Answer(node, Wanting(Requires("zone", kIn, {"b", "a"}))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("zone", kIn, {"b"}))), kMismatch);
  EXPECT_EQ(Answer(node, Wanting(Requires("zone", kNotIn, {"b"}))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("absent", kNotIn, {"b"}))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("zone", kExists))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("zone", kDoesNotExist))), kMismatch);
  EXPECT_EQ(Answer(node, Wanting(Requires("absent", kDoesNotExist))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("gen", kGt, {"4"}))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("gen", kGt, {"5"}))), kMismatch);
  EXPECT_EQ(Answer(node, Wanting(Requires("gen", kLt, {"6"}))), "fits");
  EXPECT_EQ(Answer(node, Wanting(Requires("zone", kLt, {"6"}))), kMismatch);
}

TEST(NodeAffinity, TermsAreOredAndEmptyOnesMatchNothing) {
  const MakeNode node = MakeNode("n1").Label("zone", "a");
  const NodeSelectorTerm right{.expressions = {Requires("zone", SelectorOperator::kExists)},
                               .fields = {}};
  const NodeSelectorTerm wrong{.expressions = {Requires("rack", SelectorOperator::kExists)},
                               .fields = {}};
  EXPECT_EQ(Answer(node, MakePod("p").Affinity({wrong, right})), "fits");
  EXPECT_EQ(Answer(node, MakePod("p").Affinity({wrong, {}})), kMismatch);
  EXPECT_EQ(Answer(node, MakePod("p").Affinity({})), kMismatch);
  EXPECT_EQ(Answer(node, MakePod("p").Affinity({right}).Selector("rack", "r1")), kMismatch);
}

TEST(NodeAffinity, FieldsMatchTheNameOfTheNode) {
  const auto named = [](SelectorOperator op, std::vector<std::string> names) {
    return MakePod("p").Affinity(
        {{.expressions = {}, .fields = {Requires("metadata.name", op, std::move(names))}}});
  };
  EXPECT_EQ(Answer(MakeNode("n1"), named(SelectorOperator::kIn, {"n1"})), "fits");
  EXPECT_EQ(Answer(MakeNode("n1"), named(SelectorOperator::kIn, {"n2"})), kMismatch);
  EXPECT_EQ(Answer(MakeNode("n1"), named(SelectorOperator::kNotIn, {"n2"})), "fits");
  EXPECT_EQ(Answer(MakeNode("n1"), named(SelectorOperator::kIn, {"n1", "n2"})), kMismatch);
}

TEST(NodeAffinity, FindsLabelsThatHaveBecomeColumns) {
  TestCluster cluster;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.Add(MakeNode(name).Label("kubernetes.io/hostname", name));
  }
  cluster.Add(MakePod("p").Selector("kubernetes.io/hostname", "n42"));
  EXPECT_THAT(cluster.PlacesOf(cluster.Decide("p")), ::testing::ElementsAre("p=n42"));
  cluster.Add(MakePod("q").Selector("kubernetes.io/hostname", "n100"));
  EXPECT_THAT(cluster.ReasonsOf(cluster.Decide("q")),
              ::testing::ElementsAre(std::string("100: ") + kMismatch));
}

TEST(TaintToleration, NoScheduleAndNoExecuteKeepOutAndPreferDoesNot) {
  const auto tainted = [](TaintEffect effect) {
    return MakeNode("n1").WithTaint("k", "v", effect);
  };
  EXPECT_EQ(Answer(tainted(TaintEffect::kNoSchedule), MakePod("p")), "untolerated taint k");
  EXPECT_EQ(Answer(tainted(TaintEffect::kNoExecute), MakePod("p")), "untolerated taint k");
  EXPECT_EQ(Answer(tainted(TaintEffect::kPreferNoSchedule), MakePod("p")), "fits");
  EXPECT_EQ(Answer(tainted(TaintEffect::kNoExecute), MakePod("p").Tolerates("k")), "fits");
  EXPECT_EQ(Answer(tainted(TaintEffect::kNoExecute), MakePod("p").Tolerates("")), "fits");
  EXPECT_EQ(Answer(tainted(TaintEffect::kNoExecute), MakePod("p").Tolerates("other")),
            "untolerated taint k");
}

TEST(NodeUnschedulable, OnlyTheCordonsTolerationLetsIn) {
  EXPECT_EQ(Answer(MakeNode("n1").Cordoned(), MakePod("p")), "cordoned");
  EXPECT_EQ(
      Answer(MakeNode("n1").Cordoned(), MakePod("p").Tolerates("node.kubernetes.io/unschedulable")),
      "fits");
}

TEST(NodeResourcesFit, NamesTheGpuFirstAndCountsAbsentAsNone) {
  EXPECT_EQ(Answer(MakeNode("n1").Gpu(4).Cpu(1), MakePod("p").Gpu(8).Cpu(2000)),
            "insufficient nvidia.com/gpu (want 8, have 4)");
  EXPECT_EQ(Answer(MakeNode("n1"), MakePod("p").Wants("example.com/fpga", 1)),
            "insufficient example.com/fpga (want 1, have 0)");
  EXPECT_EQ(Answer(MakeNode("n1").Cpu(1), MakePod("p").Cpu(1001)),
            "insufficient cpu (want 1001m, have 1)");
  EXPECT_EQ(Answer(MakeNode("n1").Pods(0), MakePod("p")), "insufficient pods (want 1, have 0)");
}

TEST(NodeResourcesFit, NegativeRoomReadsAsNone) {
  EXPECT_EQ(Answer(MakeNode("n1").Gpu(2), MakePod("p").Gpu(1), {MakePod("x").Gpu(8).On("n1")}),
            "insufficient nvidia.com/gpu (want 1, have 0)");
}

TEST(NodePorts, TheWildcardAddressCollidesWithEveryOther) {
  const auto with = [](const MakePod& other) {
    return Answer(MakeNode("n1"), MakePod("p").Port(80, "10.0.0.1"), {MakePod(other).On("n1")});
  };
  constexpr char kTaken[] = "a host port of the pod is taken";
  EXPECT_EQ(with(MakePod("x").Port(80, "10.0.0.1")), kTaken);
  EXPECT_EQ(with(MakePod("x").Port(80)), kTaken);
  EXPECT_EQ(with(MakePod("x").Port(80, "10.0.0.2")), "fits");
  EXPECT_EQ(with(MakePod("x").Port(80, "10.0.0.1", "UDP")), "fits");
  EXPECT_EQ(with(MakePod("x").Port(81, "10.0.0.1")), "fits");
}

}  // namespace
}  // namespace maniple
