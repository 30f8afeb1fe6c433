// Claims, volumes, storage classes and what CSI drivers say. The fear is that a field which decides
// where a pod may run is read wrongly or not at all, that what is absent is taken for what
// is empty, and that what older releases wrote as annotations is forgotten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/codec/decode.h"
#include "test/support/storage_json.h"

namespace maniple::codec_decode_storage_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum SelectorOperator;

template <typename T>
constexpr ResourceKind kKindOf = ResourceKind::kPersistentVolumeClaim;
template <>
constexpr ResourceKind kKindOf<PersistentVolume> = ResourceKind::kPersistentVolume;
template <>
constexpr ResourceKind kKindOf<StorageClass> = ResourceKind::kStorageClass;
template <>
constexpr ResourceKind kKindOf<CsiNode> = ResourceKind::kCsiNode;
template <>
constexpr ResourceKind kKindOf<CsiDriver> = ResourceKind::kCsiDriver;
template <>
constexpr ResourceKind kKindOf<CsiStorageCapacity> = ResourceKind::kCsiStorageCapacity;

template <>
constexpr ResourceKind kKindOf<VolumeAttachment> = ResourceKind::kVolumeAttachment;

template <typename T>
T Read(absl::string_view members, absl::string_view metadata = "") {
  const DecodedObject object = Decoded(kKindOf<T>, StorageJson(members, metadata));
  if (const auto* invalid = std::get_if<ObjectInvalid>(&object.what)) {
    ADD_FAILURE() << invalid->problem << " in " << members;
    return T{};
  }
  return std::get<T>(std::get<Object>(object.what));
}

PersistentVolumeClaim ClaimOf(absl::string_view spec, absl::string_view annotations = "") {
  return Read<PersistentVolumeClaim>(absl::StrCat(R"("spec":{)", spec, "}"),
                                     absl::StrCat(R"("annotations":{)", annotations, "}"));
}
PersistentVolume VolumeOf(absl::string_view spec, absl::string_view annotations = "") {
  return Read<PersistentVolume>(absl::StrCat(R"("spec":{)", spec, "}"),
                                absl::StrCat(R"("annotations":{)", annotations, "}"));
}

// ---- claims

TEST(DecodeClaim, ReadsEveryFieldTheSchedulerUses) {
  const auto claim = Read<PersistentVolumeClaim>(
      R"("spec":{"volumeName":"pv","storageClassName":"fast",
        "accessModes":["ReadWriteMany","ReadOnlyMany"],"volumeMode":"Block",
        "volumeAttributesClassName":"gold",
        "dataSource":{"kind":"VolumeSnapshot"},
        "selector":{"matchLabels":{"tier":"1"},
                    "matchExpressions":[{"key":"disk","operator":"Exists"}]},
        "resources":{"requests":{"storage":"10Gi","other":"3"},"limits":{"storage":"99Gi"}}},
      "status":{"phase":"Bound","capacity":{"storage":"20Gi"}})",
      R"("uid":"u","resourceVersion":"7","deletionTimestamp":"2026-07-21T11:00:00Z",
      "ownerReferences":[{"kind":"Pod","name":"p","uid":"pod-uid","controller":true}],
      "annotations":{"volume.kubernetes.io/selected-node":"n1",
                     "pv.kubernetes.io/bind-completed":"yes",
                     "pv.kubernetes.io/bound-by-controller":"yes","example.com/note":"x"})");
  EXPECT_EQ(claim.meta.name, "x");
  EXPECT_EQ(claim.meta.namespace_name, "n");
  EXPECT_EQ(claim.meta.uid, "u");
  EXPECT_EQ(claim.meta.resource_version, "7");
  EXPECT_TRUE(claim.meta.deleted.has_value());
  EXPECT_EQ(claim.meta.controller, (OwnerReference{"Pod", "p", "pod-uid"}));
  EXPECT_EQ(claim.meta.annotations, StringMap({{kSelectedNodeAnnotation, "n1"},
                                               {kBindCompletedAnnotation, "yes"},
                                               {kBoundByControllerAnnotation, "yes"}}));
  EXPECT_EQ(claim.volume_name, "pv");
  EXPECT_EQ(claim.storage_class, "fast");
  EXPECT_EQ(claim.modes, kReadWriteMany | kReadOnlyMany);
  EXPECT_TRUE(claim.block);
  EXPECT_EQ(claim.attributes_class, "gold");
  ASSERT_TRUE(claim.selector.has_value());
  EXPECT_THAT(claim.selector->requirements, ElementsAre(SelectorRequirement{"disk", kExists, {}},
                                                        SelectorRequirement{"tier", kIn, {"1"}}));
  EXPECT_EQ(claim.size, Amount(int64_t{10} << 30));
  EXPECT_EQ(claim.phase, ClaimPhase::kBound);
  EXPECT_TRUE(claim.bound());
  EXPECT_EQ(claim.selected_node(), "n1");
}

