// Every body is read back by the decoder where one exists, else as plain JSON: what the server is
// told is what was meant.
#include "api/codec/encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "api/codec/json.h"
#include "api/codec/kubernetes_time.h"

namespace maniple::codec_encode_test {
namespace {

constexpr char kHostile[] = "a\"}\\,\n\x01{";

Json Parsed(const std::string& body) {
  const absl::StatusOr<Json> json = Json::Parse(body);
  EXPECT_TRUE(json.ok()) << json.status() << " in " << body;
  return json.value_or(Json());
}

absl::Time At(absl::string_view text) { return *ParseKubernetesTime(text); }

TEST(EncodeBinding, NamesPodUidNodeAndQueue) {
  EXPECT_EQ(
      EncodeBinding("ns", "p", "u", "n1", ""),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"ns","uid":"u"},)"
      R"("target":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
  EXPECT_EQ(Parsed(EncodeBinding("ns", "p", "u", "n1", "",
                                 {{"a", "b"}, {"c", kHostile}}))["metadata"]["annotations"],
            Json::Object({{"a", "b"}, {"c", kHostile}}));
  const Json hostile = Parsed(EncodeBinding(kHostile, kHostile, kHostile, kHostile, kHostile));
  EXPECT_EQ(hostile.At("metadata.name").AsString(), kHostile);
  EXPECT_EQ(hostile["metadata"]["annotations"][kAdmittedQueueAnnotation].AsString(), kHostile);
  EXPECT_EQ(hostile.At("target.name").AsString(), kHostile);
}

TEST(EncodePodScheduledPatch, CarriesTheUidAndTheCondition) {
  PodScheduledPatch patch{.uid = "u",
                          .condition = {"False", "Unschedulable", "0/3 nodes"},
                          .flipped_at = At("2026-07-21T10:00:00Z"),
                          .nominated_node_name = std::nullopt};
  EXPECT_EQ(
      EncodePodScheduledPatch(patch),
      R"({"metadata":{"uid":"u"},"status":{"conditions":[{"type":"PodScheduled","status":"False",)"
      R"("reason":"Unschedulable","message":"0/3 nodes","lastProbeTime":null,)"
      R"("lastTransitionTime":"2026-07-21T10:00:00Z"}]}})");
}

TEST(EncodePodScheduledPatch, LeavesOutWhatIsToBeKeptAndClearsWhatIsEmpty) {
  PodScheduledPatch patch{.uid = "u",
                          .condition = {"True", "", ""},
                          .flipped_at = std::nullopt,
                          .nominated_node_name = ""};
  const Json json = Parsed(EncodePodScheduledPatch(patch));
  const Json& condition = json.At("status.conditions").items().at(0);
  EXPECT_FALSE(condition.Has("lastTransitionTime"));
  EXPECT_TRUE(condition.Has("reason"));
  EXPECT_TRUE(condition["reason"].is_null());
  EXPECT_TRUE(json["status"].Has("nominatedNodeName"));
  EXPECT_TRUE(json.At("status.nominatedNodeName").is_null());
  patch.nominated_node_name = "n1";
  EXPECT_EQ(Parsed(EncodePodScheduledPatch(patch)).At("status.nominatedNodeName").AsString(), "n1");
}

PodGroupSpec FullSpec() {
  PodGroupSpec spec;
  spec.queue = "q";
  spec.min_member = 6;
  spec.priority_class_name = kHostile;
  spec.topology = {.required = "rack",
                   .preferred = "block",
                   .slice_size = 2,
                   .slice_level = "host",
                   .topology_name = "t"};
  spec.sub_groups = {{"lead", 1, {}}, {"rest", 5, {.required = "rack"}}};
  spec.schedule_timeout = absl::Seconds(90);
  spec.expected_runtime = absl::Hours(2);
  spec.preempts = false;
  spec.protected_runtime = absl::Minutes(5);
  spec.quorum_loss_action = QuorumLossAction::kKeep;
  spec.quorum_loss_grace = absl::Seconds(7);
  spec.source = {"batch/v1", "Job", "train", "u-9", "part"};
  return spec;
}

StringMap OneLabel() {
  StringMap labels;
  labels.Set("a", "b");
  return labels;
}

PodGroup GroupIn(const std::string& body) {
  Decoder decoder;
  const absl::StatusOr<DecodedObject> object = decoder.Single(ResourceKind::kPodGroup, body);
  return std::get<PodGroup>(std::get<Object>(object->what));
}

TEST(EncodePodGroup, IsReadBackAsTheSameGroup) {
  for (const PodGroupSpec& spec : {PodGroupSpec{}, FullSpec()}) {
    const PodGroup group = GroupIn(
        EncodePodGroup({.namespace_name = "ns", .name = "g", .labels = OneLabel(), .spec = spec}));
    EXPECT_EQ(group.spec, spec);
    EXPECT_EQ(group.meta.name, "g");
    EXPECT_EQ(group.meta.labels, OneLabel());
  }
}

TEST(EncodePodGroup, ItsOwnerIsNoController) {
  const Json body = Parsed(EncodePodGroup(
      {.namespace_name = "ns", .name = "g", .owner = OwnerReference{"Job", "j", "u", "batch/v1"}}));
  EXPECT_EQ(body.At("metadata.ownerReferences").Dump(),
            R"([{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u","controller":false}])");
  EXPECT_EQ(body["apiVersion"].AsString(), "scheduling.maniple.dev/v1alpha1");
}

