// What HyperNodes give to nodes, in whatever order both come, against a model that works it all out
// afresh.
#include "scheduler/state/hyper_node_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/base/random.h"

namespace maniple::state_hyper_node_tree_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Type = HyperNodeMember::Type;

HyperNodeMember NodeNamed(absl::string_view name) { return {.name = std::string(name)}; }
HyperNodeMember NodesLike(absl::string_view pattern) { return {.pattern = std::string(pattern)}; }
HyperNodeMember NodesWith(absl::string_view key, absl::string_view value) {
  return {.labels =
              LabelSelector{{{std::string(key), SelectorOperator::kIn, {std::string(value)}}}}};
}
HyperNodeMember Below(absl::string_view name) {
  return {.type = Type::kHyperNode, .name = std::string(name)};
}
HyperNodeMember BelowLike(absl::string_view pattern) {
  return {.type = Type::kHyperNode, .pattern = std::string(pattern)};
}

StringMap Rack(absl::string_view rack) {
  StringMap labels;
  labels.Set("rack", rack);
  return labels;
}

// A tree, the nodes with their labels, and what a caller has been told of them.
class Forest {
 public:
  HyperNodeTree::Change Put(const std::string& name, int32_t tier,
                            std::vector<HyperNodeMember> members, std::string tier_name = "") {
    return Tell(
        tree_.Upsert(name, absl::StrCat("uid-", name),
                     std::make_shared<const HyperNode>(HyperNode{
                         .tier = tier, .tier_name = std::move(tier_name), .members = members}),
                     [this](absl::string_view node) { return nodes_.at(std::string(node)); }));
  }
  HyperNodeTree::Change Drop(absl::string_view name, absl::string_view uid = "") {
    return Tell(tree_.Remove(name, uid));
  }
  void Node(const std::string& name, StringMap labels = {}) {
    nodes_[name] = labels;
    tree_.PutNode(name, labels);
    told_[name] = tree_.LabelsOf(name);
  }
  void NodeGone(const std::string& name) {
    nodes_.erase(name);
    told_.erase(name);
    tree_.RemoveNode(name);
  }
  // "1=rack 2=spine": by tier.
  [[nodiscard]] std::string Of(const std::string& node) const {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : told_.at(node).entries()) {
      pairs.push_back(absl::StrCat(key.substr(key.rfind('-') + 1), "=", value));
    }
    return absl::StrJoin(pairs, " ");
  }
  [[nodiscard]] std::vector<std::string> Levels() const {
    std::vector<std::string> shown;
    for (const TopologyLevel& level : tree_.Levels()) {
      shown.push_back(absl::StrCat(level.name, ":", level.node_label));
    }
    return shown;
  }
  [[nodiscard]] const std::map<std::string, StringMap>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, StringMap>& told() const { return told_; }

 private:
  HyperNodeTree::Change Tell(HyperNodeTree::Change change) {
    for (const std::string& node : change.nodes) {
      if (nodes_.contains(node)) told_[node] = tree_.LabelsOf(node);
    }
    return change;
  }
  HyperNodeTree tree_;
  std::map<std::string, StringMap> nodes_, told_;
};

TEST(HyperNodeTree, EachSelectorChoosesItsNodes) {
  Forest forest;
  forest.Node("a1");
  forest.Node("b1");
  forest.Node("c1", Rack("c"));
  forest.Put("by-name", 1, {NodeNamed("a1")});
  forest.Put("by-pattern", 1, {NodesLike("^b[0-9]$")});
  forest.Put("by-labels", 1, {NodesWith("rack", "c")});
  EXPECT_EQ(forest.Of("a1"), "1=by-name");
  EXPECT_EQ(forest.Of("b1"), "1=by-pattern");
  EXPECT_EQ(forest.Of("c1"), "1=by-labels");
}

TEST(HyperNodeTree, NodesThatComeLaterAreChosenAllTheSame) {
  Forest forest;
  forest.Put("h", 1, {NodeNamed("a1"), NodesLike("^b"), NodesWith("rack", "c")});
  forest.Node("a1");
  forest.Node("b1");
  forest.Node("c1", Rack("c"));
  forest.Node("d1");
  EXPECT_EQ(forest.Of("a1"), "1=h");
  EXPECT_EQ(forest.Of("b1"), "1=h");
  EXPECT_EQ(forest.Of("c1"), "1=h");
  EXPECT_EQ(forest.Of("d1"), "");
  // As its labels are now.
  forest.Node("c1", Rack("d"));
  EXPECT_EQ(forest.Of("c1"), "");
}

