// Lists, watch lines, single objects and replies: what holds of them whatever the kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/codec/decode.h"
#include "api/codec/kubernetes_time.h"

namespace maniple::codec_decode_stream_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Listed {
  absl::StatusOr<ListHead> head;
  std::vector<std::string> items;  // "name" or "name: problem"
};

std::string Summary(const DecodedObject& object) {
  const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
  return invalid == nullptr ? object.key.name
                            : absl::StrCat(object.key.name, ": ", invalid->problem);
}

Listed List(ResourceKind kind, absl::string_view body) {
  Decoder decoder;
  Listed out;
  out.head = decoder.List(kind, body, [&](DecodedObject o) { out.items.push_back(Summary(o)); });
  return out;
}

absl::StatusOr<WatchMessage> Line(absl::string_view line, ResourceKind kind = ResourceKind::kPod) {
  Decoder decoder;
  return decoder.WatchLine(kind, line);
}

TEST(DecodeList, DeliversItemsInOrderAndTheHead) {
  const Listed listed = List(
      ResourceKind::kPod,
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"42","continue":"tok"},)"
      R"("items":[{"metadata":{"name":"a","namespace":"n"}},{"metadata":{"name":"b","namespace":"n"}}]})");
  ASSERT_TRUE(listed.head.ok()) << listed.head.status();
  EXPECT_EQ(listed.head->resource_version, "42");
  EXPECT_EQ(listed.head->continue_token, "tok");
  EXPECT_THAT(listed.items, ElementsAre("a", "b"));
}

TEST(DecodeList, ItemsMayComeBeforeMetadataAndKind) {
  const Listed listed =
      List(ResourceKind::kNode, R"({"items":[{"metadata":{"name":"n1"}}],"metadata":)"
                                R"({"resourceVersion":"7"},"kind":"NodeList"})");
  ASSERT_TRUE(listed.head.ok()) << listed.head.status();
  EXPECT_EQ(listed.head->resource_version, "7");
  EXPECT_THAT(listed.items, ElementsAre("n1"));
}

TEST(DecodeList, EmptyAndNullItemsAreAnEmptyList) {
  for (const absl::string_view items : {"[]", "null"}) {
    const Listed listed =
        List(ResourceKind::kPod,
             absl::StrCat(R"({"kind":"PodList","metadata":{},"items":)", items, "}"));
    EXPECT_TRUE(listed.head.ok()) << listed.head.status();
    EXPECT_TRUE(listed.items.empty());
  }
}

TEST(DecodeList, ABadItemIsReportedWithItsPathAndTheOthersAreDelivered) {
  const Listed listed =
      List(ResourceKind::kPod,
           R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)"
           R"({"metadata":{"name":"a","namespace":"n"}},)"
           R"({"spec":{"priority":"high"},"metadata":{"name":"b","namespace":"n","uid":"u"}},)"
           R"(7,null,[],{},)"
           R"({"kind":"Service","metadata":{"name":"s","namespace":"n"}},)"
           R"({"metadata":{"name":"z","namespace":"n"}}]})");
  ASSERT_TRUE(listed.head.ok()) << listed.head.status();
  EXPECT_THAT(
      listed.items,
      ElementsAre("a", "b: spec.priority: must be a whole number from -2147483648 to 2147483647",
                  ": must be an object", ": must be an object", ": must be an object",
                  ": metadata.name: is missing", "s: kind: must be Pod", "z"));
}

TEST(DecodeList, RefusesABodyThatIsNoListOfTheKind) {
  for (const absl::string_view body :
       {R"({"kind":"NodeList","metadata":{},"items":[]})", R"({"kind":"Status","code":403})", "[]",
        R"({"metadata":{},"items":[]})", R"({"kind":"PodList","items":[]})", "<html></html>", "",
        R"({"kind":"PodList","metadata":{},"items":{}})",
        R"({"kind":"PodList","metadata":[],"items":[]})",
        R"({"kind":"PodList","metadata":{},"items":[],"items":[]})"}) {
    EXPECT_EQ(List(ResourceKind::kPod, body).head.status().code(),
              absl::StatusCode::kInvalidArgument)
        << body;
  }
  EXPECT_THAT(
      std::string(List(ResourceKind::kPod, R"({"kind":"NodeList"})").head.status().message()),
      HasSubstr("expected a PodList, got a NodeList"));
}