TEST(EncodePodGroup, SaysNothingOfWhatItDoesNotHave) {
  const Json body = Parsed(EncodePodGroup({.namespace_name = "ns", .name = "g"}));
  EXPECT_EQ(body["spec"].Dump(),
            R"({"minMember":1,"scheduleTimeoutSeconds":60,)"
            R"("preemption":{"policy":"PreemptLowerPriority","protectedRuntimeSeconds":0},)"
            R"("quorumLoss":{"action":"Evict","gracePeriodSeconds":300}})");
  EXPECT_EQ(body["metadata"].Dump(), R"({"name":"g","namespace":"ns"})");
}

TEST(EncodePodGroupSpecPatch, TakesAwayWhatIsNoLongerAskedForAndHoldsNoNullInLists) {
  const Json less = Parsed(EncodePodGroupSpecPatch("u", PodGroupSpec{}));
  EXPECT_EQ(less.At("metadata.uid").AsString(), "u");
  for (const char* field : {"queue", "priorityClassName", "topology", "subGroups",
                            "expectedRuntimeSeconds", "source"}) {
    EXPECT_TRUE(less["spec"].Has(field) && less["spec"][field].is_null()) << field;
  }
  const Json more = Parsed(EncodePodGroupSpecPatch("u", FullSpec()));
  EXPECT_EQ(more.At("spec.subGroups").Dump(),
            R"([{"name":"lead","minMember":1},)"
            R"({"name":"rest","minMember":5,"topology":{"required":"rack"}}])");
}

TEST(StorableSpec, TimesAreWholeSecondsWithinTheSchema) {
  PodGroupSpec spec;
  spec.schedule_timeout = absl::InfiniteDuration();
  spec.expected_runtime = absl::Milliseconds(1500);
  spec.quorum_loss_grace = -absl::Seconds(1);
  const PodGroupSpec stored = StorableSpec(spec);
  EXPECT_EQ(stored.schedule_timeout, absl::Hours(24));
  EXPECT_EQ(stored.expected_runtime, absl::Seconds(2));
  EXPECT_EQ(stored.quorum_loss_grace, absl::ZeroDuration());
  EXPECT_EQ(GroupIn(EncodePodGroup({.namespace_name = "n", .name = "g", .spec = spec})).spec,
            stored);
}

TEST(EncodeForeignPhasePatch, KeepsTheConditionsUnlessThereAreSome) {
  EXPECT_EQ(EncodeForeignPhasePatch({.uid = "u", .phase = "Inqueue"}),
            R"({"metadata":{"uid":"u"},"status":{"phase":"Inqueue"}})");
  const Json with = Parsed(EncodeForeignPhasePatch(
      {.uid = "u", .phase = "Running", .conditions = {{"Scheduled", "True", "r", "m"}}}));
  EXPECT_EQ(with.At("status.conditions").items().at(0)["type"].AsString(), "Scheduled");
}

PodGroupStatus FullStatus() {
  PodGroupStatus status;
  status.phase = "Running";
  status.members = {4, 1, 3, 2, 1, 0};
  status.conditions = {
      {"MembersReady", "True", "Bound", kHostile, At("2026-07-21T10:00:00Z"), 3},
      {"Scheduled", "True", "", "", absl::InfinitePast(), 0},
  };
  status.reason = "Bound";
  status.message = kHostile;
  status.placement_nodes = {"a", "b"};
  status.placement_domains = {"r1"};
  status.quorum_reached_at = At("2026-07-21T10:00:00.000001Z");
  status.quorum_met = 3;
  status.last_undone_at = At("2026-07-21T09:00:00Z");
  status.initial_share_preemption_used = true;
  status.preempted_by = "ns/other";
  status.admitted_queue = "q";
  return status;
}

