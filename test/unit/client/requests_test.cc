#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/client/requests.h"
#include "api/codec/json.h"

namespace maniple {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
const PodReference kPod = {.namespace_name = "team", .name = "a-0", .uid = "u-1"};

Json Body(const HttpRequest& request) {
  const absl::StatusOr<Json> body = Json::Parse(request.body);
  EXPECT_TRUE(body.ok()) << body.status();
  return *body;
}

TEST(Requests, ABindNamesTheUidAndTheNode) {
  const HttpRequest request = BindRequest(kPod, "n1", "q");
  EXPECT_EQ(request.method, HttpMethod::kPost);
  EXPECT_EQ(request.target, "/api/v1/namespaces/team/pods/a-0/binding");
  EXPECT_EQ(Body(request).At("metadata.uid").AsString(), "u-1");
  EXPECT_EQ(Body(request).At("target.name").AsString(), "n1");
  EXPECT_EQ(Body(request).At("target.kind").AsString(), "Node");
  EXPECT_EQ(Body(request)["metadata"]["annotations"][kAdmittedQueueAnnotation].AsString(), "q");
}

TEST(Requests, ADeleteIsGuardedByTheUid) {
  EXPECT_EQ(Body(DeletePodRequest(kPod)).At("preconditions.uid").AsString(), "u-1");
}

TEST(Requests, AnEvictionIsGuardedByTheUid) {
  const HttpRequest request = EvictPodRequest(kPod);
  EXPECT_EQ(request.target, "/api/v1/namespaces/team/pods/a-0/eviction");
  EXPECT_EQ(Body(request).At("deleteOptions.preconditions.uid").AsString(), "u-1");
}

TEST(Requests, APreemptedPodIsMarkedBeforeItIsDeleted) {
  const HttpRequest request = PodIsPreemptedRequest(kPod, "preempted by team/b", kNow);
  EXPECT_EQ(request.target, "/api/v1/namespaces/team/pods/a-0/status");
  EXPECT_EQ(request.body,
            R"({"metadata":{"uid":"u-1"},"status":{"conditions":[{"type":"DisruptionTarget",)"
            R"("status":"True","reason":"PreemptionByScheduler","message":"preempted by team/b",)"
            R"("lastTransitionTime":"2023-11-14T22:13:20Z"}]}})");
}

TEST(Requests, HostileNamesCannotLeaveTheirPath) {
  const HttpRequest request = BindRequest({.namespace_name = "a/../b", .name = "x?y#z"}, "n1", "");
  EXPECT_EQ(request.target.find("/../"), std::string::npos);
  EXPECT_EQ(request.target.find('?'), std::string::npos);
}

TEST(Requests, AWaitingPodKeepsItsTransitionTimeUnlessToldOtherwise) {
  Json body = Body(PodWaitsRequest(kPod, {.reason = "NoFit", .message = "m", .since = kNow}));
  const Json& first = body.At("status.conditions").items().at(0);
  EXPECT_EQ(first["type"].AsString(), "PodScheduled");
  EXPECT_EQ(first["lastTransitionTime"].AsString(), "2023-11-14T22:13:20Z");
  EXPECT_EQ(body.At("metadata.uid").AsString(), "u-1");
  body = Body(PodWaitsRequest(kPod, {.reason = "NoFit", .message = "m"}));
  EXPECT_FALSE(body.At("status.conditions").items().at(0).Has("lastTransitionTime"));
}

TEST(Requests, AGroupStatusTakesAwayWhatIsNoLongerSo) {
  PodGroupStatus status{.phase = "Pending", .reason = "NoFit"};
  Json body = Body(PodGroupStatusRequest("team", "a", "42", status));
  EXPECT_EQ(body.At("metadata.resourceVersion").AsString(), "42");
  for (const char* field : {"placement", "quorumReachedAt", "lastUndoneAt", "admittedQueue"}) {
    EXPECT_TRUE(body["status"].Has(field) && body["status"][field].is_null()) << field;
  }
  status.quorum_reached_at = kNow;
  status.placement_nodes = {"n1"};
  body = Body(PodGroupStatusRequest("team", "a", "42", status));
  EXPECT_EQ(body.At("status.quorumReachedAt").AsString(), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(body.At("status.placement.nodes").size(), 1u);
}

TEST(Requests, APodGroupIsMadeFollowedAndDeletedByUid) {
  const HttpRequest make = MakePodGroupRequest({.namespace_name = "team", .name = "a"});
  EXPECT_EQ(make.method, HttpMethod::kPost);
  EXPECT_EQ(make.target, "/apis/scheduling.maniple.dev/v1alpha1/namespaces/team/podgroups");
  const HttpRequest follow = PodGroupSpecRequest("team", "a", "u-2", {});
  EXPECT_EQ(follow.method, HttpMethod::kPatch);
  EXPECT_EQ(follow.target, make.target + "/a");
  EXPECT_EQ(follow.content_type, "application/merge-patch+json");
  EXPECT_EQ(Body(follow).At("metadata.uid").AsString(), "u-2");
  const HttpRequest gone = DeletePodGroupRequest("team", "a", "u-2");
  EXPECT_EQ(gone.method, HttpMethod::kDelete);
  EXPECT_EQ(gone.target, make.target + "/a");
  EXPECT_EQ(Body(gone).At("preconditions.uid").AsString(), "u-2");
}

TEST(Requests, APhaseOfAProducerGoesWhereItIsToldByUid) {
  constexpr char kPath[] = "/apis/scheduling.volcano.sh/v1beta1/namespaces/n/podgroups/g";
  const HttpRequest request = ForeignPhaseRequest(kPath, {.uid = "u", .phase = "Inqueue"});
  EXPECT_EQ(request.method, HttpMethod::kPatch);
  EXPECT_EQ(request.target, kPath);
  EXPECT_EQ(request.content_type, "application/merge-patch+json");
  EXPECT_EQ(Body(request).At("metadata.uid").AsString(), "u");
}

TEST(Requests, AnEventIsCompleteUniqueAndBounded) {
  const EventNote note = {.api_version = "v1",
                          .kind = "Pod",
                          .namespace_name = "team",
                          .name = "a-0",
                          .uid = "u-1",
                          .reason = "R",
                          .action = "A",
                          .note = std::string(1023, 'x') + "\xE2\x82\xAC"};
  const Json one = Body(EventRequest(note, "me", kNow, 1));
  const Json two = Body(EventRequest(note, "me", kNow, 2));
  EXPECT_NE(one.At("metadata.name").AsString(), two.At("metadata.name").AsString());
  for (const char* field :
       {"eventTime", "type", "reportingController", "reportingInstance", "action", "reason"}) {
    EXPECT_FALSE(one[field].AsString().empty()) << field;
  }
  EXPECT_EQ(one["note"].AsString(), std::string(1023, 'x'));
}

TEST(Requests, QueueUsageIsWrittenAsQuantities) {
  const QueueStatus status = {.running = 1,
                              .usage = {{.flavor = "", .resource = "cpu", .used = Amount(1500)}}};
  const Json body = Body(QueueStatusRequest({.name = "q", .uid = "u"}, status));
  EXPECT_EQ(body.At("status.usage").items().at(0)["used"].AsString(), "1500m");
  EXPECT_EQ(body.At("metadata.uid").AsString(), "u");
}

}  // namespace
}  // namespace maniple
