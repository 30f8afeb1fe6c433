// The table of kinds, the rules in words, and rules that a configuration adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/unit/producers/fixture.h"
#include "test/unit/producers/quorum_rules.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(ProducerKinds, EachHasARuleInWords) {
  const ForeignKinds& kinds = BuiltinForeignKinds();
  ASSERT_GE(QuorumRules().size(), kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(QuorumRules()[i].producer, absl::StrCat(kinds[i].kind, " (", kinds[i].group, ")"));
    EXPECT_FALSE(QuorumRules()[i].quorum.empty());
  }
}

TEST(ProducerKinds, AreFoundByReferenceWhateverTheVersion) {
  const ForeignKinds& kinds = BuiltinForeignKinds();
  EXPECT_THAT(KindIndexOf(kinds, "batch/v1beta7", "Job"), Optional(2));
  EXPECT_EQ(KindIndexOf(kinds, "v1", "Job"), std::nullopt);
  EXPECT_EQ(KindIndexOf(kinds, "other.dev/v1", "PodGroup"), std::nullopt);
}

TEST(ProducerKinds, UpstreamGroupsAreWantedInTheirNewestVersion) {
  const auto index = KindIndexOf(BuiltinForeignKinds(), "scheduling.k8s.io/v1", "PodGroup");
  ASSERT_TRUE(index.has_value());
  EXPECT_THAT(BuiltinForeignKinds()[*index].versions,
              ElementsAre("v1beta1", "v1alpha3", "v1alpha2"));
}

// A kind that nobody has built in, and pods of it.
class ConfiguredRule : public testing::Test {
 protected:
  static ForeignKinds Kinds() {
    ForeignKinds kinds = BuiltinForeignKinds();
    kinds.push_back({.group = "example.dev",
                     .versions = {"v1"},
                     .resource = "trainings",
                     .kind = "Training",
                     .rule = OwnerRule{.minimums = {"spec.least"},
                                       .replicas = {"spec.roles.*.count"},
                                       .priority_classes = {"spec.class"},
                                       .queues = {"spec.team", "spec.queue"},
                                       .part_label = "example.dev/role"}});
    return kinds;
  }

  ConfiguredRule()
      : world_({.kinds = Kinds(), .queues = {}, .default_queue = ""}),
        kind_(ForeignResource(Kinds().size() - 1)) {
    world_.directory_.SetServed({kind_, ServedState::kServed, "v1"}, world_.change_);
  }

  std::string WhereWith(absl::string_view spec) {
    const auto reader = MakeForeignReader(Kinds());
    const std::string text = absl::StrCat(
        "{apiVersion: example.dev/v1, kind: Training, metadata: {name: t, namespace: ns, uid: "
        "uid-t}, spec: ",
        spec, "}");
    const ReadResult<ForeignObject> read =
        ReadYaml(text, [&](const Cursor& root) { return reader->Read(kind_, root); });
    EXPECT_EQ(read.refused, "");
    world_.directory_.Upsert(read.value, world_.change_);
    Pod pod = PodWith("p", "{labels: {example.dev/role: actor}}", "");
    pod.meta.controller = OwnerReference{"Training", "t", "uid-t", "example.dev/v1"};
    (void)world_.directory_.Put(world_.ids_.Intern("p"), pod, world_.change_);
    return world_.Where("p");
  }

  DirectoryWorld world_;
  ResourceKind kind_;
};

TEST_F(ConfiguredRule, SumsItsReplicasByPart) {
  EXPECT_EQ(WhereWith("{roles: {Actor: {count: 2}, learner: {}}, queue: q, class: high}"),
            "Training/t min 3, actor 2, learner 1, queue q, class high: actor");
}

TEST_F(ConfiguredRule, HeedsItsMinimum) {
  EXPECT_EQ(WhereWith("{least: 2, roles: {actor: {count: 4}}}"), "Training/t min 2");
}

TEST_F(ConfiguredRule, MakesNoGangOfWhatSaysNothing) { EXPECT_EQ(WhereWith("{}"), "single"); }

}  // namespace
}  // namespace maniple
