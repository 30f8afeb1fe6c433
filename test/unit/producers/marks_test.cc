// What is kept of a pod: equal bytes for pods that belong together, and nothing of others.
#include <gtest/gtest.h>

#include "api/producers/marks.h"
#include "test/unit/producers/fixture.h"

namespace maniple {
namespace {

std::string Packed(absl::string_view metadata, absl::string_view owner = "") {
  std::string packed;
  PackMarks(PodWith("p", metadata, owner), BuiltinForeignKinds(), packed);
  return packed;
}

TEST(PodMarks, APodThatBelongsToNobodyHasItsNamespaceAndQueuesOnly) {
  const std::string plain = Packed("");
  EXPECT_EQ(Packed("{labels: {app: web, ray.io/group: w}}", "ReplicaSet/web"), plain);
  const std::string charged = Packed("{labels: {kai.scheduler/queue: q}}", "ReplicaSet/web");
  EXPECT_EQ(PodMarks(charged).Get(MarkField::kKaiQueue), "q");
  EXPECT_FALSE(PodMarks(charged).Has(MarkField::kOwnerName));
  EXPECT_EQ(PodMarks(plain).Get(MarkField::kNamespace), "ns");
  EXPECT_FALSE(PodMarks(plain).Has(MarkField::kOwnerName));
}

TEST(PodMarks, PodsOfOneOwnerDifferOnlyInWhetherTheyLead) {
  const auto of_index = [](absl::string_view index) {
    return Packed(
        absl::StrCat("{labels: {batch.kubernetes.io/job-completion-index: '", index, "'}}"),
        "Job/j");
  };
  EXPECT_EQ(of_index("1"), of_index("7"));
  EXPECT_NE(of_index("0"), of_index("1"));
  EXPECT_EQ(of_index("1"), Packed("", "Job/j"));
  EXPECT_NE(of_index("1"), Packed("", "Job/j@other"));
}

TEST(PodMarks, OfSeveralKeysOfOneMarkTheFirstStands) {
  const std::string packed = Packed(
      "{annotations: {scheduling.k8s.io/group-name: a, scheduling.volcano.sh/group-name: b, "
      "volcano.sh/task-spec: c}, labels: {volcano.sh/task-spec: d}}");
  EXPECT_EQ(PodMarks(packed).Get(MarkField::kVolcano), "a");
  EXPECT_EQ(PodMarks(packed).Get(MarkField::kTask), "c");
}

TEST(PodMarks, EachFieldComesBackAsItWas) {
  const std::string packed = Packed(
      "{labels: {scheduling.x-k8s.io/pod-group: x, kueue.x-k8s.io/pod-group-name: k, "
      "scheduling.maniple.dev/queue: q, ray.io/group: r}, annotations: {pod-group-name: kai}}",
      "Job/j");
  const PodMarks marks(packed);
  EXPECT_EQ(marks.Get(MarkField::kXk8s), "x");
  EXPECT_EQ(marks.Get(MarkField::kKueue), "k");
  EXPECT_EQ(marks.Get(MarkField::kOwnQueue), "q");
  EXPECT_EQ(marks.Get(MarkField::kRayGroup), "r");
  EXPECT_EQ(marks.Get(MarkField::kKai), "kai");
  EXPECT_EQ(marks.Get(MarkField::kOwnerWord), "Job");
  EXPECT_EQ(marks.Get(MarkField::kOwnerUid), "uid-j");
  EXPECT_EQ(marks.Get(MarkField::kVolcano), "");
}

TEST(PodMarks, AnUpstreamGroupIsAFieldOfTheSpec) {
  Pod pod = ReadYaml(
                "{metadata: {name: p, namespace: ns}, spec: {schedulingGroup: {podGroupName: "
                "g}}}",
                [](const Cursor& root) { return ReadPod(root); })
                .value;
  EXPECT_TRUE(pod.constraints.unsupported.empty());
  std::string packed;
  PackMarks(pod, BuiltinForeignKinds(), packed);
  EXPECT_EQ(PodMarks(packed).Get(MarkField::kUpstream), "g");
}

}  // namespace
}  // namespace maniple