TEST(DecodeList, ItemsBeforeABrokenByteHaveBeenDelivered) {
  const Listed listed =
      List(ResourceKind::kNamespace,
           R"({"kind":"NamespaceList","items":[{"metadata":{"name":"a"}},{"meta)");
  EXPECT_FALSE(listed.head.ok());
  EXPECT_THAT(std::string(listed.head.status().message()), HasSubstr("at byte"));
  EXPECT_THAT(listed.items, ElementsAre("a"));
}

TEST(WatchLine, TellsTheThreeVerbsApart) {
  const std::pair<absl::string_view, WatchVerb> cases[] = {{"ADDED", WatchVerb::kAdded},
                                                           {"MODIFIED", WatchVerb::kModified},
                                                           {"DELETED", WatchVerb::kDeleted}};
  for (const auto& [type, verb] : cases) {
    // The object may stand before the type, and a line may end with white space.
    const auto message = Line(absl::StrCat(
        R"({"object":{"kind":"Pod","metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"9"}},)",
        R"("type":")", type, "\"}\n"));
    ASSERT_TRUE(message.ok()) << message.status();
    const auto& change = std::get<WatchChange>(*message);
    EXPECT_EQ(change.verb, verb);
    EXPECT_EQ(change.object.uid, "u");
    EXPECT_EQ(change.object.resource_version, "9");
    EXPECT_EQ(change.object.key, (ObjectKey{ResourceKind::kPod, "n", "p"}));
  }
}

TEST(WatchLine, ReadsBookmarks) {
  const auto plain = Line(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12746","creationTimestamp":null},"spec":{"containers":null},"status":{}}})");
  EXPECT_EQ(std::get<WatchBookmark>(*plain).resource_version, "12746");
}

TEST(WatchLine, ReadsTheStatusOfAnErrorEvent) {
  const auto message = Line(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})");
  const auto& failure = std::get<WatchFailure>(*message);
  EXPECT_EQ(failure.code, 410);
  EXPECT_EQ(failure.reason, "Expired");
  EXPECT_EQ(failure.message, "too old");
  EXPECT_EQ(std::get<WatchFailure>(*Line(R"({"type":"ERROR","object":{}})")).code, 500);
}

TEST(WatchLine, IgnoresUnknownTypesAndKinds) {
  EXPECT_EQ(std::get<WatchIgnored>(*Line(R"({"type":"PAUSED","object":{}})")).what, "type PAUSED");
  EXPECT_EQ(std::get<WatchIgnored>(*Line(R"({"type":"ADDED","object":{"kind":"Table"}})")).what,
            "kind Table");
}

TEST(WatchLine, RefusesWhatIsNoEvent) {
  for (const absl::string_view line :
       {"", "\n", "{}", "[]", "garbage", R"({"type":"ADDED"})", R"({"object":{}})",
        R"({"type":7,"object":{}})", R"({"type":"ADDED","object":[]})",
        R"({"type":"ADDED","object":null})", R"({"type":"ADDED","object":{}}{})",
        "<!DOCTYPE html>"}) {
    EXPECT_EQ(Line(line).status().code(), absl::StatusCode::kInvalidArgument) << line;
  }
  EXPECT_FALSE(Line(absl::string_view("{\"type\":\"ADDED\",\"object\":{}}\0x", 30)).ok());
}

TEST(WatchLine, AnUnreadableObjectKeepsItsNameWhereverTheFaultStands) {
  const auto message = Line(
      R"({"type":"MODIFIED","object":{"spec":{"containers":{}},"metadata":{"labels":{"a":1},"name":"p","namespace":"n","uid":"u"}}})");
  const auto& change = std::get<WatchChange>(*message);
  const auto& invalid = std::get<ObjectInvalid>(change.object.what);
  EXPECT_EQ(invalid.key.name, "p");
  EXPECT_EQ(invalid.uid, "u");
  EXPECT_EQ(invalid.problem, "spec.containers: must be a list");
}

