// Cases of the families that look at a pod's volumes: where they are, and how many a node can
// attach.
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "test/oracle/families.h"
#include "test/oracle/json_parts.h"

namespace maniple {
namespace {

using Texts = std::vector<const char*>;

constexpr uint64_t kNodes = 6;
constexpr uint64_t kClaims = 4;
constexpr uint64_t kVolumes = 5;
constexpr uint64_t kNever = uint64_t{1} << 60;
constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kRegion[] = "topology.kubernetes.io/region";
constexpr char kBetaZone[] = "failure-domain.beta.kubernetes.io/zone";
constexpr char kDeleted[] = "2026-01-02T03:04:05Z";

const Texts& Classes() {
  static const auto* const kClasses =
      new Texts{"now", "later", "later", "zonal", "static", "tracked", "unknown", ""};
  return *kClasses;
}
const Texts& Drivers() {
  static const auto* const kDrivers = new Texts{"csi.example.com", "tracked.example.com"};
  return *kDrivers;
}

Json SomeNodes(Random& random) {
  Json nodes = Json::Array();
  const uint64_t count = 1 + random.Below(kNodes);
  for (uint64_t i = 0; i < count; ++i) {
    Json node = NodeObject(absl::StrCat("n", i));
    Json& labels = node.Mutable("metadata").Set("labels", Json::Object());
    if (!random.OneIn(4)) labels.Set(kZone, absl::StrCat("z", random.Below(2)));
    if (random.OneIn(3)) labels.Set(kRegion, absl::StrCat("r", random.Below(2)));
    if (random.OneIn(5)) labels.Set(kBetaZone, absl::StrCat("z", random.Below(2)));
    if (!random.OneIn(5)) labels.Set("disk", PickText(random, {"ssd", "hdd"}));
    nodes.Append(std::move(node));
  }
  return nodes;
}

Json StorageClassObject(absl::string_view name, absl::string_view provisioner,
                        absl::string_view mode) {
  Json out = NamedObject("StorageClass", name);
  out.Set("apiVersion", "storage.k8s.io/v1");
  out.Set("provisioner", provisioner);
  if (!mode.empty()) out.Set("volumeBindingMode", mode);
  return out;
}

Json SomeClasses(Random& random) {
  Json zonal = StorageClassObject("zonal", "csi.example.com", "WaitForFirstConsumer");
  Json expression =
      Json::Object({{"key", PickText(random, {kZone, "disk"})},
                    {"values", Json::Array({PickText(random, {"z0", "z1", "ssd"})})}});
  Json term = Json::Object({{"matchLabelExpressions", Json::Array({std::move(expression)})}});
  zonal.Set("allowedTopologies", Json::Array({std::move(term)}));
  return Json::Array(
      {StorageClassObject("now", "csi.example.com", random.OneIn(2) ? "" : "Immediate"),
       StorageClassObject("later", "csi.example.com", "WaitForFirstConsumer"), std::move(zonal),
       StorageClassObject("static", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
       StorageClassObject("tracked", "tracked.example.com", "WaitForFirstConsumer")});
}

Json SomeModes(Random& random) {
  Json modes = Json::Array(
      {PickText(random, {"ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"})});
  if (random.OneIn(4)) modes.Append("ReadWriteMany");
  return modes;
}

Json Storage(Random& random) {
  return Json::Object({{"storage", PickText(random, {"1Gi", "2Gi", "5Gi", "10G"})}});
}

Json RandomNodeAffinity(Random& random) {
  Json terms = Json::Array();
  for (uint64_t i = 1 + random.Below(2); i > 0; --i) {
    const bool by_zone = random.OneIn(2);
    Json expression =
        Json::Object({{"key", by_zone ? kZone : "disk"},
                      {"operator", PickText(random, {"In", "In", "NotIn", "Exists"})}});
    if (expression["operator"].AsString() != "Exists") {
      expression.Set("values", Json::Array({by_zone ? PickText(random, {"z0", "z1"})
                                                    : PickText(random, {"ssd", "hdd"})}));
    }
    terms.Append(Json::Object({{"matchExpressions", Json::Array({std::move(expression)})}}));
  }
  return Json::Object({{"required", Json::Object({{"nodeSelectorTerms", std::move(terms)}})}});
}

std::string ClaimName(uint64_t number) { return absl::StrCat("c", number); }
std::string VolumeName(uint64_t number) { return absl::StrCat("pv", number); }

Json RandomVolume(Random& random, uint64_t number) {
  Json out = NamedObject("PersistentVolume", VolumeName(number));
  Json& meta = out.Mutable("metadata");
  Json& labels = meta.Set("labels", Json::Object());
  if (!random.OneIn(3)) {
    // Drawn first, by every compiler.
    const std::string zone = PickText(random, {"z0", "z1", "z0__z1", "z2"});
    labels.Set(PickText(random, {kZone, kBetaZone}), zone);
  }
  if (random.OneIn(5)) labels.Set(kRegion, PickText(random, {"r0", "r1"}));
  if (random.OneIn(3)) labels.Set("tier", PickText(random, {"a", "b"}));
  if (random.OneIn(15)) meta.Set("deletionTimestamp", kDeleted);
  Json& spec = out.Mutable("spec");
  spec.Set("capacity", Storage(random));
  spec.Set("accessModes", SomeModes(random));
  spec.Set("storageClassName", PickText(random, Classes()));
  if (random.OneIn(8)) spec.Set("volumeMode", "Block");
  if (!random.OneIn(4)) {
    spec.Set("csi", Json::Object({{"driver", PickText(random, Drivers())},
                                  {"volumeHandle", absl::StrCat("h", random.Below(kVolumes))}}));
  } else {
    spec.Set("nfs", Json::Object({{"server", "s"}, {"path", "/"}}));
  }
  if (random.OneIn(2)) spec.Set("nodeAffinity", RandomNodeAffinity(random));
  if (random.OneIn(4)) {
    const uint64_t claim = random.Below(kClaims);
    Json reference = Json::Object({{"namespace", "default"}, {"name", ClaimName(claim)}});
    if (!random.OneIn(3)) {
      reference.Set("uid", random.OneIn(5) ? "uid-other" : absl::StrCat("uid-", ClaimName(claim)));
    }
    spec.Set("claimRef", std::move(reference));
  }
  out.Mutable("status").Set("phase", PickText(random, {"Available", "Available", "Available",
                                                       "Bound", "Released", "Pending"}));
  return out;
}

struct VolumeCaseOptions {
  uint64_t unbound_one_in = 2;
  // Of bound claims, those whose volume is missing or whose binding is not complete.
  uint64_t torn_one_in = 10;
  uint64_t disks_one_in = 12;
  uint64_t most_pods = 2;
};

Json RandomClaim(Random& random, uint64_t number, const VolumeCaseOptions& options) {
  Json out = NamedObject("PersistentVolumeClaim", ClaimName(number));
  Json& meta = out.Mutable("metadata");
  meta.Set("namespace", "default");
  meta.Set("uid", absl::StrCat("uid-", ClaimName(number)));
  if (random.OneIn(50)) meta.Set("deletionTimestamp", kDeleted);
  Json& annotations = meta.Set("annotations", Json::Object());
  Json& spec = out.Mutable("spec");
  spec.Set("accessModes", random.OneIn(4) ? Json::Array({"ReadWriteOncePod"}) : SomeModes(random));
  spec.Set("resources", Json::Object({{"requests", Storage(random)}}));
  const bool bound = !random.OneIn(options.unbound_one_in);
  if (bound || random.OneIn(options.torn_one_in)) {
    if (!random.OneIn(12)) spec.Set("storageClassName", PickText(random, Classes()));
  } else {
    spec.Set("storageClassName", PickText(random, {"later", "zonal", "zonal", "static", "static",
                                                   "tracked", "tracked"}));
  }
  if (random.OneIn(10)) spec.Set("volumeMode", "Block");
  if (random.OneIn(8)) {
    Json labels = Json::Object({{"tier", PickText(random, {"a", "b"})}});
    spec.Set("selector", Json::Object({{"matchLabels", std::move(labels)}}));
  }
  if (bound) {
    const bool torn = random.OneIn(options.torn_one_in);
    const bool missing = torn && random.OneIn(2);
    spec.Set("volumeName", VolumeName(missing ? kVolumes : random.Below(kVolumes)));
    if (!torn || missing) annotations.Set("pv.kubernetes.io/bind-completed", "yes");
  } else if (random.OneIn(12)) {
    annotations.Set("volume.kubernetes.io/selected-node", absl::StrCat("n", random.Below(kNodes)));
  }
  out.Mutable("status").Set("phase", random.OneIn(40) ? "Lost" : "Bound");
  return out;
}

Json RandomDisk(Random& random) {
  const bool read_only = random.OneIn(2);
  switch (random.Below(4)) {
    case 0:
      return Json::Object(
          {{"gcePersistentDisk",
            Json::Object({{"pdName", PickText(random, {"d0", "d1"})}, {"readOnly", read_only}})}});
    case 1:
      return Json::Object(
          {{"awsElasticBlockStore", Json::Object({{"volumeID", PickText(random, {"d0", "d1"})}})}});
    case 2:
      return Json::Object({{"iscsi", Json::Object({{"targetPortal", "p"},
                                                   {"iqn", PickText(random, {"d0", "d1"})},
                                                   {"lun", 0},
                                                   {"readOnly", read_only}})}});
    default: {
      Json monitors = Json::Array({PickText(random, {"m0", "m1"}), PickText(random, {"m1", "m2"})});
      return Json::Object({{"rbd", Json::Object({{"monitors", std::move(monitors)},
                                                 {"image", PickText(random, {"d0", "d1"})},
                                                 {"pool", PickText(random, {"p0", "p1"})},
                                                 {"readOnly", read_only}})}});
    }
  }
}

Json RandomPodVolume(Random& random, uint64_t disks_one_in) {
  if (random.OneIn(disks_one_in)) return RandomDisk(random);
  if (random.OneIn(15)) return Json::Object({{"emptyDir", Json::Object()}});
  const uint64_t claim = random.OneIn(40) ? kClaims : random.Below(kClaims);  // that one is missing
  Json use = Json::Object({{"claimName", ClaimName(claim)}});
  if (random.OneIn(5)) use.Set("readOnly", true);
  return Json::Object({{"persistentVolumeClaim", std::move(use)}});
}

void GiveVolumes(Random& random, Json& pod, uint64_t disks_one_in) {
  Json& volumes = pod.Mutable("spec").Set("volumes", Json::Array());
  std::set<std::string> mounted;  // each once; see intended_differences_test
  for (uint64_t i = 1 + random.Below(2); i > 0; --i) {
    Json volume = RandomPodVolume(random, disks_one_in);
    const std::string claim = volume.At("persistentVolumeClaim.claimName").AsString();
    if (!claim.empty() && !mounted.insert(claim).second) continue;
    volume.Set("name", absl::StrCat("v", i));
    volumes.Append(std::move(volume));
  }
}

// A volume whose claim is made for the pod, called "<pod>-<volume>". That of the pod in question
// may be somebody else's; for those of others see intended_differences_test.
enum class Owner { kMayBeAnother, kPod };
void GiveEphemeral(Random& random, Json& pod, Json& claims, const VolumeCaseOptions& options,
                   Owner owner_is) {
  const std::string name = pod["metadata"]["name"].AsString();
  pod.Mutable("spec").Mutable("volumes").Append(Json::Object(
      {{"name", "e"},
       {"ephemeral",
        Json::Object({{"volumeClaimTemplate", Json::Object({{"spec", Json::Object()}})}})}}));
  if (random.OneIn(5)) return;  // not made yet
  Json claim = RandomClaim(random, 0, options);
  Json& meta = claim.Mutable("metadata");
  meta.Set("name", absl::StrCat(name, "-e"));
  meta.Set("uid", absl::StrCat("uid-", name, "-e"));
  const bool another = owner_is == Owner::kMayBeAnother && random.OneIn(5);
  Json owner = Json::Object({{"apiVersion", "v1"},
                             {"kind", "Pod"},
                             {"name", name},
                             {"uid", another ? "uid-other" : absl::StrCat("uid-", name)},
                             {"controller", true}});
  const bool nobody = owner_is == Owner::kMayBeAnother && random.OneIn(6);
  if (!nobody) meta.Set("ownerReferences", Json::Array({std::move(owner)}));
  claims.Append(std::move(claim));
}

Json SomeCsiNodes(Random& random) {
  Json out = Json::Array();
  for (uint64_t i = 0; i < kNodes; ++i) {
    if (random.OneIn(6)) continue;
    Json csi_node = NamedObject("CSINode", absl::StrCat("n", i));
    csi_node.Set("apiVersion", "storage.k8s.io/v1");
    Json& drivers = csi_node.Mutable("spec").Set("drivers", Json::Array());
    for (const char* name : Drivers()) {
      if (random.OneIn(4)) continue;
      Json driver = Json::Object({{"name", name}, {"nodeID", absl::StrCat("id", i)}});
      if (!random.OneIn(4)) {
        driver.Set("allocatable", Json::Object({{"count", static_cast<int64_t>(random.Below(4))}}));
      }
      drivers.Append(std::move(driver));
    }
    out.Append(std::move(csi_node));
  }
  return out;
}

Json SomeDrivers(Random& random) {
  Json out = Json::Array();
  for (const char* name : Drivers()) {
    if (random.OneIn(4)) continue;
    Json driver = NamedObject("CSIDriver", name);
    driver.Set("apiVersion", "storage.k8s.io/v1");
    driver.Mutable("spec").Set("storageCapacity", absl::string_view(name) == "tracked.example.com");
    out.Append(std::move(driver));
  }
  return out;
}

Json SomeCapacities(Random& random) {
  Json out = Json::Array();
  for (uint64_t i = random.Below(4); i > 0; --i) {
    Json capacity = NamedObject("CSIStorageCapacity", absl::StrCat("cap", i));
    capacity.Set("apiVersion", "storage.k8s.io/v1");
    capacity.Mutable("metadata").Set("namespace", "default");
    capacity.Set("storageClassName", random.OneIn(5) ? "later" : "tracked");
    if (!random.OneIn(6)) capacity.Set("capacity", PickText(random, {"1Gi", "3Gi", "100Gi"}));
    if (random.OneIn(4)) capacity.Set("maximumVolumeSize", PickText(random, {"1Gi", "10Gi"}));
    if (!random.OneIn(8)) {
      Json labels = random.OneIn(4) ? Json::Object()
                                    : Json::Object({{kZone, PickText(random, {"z0", "z1"})}});
      capacity.Set("nodeTopology", Json::Object({{"matchLabels", std::move(labels)}}));
    }
    out.Append(std::move(capacity));
  }
  return out;
}

Json SomeAttachments(Random& random, const Json& volumes) {
  Json out = Json::Array();
  for (uint64_t i = random.Below(5); i > 0; --i) {
    const Json& volume = volumes.items()[random.Below(volumes.items().size())];
    const std::string& driver = volume.At("spec.csi.driver").AsString();
    Json attachment = NamedObject("VolumeAttachment", absl::StrCat("a", i));
    attachment.Set("apiVersion", "storage.k8s.io/v1");
    Json& spec = attachment.Mutable("spec");
    spec.Set("attacher", driver.empty() ? "other.example.com" : driver);
    spec.Set("nodeName", absl::StrCat("n", random.Below(kNodes)));
    spec.Set("source", Json::Object({{"persistentVolumeName", volume.At("metadata.name")}}));
    out.Append(std::move(attachment));
  }
  return out;
}

// Of several volumes that are set aside for one claim kube-scheduler takes any, in no order.
void SetAsideOneEach(Json& volumes) {
  std::set<std::string> claims;
  for (Json& volume : volumes.mutable_items()) {
    const std::string claim = volume.At("spec.claimRef.name").AsString();
    if (!claim.empty() && !claims.insert(claim).second) volume.Mutable("spec").Erase("claimRef");
  }
}

Json VolumeCase(Random& random, const VolumeCaseOptions& options) {
  Json claims = Json::Array();
  Json volumes = Json::Array();
  for (uint64_t i = 0; i < kClaims; ++i) claims.Append(RandomClaim(random, i, options));
  for (uint64_t i = 0; i < kVolumes; ++i) volumes.Append(RandomVolume(random, i));
  SetAsideOneEach(volumes);
  Json attachments = SomeAttachments(random, volumes);
  Json pod = PodObject("p");
  GiveVolumes(random, pod, options.disks_one_in);
  if (random.OneIn(12)) GiveEphemeral(random, pod, claims, options, Owner::kMayBeAnother);
  Json pods = Json::Array();
  for (uint64_t i = random.Below(options.most_pods + 1); i > 0; --i) {
    Json other = PodObject(absl::StrCat("o", i));
    GiveVolumes(random, other, options.disks_one_in);
    if (random.OneIn(12)) GiveEphemeral(random, other, claims, options, Owner::kPod);
    SettleSomewhere(random, other, kNodes);
    pods.Append(std::move(other));
  }
  return Json::Object({{"pod", std::move(pod)},
                       {"nodes", SomeNodes(random)},
                       {"pods", std::move(pods)},
                       {"claims", std::move(claims)},
                       {"volumes", std::move(volumes)},
                       {"storageClasses", SomeClasses(random)},
                       {"csiNodes", SomeCsiNodes(random)},
                       {"csiDrivers", SomeDrivers(random)},
                       {"capacities", SomeCapacities(random)},
                       {"attachments", std::move(attachments)}});
}

}  // namespace

Json VolumeBindingCase(Random& random) { return VolumeCase(random, {}); }
Json VolumeZoneCase(Random& random) { return VolumeCase(random, {.unbound_one_in = 8}); }
Json VolumeRestrictionsCase(Random& random) {
  return VolumeCase(random, {.unbound_one_in = 8, .disks_one_in = 2, .most_pods = 5});
}
Json VolumeLimitsCase(Random& random) {
  return VolumeCase(random, {.unbound_one_in = 4, .torn_one_in = kNever, .most_pods = 6});
}

}  // namespace maniple
