// Fear: of a name that a user types another gang is meant, or none.
#include "scheduler/cli/typed_gang.h"

#include <utility>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace maniple {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json StandIn(const std::string& name, const std::string& api_version, const std::string& kind,
             const std::string& of) {
  const Json source = Json::Object({{"apiVersion", api_version}, {"kind", kind}, {"name", of}});
  return Json::Object(
      {{"metadata", Json::Object({{"name", name}})}, {"spec", Json::Object({{"source", source}})}});
}

TEST(TypedGang, NamesWhatStandsForIt) {
  const std::vector<Json> groups = {
      StandIn("train-1", "kubeflow.org/v1", "PyTorchJob", "train"),
      StandIn("train-2", "jobset.x-k8s.io/v1alpha2", "JobSet", "train"),
      StandIn("other-3", "kubeflow.org/v1", "PyTorchJob", "other"),
      StandIn("train-4", "kubeflow.org/v1", "PyTorchJob", "train"),
      Json::Object({{"metadata", Json::Object({{"name", "train"}})}})};
  EXPECT_THAT(StandInsTyped("pytorchjob/train", groups), ElementsAre("train-1", "train-4"));
  EXPECT_THAT(StandInsTyped("JobSets/train", groups), ElementsAre("train-2"));
  EXPECT_THAT(StandInsTyped("jobsets.jobset.x-k8s.io/train", groups), ElementsAre("train-2"));
  EXPECT_THAT(StandInsTyped("team/train", groups), IsEmpty());
  EXPECT_THAT(StandInsTyped("/train", groups), IsEmpty());
}

TEST(TypedGang, AnApiGroupTellsAForeignPodGroupFromOurs) {
  for (const char* typed : {"podgroups/train", "podgroup.scheduling.maniple.dev/train", "mpg/train",
                            "podgroup.v1alpha1.scheduling.maniple.dev/train"}) {
    EXPECT_EQ(HowTyped(typed), TypedAs::kPodGroup) << typed;
    EXPECT_EQ(NameTyped(typed), "train");
  }
  const std::vector<Json> groups = {
      StandIn("train-1", "scheduling.x-k8s.io/v1alpha1", "PodGroup", "train"),
      StandIn("train-2", "scheduling.volcano.sh/v1beta1", "PodGroup", "train")};
  EXPECT_EQ(HowTyped("podgroups.scheduling.x-k8s.io/train"), TypedAs::kOther);
  EXPECT_THAT(StandInsTyped("podgroups.scheduling.x-k8s.io/train", groups), ElementsAre("train-1"));
  EXPECT_THAT(StandInsTyped("podgroup.scheduling.maniple.dev/train", groups), IsEmpty());
  EXPECT_THAT(StandInsTyped("podgroup/train", groups), ElementsAre("train-1", "train-2"));
}

TEST(TypedGang, APodIsNoGroupOfItsName) {
  for (const char* typed : {"Pods/train", "po/train", "pod.v1/train"}) {
    EXPECT_EQ(HowTyped(typed), TypedAs::kPod) << typed;
  }
  for (const char* typed : {"pod", "train"}) EXPECT_EQ(HowTyped(typed), TypedAs::kName) << typed;
  for (const char* typed : {"pytorchjob/train", "pods.metrics.k8s.io/train", "default/train"}) {
    EXPECT_EQ(HowTyped(typed), TypedAs::kOther) << typed;
  }
}

// Of our API group, in this namespace.
Json PodGroupOf(Json object) {
  object.Set("apiVersion", "scheduling.maniple.dev/v1alpha1");
  object.Set("kind", "PodGroup");
  Json metadata = object["metadata"];
  metadata.Set("namespace", "ns");
  object.Set("metadata", std::move(metadata));
  return object;
}

TEST(TypedGang, AClusterIsSearchedForForeignPodGroupsToo) {
  Json foreign = PodGroupOf(Json::Object({{"metadata", Json::Object({{"name", "train"}})}}));
  foreign.Set("apiVersion", "scheduling.x-k8s.io/v1alpha1");
  std::vector<Json> cluster = {
      foreign, PodGroupOf(StandIn("train-1", "scheduling.x-k8s.io/v1alpha1", "PodGroup", "train"))};
  EXPECT_THAT(GangsNamed("podgroup/train", "ns", cluster), ElementsAre("ns/train-1"));
  EXPECT_THAT(GangsNamed("podgroup/none", "ns", cluster), ElementsAre("ns/podgroup/none"));
  EXPECT_THAT(GangsNamed("other/train", "ns", cluster), ElementsAre("other/train"));
  foreign.Set("apiVersion", "scheduling.maniple.dev/v1alpha1");
  cluster.push_back(foreign);
  EXPECT_THAT(GangsNamed("podgroup/train", "ns", cluster), ElementsAre("ns/train"));
  EXPECT_THAT(GangsNamed("podgroups.scheduling.x-k8s.io/train", "ns", cluster),
              ElementsAre("ns/train-1"));
}

using FoundAt = absl::StatusOr<std::string>;

TEST(TypedGang, AFirstWordIsANamespaceWhereItIsNoKind) {
  const auto look = [](const std::string& in, const std::string& typed) -> FoundAt {
    if (in == "default" && typed == "train") return "by its namespace";
    if (in == "here" && typed == "default/both") return "by its kind";
    if (in == "secret") return absl::PermissionDeniedError("not yours");
    return absl::NotFoundError(typed);
  };
  EXPECT_EQ(LookFor("here", "default/train", look).value(), "by its namespace");
  EXPECT_EQ(LookFor("secret", "default/train", look).value(), "by its namespace");
  EXPECT_EQ(LookFor("here", "default/both", look).value(), "by its kind");
  EXPECT_EQ(LookFor("here", "secret/train", look).status(), absl::NotFoundError("secret/train"));
  for (const char* typed : {"train", "pod/train", "podgroup/train", "jobs.batch/train",
                            "PyTorchJob/train", "/train", "default/", "a/b/c"}) {
    EXPECT_FALSE(NamespaceTyped(typed).has_value()) << typed;
  }
}

}  // namespace
}  // namespace maniple
