// What pods ask of the pods around them: every field of affinity and topology spread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"

namespace maniple::codec_decode_pod_terms_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A pod of the namespace "team" with the labels app=x and rev=7.
PodConstraints ConstraintsOf(absl::string_view spec) {
  Decoder decoder;
  const absl::StatusOr<DecodedObject> object = decoder.Single(
      ResourceKind::kPod,
      absl::StrCat(
          R"({"spec":{)", spec,
          R"(},"metadata":{"name":"p","namespace":"team","labels":{"app":"x","rev":"7"}}})"));
  EXPECT_TRUE(object.ok()) << object.status();
  const auto* read = object.ok() ? std::get_if<Object>(&object->what) : nullptr;
  if (read == nullptr) {
    ADD_FAILURE() << "not read: " << spec;
    return {};
  }
  return std::get<Pod>(*read).constraints;
}

PodAffinityTerm NearTermOf(absl::string_view term) {
  const PodConstraints constraints = ConstraintsOf(absl::StrCat(
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)", term,
      "]}}"));
  EXPECT_THAT(constraints.pod_terms.near, SizeIs(1)) << term;
  return constraints.pod_terms.near.empty() ? PodAffinityTerm{} : constraints.pod_terms.near[0];
}

SelectorRequirement In(std::string key, std::vector<std::string> values) {
  return {.key = std::move(key), .op = SelectorOperator::kIn, .values = std::move(values)};
}

TEST(DecodePodTerms, ATermNamesItsNamespaces) {
  EXPECT_THAT(NearTermOf(R"({"topologyKey":"zone"})").namespaces, ElementsAre("team"));
  EXPECT_THAT(NearTermOf(R"({"namespaces":["b","a","b"]})").namespaces, ElementsAre("a", "b"));
  const PodAffinityTerm every = NearTermOf(R"({"namespaceSelector":{}})");
  EXPECT_THAT(every.namespaces, IsEmpty());
  ASSERT_TRUE(every.namespace_selector.has_value());
  EXPECT_THAT(every.namespace_selector->requirements, IsEmpty());
  EXPECT_FALSE(NearTermOf(R"({"namespaceSelector":null})").namespace_selector.has_value());
}

TEST(DecodePodTerms, AnAbsentSelectorIsNotAnEmptyOne) {
  EXPECT_FALSE(NearTermOf(R"({"topologyKey":"zone"})").selector.has_value());
  EXPECT_TRUE(NearTermOf(R"({"labelSelector":{}})").selector.has_value());
}

TEST(DecodePodTerms, EqualMeaningIsEqual) {
  EXPECT_EQ(NearTermOf(R"({"labelSelector":{"matchLabels":{"a":"1"},"matchExpressions":[
                            {"key":"b","operator":"In","values":["z","y"]}]}})"),
            NearTermOf(R"({"labelSelector":{"matchExpressions":[
                            {"key":"b","operator":"In","values":["y","z","y"]},
                            {"key":"a","operator":"In","values":["1"]}]}})"));
}

TEST(DecodePodTerms, LabelKeysAreFoldedInOnce) {
  const PodAffinityTerm folded = NearTermOf(
      R"({"labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["rev","absent"]})");
  EXPECT_THAT(folded.selector->requirements, ElementsAre(In("app", {"x"}), In("rev", {"7"})));
  const PodAffinityTerm apart = NearTermOf(R"({"labelSelector":{},"mismatchLabelKeys":["rev"]})");
  EXPECT_THAT(apart.selector->requirements,
              ElementsAre(SelectorRequirement{"rev", SelectorOperator::kNotIn, {"7"}}));
  // The server did so when the pod was created, with a label that has changed since.
  const PodAffinityTerm by_server = NearTermOf(
      R"({"labelSelector":{"matchExpressions":[{"key":"rev","operator":"In","values":["6"]}]},
          "matchLabelKeys":["rev"]})");
  EXPECT_THAT(by_server.selector->requirements, ElementsAre(In("rev", {"6"})));
  EXPECT_FALSE(NearTermOf(R"({"matchLabelKeys":["rev"]})").selector.has_value());
}

TEST(DecodePodTerms, PreferencesWeighAndWeightsAreBounded) {
  const PodConstraints constraints = ConstraintsOf(
      R"("affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
           {"weight":7,"podAffinityTerm":{"topologyKey":"zone"}},
           {"podAffinityTerm":{"topologyKey":"zone"},"weight":7},
           {"weight":2000000000,"podAffinityTerm":{"topologyKey":"a"}},
           {"weight":-5,"podAffinityTerm":{"topologyKey":"b"}}]}})");
  const std::vector<WeightedPodTerm>& rather = constraints.pod_terms.rather_apart;
  ASSERT_THAT(rather, SizeIs(3));
  EXPECT_EQ(rather[0], rather[1]);
  EXPECT_EQ(rather[2].weight, 100);
}

TEST(DecodePodTerms, ReadsEveryFieldOfASpreadConstraint) {
  const PodConstraints constraints = ConstraintsOf(
      R"("topologySpreadConstraints":[
           {"maxSkew":3,"minDomains":4,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway",
            "nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor",
            "labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["rev"]},
           {"topologyKey":"host","whenUnsatisfiable":"DoNotSchedule"}])");
  ASSERT_THAT(constraints.spread, SizeIs(2));
  const TopologySpreadConstraint& host = constraints.spread[0];
  EXPECT_EQ(host, (TopologySpreadConstraint{.topology_key = "host", .namespace_name = "team"}));
  const TopologySpreadConstraint& zone = constraints.spread[1];
  EXPECT_EQ(zone.max_skew, 3);
  EXPECT_EQ(zone.min_domains, 4);
  EXPECT_EQ(zone.when_unsatisfiable, WhenUnsatisfiable::kScheduleAnyway);
  EXPECT_EQ(zone.node_affinity, NodeInclusion::kIgnore);
  EXPECT_EQ(zone.node_taints, NodeInclusion::kHonor);
  EXPECT_THAT(zone.selector->requirements, ElementsAre(In("app", {"x"}), In("rev", {"7"})));
  EXPECT_THAT(constraints.unsupported, IsEmpty());
}

TEST(DecodePodTerms, ReadsAThousandTerms) {
  std::string terms;
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&terms, i == 0 ? "" : ",", R"({"topologyKey":"k)", i, R"("})");
  }
  EXPECT_THAT(ConstraintsOf(
                  absl::StrCat(R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnored)",
                               R"(DuringExecution":[)", terms, "]}}"))
                  .pod_terms.apart,
              SizeIs(1000));
}

}  // namespace
}  // namespace maniple::codec_decode_pod_terms_test