// What the decoder makes of the patch, applied to nothing.
PodGroupStatus ReadBack(const std::string& patch) {
  Json group = Parsed(patch);
  group.Set("metadata", Json::Object({{"name", "g"}, {"namespace", "ns"}}));
  Decoder decoder;
  const absl::StatusOr<DecodedObject> object =
      decoder.Single(ResourceKind::kPodGroup, group.Dump());
  return std::get<PodGroup>(std::get<Object>(object->what)).status;
}

TEST(EncodePodGroupStatusPatch, IsReadBackAsTheSameStatus) {
  EXPECT_EQ(ReadBack(EncodePodGroupStatusPatch(FullStatus(), "")), FullStatus());
  EXPECT_EQ(ReadBack(EncodePodGroupStatusPatch(PodGroupStatus{}, "")), PodGroupStatus{});
}

TEST(EncodePodGroupStatusPatch, SetsNullForEveryFieldThatAFullerStatusHad) {
  const Json empty = Parsed(EncodePodGroupStatusPatch(PodGroupStatus{}, ""))["status"];
  const Json full = Parsed(EncodePodGroupStatusPatch(FullStatus(), ""))["status"];
  for (const Json::Member& member : full.members()) {
    EXPECT_FALSE(member.second.is_null()) << member.first;
    ASSERT_TRUE(empty.Has(member.first)) << member.first;
    EXPECT_EQ(empty[member.first].is_null(), member.first != "members") << member.first;
  }
}

TEST(EncodePodGroupStatusPatch, CarriesTheResourceVersionOnlyWhenGiven) {
  EXPECT_EQ(
      Parsed(EncodePodGroupStatusPatch(PodGroupStatus{}, "42")).At("metadata.resourceVersion"),
      Json("42"));
  EXPECT_FALSE(Parsed(EncodePodGroupStatusPatch(PodGroupStatus{}, "")).Has("metadata"));
}

TEST(EncodeQueueStatusPatch, WritesAmountsAsQuantities) {
  const QueueStatus status{
      .pending = 1,
      .running = 2,
      .pending_pods = 3,
      .running_pods = 4,
      .usage = {{"h100", "cpu", Amount(1500), Amount(0), Amount(2000)}},
      .summary = "h100/cpu 1500m/2",
      .fair_share = 125,
      .used = {.as_of = At("2026-07-21T11:00:00Z"),
               .rows = {{"research", "h100", "gpu", 7200, 60}}},
      .conditions = {{"Active", "True", "Ready", "", At("2026-07-21T10:00:00Z"), 1}}};
  EXPECT_EQ(
      EncodeQueueStatusPatch(status, "u"),
      R"({"metadata":{"uid":"u"},"status":{"pending":1,"running":2,"pendingPods":3,"runningPods":4,"usage":[{"flavor":"h100",)"
      R"("name":"cpu","used":"1500m","borrowed":"0","lent":"2"}],"summary":"h100/cpu 1500m/2","fairShare":125,)"
      R"("resourceSeconds":{"asOf":"2026-07-21T11:00:00Z","items":[{"namespace":"research","flavor":"h100","name":"gpu",)"
      R"("total":7200,"recent":60}]},"conditions":[)"
      R"({"type":"Active","status":"True","reason":"Ready","message":"",)"
      R"("lastTransitionTime":"2026-07-21T10:00:00Z","observedGeneration":1}]}})");
  EXPECT_TRUE(Parsed(EncodeQueueStatusPatch({}, "u")).At("status.usage").is_null());
  EXPECT_THAT(EncodeQueueStatusPatch({}, "u"),
              ::testing::Not(::testing::HasSubstr("resourceSeconds")))
      << "null would erase what stands there";
  EXPECT_TRUE(Parsed(EncodeQueueStatusPatch({}, "u")).At("status").Has("summary"));  // clears it
}