TEST(DecodeClaim, AnEmptySpecAsksForNothingAndIsNotBound) {
  const auto claim = Read<PersistentVolumeClaim>("");
  EXPECT_EQ(claim.storage_class, "");
  EXPECT_EQ(claim.modes, 0);
  EXPECT_FALSE(claim.block);
  EXPECT_EQ(claim.size, Amount(0));
  EXPECT_FALSE(claim.selector.has_value());
  EXPECT_EQ(claim.phase, ClaimPhase::kPending);
  EXPECT_FALSE(claim.bound());
  EXPECT_FALSE(ClaimOf(R"("volumeMode":"Filesystem")").block);
}

TEST(DecodeClaim, AnEmptySelectorIsNotAMissingOne) {
  EXPECT_FALSE(ClaimOf(R"("selector":null)").selector.has_value());
  const auto claim = ClaimOf(R"("selector":{})");
  ASSERT_TRUE(claim.selector.has_value());
  EXPECT_THAT(claim.selector->requirements, IsEmpty());
}

TEST(DecodeClaim, EveryAccessModeIsOneOfItsOwn) {
  const auto modes = [](absl::string_view list) {
    return ClaimOf(absl::StrCat(R"("accessModes":)", list)).modes;
  };
  EXPECT_EQ(modes(R"(["ReadWriteOnce"])"), kReadWriteOnce);
  EXPECT_EQ(modes(R"(["ReadOnlyMany"])"), kReadOnlyMany);
  EXPECT_EQ(modes(R"(["ReadWriteMany"])"), kReadWriteMany);
  EXPECT_EQ(modes(R"(["ReadWriteOncePod"])"), kReadWriteOncePod);
  // One that is not known must not be forgotten: a volume without it could be taken.
  EXPECT_EQ(modes(R"(["ReadWriteOnce","ReadSometimes"])"), kReadWriteOnce | kUnknownAccess);
}

TEST(DecodeClaim, IsBoundOnlyWhenItNamesAVolumeAndTheBindingIsComplete) {
  constexpr absl::string_view kDone = R"("pv.kubernetes.io/bind-completed":"yes")";
  EXPECT_TRUE(ClaimOf(R"("volumeName":"pv")", kDone).bound());
  EXPECT_FALSE(ClaimOf(R"("volumeName":"pv")").bound());
  EXPECT_FALSE(ClaimOf(R"("volumeName":"")", kDone).bound());
  // Whatever it says; and the phase is only hearsay.
  EXPECT_TRUE(ClaimOf(R"("volumeName":"pv")", R"("pv.kubernetes.io/bind-completed":"")").bound());
  EXPECT_FALSE(
      Read<PersistentVolumeClaim>(R"("spec":{"volumeName":"pv"},"status":{"phase":"Bound"})")
          .bound());
}

TEST(DecodeClaim, PhasesThatAreNotKnownArePending) {
  const auto phase = [](absl::string_view name) {
    return Read<PersistentVolumeClaim>(absl::StrCat(R"("status":{"phase":")", name, R"("})")).phase;
  };
  EXPECT_EQ(phase("Pending"), ClaimPhase::kPending);
  EXPECT_EQ(phase("Bound"), ClaimPhase::kBound);
  EXPECT_EQ(phase("Lost"), ClaimPhase::kLost);
  EXPECT_EQ(phase("Novel"), ClaimPhase::kPending);
}

TEST(DecodeClaim, TheSelectedNodeIsNoneWithoutItsAnnotation) {
  EXPECT_EQ(ClaimOf("").selected_node(), "");
  EXPECT_EQ(ClaimOf("").meta.annotations.Find(kSelectedNodeAnnotation), nullptr);
  // A node of no name is another thing: somebody was told, and nobody knows where.
  const auto claim = ClaimOf("", R"("volume.kubernetes.io/selected-node":"")");
  EXPECT_NE(claim.meta.annotations.Find(kSelectedNodeAnnotation), nullptr);
}

