// A user's own hands on a gang. Fear: the scheduler of this machine is of one cluster, the
// kubeconfig of another, and pods that have the same names there go.
#include "scheduler/cli/hands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/app/admin_server.h"
#include "test/support/scripted_replies.h"
#include "test/support/temp_folder.h"

namespace maniple::cli_hands_test {
namespace {

using ::testing::HasSubstr;

// The scheduler knows a pod "train-0" with the uid "known", a pod "x" by itself, and the gang of a
// foreign PodGroup "x".
class HandsTest : public ::testing::Test {
 protected:
  HandsTest() {
    GangView gang;
    gang.namespace_name = "default";
    gang.name = "train";
    gang.pods = {{.pod = "train-0", .node = "n", .state = "running", .uid = "known"}};
    ClusterView view;
    GangView alone = gang;
    alone.name = "x";
    alone.singleton = true;
    alone.pods[0].pod = "x";
    GangView foreign = gang;
    foreign.name = "x-9f";
    foreign.source = {.kind = "PodGroup", .name = "x", .api_version = "scheduling.x-k8s.io/v1"};
    view.gangs = {gang, alone, foreign};
    server_ = *AdminServer::Start(
        {.address = address_},
        {.view = [shared = std::make_shared<ClusterView>(view)] { return shared; }});
  }
  [[nodiscard]] HandsRequest On(const ScriptedReplies& cluster, const std::string& gang) const {
    return {.client = {.admin = address_,
                       .kubeconfig = folder_.Write("kubeconfig", cluster.Kubeconfig())},
            .namespace_name = "default",
            .gang = gang};
  }
  static std::string Printed(int (*run)(const HandsRequest&), HandsRequest request,
                             const std::string& output) {
    request.output = output;
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(run(request), 0);
    return ::testing::internal::GetCapturedStdout();
  }
  static std::string PodWithUid(const std::string& uid) {
    return HttpReply(
        "200 OK", absl::StrCat(R"({"kind": "Pod", "metadata": {"name": "train-0", "uid": ")", uid,
                               R"(", "ownerReferences": [{"controller": true}]}})"));
  }

  // What stands for the foreign PodGroup, as a list and alone.
  static std::string StandIns() {
    return HttpReply("200 OK", R"({"items": [{"metadata": {"name": "x-9f"}, "spec": {"source":
        {"apiVersion": "scheduling.x-k8s.io/v1", "kind": "PodGroup", "name": "x"}}}]})");
  }
  static std::string StandIn() {
    return HttpReply("200 OK", R"({"kind": "PodGroup", "metadata": {"name": "x-9f"}})");
  }

  const TempFolder folder_;
  const std::string address_ = absl::StrCat("unix:", folder_.In("run/admin.sock"));
  std::unique_ptr<AdminServer> server_;
};

TEST_F(HandsTest, RequeueDeletesThePodThatTheSchedulerKnows) {
  const ScriptedReplies cluster({PodWithUid("known"), HttpReply("200 OK", "{}")});
  EXPECT_EQ(RunRequeue(On(cluster, "train")), 0);
  EXPECT_EQ(cluster.asked(), 2u);
}

TEST_F(HandsTest, RequeueLeavesAPodOfThatNameInAnotherCluster) {
  const ScriptedReplies cluster({PodWithUid("other"), HttpReply("200 OK", "{}")});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(RunRequeue(On(cluster, "train")), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("pod train-0 is not the one that the scheduler knows"));
  EXPECT_EQ(cluster.asked(), 1u);
}

TEST_F(HandsTest, APodIsHeldWhateverASchedulerOfAnotherClusterSaysOfItsName) {
  const ScriptedReplies cluster({HttpReply("404 Not Found", "{}"), PodWithUid("other")});
  EXPECT_EQ(RunHold(On(cluster, "train-0")), 0);
  EXPECT_EQ(cluster.asked(), 3u);
}

TEST_F(HandsTest, AForeignPodGroupIsHeldByWhatStandsForIt) {
  const char kHeld[] = "podgroup.scheduling.maniple.dev/x-9f\n";
  const ScriptedReplies by_group({StandIns(), StandIn()});
  EXPECT_EQ(Printed(RunHold, On(by_group, "podgroups.scheduling.x-k8s.io/x"), "name"), kHeld);
  const ScriptedReplies by_kind({HttpReply("404 Not Found", "{}"), StandIns(), StandIn()});
  EXPECT_EQ(Printed(RunHold, On(by_kind, "podgroup/x"), "name"), kHeld);
}

TEST_F(HandsTest, NoPodIsHeldInPlaceOfAPodGroup) {
  const ScriptedReplies cluster(
      {HttpReply("404 Not Found", "{}"), HttpReply("200 OK", R"({"items": []})"), PodWithUid("x")});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(RunHold(On(cluster, "podgroup/train-0")), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("is or stands for \"podgroup/train-0\""));
  EXPECT_EQ(cluster.asked(), 2u);
}

TEST_F(HandsTest, RequeueOfAForeignPodGroupLeavesAPodOfItsName) {
  const ScriptedReplies cluster({StandIns(), PodWithUid("known"), HttpReply("200 OK", "{}")});
  EXPECT_EQ(Printed(RunRequeue, On(cluster, "podgroups.scheduling.x-k8s.io/x"), "name"),
            "pod/train-0\n");
  EXPECT_EQ(cluster.asked(), 3u);
}

TEST_F(HandsTest, AGangIsTakenWithItsNamespaceAsOutputsNameIt) {
  const ScriptedReplies cluster({HttpReply("200 OK", R"({"items": []})"), StandIn()});
  HandsRequest request = On(cluster, "default/x-9f");
  request.namespace_name = "elsewhere";
  EXPECT_EQ(Printed(RunHold, request, ""), "default/x-9f is on hold\n");
  EXPECT_EQ(cluster.asked(), 2u);
}

TEST_F(HandsTest, NoNamespaceIsLookedIntoOnceAnObjectOfTheKindIsFound) {
  const ScriptedReplies cluster(
      {HttpReply("200 OK", R"({"items": [{"metadata": {"name": "x-9f"}, "spec": {"source":
           {"apiVersion": "batch/v1", "kind": "Job", "name": "x"}}}]})"),
       HttpReply("403 Forbidden", R"({"message": "not yours"})"), StandIn()});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(RunHold(On(cluster, "job/x")), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not yours"));
  EXPECT_EQ(cluster.asked(), 2u);
}

TEST_F(HandsTest, AProgramReadsWhichObjectsWereWrittenOrDeleted) {
  const ScriptedReplies group(
      {HttpReply("200 OK", R"({"kind": "PodGroup", "metadata": {"name": "train"}})")});
  EXPECT_EQ(Printed(RunHold, On(group, "train"), "name"),
            "podgroup.scheduling.maniple.dev/train\n");
  const Json list = *Json::Parse(Printed(RunRelease, On(group, "train"), "json"));
  EXPECT_EQ(list["kind"].AsString(), "List");
  EXPECT_EQ(list["items"].items()[0]["metadata"]["name"].AsString(), "train");
  EXPECT_THAT(Printed(RunRelease, On(group, "train"), "yaml"), HasSubstr("- kind: PodGroup"));
  const ScriptedReplies pods({PodWithUid("known"), HttpReply("200 OK", "{}")});
  EXPECT_EQ(Printed(RunRequeue, On(pods, "train"), "name"), "pod/train-0\n");
}

}  // namespace
}  // namespace maniple::cli_hands_test
