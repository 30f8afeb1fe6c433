// The nodes that topology spread counts, against kube-scheduler's rules node by node. Fears: a node
// without one of the keys counts for the other; a constraint of the other kind has a say; a node
// that the pod may not use is counted, or one that it may is not; an ignored policy is honoured.
#include "plugins/framework/spread_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/base/random.h"
#include "test/support/builders.h"
#include "test/unit/framework/hand_made.h"

namespace maniple::framework_spread_nodes_test {
namespace {

using enum SelectorOperator;
constexpr auto kHard = WhenUnsatisfiable::kDoNotSchedule;
constexpr auto kSoft = WhenUnsatisfiable::kScheduleAnyway;

// Nodes by "zone" and "rack"; "pool" and "disk" are for the pod's own affinity.
std::vector<HandMadeNode> TaintedNodes(Random& random) {
  std::vector<HandMadeNode> nodes = RandomNodes(random, {"zone", "rack", "pool", "disk"});
  static constexpr TaintEffect kEffects[] = {
      TaintEffect::kNoSchedule, TaintEffect::kPreferNoSchedule, TaintEffect::kNoExecute};
  for (HandMadeNode& node : nodes) {
    if (random.OneIn(2)) continue;
    node.taints.push_back({.key = random.OneIn(2) ? "known" : "other",
                           .value = "",
                           .effect = kEffects[random.Below(3)]});
  }
  return nodes;
}

class SpreadCase final {
 public:
  explicit SpreadCase(Random& random) : made(TaintedNodes(random), {"zone", "rack", "disk"}) {
    auto terms = std::make_shared<ShapeTerms>();
    for (uint32_t i = 0; i < 1 + random.Below(3); ++i) {
      SpreadCount count;
      count.constraint.topology_key = random.OneIn(12)  ? "nowhere"
                                      : random.OneIn(2) ? "zone"
                                                        : "rack";
      count.constraint.when_unsatisfiable = random.OneIn(4) ? kSoft : kHard;
      count.constraint.node_affinity =
          random.OneIn(2) ? NodeInclusion::kHonor : NodeInclusion::kIgnore;
      count.constraint.node_taints =
          random.OneIn(2) ? NodeInclusion::kHonor : NodeInclusion::kIgnore;
      if (!random.OneIn(6)) count.count = PodCountId(i);
      terms->spread.push_back(count);
    }
    shape.terms = terms;
    PodConstraints& pod = shape.constraints;
    if (random.OneIn(3)) pod.node_selector.Set("pool", "1");
    if (random.OneIn(3)) {
      pod.required_node_terms = {{.expressions = {Requires("disk", kNotIn, {"0"})}, .fields = {}},
                                 {.expressions = {Requires("pool", kIn, {"1"})}, .fields = {}}};
    }
    if (random.OneIn(12)) pod.required_node_terms.emplace();  // none of no terms
    pod.tolerations = {{.key = "known", .op = TolerationOperator::kExists, .value = ""}};
  }

  [[nodiscard]] bool LetIn(const SpreadCount& spread, const HandMadeNode& node) const {
    const TopologySpreadConstraint& of = spread.constraint;
    return (of.node_affinity == NodeInclusion::kIgnore || AffinityLetsIn(node.labels)) &&
           (of.node_taints == NodeInclusion::kIgnore ||
            std::ranges::all_of(node.taints, [](const Taint& taint) {
              return taint.key == "known" || taint.effect == TaintEffect::kPreferNoSchedule;
            }));
  }
  [[nodiscard]] bool HasAllKeys(const HandMadeNode& node) const {
    return std::ranges::all_of(shape.terms->spread, [&](const SpreadCount& count) {
      return count.constraint.when_unsatisfiable != kHard ||
             node.labels.Find(count.constraint.topology_key) != nullptr;
    });
  }

  HandMade made;
  PodShape shape;

 private:
  [[nodiscard]] bool AffinityLetsIn(const StringMap& labels) const {
    const PodConstraints& pod = shape.constraints;
    if (!pod.node_selector.empty() && labels.Get("pool") != "1") return false;
    if (!pod.required_node_terms.has_value()) return true;
    return !pod.required_node_terms->empty() &&
           (labels.Get("disk") != "0" || labels.Get("pool") == "1");
  }
};

TEST(SpreadNodes, CountTheNodesThatHaveAllKeysAndThatThePoliciesLetIn) {
  Random random(1);
  for (int round = 0; round < 1'500; ++round) {
    SpreadCase the(random);
    for (const HandMadeNode& node : the.made.nodes()) {
      for (uint32_t i = 0; i < the.shape.terms->spread.size(); ++i) {
        the.made.Count(node.at, PodCountId(i), static_cast<int>(random.Below(3)));
      }
    }
    const Snapshot snapshot = the.made.Make();
    const SpreadNodes spread({.snapshot = snapshot, .now = {}}, the.shape, kHard);
    for (const HandMadeNode& node : the.made.nodes()) {
      const NodeView view = the.made.View(node);
      const bool has_all = spread.any() ? the.HasAllKeys(node) : true;
      ASSERT_EQ(spread.HasAllKeys(view.block.rows(), view.row), has_all) << round;
    }
    size_t hard = 0;
    for (const SpreadCount& count : the.shape.terms->spread) {
      hard += count.constraint.when_unsatisfiable == kHard ? 1 : 0;
    }
    ASSERT_EQ(spread.any(), hard > 0);
    for (const SpreadNodes::Constraint& constraint : spread.constraints()) {
      ASSERT_EQ(constraint.count->constraint.when_unsatisfiable, kHard);
      std::vector<int64_t> sums = {99}, want(constraint.domains.count());
      std::vector<bool> a_domain(constraint.domains.count());
      for (const HandMadeNode& node : the.made.nodes()) {
        const NodeView view = the.made.View(node);
        const bool counted = the.HasAllKeys(node) && the.LetIn(*constraint.count, node);
        ASSERT_EQ(constraint.counted[BlockOf(node.at)].Test(view.row), counted) << round;
        if (!counted) continue;
        a_domain[constraint.domains.Of(view)] = true;
        want[constraint.domains.Of(view)] +=
            view.block.pod_counts().At(constraint.count->count, view.row);
      }
      ASSERT_EQ(constraint.a_domain, a_domain) << round;
      SpreadNodes::Sum(constraint, the.made.Blocks(), sums);
      ASSERT_EQ(sums, want) << round;
    }
  }
}

}  // namespace
}  // namespace maniple::framework_spread_nodes_test
