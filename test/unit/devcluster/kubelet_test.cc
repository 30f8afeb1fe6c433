#include "api/devcluster/controllers/kubelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/devcluster/controllers/controllers.h"
#include "api/devcluster/controllers/node_lifecycle.h"
#include "test/unit/devcluster/world.h"

namespace maniple::devcluster {
namespace {

using ::testing::HasSubstr;

TEST(PodRequests, CountContainersSidecarsInitContainersAndOverhead) {
  const Json pod = ParsedJson(R"({"spec": {
    "initContainers": [
      {"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
      {"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}],
    "containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "nvidia.com/gpu": "8"}}},
                   {"resources": {"requests": {"cpu": "250m"}}}],
    "overhead": {"cpu": "100m"}}})");
  const ResourceAmounts amounts = PodRequests(pod);
  EXPECT_EQ(amounts.at("cpu"),
            Amount(3600));  // the init container beside the sidecar, and overhead
  EXPECT_EQ(amounts.at("memory"), Amount(1 << 30));
  EXPECT_EQ(amounts.at("nvidia.com/gpu"), Amount(8));
  EXPECT_EQ(amounts.at("pods"), Amount(1));
}

TEST(PodRequests, PodLevelRequestsReplaceTheSumAndNonsenseCountsAsNothing) {
  const ResourceAmounts amounts = PodRequests(ParsedJson(R"({"spec": {
    "resources": {"requests": {"cpu": "4"}},
    "containers": [{"resources": {"requests": {"cpu": "1", "memory": "lots", "x": {"a": 1}}}}]}})"));
  EXPECT_EQ(amounts.at("cpu"), Amount(4000));
  EXPECT_EQ(amounts.count("memory"), 0);
}

class KubeletTest : public DevclusterWorld {};

TEST_F(KubeletTest, ABoundPodRunsAfterTheStartDelay) {
  Start({.kubelet_start_delay = absl::Seconds(2)});
  AddNode("n1", R"({"cpu": "4"})");
  AddPod("p", "n1", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PhaseOf("p"), "Pending");
  Advance(absl::Seconds(1));
  EXPECT_EQ(PhaseOf("p"), "Pending");
  Advance(absl::Seconds(1));
  EXPECT_EQ(PhaseOf("p"), "Running");
  EXPECT_EQ(PodNamed("p")["status"]["startTime"].AsString(), "2023-11-14T22:13:22Z");
  EXPECT_EQ(PodNamed("p")["status"]["containerStatuses"].items().at(0)["ready"].AsBool(), true);
  EXPECT_EQ(deadline(), absl::InfiniteFuture());
}

TEST_F(KubeletTest, APodThatDoesNotFitIsRejectedAsARealKubeletDoes) {
  Start({});
  AddNode("n1", R"({"cpu": "4", "nvidia.com/gpu": "8"})");
  AddPod("a", "n1", R"({"nvidia.com/gpu": "6"})");
  AddPod("b", "n1", R"({"nvidia.com/gpu": "4"})");
  Settle();
  EXPECT_EQ(PhaseOf("a"), "Running");
  EXPECT_EQ(PhaseOf("b"), "Failed");
  EXPECT_EQ(PodNamed("b")["status"]["reason"].AsString(), "OutOfnvidia.com/gpu");
  EXPECT_THAT(
      PodNamed("b")["status"]["message"].AsString(),
      HasSubstr(
          "Node didn't have enough resource: nvidia.com/gpu, requested: 4, used: 6, capacity: 8"));
}

TEST_F(KubeletTest, AnExtendedResourceThatTheNodeLacksRejectsThePod) {
  Start({});
  AddNode("n1", R"({"cpu": "4"})");
  AddPod("p", "n1", R"({"example.com/dongle": "1"})");
  Settle();
  EXPECT_EQ(PodNamed("p")["status"]["reason"].AsString(), "OutOfexample.com/dongle");
}

TEST_F(KubeletTest, TheSlotsOfANodeAreCountedToo) {
  Start({});
  AddNode("n1", R"({"cpu": "4", "pods": "1"})");
  AddPod("a", "n1", R"({"cpu": "1"})");
  AddPod("b", "n1", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PodNamed("b")["status"]["reason"].AsString(), "OutOfpods");
}

TEST_F(KubeletTest, RoomComesBackWhenAPodEndsFailsOrGoes) {
  Start({});
  AddNode("n1", R"({"cpu": "1"})");
  AddPod("a", "n1", R"({"cpu": "1"})");
  Settle();
  SetPhase("a", "Succeeded");
  AddPod("b", "n1", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PhaseOf("b"), "Running");
  Delete("b");
  AddPod("c", "n1", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Running");
}

TEST_F(KubeletTest, APodRunsForAsLongAsItsAnnotationSaysAndExitsAsItSays) {
  Start({});
  AddNode("n1", R"({"cpu": "4"})");
  AddPod("ok", "n1", R"({"cpu": "1"})", R"({"devcluster.maniple.dev/run-for": "30s"})");
  AddPod("bad", "n1", R"({"cpu": "1"})",
         R"({"devcluster.maniple.dev/run-for": "10s", "devcluster.maniple.dev/exit": "failed"})");
  AddPod("odd", "n1", R"({"cpu": "1"})", R"({"devcluster.maniple.dev/run-for": "soon"})");
  Settle();
  Advance(absl::Seconds(10));
  EXPECT_EQ(PhaseOf("bad"), "Failed");
  EXPECT_EQ(PhaseOf("ok"), "Running");
  Advance(absl::Seconds(20));
  EXPECT_EQ(PhaseOf("ok"), "Succeeded");
  EXPECT_EQ(PhaseOf("odd"), "Running");
}

TEST_F(KubeletTest, ADeletedPodLeavesAfterTheDeleteDelayAndHoldsItsRoomUntilThen) {
  Start({.delete_delay = absl::Seconds(3)});
  AddNode("n1", R"({"cpu": "1"})");
  AddPod("p", "n1", R"({"cpu": "1"})");
  Settle();
  Delete("p");
  Settle();
  ASSERT_TRUE(HasPod("p"));
  AddPod("q", "n1", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PodNamed("q")["status"]["reason"].AsString(), "OutOfcpu");
  Advance(absl::Seconds(3));
  EXPECT_FALSE(HasPod("p"));
}

TEST_F(KubeletTest, ADeletedPodWithFinalizersTakesItsGracePeriodThenFreesItsRoomButStays) {
  Start({});
  AddNode("n1", R"({"cpu": "1"})");
  AddPod("p", "n1", R"({"cpu": "1"})");
  Settle();
  EditPod("p", [](Json& pod) {
    pod.Mutable("metadata").Set("finalizers", Json::Array({Json("example.com/hold")}));
  });
  Delete("p");
  Settle();
  EXPECT_EQ(PhaseOf("p"), "Running");
  Advance(absl::Seconds(30));
  ASSERT_TRUE(HasPod("p"));
  EXPECT_EQ(PhaseOf("p"), "Failed");
  AddPod("q", "n1", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PhaseOf("q"), "Running");
}

TEST_F(KubeletTest, PodsOfANodeThatIsGoneAreRemovedAfterFiveSeconds) {
  Start({});
  AddNode("n1", R"({"cpu": "4"})");
  AddPod("p", "n1", R"({"cpu": "1"})");
  AddPod("stray", "never", R"({"cpu": "1"})");
  Settle();
  EXPECT_EQ(PhaseOf("stray"), "Pending");
  DeleteNode("n1");
  Advance(absl::Seconds(4));
  EXPECT_TRUE(HasPod("p"));
  Advance(absl::Seconds(1));
  EXPECT_FALSE(HasPod("p"));
  EXPECT_FALSE(HasPod("stray"));
}

TEST_F(KubeletTest, ANodeThatComesBackKeepsItsPods) {
  Start({});
  AddNode("n1", R"({"cpu": "4"})");
  AddPod("p", "n1", R"({"cpu": "1"})");
  Settle();
  DeleteNode("n1");
  Advance(absl::Seconds(3));
  AddNode("n1", R"({"cpu": "4"})");
  Advance(absl::Seconds(10));
  EXPECT_TRUE(HasPod("p"));
  EXPECT_EQ(PhaseOf("p"), "Running");
}

TEST_F(KubeletTest, APodOfTheSameNameIsAnotherPod) {
  Start({});
  AddNode("n1", R"({"cpu": "1"})");
  AddPod("p", "n1", R"({"cpu": "1"})", R"({"devcluster.maniple.dev/run-for": "10s"})");
  Settle();
  Delete("p");
  Settle();
  AddPod("p", "n1", R"({"cpu": "1"})");
  Advance(absl::Seconds(20));
  EXPECT_EQ(PhaseOf("p"), "Running");
}

TEST(KeptNode, TheAnnotationMakesANodeNotReadyAndItsAbsenceReadyAgain) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  const Json plain = ParsedJson(R"({"metadata": {"name": "n"}, "spec": {},
    "status": {"capacity": {"cpu": "4"}}})");
  const std::optional<Json> ready = KeptNode(plain, now);
  ASSERT_TRUE(ready.has_value());
  EXPECT_EQ((*ready)["status"]["allocatable"]["pods"].AsString(), "110");
  EXPECT_EQ((*ready)["status"]["conditions"].items().at(0)["status"].AsString(), "True");
  EXPECT_FALSE(KeptNode(*ready, now).has_value());

