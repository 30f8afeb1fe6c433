// Storage objects that make no sense. The fear is that one of them is taken for a good one, so that
// a pod runs where its volumes are not, or that nobody can tell from the report what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/codec/decode.h"
#include "test/support/storage_json.h"

namespace maniple::codec_decode_storage_malformed_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ProblemOf(ResourceKind kind, absl::string_view body) {
  const DecodedObject object = Decoded(kind, body);
  const auto* invalid = std::get_if<ObjectInvalid>(&object.what);
  return invalid != nullptr ? invalid->problem : "";
}

enum class Type { kText, kNumber, kAmount, kBool, kList, kObject };

// Values of every type but this one.
std::vector<absl::string_view> OtherThan(Type type) {
  switch (type) {
    case Type::kText:
      return {"7", "true", "[]", "{}", R"(["a"])"};
    case Type::kNumber:
      return {R"("7")", "1.5", "1e30", "true", "[]", "{}"};
    case Type::kAmount:
      return {R"("lots")", R"("")", "true", "[]", "{}"};
    case Type::kBool:
      return {R"("true")", "1", "[]", "{}"};
    case Type::kList:
      return {"7", "true", R"("a")", "{}", R"({"a":1})"};
    case Type::kObject:
      return {"7", "true", R"("a")", "[]", "[{}]"};
  }
  return {};
}

struct Field {
  ResourceKind kind;
  absl::string_view path;  // "spec.drivers[0].name"
  Type type;
};

// {"spec":{"drivers":[{"name":<value>}]}} without the outermost braces.
std::string MembersAt(absl::string_view path, absl::string_view value) {
  const size_t dot = path.find('.');
  const bool is_last = dot == absl::string_view::npos;
  absl::string_view head = path.substr(0, dot);
  const bool in_list = absl::ConsumeSuffix(&head, "[0]");
  const std::string inner =
      is_last ? std::string(value) : absl::StrCat("{", MembersAt(path.substr(dot + 1), value), "}");
  return absl::StrCat("\"", head, "\":", in_list ? "[" : "", inner, in_list ? "]" : "");
}

std::vector<Field> FieldsOfClaimsAndVolumes() {
  constexpr auto kClaim = ResourceKind::kPersistentVolumeClaim;
  constexpr auto kVolume = ResourceKind::kPersistentVolume;
  return {{kClaim, "spec", Type::kObject},
          {kClaim, "spec.volumeName", Type::kText},
          {kClaim, "spec.storageClassName", Type::kText},
          {kClaim, "spec.accessModes", Type::kList},
          {kClaim, "spec.accessModes[0]", Type::kText},
          {kClaim, "spec.volumeMode", Type::kText},
          {kClaim, "spec.selector", Type::kObject},
          {kClaim, "spec.selector.matchLabels", Type::kObject},
          {kClaim, "spec.selector.matchLabels.tier", Type::kText},
          {kClaim, "spec.selector.matchExpressions", Type::kList},
          {kClaim, "spec.volumeAttributesClassName", Type::kText},
          {kClaim, "spec.resources", Type::kObject},
          {kClaim, "spec.resources.requests", Type::kObject},
          {kClaim, "spec.resources.requests.storage", Type::kAmount},
          {kClaim, "status", Type::kObject},
          {kClaim, "status.phase", Type::kText},
          {kVolume, "spec", Type::kObject},
          {kVolume, "spec.storageClassName", Type::kText},
          {kVolume, "spec.accessModes", Type::kList},
          {kVolume, "spec.accessModes[0]", Type::kText},
          {kVolume, "spec.volumeMode", Type::kText},
          {kVolume, "spec.capacity", Type::kObject},
          {kVolume, "spec.capacity.storage", Type::kAmount},
          {kVolume, "spec.volumeAttributesClassName", Type::kText},
          {kVolume, "spec.claimRef", Type::kObject},
          {kVolume, "spec.claimRef.namespace", Type::kText},
          {kVolume, "spec.claimRef.name", Type::kText},
          {kVolume, "spec.claimRef.uid", Type::kText},
          {kVolume, "spec.nodeAffinity", Type::kObject},
          {kVolume, "spec.nodeAffinity.required", Type::kObject},
          {kVolume, "spec.nodeAffinity.required.nodeSelectorTerms", Type::kList},
          {kVolume, "spec.nodeAffinity.required.nodeSelectorTerms[0]", Type::kObject},
          {kVolume, "spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields", Type::kList},
          {kVolume, "spec.csi", Type::kObject},
          {kVolume, "spec.csi.driver", Type::kText},
          {kVolume, "spec.csi.volumeHandle", Type::kText},
          {kVolume, "status", Type::kObject},
          {kVolume, "status.phase", Type::kText}};
}

