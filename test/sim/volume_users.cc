#include "test/sim/volume_users.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/sim/names.h"

namespace maniple::sim {
namespace {

constexpr uint64_t kOneHistory = 7;
constexpr int kDisks = 2;        // of each node
constexpr int kAttachLimit = 2;  // of odd nodes
constexpr uint64_t kOneStuck = 8;
constexpr char kAttachmentsTarget[] = "/apis/storage.k8s.io/v1/volumeattachments";
constexpr char kVolumesTarget[] = "/api/v1/persistentvolumes";
constexpr char kClassesTarget[] = "/apis/storage.k8s.io/v1/storageclasses";

bool IsOdd(const std::string& node) { return (node.back() - '0') % 2 != 0; }

}  // namespace

VolumeUsers::VolumeUsers(Users& users, uint64_t seed)
    : users_(users), random_(seed * 49979687 + 3), exist_(Exist(seed)) {}

bool VolumeUsers::Exist(uint64_t seed) { return seed % kOneHistory == 4; }

absl::Duration VolumeUsers::Delay(uint64_t seed) {
  return Exist(seed) ? absl::Milliseconds(300 * (seed / kOneHistory % 5)) : absl::ZeroDuration();
}

void VolumeUsers::SetUp() {
  if (!exist_) return;
  AddClass(kDiskClass, "kubernetes.io/no-provisioner", /*waits=*/true, /*fails=*/false);
  AddClass(kMadeClass, kSimDriver, /*waits=*/true, /*fails=*/false);
  AddClass(kBrittleClass, kSimDriver, /*waits=*/true, /*fails=*/true);
  AddClass(kAtOnceClass, kSimDriver, /*waits=*/false, /*fails=*/false);
  users_.Call("POST", kClaimsTarget,
              Json::Object({{"apiVersion", "v1"},
                            {"kind", "PersistentVolumeClaim"},
                            {"metadata", Json::Object({{"name", kLoneClaim}})},
                            {"spec", ClaimSpec(kAtOnceClass, "ReadWriteOncePod")}}));
}

void VolumeUsers::AddClass(const std::string& name, const std::string& provisioner, bool waits,
                           bool fails) {
  Json parameters = Json::Object();
  if (fails) parameters.Set("maniple.dev/fails", "yes");
  users_.Call("POST", kClassesTarget,
              Json::Object({{"apiVersion", "storage.k8s.io/v1"},
                            {"kind", "StorageClass"},
                            {"metadata", Json::Object({{"name", name}})},
                            {"provisioner", provisioner},
                            {"parameters", parameters},
                            {"volumeBindingMode", waits ? "WaitForFirstConsumer" : "Immediate"}}));
}

void VolumeUsers::Describe(GangSpec& spec) {
  if (!exist_ || !random_.OneIn(2)) return;
  constexpr const char* kClasses[] = {kDiskClass, kMadeClass, kMadeClass, kBrittleClass,
                                      kAtOnceClass};
  if (spec.pods == 1 && random_.OneIn(2)) {
    spec.claim = kLoneClaim;
  } else {
    spec.storage_class = kClasses[random_.Below(std::size(kClasses))];
  }
}

void VolumeUsers::ControllerTurn(const VolumeTruth& truth) {
  if (!exist_) return;
  EquipNodes();
  OfferAgain(truth);
  Attach(truth.InUse());
}

void VolumeUsers::EquipNodes() {
  std::vector<std::string> fresh;
  for (const auto& [name, node] : users_.truth().nodes()) {
    if (equipped_.insert(name).second) fresh.push_back(name);
  }
  for (const std::string& node : fresh) AddDisks(node);
}

void VolumeUsers::Attach(const VolumeTruth::Attachments& in_use) {
  const auto name_of = [](const auto& attachment) {
    return absl::StrCat(attachment.first, "-", attachment.second);
  };
  for (const auto& attachment : in_use) {
    if (!attached_.insert(attachment).second) continue;
    if (random_.OneIn(kOneStuck) && !mended_) stuck_.insert(attachment);
    const Json source = Json::Object({{"persistentVolumeName", attachment.second}});
    users_.Call("POST", kAttachmentsTarget,
                Json::Object({{"apiVersion", "storage.k8s.io/v1"},
                              {"kind", "VolumeAttachment"},
                              {"metadata", Json::Object({{"name", name_of(attachment)}})},
                              {"spec", Json::Object({{"attacher", kSimDriver},
                                                     {"nodeName", attachment.first},
                                                     {"source", source}})}}));
  }
  std::erase_if(attached_, [&](const auto& attachment) {
    if (in_use.contains(attachment) || stuck_.contains(attachment)) return false;
    users_.Call("DELETE", absl::StrCat(kAttachmentsTarget, "/", name_of(attachment)), Json());
    return true;
  });
}

void VolumeUsers::AddDisks(const std::string& node) {
  const Json expression = Json::Object({{"key", "kubernetes.io/hostname"},
                                        {"operator", "In"},
                                        {"values", Json::Array({Json(node)})}});
  const Json term = Json::Object({{"matchExpressions", Json::Array({expression})}});
  const Json terms = Json::Object({{"nodeSelectorTerms", Json::Array({term})}});
  for (int i = 0; i < kDisks; ++i) {
    const Json spec = Json::Object({{"capacity", Json::Object({{"storage", "10Gi"}})},
                                    {"accessModes", Json::Array({Json("ReadWriteOnce")})},
                                    {"storageClassName", kDiskClass},
                                    {"local", Json::Object({{"path", "/disk"}})},
                                    {"nodeAffinity", Json::Object({{"required", terms}})}});
    users_.Call(
        "POST", kVolumesTarget,
        Json::Object({{"apiVersion", "v1"},
                      {"kind", "PersistentVolume"},
                      {"metadata", Json::Object({{"name", absl::StrCat(node, "-disk", i)}})},
                      {"spec", spec}}));
  }
  if (!IsOdd(node)) return;
  const Json driver = Json::Object({{"name", kSimDriver},
                                    {"nodeID", node},
                                    {"topologyKeys", Json::Array({})},
                                    {"allocatable", Json::Object({{"count", kAttachLimit}})}});
  users_.Call("POST", "/apis/storage.k8s.io/v1/csinodes",
              Json::Object({{"apiVersion", "storage.k8s.io/v1"},
                            {"kind", "CSINode"},
                            {"metadata", Json::Object({{"name", node}})},
                            {"spec", Json::Object({{"drivers", Json::Array({driver})}})}}));
}

// Disks whose claim is gone are wiped, volumes that were made go once nothing attaches them.
void VolumeUsers::OfferAgain(const VolumeTruth& truth) {
  std::vector<std::pair<std::string, std::string>> released;
  for (const auto& [key, volume] : truth.volumes()) {
    if (volume["status"]["phase"].AsString() != "Released") continue;
    released.emplace_back(key.substr(1), volume["spec"]["storageClassName"].AsString());
  }
  for (const auto& volume : released) {  // name and storage class
    const bool attached = std::ranges::any_of(
        attached_, [&](const auto& attachment) { return attachment.second == volume.first; });
    if (attached) continue;
    const std::string target = absl::StrCat(kVolumesTarget, "/", volume.first);
    if (volume.second != kDiskClass) {
      users_.Call("DELETE", target, Json());
    } else {
      users_.Call("PATCH", target, Json::Object({{"spec", Json::Object({{"claimRef", Json()}})}}));
    }
  }
}

void VolumeUsers::Mend() {
  if (!exist_) return;
  mended_ = true;
  stuck_.clear();
  users_.Call("DELETE", absl::StrCat(kClassesTarget, "/", kBrittleClass), Json());
  AddClass(kBrittleClass, kSimDriver, /*waits=*/true, /*fails=*/false);
}

}  // namespace maniple::sim