TEST(DecodeStorage, TheOldAnnotationNamesTheClassBeforeTheFieldDoes) {
  constexpr absl::string_view kOld = R"("volume.beta.kubernetes.io/storage-class":"old")";
  constexpr absl::string_view kNone = R"("volume.beta.kubernetes.io/storage-class":"")";
  constexpr absl::string_view kField = R"("storageClassName":"new")";
  EXPECT_EQ(ClaimOf("", kOld).storage_class, "old");
  EXPECT_EQ(ClaimOf(kField, kOld).storage_class, "old");
  EXPECT_EQ(ClaimOf(kField, kNone).storage_class, "");
  EXPECT_EQ(ClaimOf(kField).storage_class, "new");
  EXPECT_EQ(VolumeOf("", kOld).storage_class, "old");
  EXPECT_EQ(VolumeOf(kField, kOld).storage_class, "old");
  EXPECT_EQ(VolumeOf(kField, kNone).storage_class, "");
  EXPECT_EQ(VolumeOf(kField).storage_class, "new");
}

// ---- volumes

TEST(DecodeVolume, ReadsEveryFieldTheSchedulerUses) {
  const auto volume = Read<PersistentVolume>(
      R"("spec":{"storageClassName":"fast","accessModes":["ReadWriteOnce"],"volumeMode":"Block",
        "capacity":{"storage":"5Gi","other":"1"},"volumeAttributesClassName":"gold",
        "claimRef":{"kind":"PersistentVolumeClaim","namespace":"n","name":"data","uid":"u"},
        "csi":{"driver":"csi.example.com","volumeHandle":"h","fsType":"ext4"},
        "nodeAffinity":{"required":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"zone","operator":"In","values":["b","a"]},
                               {"key":"old","operator":"DoesNotExist"}]},
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}},
      "status":{"phase":"Available"})",
      R"("uid":"v","labels":{"topology.kubernetes.io/zone":"a"})");
  EXPECT_EQ(volume.meta.uid, "v");
  EXPECT_EQ(volume.meta.labels, (StringMap({{"topology.kubernetes.io/zone", std::string("a")}})));
  EXPECT_EQ(volume.storage_class, "fast");
  EXPECT_EQ(volume.modes, kReadWriteOnce);
  EXPECT_TRUE(volume.block);
  EXPECT_EQ(volume.capacity, Amount(int64_t{5} << 30));
  EXPECT_EQ(volume.attributes_class, "gold");
  EXPECT_EQ(volume.claim, (ClaimReference{"n", "data", "u"}));
  EXPECT_EQ(volume.csi.driver, "csi.example.com");
  EXPECT_EQ(volume.csi.handle, "h");
  ASSERT_TRUE(volume.node_affinity.has_value());
  EXPECT_THAT(
      *volume.node_affinity,
      ElementsAre(NodeSelectorTerm{{}, {{"metadata.name", kIn, {"n1"}}}},
                  NodeSelectorTerm{{{"old", kDoesNotExist, {}}, {"zone", kIn, {"a", "b"}}}, {}}));
  EXPECT_TRUE(volume.available);
}

TEST(DecodeVolume, AffinityThatMatchesNothingIsNotAMissingOne) {
  const auto affinity = [](absl::string_view value) {
    return VolumeOf(absl::StrCat(R"("nodeAffinity":)", value)).node_affinity;
  };
  EXPECT_EQ(VolumeOf("").node_affinity, std::nullopt);
  EXPECT_EQ(affinity("null"), std::nullopt);
  EXPECT_EQ(affinity("{}"), std::nullopt);
  EXPECT_EQ(affinity(R"({"required":null})"), std::nullopt);
  EXPECT_EQ(affinity(R"({"required":{}})"), NodeTerms{});
  EXPECT_EQ(affinity(R"({"required":{"nodeSelectorTerms":[]}})"), NodeTerms{});
  EXPECT_EQ(affinity(R"({"required":{"nodeSelectorTerms":[{}]}})"), NodeTerms{NodeSelectorTerm{}});
}

TEST(DecodeVolume, IsTakenAsSoonAsItRefersToAClaimInAnyWay) {
  EXPECT_FALSE(VolumeOf("").claim.has_value());
  EXPECT_FALSE(VolumeOf(R"("claimRef":null)").claim.has_value());
  EXPECT_EQ(VolumeOf(R"("claimRef":{})").claim, ClaimReference{});
  EXPECT_EQ(VolumeOf(R"("claimRef":{"namespace":"n","name":"data"})").claim,
            (ClaimReference{"n", "data", ""}));
}

