#include "api/devcluster/types/protobuf_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/devcluster/types/builtin_schema.h"

namespace maniple::devcluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A tiny writer of the wire form, so that the tests show the bytes they mean.
std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}
std::string Bytes(int number, const std::string& value) {
  return absl::StrCat(Varint(number << 3 | 2), Varint(value.size()), value);
}
std::string Number(int number, uint64_t value) {
  return absl::StrCat(Varint(number << 3), Varint(value));
}
std::string Envelope(const std::string& api_version, const std::string& kind,
                     const std::string& raw) {
  return absl::StrCat(std::string("k8s\0", 4),
                      Bytes(1, absl::StrCat(Bytes(1, api_version), Bytes(2, kind))), Bytes(2, raw),
                      Bytes(3, ""), Bytes(4, ""));
}

// What client-go writes for `kubectl create namespace team`: empty members included.
std::string NamespaceBody() {
  const std::string metadata = absl::StrCat(Bytes(1, "team"), Bytes(2, ""), Bytes(3, ""),
                                            Bytes(5, ""), Bytes(6, ""), Number(7, 0), Bytes(8, ""));
  return Envelope("v1", "Namespace",
                  absl::StrCat(Bytes(1, metadata), Bytes(2, ""), Bytes(3, Bytes(1, ""))));
}