TEST(HyperNodeTree, AChainGivesTheNameOfEachTier) {
  Forest forest;
  forest.Node("n");
  forest.Put("zone", 7, {Below("spine")});
  forest.Put("spine", 3, {BelowLike("^ra")});
  EXPECT_EQ(forest.Of("n"), "");
  EXPECT_THAT(forest.Put("rack", 1, {NodeNamed("n")}).nodes, ElementsAre("n"));
  EXPECT_EQ(forest.Of("n"), "1=rack 3=spine 7=zone");
  EXPECT_THAT(forest.Drop("spine").nodes, ElementsAre("n"));
  EXPECT_EQ(forest.Of("n"), "1=rack");
  forest.Put("spine", 2, {Below("rack")});
  EXPECT_EQ(forest.Of("n"), "1=rack 2=spine 7=zone");
}

TEST(HyperNodeTree, OfTwoOfOneTierTheFirstByNameIsGiven) {
  Forest forest;
  forest.Node("n");
  forest.Put("right", 1, {NodeNamed("n")});
  forest.Put("left", 1, {NodeNamed("n")});
  forest.Put("top-b", 2, {Below("left")});
  forest.Put("top-a", 2, {Below("right")});
  EXPECT_EQ(forest.Of("n"), "1=left 2=top-a");
  forest.Drop("left");
  EXPECT_EQ(forest.Of("n"), "1=right 2=top-a");
}

TEST(HyperNodeTree, ALoopEnds) {
  Forest forest;
  forest.Node("n");
  forest.Put("a", 1, {NodeNamed("n"), Below("a"), Below("c")});
  forest.Put("b", 2, {Below("a")});
  forest.Put("c", 3, {Below("b")});
  EXPECT_EQ(forest.Of("n"), "1=a 2=b 3=c");
  forest.Drop("a");
  EXPECT_EQ(forest.Of("n"), "");
}

TEST(HyperNodeTree, AHostilePatternTakesLinearTime) {
  Forest forest;
  const std::string name(200, 'a');
  forest.Node(name);
  // A backtracking matcher would not come back.
  forest.Put("slow", 1, {NodesLike("^(a+)+$b"), NodesLike("(a|aa)*c"), NodesLike("(((a*)*)*)*d")});
  EXPECT_EQ(forest.Of(name), "");
  forest.Put("broken", 2, {NodesLike("(")});
  EXPECT_EQ(forest.Of(name), "");
}

TEST(HyperNodeTree, AnotherUidSpeaksOfAnOlderObject) {
  Forest forest;
  forest.Node("n");
  forest.Put("h", 1, {NodeNamed("n")});
  EXPECT_THAT(forest.Drop("h", "uid-older").nodes, IsEmpty());
  EXPECT_EQ(forest.Of("n"), "1=h");
  EXPECT_THAT(forest.Drop("h", "uid-h").nodes, ElementsAre("n"));
  EXPECT_EQ(forest.Of("n"), "");
  EXPECT_THAT(forest.Drop("h").nodes, IsEmpty());
}

// A scheduler with thousands of nodes would look at all of them at every heartbeat of a switch.
TEST(HyperNodeTree, OnlyWhoseLabelsMayHaveChangedAreNamed) {
  Forest forest;
  for (const char* node : {"a1", "a2", "b1", "b2"}) forest.Node(node);
  forest.Put("a", 1, {NodeNamed("a1"), NodeNamed("a2")});
  forest.Put("b", 1, {NodeNamed("b1")});
  EXPECT_THAT(forest.Put("top", 2, {Below("a")}).nodes, ElementsAre("a1", "a2"));
  EXPECT_THAT(forest.Put("top", 2, {Below("a")}).nodes, IsEmpty());
  EXPECT_THAT(forest.Put("top", 2, {Below("a"), Below("b")}).nodes, ElementsAre("b1"));
  EXPECT_THAT(forest.Put("b", 1, {NodeNamed("b1"), NodeNamed("b2")}).nodes, ElementsAre("b2"));
  EXPECT_THAT(forest.Put("b", 1, {NodeNamed("b2")}).nodes, ElementsAre("b1"));
  EXPECT_THAT(forest.Put("b", 1, {NodeNamed("b2")}, "leaf").nodes, IsEmpty());
  EXPECT_THAT(forest.Put("top", 3, {Below("a"), Below("b")}).nodes, ElementsAre("a1", "a2", "b2"));
}

