// Marks and owners that are written in odd ways. Fears: a gang waits for members that cannot come;
// two gangs become one; a number that somebody set is not heeded.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/unit/producers/fixture.h"

namespace maniple::producers_odd_marks_test {
namespace {

std::string Koordinator(absl::string_view name, absl::string_view least, absl::string_view groups) {
  constexpr char kGang[] = "gang.scheduling.koordinator.sh/";
  return absl::StrCat("{annotations: {", kGang, "name: '", name, "', ", kGang, "min-available: '",
                      least, "', ", kGang, "groups: '", groups, "'}}");
}

TEST(OddMarks, AKoordinatorGangWithoutANameIsNotWaitedFor) {
  for (const char* nameless : {"ns", "ns/"}) {
    DirectoryWorld world;
    world.Put("p", Koordinator("a", "2", absl::StrCat(R"(["ns/a", ")", nameless, R"("])")));
    EXPECT_EQ(world.Where("p"), "Pod/a#koordinator min 2");
  }
}

TEST(OddMarks, AKoordinatorGangWithACommaIsNotTwoOthers) {
  DirectoryWorld world;
  world.Put("q", Koordinator("c", "2", R"(["ns/c", "ns/d"])"));
  world.Put("r", Koordinator("c,d", "5", ""));
  EXPECT_EQ(world.Where("q"), "Pod/c,d#koordinator min 3, c 2, d 1: c");
  EXPECT_NE(world.PlaceOf("q").group_name, world.PlaceOf("r").group_name);
}

TEST(OddMarks, ACompositeGroupOfAKindThatIsNotServedIsPassedOver) {
  for (const ServedState state : {ServedState::kNotInstalled, ServedState::kForbidden}) {
    DirectoryWorld world;
    world.Serve("scheduling.k8s.io/v1alpha3", "PodGroup");
    world.Serve("scheduling.k8s.io/v1alpha3", "CompositePodGroup", state);
    world.GiveMadeAt(
        1,
        "{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, metadata: {name: g}, "
        "spec: {parentCompositePodGroupName: c, schedulingPolicy: {gang: {minCount: "
        "3}}}}");
    Pod pod = PodWith("p", "", "");
    pod.scheduling_group = "g";
    (void)world.directory_.Put(world.ids_.Intern("p"), pod, world.change_);
    EXPECT_EQ(world.Where("p"), "PodGroup/g min 3");
    EXPECT_EQ(world.PlaceOf("p").passed_over,
              state == ServedState::kForbidden
                  ? "not heeded: CompositePodGroup c (no right to read its kind)"
                  : "");
  }
}

TEST(OddMarks, TheAnnotationIsHeededWhereTheOwnerNamesNoReplicas) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: j}, spec: {}}");
  world.Put("p", "{annotations: {scheduling.maniple.dev/min-member: '4'}}", "PyTorchJob/j");
  EXPECT_EQ(world.Where("p"), "PyTorchJob/j min 4");
  world.Give(
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: k}, spec: {runPolicy: "
      "{schedulingPolicy: {minAvailable: 2}}}}");
  world.Put("q", "{annotations: {scheduling.maniple.dev/min-member: '4'}}", "PyTorchJob/k");
  EXPECT_EQ(world.Where("q"), "PyTorchJob/k min 4");
}

TEST(OddMarks, APartIsThatOfThePodsLabelInWhateverCase) {
  DirectoryWorld world;
  world.ServeAll();
  world.Give(
      "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: m}, spec: "
      "{pytorchReplicaSpecs: {Worker: {replicas: 4}}}}");
  world.Put("r", "{labels: {training.kubeflow.org/replica-type: Worker}}", "PyTorchJob/m");
  EXPECT_EQ(world.Where("r"), "PyTorchJob/m min 4, worker 4: worker");
}

}  // namespace
}  // namespace maniple::producers_odd_marks_test