TEST(ProtobufBody, NamespaceComesOutAsTheJsonOfTheSameClientWithoutItsEmptyMembers) {
  const absl::StatusOr<Json> object = DecodeProtobufBody(NamespaceBody());
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(object->Dump(), R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
}

TEST(ProtobufBody, EvictionKeepsThePointerFieldsThatAreZero) {
  const std::string options =
      absl::StrCat(Number(1, 0), Bytes(2, Bytes(1, "uid-1")), Bytes(4, "Background"));
  const std::string raw = absl::StrCat(
      Bytes(1, absl::StrCat(Bytes(1, "web-0"), Bytes(3, "default"))), Bytes(2, options));
  const absl::StatusOr<Json> object = DecodeProtobufBody(Envelope("policy/v1", "Eviction", raw));
  ASSERT_TRUE(object.ok()) << object.status();
  const Json& out = (*object)["deleteOptions"];
  ASSERT_TRUE(out.Has("gracePeriodSeconds"));
  EXPECT_EQ(out["gracePeriodSeconds"].AsInt(), 0);
  EXPECT_EQ(out["preconditions"]["uid"].AsString(), "uid-1");
  EXPECT_EQ(out["propagationPolicy"].AsString(), "Background");
}

TEST(ProtobufBody, SecretDataIsBase64AndQuotaAmountsAreQuantities) {
  const std::string entry = absl::StrCat(Bytes(1, "key"), Bytes(2, std::string("\x00\xff", 2)));
  const absl::StatusOr<Json> secret = DecodeProtobufBody(Envelope(
      "v1", "Secret", absl::StrCat(Bytes(1, Bytes(1, "s")), Bytes(2, entry), Bytes(3, "Opaque"))));
  ASSERT_TRUE(secret.ok()) << secret.status();
  EXPECT_EQ((*secret)["data"]["key"].AsString(), "AP8=");
  EXPECT_EQ((*secret)["type"].AsString(), "Opaque");

  const std::string hard = absl::StrCat(Bytes(1, "pods"), Bytes(2, Bytes(1, "10")));
  const absl::StatusOr<Json> quota = DecodeProtobufBody(Envelope(
      "v1", "ResourceQuota", absl::StrCat(Bytes(1, Bytes(1, "q")), Bytes(2, Bytes(1, hard)))));
  ASSERT_TRUE(quota.ok()) << quota.status();
  EXPECT_EQ((*quota)["spec"]["hard"]["pods"].AsString(), "10");
}

TEST(ProtobufBody, InlinedMembersLandInTheirParent) {
  const std::string claim = Bytes(10, Bytes(1, "data"));
  const std::string volume = absl::StrCat(Bytes(1, "v"), Bytes(2, claim));
  const absl::StatusOr<Json> pod = DecodeProtobufBody(
      Envelope("v1", "Pod", absl::StrCat(Bytes(1, Bytes(1, "p")), Bytes(2, Bytes(1, volume)))));
  ASSERT_TRUE(pod.ok()) << pod.status();
  const Json& out = (*pod)["spec"]["volumes"].items().at(0);
  EXPECT_EQ(out["persistentVolumeClaim"]["claimName"].AsString(), "data");
}

TEST(ProtobufBody, IntOrStringIsWhatItSays) {
  const auto decode = [](const std::string& value) {
    return DecodeProtobufBody(
        Envelope("policy/v1", "PodDisruptionBudget", Bytes(2, Bytes(1, value))));
  };
  const absl::StatusOr<Json> number =
      decode(absl::StrCat(Number(1, 0), Number(2, 3), Bytes(3, "")));
  const absl::StatusOr<Json> text =
      decode(absl::StrCat(Number(1, 1), Number(2, 0), Bytes(3, "50%")));
  ASSERT_TRUE(number.ok() && text.ok());
  EXPECT_EQ((*number)["spec"]["minAvailable"].AsInt(), 3);
  EXPECT_EQ((*text)["spec"]["minAvailable"].AsString(), "50%");
}

TEST(ProtobufBody, TimesAreWrittenAsRfc3339) {
  const std::string lease =
      Bytes(2, absl::StrCat(Bytes(1, "me"),
                            Bytes(4, absl::StrCat(Number(1, 1'700'000'000), Number(2, 5000)))));
  const absl::StatusOr<Json> object =
      DecodeProtobufBody(Envelope("coordination.k8s.io/v1", "Lease", lease));
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)["spec"]["renewTime"].AsString(), "2023-11-14T22:13:20.000005Z");
}

TEST(ProtobufBody, UnknownFieldsAreSkipped) {
  const std::string raw =
      absl::StrCat(Number(900, 7), Bytes(901, "later"), Bytes(1, Bytes(1, "n")));
  const absl::StatusOr<Json> object = DecodeProtobufBody(Envelope("v1", "Namespace", raw));
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)["metadata"]["name"].AsString(), "n");
}

TEST(ProtobufBody, EveryTruncationIsAnErrorOrAShorterObjectAndNeverACrash) {
  const std::string whole = NamespaceBody();
  for (size_t length = 0; length < whole.size(); ++length) {
    const absl::StatusOr<Json> object = DecodeProtobufBody(whole.substr(0, length));
    if (!object.ok()) {
      EXPECT_THAT(std::string(object.status().message()), testing::Not(IsEmpty()));
    }
  }
}

TEST(ProtobufBody, AWrongWireTypeIsRefusedWithItsPath) {
  const absl::StatusOr<Json> object =
      DecodeProtobufBody(Envelope("v1", "Namespace", Bytes(1, Number(1, 7))));
  ASSERT_FALSE(object.ok());
  EXPECT_THAT(std::string(object.status().message()), HasSubstr("metadata.name"));
}

TEST(ProtobufBody, ALengthBeyondTheEndIsRefused) {
  const std::string raw = absl::StrCat(Varint(1 << 3 | 2), Varint(0xffffffffu), "x");
  EXPECT_FALSE(DecodeProtobufBody(Envelope("v1", "Namespace", raw)).ok());
}

TEST(ProtobufBody, TextThatIsNoUtf8IsRefused) {
  EXPECT_FALSE(
      DecodeProtobufBody(Envelope("v1", "Namespace", Bytes(1, Bytes(1, "\xff\xfe")))).ok());
}

TEST(ProtobufBody, DeepNestingIsRefused) {
  // No message of the table nests in itself; the JSON inside managedFields may.
  const auto nested = [](size_t depth) {
    const std::string json = absl::StrCat(std::string(depth, '['), std::string(depth, ']'));
    return Envelope("v1", "Namespace", Bytes(1, Bytes(17, Bytes(7, Bytes(1, json)))));
  };
  EXPECT_TRUE(DecodeProtobufBody(nested(100)).ok());
  EXPECT_FALSE(DecodeProtobufBody(nested(300)).ok());
}

TEST(ProtobufBody, AnUnknownKindIsUnimplemented) {
  const absl::StatusOr<Json> object =
      DecodeProtobufBody(Envelope("scheduling.maniple.dev/v1alpha1", "PodGroup", ""));
  EXPECT_EQ(object.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(DecodeProtobufBody("{}").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(BuiltinSchema, EveryFieldOfAMessageHasItsOwnNumberAndName) {
  for (const SchemaMessage* message : BuiltinSchemas()) {
    for (size_t i = 0; i < message->fields.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_NE(message->fields[i].number, message->fields[j].number) << message->name;
        EXPECT_NE(message->fields[i].name, message->fields[j].name) << message->name;
      }
    }
  }
}

TEST(UnknownFields, AreNamedByTheirPathInDocumentOrder) {
  const absl::StatusOr<Json> pod = Json::Parse(R"({
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "lables": {}},
    "spec": {"containers": [{"name": "a"}, {"imagee": "b", "resources": {"requests": {"x": "1"}}}],
             "volumes": [{"name": "v", "emptyDir": {"sizeLimt": "1"}}]}})");
  ASSERT_TRUE(pod.ok());
  EXPECT_THAT(UnknownFields(*pod), ElementsAre("metadata.lables", "spec.containers[1].imagee",
                                               "spec.volumes[0].emptyDir.sizeLimt"));
}

TEST(UnknownFields, AreNotLookedForInKindsThatTheTableDoesNotHave) {
  const absl::StatusOr<Json> object =
      Json::Parse(R"({"apiVersion": "example.com/v1", "kind": "Toy", "spec": {"x": 1}})");
  ASSERT_TRUE(object.ok());
  EXPECT_THAT(UnknownFields(*object), IsEmpty());
}

}  // namespace
}  // namespace maniple::devcluster