TEST(HyperNodeTree, LevelsAreTiersFromTheWidestWithTheirFirstNames) {
  Forest forest;
  EXPECT_THAT(forest.Levels(), IsEmpty());
  EXPECT_TRUE(forest.Put("r1", 1, {}).levels);
  EXPECT_TRUE(forest.Put("s1", 12, {}, "spine").levels);
  EXPECT_THAT(forest.Levels(), ElementsAre("spine:topology.volcano.sh/tier-12",
                                           "tier-1:topology.volcano.sh/tier-1"));
  EXPECT_TRUE(forest.Put("r2", 1, {}, "rack").levels);
  EXPECT_FALSE(forest.Put("r3", 1, {}, "tor").levels);
  EXPECT_THAT(forest.Levels(),
              ElementsAre("spine:topology.volcano.sh/tier-12", "rack:topology.volcano.sh/tier-1"));
  EXPECT_TRUE(forest.Drop("r2").levels);
  EXPECT_TRUE(forest.Drop("s1").levels);
  EXPECT_THAT(forest.Levels(), ElementsAre("tor:topology.volcano.sh/tier-1"));
}

// ---- against a model

struct ModelHyperNode {
  int32_t tier;
  std::vector<HyperNodeMember> members;
};

bool Chooses(const HyperNodeMember& member, Type type, const std::string& name,
             const StringMap& labels) {
  if (member.type != type) return false;
  if (member.labels.has_value()) return member.labels->Matches(labels);
  if (!member.name.empty()) return member.name == name;
  return Pattern::Compile(member.pattern)->Matches(name);
}

// In every HyperNode that chooses it, until no more choose one of these.
StringMap ModelLabels(const std::map<std::string, ModelHyperNode>& all, const std::string& node,
                      const StringMap& labels) {
  std::set<std::string> in;
  const auto choose = [&](Type type, const std::string& name, const StringMap& with) {
    bool more = false;
    for (const auto& [owner, object] : all) {
      for (const HyperNodeMember& member : object.members) {
        if (Chooses(member, type, name, with)) more |= in.insert(owner).second;
      }
    }
    return more;
  };
  bool more = choose(Type::kNode, node, labels);
  while (more) {
    more = false;
    for (const std::string& name : std::set<std::string>(in)) {
      more |= choose(Type::kHyperNode, name, {});
    }
  }
  StringMap given;
  for (const std::string& name : in) {
    const std::string key = absl::StrCat("topology.volcano.sh/tier-", all.at(name).tier);
    if (given.Find(key) == nullptr) given.Set(key, name);
  }
  return given;
}

class RandomForest {
 public:
  explicit RandomForest(uint64_t seed) : random_(seed) {}

  void Step() {
    const std::string hyper = absl::StrCat("h", random_.Below(8));
    const std::string node = absl::StrCat("n", random_.Below(8));
    switch (random_.Below(6)) {
      case 0:
        forest_.NodeGone(node);
        break;
      case 1:
      case 2:
        forest_.Node(node, Rack(absl::StrCat(random_.Below(3))));
        break;
      case 3:
        model_.erase(hyper);
        forest_.Drop(hyper);
        break;
      default: {
        ModelHyperNode drawn{.tier = static_cast<int32_t>(1 + random_.Below(4)), .members = {}};
        for (uint64_t i = random_.Below(4); i > 0; --i) drawn.members.push_back(DrawMember());
        model_[hyper] = drawn;
        forest_.Put(hyper, drawn.tier, drawn.members);
      }
    }
  }
  // "" = as the model has it.
  [[nodiscard]] std::string Wrong() const {
    for (const auto& [node, labels] : forest_.nodes()) {
      if (forest_.told().at(node) == ModelLabels(model_, node, labels)) continue;
      return absl::StrCat(node, " is in ", forest_.Of(node));
    }
    std::set<int32_t> tiers;
    for (const auto& [name, object] : model_) tiers.insert(object.tier);
    return forest_.Levels().size() == tiers.size() ? "" : "other tiers";
  }

 private:
  HyperNodeMember DrawMember() {
    switch (random_.Below(6)) {
      case 0:
        return NodesLike(absl::StrCat("[", random_.Below(8), random_.Below(8), "]$"));
      case 1:
        return NodesWith("rack", absl::StrCat(random_.Below(3)));
      case 2:
        return BelowLike(absl::StrCat("[", random_.Below(8), "]"));
      case 3:
        return Below(absl::StrCat("h", random_.Below(8)));
      default:
        return NodeNamed(absl::StrCat("n", random_.Below(8)));
    }
  }
  Random random_;
  Forest forest_;
  std::map<std::string, ModelHyperNode> model_;
};

TEST(HyperNodeTree, RandomForestsAreAsTheModelHasThem) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomForest forest(seed);
    for (int step = 0; step < 80; ++step) {
      forest.Step();
      ASSERT_EQ(forest.Wrong(), "") << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace maniple::state_hyper_node_tree_test