TEST(WatchLine, PassesOverWhatItDoesNotReadAndStillSeesWhatFollows) {
  const auto message = Line(
      R"({"type":"ADDED","object":{"metadata":{"managedFields":[{"a":"}]\"{"},[[{}]]] , "name":"p","namespace":"n"},)"
      R"("spec":{"containers":[{"env": {"x":["\\"]},"name":"c","resources":{"requests":{"cpu":"2"}}}]}}})");
  ASSERT_TRUE(message.ok()) << message.status();
  const auto& pod = std::get<Pod>(std::get<Object>(std::get<WatchChange>(*message).object.what));
  EXPECT_EQ(pod.meta.name, "p");
  EXPECT_THAT(pod.constraints.requests, ElementsAre(ResourceAmount{"cpu", Amount(2000)}));
}

TEST(WatchLine, ALabelNamedLikeAPassedOverFieldIsKept) {
  const auto message = Line(
      R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"n","labels":{"env":"prod","state":"x"}}}})");
  const auto& pod = std::get<Pod>(std::get<Object>(std::get<WatchChange>(*message).object.what));
  EXPECT_EQ(pod.meta.labels.Get("env"), "prod");
  EXPECT_EQ(pod.meta.labels.Get("state"), "x");
}

TEST(WatchLine, APassedOverValueThatNeverEndsIsAnError) {
  for (const absl::string_view rest : {"[", "[\"", "[\"\\", "{\"a\":[}", "[[]"}) {
    EXPECT_FALSE(
        Line(absl::StrCat(R"({"type":"ADDED","object":{"metadata":{"managedFields":)", rest)).ok());
  }
}

TEST(WatchLine, DeepNestingCostsNoStack) {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  const auto read = Line(absl::StrCat(
      R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"n","labels":{"a":)", deep,
      "}}}}"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(std::get<ObjectInvalid>(std::get<WatchChange>(*read).object.what).problem,
            "metadata.labels.a: must be a text");
  EXPECT_FALSE(Line(std::string(5'000'000, '[')).ok());
  EXPECT_FALSE(Line(std::string(5'000'000, '{')).ok());
}

TEST(WatchLine, AHugeLineIsBoundedInValuesButNotInText) {
  const std::string text(20'000'000, 'x');
  const auto large = Line(absl::StrCat(
      R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"n","labels":{"a":")", text,
      R"("}}}})"));
  ASSERT_TRUE(large.ok()) << large.status();
  std::string many = R"({"type":"ADDED","object":{"metadata":{"finalizers":[0)";
  for (int i = 0; i < 2'500'000; ++i) many += ",0";
  const auto refused = Line(many + "]}}}");
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("too many values"));
}

TEST(WatchLine, InvalidUtf8SpoilsTheObjectThatKeepsItAndNoOther) {
  const auto bad = Line(
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\","
      "\"labels\":{\"a\":\"\xff\"}}}}");
  ASSERT_TRUE(bad.ok()) << bad.status();
  EXPECT_EQ(std::get<ObjectInvalid>(std::get<WatchChange>(*bad).object.what).problem,
            "metadata.labels.a: is no valid UTF-8");
  const auto key = Line(
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\","
      "\"labels\":{\"\\udc00\xc0\":\"a\"}}}}");
  EXPECT_THAT(std::get<ObjectInvalid>(std::get<WatchChange>(*key).object.what).problem,
              HasSubstr("the key is no valid UTF-8"));
}

TEST(WatchLine, TheLastOfEqualKeysStands) {
  const auto message = Line(
      R"({"type":"ADDED","object":{"metadata":{"name":"a","name":"b","namespace":"n","labels":{"k":"1","k":"2"}}}})");
  const auto& pod = std::get<Pod>(std::get<Object>(std::get<WatchChange>(*message).object.what));
  EXPECT_EQ(pod.meta.name, "b");
  EXPECT_EQ(pod.meta.labels.Get("k"), "2");
}

TEST(DecodeSingle, ReadsOneObjectAndRefusesAnotherKind) {
  Decoder decoder;
  const auto node =
      decoder.Single(ResourceKind::kNode, R"({"kind":"Node","metadata":{"name":"n1"}})");
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(node->key.name, "n1");
  EXPECT_FALSE(decoder.Single(ResourceKind::kNode, R"({"kind":"Status","code":404})").ok());
  EXPECT_FALSE(decoder.Single(ResourceKind::kNode, "[]").ok());
  EXPECT_FALSE(decoder.Single(ResourceKind::kNode, "").ok());
}

