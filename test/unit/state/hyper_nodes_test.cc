// HyperNodes in the state: levels find nodes as if somebody had labelled them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/producers/kinds.h"
#include "plugins/framework/place_label.h"
#include "scheduler/state/cluster_state.h"
#include "test/support/builders.h"

namespace maniple::state_hyper_nodes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kTier1[] = "topology.volcano.sh/tier-1";
constexpr char kTier2[] = "topology.volcano.sh/tier-2";

ResourceKind HyperNodeKind() {
  return ForeignResource(
      KindIndexOf(BuiltinForeignKinds(), "topology.volcano.sh/v1alpha1", "HyperNode").value());
}

class HyperNodesInState : public ::testing::Test {
 protected:
  Delta Apply(ObjectEvent event) {
    Delta delta;
    state_.Apply(event, absl::FromUnixSeconds(1'700'000'000), delta);
    EXPECT_EQ(state_.CheckInvariants().message(), "");
    return delta;
  }
  Delta Put(absl::string_view name, int32_t tier, std::vector<HyperNodeMember> members) {
    ForeignObject object{.kind = static_cast<uint8_t>(HyperNodeKind())};
    object.meta.name = std::string(name);
    object.meta.uid = absl::StrCat("uid-", name);
    object.hyper_node = std::make_shared<const HyperNode>(
        HyperNode{.tier = tier, .tier_name = "", .members = std::move(members)});
    return Apply(ObjectUpserted{object});
  }
  NodeId Id(absl::string_view name) { return state_.NodeNamed(name).value(); }
  std::string LabelOn(absl::string_view node, absl::string_view key) {
    return std::string(state_.LabelsOf(Id(node)).Get(key));
  }
  // What a decision reads: the label's column.
  std::string ColumnOn(absl::string_view node, absl::string_view key) {
    const SnapshotPtr snapshot = state_.Publish();
    for (const LabelColumn& column : snapshot->blocks[BlockOf(Id(node))]->rows().label_columns) {
      if (column.key != PlaceLabel(key)) continue;
      const LabelValueId value = column.values[RowOf(Id(node))];
      return value.valid() ? snapshot->tables->label_values[value.index()] : "none";
    }
    return "no column";
  }
  std::vector<std::string> Levels() {
    std::vector<std::string> labels;
    for (const Topology& topology : state_.Publish()->tables->topologies) {
      for (const TopologyLevel& level : topology.levels) labels.push_back(level.node_label);
    }
    return labels;
  }

  ClusterState state_{ClusterStateOptions{.producers = {.kinds = BuiltinForeignKinds()}}};
};

HyperNodeMember Named(absl::string_view node) { return {.name = std::string(node)}; }
HyperNodeMember Under(absl::string_view name) {
  return {.type = HyperNodeMember::Type::kHyperNode, .name = std::string(name)};
}

TEST_F(HyperNodesInState, AHyperNodeThatComesAfterItsNodesLabelsThem) {
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakeNode("n2").Gpu(8));
  const Delta delta = Put("rack", 1, {Named("n1")});
  EXPECT_THAT(delta.nodes_changed, ElementsAre(Id("n1")));
  EXPECT_TRUE(delta.queues_changed);
  EXPECT_EQ(ColumnOn("n1", kTier1), "rack");
  EXPECT_EQ(ColumnOn("n2", kTier1), "none");
  EXPECT_THAT(Levels(), ElementsAre(kTier1));
}

TEST_F(HyperNodesInState, ANodeThatComesLaterIsLabelledAtOnce) {
  Put("spine", 2, {Under("rack")});
  Put("rack", 1, {Named("n1")});
  const Delta delta = Apply(MakeNode("n1").Gpu(8));
  EXPECT_THAT(delta.nodes_changed, ElementsAre(Id("n1")));
  EXPECT_EQ(ColumnOn("n1", kTier1), "rack");
  EXPECT_EQ(ColumnOn("n1", kTier2), "spine");
  EXPECT_THAT(Levels(), ElementsAre(kTier2, kTier1));
  EXPECT_THAT(Apply(MakeNode("n1").Gpu(8)).nodes_changed, IsEmpty());
}

TEST_F(HyperNodesInState, WhatANodeSaysItselfStands) {
  Put("rack", 1, {Named("n1")});
  Apply(MakeNode("n1").Label(kTier1, "own").Label("a", "b"));
  EXPECT_EQ(ColumnOn("n1", kTier1), "own");
  EXPECT_THAT(Put("rack", 1, {}).nodes_changed, IsEmpty());
  EXPECT_EQ(ColumnOn("n1", kTier1), "own");
  Put("rack", 1, {Named("n1")});
  Apply(MakeNode("n1").Label("a", "b"));
  EXPECT_EQ(ColumnOn("n1", kTier1), "rack");
  EXPECT_EQ(LabelOn("n1", "a"), "b");
}

// A kubelet would refuse a pod that was placed by a label which its node has not.
TEST_F(HyperNodesInState, WhoSelectsByLabelsSeesTheNodesOwn) {
  Apply(MakePod("p").Selector(kTier1, "rack"));
  Apply(MakeNode("n1").Gpu(8));
  Apply(MakeNode("n2").Label(kTier1, "rack"));
  Put("rack", 1, {Named("n1"), Named("n2")});
  EXPECT_EQ(ColumnOn("n1", kTier1), "rack");
  EXPECT_EQ(LabelOn("n1", kTier1), "");
  EXPECT_EQ(LabelOn("n2", kTier1), "rack");
  const SnapshotPtr snapshot = state_.Publish();
  const auto class_of = [&](absl::string_view node) {
    const NodeClassId id = snapshot->blocks[BlockOf(Id(node))]->rows().classes[RowOf(Id(node))];
    return std::string(snapshot->tables->classes[id.index()]->labels.Get(kTier1));
  };
  EXPECT_EQ(class_of("n1"), "");
  EXPECT_EQ(class_of("n2"), "rack");
}

TEST_F(HyperNodesInState, ALevelReadsALabelOfANodeThatIsInNoHyperNode) {
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "rack", .node_label = kTier1}};
  Apply(ObjectUpserted{topology});
  Apply(MakeNode("n1").Label(kTier1, "own"));
  EXPECT_EQ(ColumnOn("n1", kTier1), "own");
  Apply(MakeNode("n1"));
  EXPECT_EQ(ColumnOn("n1", kTier1), "none");
}