std::vector<Field> FieldsOfClassesAndDrivers() {
  constexpr auto kClass = ResourceKind::kStorageClass;
  constexpr auto kNode = ResourceKind::kCsiNode;
  constexpr auto kDriver = ResourceKind::kCsiDriver;
  constexpr auto kCapacity = ResourceKind::kCsiStorageCapacity;
  constexpr auto kAttachment = ResourceKind::kVolumeAttachment;
  return {{kClass, "provisioner", Type::kText},
          {kClass, "volumeBindingMode", Type::kText},
          {kClass, "allowedTopologies", Type::kList},
          {kClass, "allowedTopologies[0]", Type::kObject},
          {kClass, "allowedTopologies[0].matchLabelExpressions", Type::kList},
          {kClass, "allowedTopologies[0].matchLabelExpressions[0]", Type::kObject},
          {kClass, "allowedTopologies[0].matchLabelExpressions[0].key", Type::kText},
          {kClass, "allowedTopologies[0].matchLabelExpressions[0].values", Type::kList},
          {kClass, "allowedTopologies[0].matchLabelExpressions[0].values[0]", Type::kText},
          {kNode, "spec", Type::kObject},
          {kNode, "spec.drivers", Type::kList},
          {kNode, "spec.drivers[0]", Type::kObject},
          {kNode, "spec.drivers[0].name", Type::kText},
          {kNode, "spec.drivers[0].allocatable", Type::kObject},
          {kNode, "spec.drivers[0].allocatable.count", Type::kNumber},
          {kDriver, "spec", Type::kObject},
          {kDriver, "spec.storageCapacity", Type::kBool},
          {kAttachment, "spec", Type::kObject},
          {kAttachment, "spec.nodeName", Type::kText},
          {kAttachment, "spec.source", Type::kObject},
          {kAttachment, "spec.source.persistentVolumeName", Type::kText},
          {kCapacity, "storageClassName", Type::kText},
          {kCapacity, "nodeTopology", Type::kObject},
          {kCapacity, "nodeTopology.matchExpressions", Type::kList},
          {kCapacity, "maximumVolumeSize", Type::kAmount},
          {kCapacity, "capacity", Type::kAmount}};
}

void ExpectOnlyItsType(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    for (const absl::string_view value : OtherThan(field.type)) {
      EXPECT_THAT(ProblemOf(field.kind, StorageJson(MembersAt(field.path, value))),
                  StartsWith(field.path))
          << ResourceKindName(field.kind) << " " << field.path << " = " << value;
    }
    if (absl::EndsWith(field.path, "[0]")) continue;
    EXPECT_EQ(ProblemOf(field.kind, StorageJson(MembersAt(field.path, "null"))), "") << field.path;
  }
}

TEST(DecodeMalformedStorage, EveryFieldOfAWrongTypeIsRefusedWithItsPath) {
  ExpectOnlyItsType(FieldsOfClaimsAndVolumes());
  ExpectOnlyItsType(FieldsOfClassesAndDrivers());
}

