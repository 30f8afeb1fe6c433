// Writes to a live server: what the requests of api/client/requests.h are answered with, and the
// Lease.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/client/elector.h"
#include "api/client/requests.h"
#include "gmock/gmock.h"
#include "scheduler/bind/reply.h"
#include "test/conformance/live_cluster.h"

namespace maniple {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kNode[] = "conformance-node";

class WriteConformance : public LiveClusterTest {
 protected:
  // The server's reply as the bind protocol reads it.
  BindReply Bind(const PodReference& pod, const std::string& node = kNode) {
    const LiveReply reply = Send(BindRequest(pod, node, ""));
    WriteResult result;
    result.http_status = reply.status;
    result.status = reply.error;
    return ReadBindReply(result, kNode);
  }
  PodReading Read(const PodReference& pod) {
    const LiveReply reply = Send(ReadPodRequest(pod));
    WriteResult result;
    result.http_status = reply.status;
    result.status = reply.error;
    result.body = reply.body.Dump();
    return ReadPodReply(result, pod.uid);
  }
};

TEST_F(WriteConformance, ABindSetsTheNodeAndASecondOneToldOfItsOwnNodeIsSuccess) {
  const PodReference pod = CreatePod("p");
  EXPECT_EQ(Read(pod).kind, PodReadingKind::kUnbound);
  EXPECT_EQ(Bind(pod).kind, BindReplyKind::kBound);
  EXPECT_EQ(Read(pod).node_name, kNode);
  EXPECT_EQ(Send(BindRequest(pod, kNode, "")).status, 409);
  EXPECT_EQ(Bind(pod).kind, BindReplyKind::kBound);
}

TEST_F(WriteConformance, ABindOfAPodThatSomebodyElseBoundNamesTheOtherNode) {
  const PodReference pod = CreatePod("p");
  EXPECT_EQ(Send(BindRequest(pod, "elsewhere", "")).status, 201);
  const BindReply reply = Bind(pod);
  EXPECT_EQ(reply.kind, BindReplyKind::kBoundElsewhere) << reply.detail;
  EXPECT_EQ(reply.node_name, "elsewhere");
}

TEST_F(WriteConformance, ABindOfAnAbsentOrReplacedPodSaysGone) {
  EXPECT_EQ(Bind({namespace_, "absent", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"}).kind,
            BindReplyKind::kGone);
  PodReference pod = CreatePod("p");
  pod.uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  const BindReply reply = Bind(pod);
  EXPECT_EQ(reply.kind, BindReplyKind::kGone) << reply.detail;
}

TEST_F(WriteConformance, ABindOfAPodThatIsBeingDeletedSaysGone) {
  const PodReference pod =
      CreatePod("p", Json::Object({{"finalizers", Json::Array({"conformance.example/hold"})}}));
  EXPECT_THAT(Send(DeletePodRequest(pod)).status, AnyOf(200, 202));
  const BindReply reply = Bind(pod);
  EXPECT_EQ(reply.kind, BindReplyKind::kGone) << reply.detail;
  const Json free = Json::Object({{"metadata", Json::Object({{"finalizers", nullptr}})}});
  Call(HttpMethod::kPatch, PodPath("p"), free, "application/merge-patch+json");
}

TEST_F(WriteConformance, ABindOfAGatedPodSaysGated) {
  const PodReference pod = CreatePod(
      "p", Json(),
      Json::Object(
          {{"schedulingGates", Json::Array({Json::Object({{"name", "conformance.example/g"}})})}}));
  const BindReply reply = Bind(pod);
  EXPECT_EQ(reply.kind, BindReplyKind::kGated) << reply.detail;
}

TEST_F(WriteConformance, ABindWithoutANodeOrWithAnotherNameIsAnError) {
  const PodReference pod = CreatePod("p");
  EXPECT_EQ(Send(BindRequest(pod, "", "")).status, 500);
  HttpRequest request = BindRequest({namespace_, "q", pod.uid}, kNode, "");
  request.target = BindRequest(pod, kNode, "").target;
  EXPECT_EQ(Send(std::move(request)).status, 400);
  EXPECT_EQ(Read(pod).kind, PodReadingKind::kUnbound);
}

TEST_F(WriteConformance, APodsConditionIsPatchedUnderItsUidOnly) {
  PodReference pod = CreatePod("p");
  const PodWaits waits{.reason = "Unschedulable", .message = "0/3 nodes", .since = Now()};
  const LiveReply reply = Send(PodWaitsRequest(pod, waits));
  EXPECT_EQ(reply.status, 200) << reply.error.message;
  const Json& conditions = reply.body.At("status.conditions");
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions.items()[0]["reason"].AsString(), "Unschedulable");
  pod.uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  // kube-apiserver calls another uid in a patch an invalid change of the object, not a conflict.
  EXPECT_THAT(Send(PodWaitsRequest(pod, waits)).status, AnyOf(409, 422));
}

TEST_F(WriteConformance, AGroupsStatusIsPatchedAtItsVersionOnly) {
  const std::string groups =
      absl::StrCat("/apis/scheduling.maniple.dev/v1alpha1/namespaces/", namespace_, "/podgroups");
  const LiveReply created = Call(HttpMethod::kPost, groups,
                                 Json::Object({{"apiVersion", "scheduling.maniple.dev/v1alpha1"},
                                               {"kind", "PodGroup"},
                                               {"metadata", Json::Object({{"name", "g"}})},
                                               {"spec", Json::Object({{"minMember", 2}})}}));
  ASSERT_EQ(created.status, 201) << created.error.message;
  const std::string version = created.body.At("metadata.resourceVersion").AsString();
  PodGroupStatus status;
  status.phase = "Pending";
  status.reason = "NoFit";
  status.message = "no node has room";
  status.members = {.total = 2, .pending = 2};
  status.conditions = {{.type = "Scheduled",
                        .status = "False",
                        .reason = "NoFit",
                        .message = "m",
                        .last_transition = Now(),
                        .observed_generation = 1}};
  const LiveReply written = Send(PodGroupStatusRequest(namespace_, "g", version, status));
  ASSERT_EQ(written.status, 200) << written.error.message;
  EXPECT_EQ(written.body.At("status.phase").AsString(), "Pending");
  EXPECT_EQ(written.body.At("metadata.generation").AsInt(), 1);
  EXPECT_EQ(Send(PodGroupStatusRequest(namespace_, "g", version, status)).status, 409);
  // Read back by the decoder it is what was meant.
  Decoder decoder;
  const auto decoded = decoder.Single(ResourceKind::kPodGroup, written.body.Dump());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ASSERT_TRUE(std::holds_alternative<Object>(decoded->what));
  const PodGroup& group = std::get<PodGroup>(std::get<Object>(decoded->what));
  EXPECT_EQ(group.status.reason, "NoFit");
  EXPECT_EQ(group.spec.min_member, 2);
}

TEST_F(WriteConformance, ADeleteIsDoneUnderItsUidOnly) {
  const PodReference pod = CreatePod("p");
  PodReference other = pod;
  other.uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  EXPECT_EQ(Send(DeletePodRequest(other)).status, 409);
  EXPECT_EQ(Send(DeletePodRequest(pod)).status, 200);
  EXPECT_EQ(Send(DeletePodRequest(pod)).status, 404);
}

TEST_F(WriteConformance, AnUnboundPodIsEvictedAtOnce) {
  const PodReference pod = CreatePod("p");
  const LiveReply reply = Send(EvictPodRequest(pod));
  EXPECT_THAT(reply.status, AnyOf(200, 201)) << reply.error.message;
  EXPECT_EQ(Read(pod).kind, PodReadingKind::kGone);
}

TEST_F(WriteConformance, AnEventIsTakenAndFoundAgain) {
  const PodReference pod = CreatePod("p");
  const EventNote note{.api_version = "v1",
                       .kind = "Pod",
                       .namespace_name = namespace_,
                       .name = "p",
                       .uid = pod.uid,
                       .reason = "Scheduled",
                       .action = "Binding",
                       .note = "placed on n1"};
  for (uint64_t serial = 1; serial <= 2; ++serial) {
    const LiveReply posted = Send(EventRequest(note, "conformance", Now(), serial));
    EXPECT_EQ(posted.status, 201) << posted.error.message;
  }
  const LiveReply listed =
      Call(HttpMethod::kGet, absl::StrCat("/api/v1/namespaces/", namespace_,
                                          "/events?fieldSelector=involvedObject.name%3Dp"));
  EXPECT_EQ(listed.body["items"].size(), 2u);
}

class LeaseConformance : public LiveClusterTest {
 protected:
  Elector MakeElector(const char* identity, uint16_t owner) {
    return Elector({.namespace_name = namespace_,
                    .name = "leader",
                    .identity = identity,
                    .owner = owner,
                    .lease_duration = absl::Seconds(2),
                    .renew_deadline = absl::Milliseconds(1500),
                    .retry_period = absl::Milliseconds(300)},
                   owner);
  }
  void Join(Elector& elector, uint16_t owner) {
    Route(owner, [this, &elector](const HttpInput& input) {
      Perform(elector.On(input, Now()), *transport_);
    });
    Perform(elector.Start(Now()), *transport_);
  }
  void Tick(Elector& elector) { Perform(elector.OnTime(Now()), *transport_); }
  bool Leads(const Elector& elector) const { return Now() < elector.lead_until(); }
};

TEST_F(LeaseConformance, OneOfTwoLeadsAndTheOtherFollowsWhenItIsReleasedOrDies) {
  Elector a = MakeElector("a", 21);
  Elector b = MakeElector("b", 22);
  Elector c = MakeElector("c", 23);
  Join(a, 21);
  ASSERT_TRUE(Until([&] { return Leads(a); })) << a.problem();
  Join(b, 22);
  const absl::Time until = Now() + absl::Seconds(2);
  ASSERT_TRUE(Until([&] { return Now() >= until; },
                    [&] {
                      Tick(a), Tick(b);
                      EXPECT_FALSE(Leads(b));
                    }));
  EXPECT_TRUE(Leads(a)) << a.problem();
  EXPECT_EQ(b.holder(), "a");
  // a dies: nothing of it is heard any more.
  const absl::Time last = a.lead_until();
  ASSERT_TRUE(Until([&] { return Leads(b); }, [&] { Tick(b); })) << b.problem();
  EXPECT_GT(Now(), last);
  Join(c, 23);
  Perform(b.Release(Now()), *transport_);
  ASSERT_TRUE(Until([&] { return Leads(c); }, [&] { Tick(b), Tick(c); })) << c.problem();
  EXPECT_EQ(b.state(), ElectorState::kReleased);
}

}  // namespace
}  // namespace maniple