TEST(EncodeCohortStatusPatch, WritesUsageShareAndConditions) {
  const CohortStatus status{
      .usage = {{"", "nvidia.com/gpu", Amount(12), Amount(4), Amount(0)}},
      .fair_share = 250,
      .conditions = {{"Active", "False", "Invalid", "why", At("2026-07-21T10:00:00Z"), 2}}};
  EXPECT_EQ(EncodeCohortStatusPatch(status, "u"),
            R"({"metadata":{"uid":"u"},"status":{"usage":[{"flavor":"","name":"nvidia.com/gpu",)"
            R"("used":"12","borrowed":"4","lent":"0"}],"fairShare":250,"conditions":[)"
            R"({"type":"Active","status":"False","reason":"Invalid","message":"why",)"
            R"("lastTransitionTime":"2026-07-21T10:00:00Z","observedGeneration":2}]}})");
  EXPECT_TRUE(Parsed(EncodeCohortStatusPatch({}, "u")).At("status.usage").is_null());
}

EventRecord SomeEvent() {
  return EventRecord{.regarding = {"v1", "Pod", "ns", "p", "u"},
                     .type = EventType::kWarning,
                     .reason = "FailedScheduling",
                     .action = "Scheduling",
                     .note = "no room",
                     .controller = "maniple",
                     .instance = "maniple-0",
                     .at = At("2026-07-21T10:00:00.000123Z")};
}

TEST(EncodeEvent, HasEveryFieldTheServerRequires) {
  const EventRecord event = SomeEvent();
  const Json json = Parsed(EncodeEvent(event));
  EXPECT_EQ(json["apiVersion"].AsString(), "events.k8s.io/v1");
  EXPECT_EQ(json.At("metadata.name").AsString(), EventName(event));
  EXPECT_THAT(EventName(event), ::testing::StartsWith("p.18"));
  EXPECT_EQ(json.At("metadata.namespace").AsString(), "ns");
  EXPECT_EQ(json["eventTime"].AsString(), "2026-07-21T10:00:00.000123Z");
  EXPECT_EQ(json["type"].AsString(), "Warning");
  EXPECT_EQ(json["reportingController"].AsString(), "maniple");
  EXPECT_EQ(json["reportingInstance"].AsString(), "maniple-0");
  EXPECT_EQ(json["action"].AsString(), "Scheduling");
  EXPECT_EQ(json["reason"].AsString(), "FailedScheduling");
  EXPECT_EQ(json["note"].AsString(), "no room");
  EXPECT_EQ(json["regarding"].Dump(),
            R"({"apiVersion":"v1","kind":"Pod","namespace":"ns","name":"p","uid":"u"})");
}

TEST(EncodeEvent, CutsTextsBetweenCharacters) {
  EventRecord event = SomeEvent();
  event.note = std::string(1023, 'x') + "\xE2\x82\xAC";
  event.reason = std::string(300, 'r');
  event.regarding.name = std::string(253, 'n');
  const Json json = Parsed(EncodeEvent(event));
  EXPECT_EQ(json["note"].AsString(), std::string(1023, 'x'));
  EXPECT_EQ(json["reason"].AsString().size(), 128u);
  EXPECT_EQ(json.At("metadata.name").AsString().size(), 253u);
}

TEST(EncodeEvent, ANameThatIsCutEndsAsALabelMay) {
  EventRecord event = SomeEvent();
  event.regarding.name = std::string(234, 'n') + "-.-" + std::string(16, 'n');
  EXPECT_THAT(EventName(event), ::testing::StartsWith(std::string(234, 'n') + ".18"));
}

TEST(EncodeEvent, AClusterScopedSubjectIsReportedInTheDefaultNamespace) {
  EventRecord event = SomeEvent();
  event.regarding = {"scheduling.maniple.dev/v1alpha1", "Queue", "", "q", "u"};
  const Json json = Parsed(EncodeEvent(event));
  EXPECT_EQ(json.At("metadata.namespace").AsString(), "default");
  EXPECT_FALSE(json["regarding"].Has("namespace"));
}

TEST(EncodeDelete, CarriesTheUid) {
  EXPECT_EQ(EncodeDeleteOptions("u"),
            R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"}})");
  const Json eviction = Parsed(EncodeEviction("ns", "p", "u"));
  EXPECT_EQ(eviction["apiVersion"].AsString(), "policy/v1");
  EXPECT_EQ(eviction.At("metadata.name").AsString(), "p");
  EXPECT_EQ(eviction.At("metadata.namespace").AsString(), "ns");
  EXPECT_EQ(eviction.At("deleteOptions.preconditions.uid").AsString(), "u");
}

}  // namespace
}  // namespace maniple::codec_encode_test