TEST(DecodeStatus, ReadsEveryField) {
  const ApiStatus status = DecodeStatus(
      429,
      R"({"kind":"Status","status":"Failure","message":"no budget","reason":"TooManyRequests","code":429,)"
      R"("details":{"kind":"pods","uid":"u1","retryAfterSeconds":5,"causes":[{"reason":"DisruptionBudget"}]}})");
  EXPECT_EQ(status.code, 429);
  EXPECT_EQ(status.reason, "TooManyRequests");
  EXPECT_EQ(status.message, "no budget");
  EXPECT_EQ(status.cause, "DisruptionBudget");
  EXPECT_EQ(status.retry_after, absl::Seconds(5));
}

TEST(DecodeStatus, ABodyThatIsNoStatusGivesItsFirstPrintableCharacters) {
  EXPECT_EQ(DecodeStatus(429, "Too many requests, please try again later.\n").message,
            "Too many requests, please try again later.");
  EXPECT_EQ(DecodeStatus(502, "<html>\n<b>Bad\x01</b>").message, "<html> <b>Bad </b>");
  EXPECT_EQ(DecodeStatus(500, "").message, "");
  EXPECT_EQ(DecodeStatus(503, R"({"kind":"Pod"})").reason, "");
  for (const std::string& body :
       {std::string(5'000'000, 'x'), std::string(5'000'000, '\xff'), std::string(5'000'000, '[')}) {
    const ApiStatus status = DecodeStatus(500, body);
    EXPECT_EQ(status.code, 500);
    EXPECT_LE(status.message.size(), 1024u);
    EXPECT_GT(status.message.size(), 1000u);
  }
}

TEST(DecodeStatus, TrustsNoAbsurdNumbers) {
  const ApiStatus status = DecodeStatus(
      409,
      R"({"kind":"Status","code":99999999999,"reason":7,"details":{"retryAfterSeconds":-3,"causes":{}}})");
  EXPECT_EQ(status.code, 409);
  EXPECT_EQ(status.reason, "");
  EXPECT_FALSE(status.retry_after.has_value());
}

TEST(KubernetesTime, ReadsFractionsAndOffsets) {
  const absl::Time base = *ParseKubernetesTime("2026-07-21T10:11:12Z");
  EXPECT_EQ(base, absl::FromUnixSeconds(1784628672));
  EXPECT_EQ(*ParseKubernetesTime("2026-07-21T10:11:12.5Z"), base + absl::Milliseconds(500));
  EXPECT_EQ(*ParseKubernetesTime("2026-07-21T10:11:12.123456789123Z"),
            base + absl::Nanoseconds(123456789));
  EXPECT_EQ(*ParseKubernetesTime("2026-07-21T12:11:12+02:00"), base);
  EXPECT_EQ(*ParseKubernetesTime("2026-07-21T04:41:12-05:30"), base);
  EXPECT_EQ(*ParseKubernetesTime("2024-02-29T00:00:00Z"), absl::FromUnixSeconds(1709164800));
}

TEST(KubernetesTime, RefusesEverythingElse) {
  for (const absl::string_view text :
       {"", "now", "2026-07-21", "2026-07-21 10:11:12Z", "2026-07-21T10:11:12",
        "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-07-21T24:00:00Z",
        "2026-07-21T10:60:00Z", "2026-07-21T10:11:60Z", "2026-07-21T10:11:12.Z",
        "2026-07-21T10:11:12+2:00", "2026-07-21T10:11:12Zx", "infinite-future",
        " 2026-07-21T10:11:12Z", "-026-07-21T10:11:12Z", "2026-07-21T10:11:12+24:00",
        "2026-00-10T00:00:00Z"}) {
    EXPECT_FALSE(ParseKubernetesTime(text).ok()) << text;
  }
}

TEST(KubernetesTime, WritesSecondsOrExactlySixDecimals) {
  const absl::Time time = absl::FromUnixSeconds(1784628672) + absl::Microseconds(1500);
  EXPECT_EQ(FormatKubernetesTime(time), "2026-07-21T10:11:12Z");
  EXPECT_EQ(FormatKubernetesMicroTime(time), "2026-07-21T10:11:12.001500Z");
  EXPECT_EQ(FormatKubernetesMicroTime(absl::FromUnixSeconds(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(*ParseKubernetesTime(FormatKubernetesMicroTime(time)), time);
}

}  // namespace
}  // namespace maniple::codec_decode_stream_test