TEST(DecodeMalformedStorage, SaysWhatIsWrongWithAValue) {
  const auto problem = [](ResourceKind kind, absl::string_view path, absl::string_view value) {
    return ProblemOf(kind, StorageJson(MembersAt(path, value)));
  };
  EXPECT_EQ(
      problem(ResourceKind::kPersistentVolumeClaim, "spec.resources.requests.storage", R"("ten")"),
      "spec.resources.requests.storage: \"ten\" is no quantity (like 100m, 1.5Gi or 2e3)");
  EXPECT_EQ(
      problem(ResourceKind::kCsiNode, "spec.drivers[0].allocatable.count", "2147483648"),
      "spec.drivers[0].allocatable.count: must be a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(problem(ResourceKind::kCsiDriver, "spec.storageCapacity", R"("yes")"),
            "spec.storageCapacity: must be true or false");
  EXPECT_EQ(problem(ResourceKind::kPersistentVolume, "spec.csi.driver", "\"\xff\""),
            "spec.csi.driver: is no valid UTF-8");
}

TEST(DecodeMalformedStorage, ATermThatIsNotUnderstoodIsNotLeftOut) {
  const auto volume = [](absl::string_view expression) {
    return ProblemOf(ResourceKind::kPersistentVolume,
                     StorageJson(MembersAt("spec.nodeAffinity.required.nodeSelectorTerms[0]."
                                           "matchExpressions[0]",
                                           expression)));
  };
  EXPECT_THAT(volume(R"({"key":"a","operator":"Near"})"),
              HasSubstr("matchExpressions[0].operator: must be one of In, NotIn"));
  EXPECT_THAT(volume(R"({"operator":"Exists"})"), HasSubstr("matchExpressions[0]: has no key"));
  EXPECT_EQ(volume(R"({"key":"a","operator":"Gt","values":["5"]})"), "");
  // Labels of volumes and of nodes' topologies cannot be compared by size.
  constexpr absl::string_view kGreater = R"({"key":"a","operator":"Gt","values":["5"]})";
  EXPECT_THAT(ProblemOf(ResourceKind::kPersistentVolumeClaim,
                        StorageJson(MembersAt("spec.selector.matchExpressions[0]", kGreater))),
              StartsWith("spec.selector.matchExpressions[0].operator: must be one of"));
  EXPECT_THAT(ProblemOf(ResourceKind::kCsiStorageCapacity,
                        StorageJson(MembersAt("nodeTopology.matchExpressions[0]", kGreater))),
              StartsWith("nodeTopology.matchExpressions[0].operator: must be one of"));
}

TEST(DecodeMalformedStorage, IsKnownByNameAlsoWhenItCannotBeRead) {
  const DecodedObject object =
      Decoded(ResourceKind::kPersistentVolumeClaim, StorageJson(R"("spec":7)", R"("uid":"u")"));
  ASSERT_TRUE(std::holds_alternative<ObjectInvalid>(object.what));
  EXPECT_EQ(object.key, (ObjectKey{ResourceKind::kPersistentVolumeClaim, "n", "x"}));
  EXPECT_EQ(object.uid, "u");
}

TEST(DecodeMalformedStorage, OnlyClaimsAndCapacitiesMustHaveANamespace) {
  constexpr absl::string_view kNameOnly = R"({"metadata":{"name":"x"}})";
  for (const ResourceKind kind :
       {ResourceKind::kPersistentVolumeClaim, ResourceKind::kCsiStorageCapacity}) {
    EXPECT_EQ(ProblemOf(kind, kNameOnly), "metadata.namespace: is missing");
  }
  for (const ResourceKind kind :
       {ResourceKind::kPersistentVolume, ResourceKind::kStorageClass, ResourceKind::kCsiNode,
        ResourceKind::kCsiDriver, ResourceKind::kVolumeAttachment}) {
    EXPECT_EQ(ProblemOf(kind, kNameOnly), "");
    EXPECT_EQ(ProblemOf(kind, "{}"), "metadata.name: is missing");
  }
}

}  // namespace
}  // namespace maniple::codec_decode_storage_malformed_test