  Json told = *ready;
  told.Mutable("metadata")
      .Set("annotations", Json::Object({{std::string(kReadyAnnotation), "false"}}));
  const std::optional<Json> not_ready = KeptNode(told, now);
  ASSERT_TRUE(not_ready.has_value());
  EXPECT_EQ((*not_ready)["status"]["conditions"].items().at(0)["status"].AsString(), "False");
  EXPECT_EQ((*not_ready)["spec"]["taints"].items().at(0)["key"].AsString(),
            std::string(kNotReadyTaint));

  Json untold = *not_ready;
  untold.Mutable("metadata").Erase("annotations");
  const std::optional<Json> again = KeptNode(untold, now);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ((*again)["status"]["conditions"].items().at(0)["status"].AsString(), "True");
  EXPECT_FALSE((*again)["spec"].Has("taints"));
}

TEST(KeptNode, WhatSomebodyElseSaysOfReadinessStands) {
  const Json node = ParsedJson(R"({"metadata": {"name": "n"}, "status": {"conditions": [
    {"type": "Ready", "status": "False", "reason": "Acceptance"}]}})");
  const std::optional<Json> kept = KeptNode(node, absl::UnixEpoch());
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ((*kept)["status"]["conditions"].items().at(0)["reason"].AsString(), "Acceptance");
  EXPECT_EQ((*kept)["spec"]["taints"].size(), 1);
}

}  // namespace
}  // namespace maniple::devcluster