TEST(DecodeVolume, OnlyTheOneWordMakesItAvailable) {
  for (const absl::string_view phase :
       {"Pending", "Bound", "Released", "Failed", "available", ""}) {
    EXPECT_FALSE(
        Read<PersistentVolume>(absl::StrCat(R"("status":{"phase":")", phase, R"("})")).available)
        << phase;
  }
  EXPECT_FALSE(Read<PersistentVolume>("").available);
}

TEST(DecodeVolume, OneThatIsNotOfADriverHasNoHandle) {
  const PersistentVolume volume = VolumeOf(R"("local":{"path":"/mnt/disk"})");
  EXPECT_EQ(volume.csi.driver, "");
  EXPECT_EQ(volume.csi.handle, "");
  EXPECT_FALSE(volume.block);
}

TEST(DecodeVolume, OneOfAKindFromBeforeCsiIsOfTheDriverThatServesItNow) {
  const auto csi = [](absl::string_view source) { return VolumeOf(source).csi; };
  EXPECT_EQ(csi(R"("awsElasticBlockStore":{"volumeID":"vol-1"})"),
            (CsiVolume{"ebs.csi.aws.com", "vol-1"}));
  EXPECT_EQ(csi(R"("awsElasticBlockStore":{"volumeID":"aws://eu-1a/vol-1","fsType":"xfs"})"),
            (CsiVolume{"ebs.csi.aws.com", "vol-1"}));
  EXPECT_EQ(csi(R"("gcePersistentDisk":{"pdName":"d"})"),
            (CsiVolume{"pd.csi.storage.gke.io", "d"}));
  EXPECT_EQ(csi(R"("azureDisk":{"diskName":"n","diskURI":"/sub/d"})"),
            (CsiVolume{"disk.csi.azure.com", "/sub/d"}));
  EXPECT_EQ(csi(R"("azureFile":{"secretName":"s","shareName":"f"})"),
            (CsiVolume{"file.csi.azure.com", "f"}));
  EXPECT_EQ(csi(R"("cinder":{"volumeID":"c"})"), (CsiVolume{"cinder.csi.openstack.org", "c"}));
  EXPECT_EQ(csi(R"("portworxVolume":{"volumeID":"p"})"), (CsiVolume{"pxd.portworx.com", "p"}));
  EXPECT_EQ(csi(R"("vsphereVolume":{"volumePath":"[ds] d.vmdk"})"),
            (CsiVolume{"csi.vsphere.vmware.com", "[ds] d.vmdk"}));
}

// ---- classes

TEST(DecodeStorageClass, ReadsWhoProvisionsWhenAndWhere) {
  const auto storage = Read<StorageClass>(
      R"("provisioner":"csi.example.com","volumeBindingMode":"WaitForFirstConsumer",
      "allowedTopologies":[
        {"matchLabelExpressions":[{"key":"zone","values":["b","a"]},{"key":"rack","values":["1"]}]},
        {"matchLabelExpressions":[{"key":"all","values":["yes"]}]},
        {"matchLabelExpressions":[{"key":"all","values":["yes"]}]}])");
  EXPECT_EQ(storage.provisioner, "csi.example.com");
  EXPECT_TRUE(storage.waits_for_consumer);
  ASSERT_TRUE(storage.allowed_topologies.has_value());
  EXPECT_THAT(*storage.allowed_topologies,
              ElementsAre(NodeSelectorTerm{{{"all", kIn, {"yes"}}}, {}},
                          NodeSelectorTerm{{{"rack", kIn, {"1"}}, {"zone", kIn, {"a", "b"}}}, {}}));
}

TEST(DecodeStorageClass, BindsAtOnceUnlessItSaysOtherwise) {
  EXPECT_FALSE(Read<StorageClass>("").waits_for_consumer);
  EXPECT_FALSE(Read<StorageClass>(R"("volumeBindingMode":"Immediate")").waits_for_consumer);
}

TEST(DecodeStorageClass, NoTopologiesAreEverywhereAndAnEmptyOneIsNowhere) {
  const auto where = [](absl::string_view value) {
    return Read<StorageClass>(absl::StrCat(R"("allowedTopologies":)", value)).allowed_topologies;
  };
  EXPECT_EQ(where("null"), std::nullopt);
  EXPECT_EQ(where("[]"), std::nullopt);
  EXPECT_EQ(where("[{}]"), NodeTerms{NodeSelectorTerm{}});
  // A key without values is met by no node, and not by those that have the key.
  EXPECT_EQ(where(R"([{"matchLabelExpressions":[{"key":"zone"}]}])"),
            (NodeTerms{NodeSelectorTerm{{{"zone", kIn, {}}}, {}}}));
}

// ---- what drivers say

TEST(DecodeCsiNode, OnlyADriverThatNamesACountHasALimit) {
  const auto node = Read<CsiNode>(R"("spec":{"drivers":[
      {"name":"z.csi","nodeID":"i-1","topologyKeys":["zone"],"allocatable":{"count":25}},
      {"name":"free.csi"},{"name":"empty.csi","allocatable":{}},
      {"name":"null.csi","allocatable":{"count":null}},
      {"name":"a.csi","allocatable":{"count":0}}]})");
  EXPECT_EQ(node.meta.name, "x");
  EXPECT_THAT(node.limits, ElementsAre(VolumeLimit{"a.csi", 0}, VolumeLimit{"z.csi", 25}));
  EXPECT_THAT(Read<CsiNode>("").limits, IsEmpty());
}