TEST_F(HyperNodesInState, ANodeThatIsRelabelledMovesToAnotherHyperNode) {
  const auto with = [](absl::string_view value) {
    return HyperNodeMember{
        .labels = LabelSelector{{{"rack", SelectorOperator::kIn, {std::string(value)}}}}};
  };
  Apply(MakeNode("n1").Label("rack", "a"));
  Put("h-a", 1, {with("a")});
  Put("h-b", 1, {with("b")});
  EXPECT_EQ(ColumnOn("n1", kTier1), "h-a");
  Apply(MakeNode("n1").Label("rack", "b"));
  EXPECT_EQ(ColumnOn("n1", kTier1), "h-b");
  // What a HyperNode gives selects for no HyperNode.
  Put("h-c", 2, {{.labels = LabelSelector{{{kTier1, SelectorOperator::kExists, {}}}}}});
  EXPECT_EQ(ColumnOn("n1", kTier2), "no column");
}

TEST_F(HyperNodesInState, AHyperNodeThatGoesTakesItsLabelsAndItsTierWithIt) {
  Apply(MakeNode("n1").Gpu(8));
  Put("rack", 1, {Named("n1")});
  Apply(ObjectDeleted{.key = {HyperNodeKind(), "", "rack"}, .uid = "uid-older"});
  EXPECT_EQ(ColumnOn("n1", kTier1), "rack");
  const Delta gone = Apply(ObjectDeleted{.key = {HyperNodeKind(), "", "rack"}, .uid = "uid-rack"});
  EXPECT_THAT(gone.nodes_changed, ElementsAre(Id("n1")));
  EXPECT_TRUE(gone.queues_changed);
  EXPECT_EQ(ColumnOn("n1", kTier1), "none");
  EXPECT_THAT(Levels(), IsEmpty());
}

TEST_F(HyperNodesInState, OneThatCannotBeReadIsNone) {
  Apply(MakeNode("n1").Gpu(8));
  Put("rack", 1, {Named("n1")});
  Put("other", 1, {});
  const Delta delta = Apply(ObjectInvalid{
      .key = {HyperNodeKind(), "", "rack"}, .uid = "uid-rack", .problem = "spec.tier: bad"});
  EXPECT_THAT(delta.nodes_changed, ElementsAre(Id("n1")));
  EXPECT_EQ(ColumnOn("n1", kTier1), "none");
  EXPECT_THAT(Levels(), ElementsAre(kTier1));
}

TEST_F(HyperNodesInState, ATopologyMayNameTheTiersAsWell) {
  Apply(MakeNode("n1").Label("zone", "z"));
  Put("rack", 1, {Named("n1")});
  Topology topology;
  topology.meta.name = "default";
  topology.levels = {{.name = "zone", .node_label = "zone"},
                     {.name = "rack", .node_label = kTier1}};
  Apply(ObjectUpserted{topology});
  EXPECT_THAT(Levels(), ElementsAre(kTier1, "zone", kTier1));
  EXPECT_EQ(ColumnOn("n1", "zone"), "z");
}

TEST_F(HyperNodesInState, TiersOutliveASweep) {
  Apply(MakeNode("n1").Gpu(8));
  Put("rack", 1, {Named("n1")});
  state_.Sweep({});
  EXPECT_EQ(ColumnOn("n1", kTier1), "rack");
  Apply(MakeNode("n2").Gpu(8));
  Put("rack", 1, {Named("n1"), Named("n2")});
  EXPECT_EQ(ColumnOn("n2", kTier1), "rack");
}

}  // namespace
}  // namespace maniple::state_hyper_nodes_test
