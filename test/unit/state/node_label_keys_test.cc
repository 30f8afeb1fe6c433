// The labels of nodes that constraints name. Fear: a key is overlooked that decides where the pod
// may run, so that no node is known to carry it; a key of pods, or of volumes, is taken for one.
#include "scheduler/state/node_label_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/support/builders.h"

namespace maniple::state_node_label_keys_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

NodeSelectorTerm TermOn(const std::string& key) {
  return {.expressions = {Requires(key, SelectorOperator::kExists)},
          .fields = {Requires("metadata.name", SelectorOperator::kIn, {"n1"})}};
}
PodAffinityTerm PodsIn(const std::string& topology_key) {
  return {.topology_key = topology_key, .selector = Labelled("of-pods", "x")};
}
PodConstraints With(VolumeNeeds needs) {
  PodConstraints constraints;
  constraints.volumes = SharedVolumeNeeds(std::move(needs));
  return constraints;
}

TEST(NodeLabelKeys, ThoseOfTheSelectorAndOfAllTermsAreNamedAndNoFields) {
  PodConstraints constraints;
  constraints.node_selector.Set("selector", "x");
  constraints.required_node_terms = {TermOn("first"), TermOn("second")};
  constraints.preferred_node_terms = {{.weight = 1, .term = TermOn("rather")}};
  EXPECT_THAT(LabelKeysOf(constraints),
              UnorderedElementsAre("selector", "first", "second", "rather"));
  EXPECT_THAT(LabelKeysOf(*constraints.required_node_terms), ElementsAre("first", "second"));
  EXPECT_THAT(LabelKeysOf(PodConstraints()), IsEmpty());
}

TEST(NodeLabelKeys, ThoseByWhichVolumesAreReachedMadeOrKeptAreNamed) {
  EXPECT_THAT(LabelKeysOf(With({})), IsEmpty());
  VolumeNeeds needs;
  needs.reachable = {{TermOn("one")}, {TermOn("two"), TermOn("or")}};
  UnboundClaim claim{.selector = Labelled("of-volumes", "x")};
  needs.unbound = {claim, claim};
  needs.unbound[0].reserved_where = NodeTerms{TermOn("reserved")};
  needs.unbound[0].provision_where = {{TermOn("made")}, {TermOn("capacity")}};
  EXPECT_THAT(LabelKeysOf(With(needs)),
              UnorderedElementsAre("one", "two", "or", "reserved", "made", "capacity"));
}

// A node with any such label must carry this one, so that all of them matter.
TEST(NodeLabelKeys, OneZoneAsksForEveryLabelOfZones) {
  VolumeNeeds needs;
  needs.zones = {{.key = "topology.kubernetes.io/zone", .values = {"z"}}};
  EXPECT_THAT(LabelKeysOf(With(needs)),
              UnorderedElementsAre("failure-domain.beta.kubernetes.io/zone",
                                   "failure-domain.beta.kubernetes.io/region",
                                   "topology.kubernetes.io/zone", "topology.kubernetes.io/region"));
}

TEST(NodeLabelKeys, DomainsAreThoseOfEveryKindOfTermEachOnce) {
  PodConstraints constraints;
  constraints.node_selector.Set("selector", "x");
  constraints.pod_terms = {.near = {PodsIn("rack")},
                           .apart = {PodsIn("host"), PodsIn("rack")},
                           .rather_near = {{.weight = 1, .term = PodsIn("zone")}},
                           .rather_apart = {{.weight = 0, .term = PodsIn("row")}}};
  constraints.spread = {{.topology_key = "zone"}, {.topology_key = "block"}};
  EXPECT_THAT(TopologyKeysOf(constraints), ElementsAre("block", "host", "rack", "row", "zone"));
  EXPECT_THAT(LabelKeysOf(constraints), ElementsAre("selector"));
}

}  // namespace
}  // namespace maniple::state_node_label_keys_test