TEST(DecodeCsiDriver, TracksCapacityOnlyIfItSaysSo) {
  const auto tracks = [](absl::string_view spec) {
    return Read<CsiDriver>(absl::StrCat(R"("spec":)", spec)).tracks_capacity;
  };
  EXPECT_TRUE(tracks(R"({"storageCapacity":true,"attachRequired":false})"));
  EXPECT_FALSE(tracks(R"({"storageCapacity":false,"attachRequired":true})"));
  EXPECT_FALSE(tracks(R"({"storageCapacity":null})"));
  EXPECT_FALSE(tracks("{}"));
}

TEST(DecodeVolumeAttachment, ReadsWhatIsAttachedWhere) {
  const auto named = Read<VolumeAttachment>(
      R"("spec":{"attacher":"a.csi","nodeName":"n1","source":{"persistentVolumeName":"pv"}})");
  EXPECT_EQ(named.node, "n1");
  EXPECT_EQ(named.volume, "pv");
  const auto inline_volume = Read<VolumeAttachment>(
      R"("spec":{"attacher":"a.csi","nodeName":"n1","source":{"inlineVolumeSpec":{}}})");
  EXPECT_EQ(inline_volume.volume, "");
}

TEST(DecodeCsiStorageCapacity, ReadsForWhomAndWhereItIs) {
  const auto capacity = Read<CsiStorageCapacity>(
      R"("storageClassName":"fast","capacity":"10Gi","nodeTopology":{"matchLabels":{"zone":"a"},
      "matchExpressions":[{"key":"rack","operator":"NotIn","values":["2"]}]})");
  EXPECT_EQ(capacity.storage_class, "fast");
  EXPECT_EQ(capacity.largest, Amount(int64_t{10} << 30));
  ASSERT_TRUE(capacity.nodes.has_value());
  EXPECT_THAT(capacity.nodes->requirements, ElementsAre(SelectorRequirement{"rack", kNotIn, {"2"}},
                                                        SelectorRequirement{"zone", kIn, {"a"}}));
}

TEST(DecodeCsiStorageCapacity, NoTopologyIsNowhereAndAnEmptyOneIsEverywhere) {
  EXPECT_FALSE(Read<CsiStorageCapacity>(R"("nodeTopology":null)").nodes.has_value());
  const auto everywhere = Read<CsiStorageCapacity>(R"("nodeTopology":{})");
  ASSERT_TRUE(everywhere.nodes.has_value());
  EXPECT_THAT(everywhere.nodes->requirements, IsEmpty());
}

TEST(DecodeCsiStorageCapacity, TheLargestVolumeCountsBeforeWhatThereIsInAll) {
  const auto largest = [](absl::string_view members) {
    return Read<CsiStorageCapacity>(members).largest;
  };
  EXPECT_EQ(largest(R"("maximumVolumeSize":"2","capacity":"10")"), Amount(2));
  EXPECT_EQ(largest(R"("capacity":"10","maximumVolumeSize":"2")"), Amount(2));
  EXPECT_EQ(largest(R"("capacity":"10","maximumVolumeSize":"0")"), Amount(0));
  EXPECT_EQ(largest(R"("capacity":10)"), Amount(10));
  EXPECT_EQ(largest(""), std::nullopt);
}

}  // namespace
}  // namespace maniple::codec_decode_storage_test
