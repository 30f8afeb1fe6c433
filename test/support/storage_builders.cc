#include "test/support/storage_builders.h"

#include "absl/strings/str_cat.h"

namespace maniple {
namespace {

NodeTerms TermsOf(absl::string_view key, const std::vector<absl::string_view>& values) {
  SelectorRequirement requirement{.key = std::string(key), .op = SelectorOperator::kIn};
  for (const absl::string_view value : values) requirement.values.emplace_back(value);
  return {{.expressions = {std::move(requirement)}, .fields = {}}};
}

}  // namespace

MakeClaim::MakeClaim(absl::string_view name) {
  claim_.meta.name = std::string(name);
  claim_.meta.namespace_name = "default";
  claim_.meta.uid = absl::StrCat("uid-claim-", name);
  claim_.modes = kReadWriteOnce;
}
MakeClaim& MakeClaim::In(absl::string_view namespace_name) {
  claim_.meta.namespace_name = std::string(namespace_name);
  return *this;
}
MakeClaim& MakeClaim::Class(absl::string_view name) {
  claim_.storage_class = std::string(name);
  return *this;
}
MakeClaim& MakeClaim::Size(int64_t bytes) {
  claim_.size = Amount(bytes);
  return *this;
}
MakeClaim& MakeClaim::Modes(AccessModes modes) {
  claim_.modes = modes;
  return *this;
}
MakeClaim& MakeClaim::Select(absl::string_view key, absl::string_view value) {
  claim_.selector = LabelSelector{
      .requirements = {{std::string(key), SelectorOperator::kIn, {std::string(value)}}}};
  return *this;
}
MakeClaim& MakeClaim::BoundTo(absl::string_view volume) {
  claim_.meta.annotations.Set(kBindCompletedAnnotation, "yes");
  claim_.phase = ClaimPhase::kBound;
  return Names(volume);
}
MakeClaim& MakeClaim::Names(absl::string_view volume) {
  claim_.volume_name = std::string(volume);
  return *this;
}
MakeClaim& MakeClaim::Selected(absl::string_view node) {
  claim_.meta.annotations.Set(kSelectedNodeAnnotation, node);
  return *this;
}
MakeClaim& MakeClaim::OwnedBy(absl::string_view pod_uid) {
  claim_.meta.controller = OwnerReference{"Pod", "p", std::string(pod_uid)};
  return *this;
}
MakeClaim& MakeClaim::Lost() {
  claim_.phase = ClaimPhase::kLost;
  return *this;
}
MakeClaim& MakeClaim::Deleting() {
  claim_.meta.deleted = absl::FromUnixSeconds(1);
  return *this;
}

MakeVolume::MakeVolume(absl::string_view name) {
  volume_.meta.name = std::string(name);
  volume_.meta.uid = absl::StrCat("uid-volume-", name);
  volume_.modes = kReadWriteOnce;
  volume_.available = true;
}
MakeVolume& MakeVolume::Class(absl::string_view name) {
  volume_.storage_class = std::string(name);
  return *this;
}
MakeVolume& MakeVolume::Size(int64_t bytes) {
  volume_.capacity = Amount(bytes);
  return *this;
}
MakeVolume& MakeVolume::Modes(AccessModes modes) {
  volume_.modes = modes;
  return *this;
}
MakeVolume& MakeVolume::Label(absl::string_view key, absl::string_view value) {
  volume_.meta.labels.Set(key, value);
  return *this;
}
MakeVolume& MakeVolume::Where(absl::string_view key, std::vector<absl::string_view> values) {
  volume_.node_affinity = TermsOf(key, values);
  return *this;
}
MakeVolume& MakeVolume::Csi(absl::string_view driver, absl::string_view handle) {
  volume_.csi.driver = std::string(driver);
  volume_.csi.handle = std::string(handle);
  return *this;
}
MakeVolume& MakeVolume::For(absl::string_view claim, absl::string_view uid) {
  volume_.claim = ClaimReference{
      .namespace_name = "default", .name = std::string(claim), .uid = std::string(uid)};
  return *this;
}
MakeVolume& MakeVolume::Unavailable() {
  volume_.available = false;
  return *this;
}

MakeClass::MakeClass(absl::string_view name, absl::string_view provisioner) {
  storage_.meta.name = std::string(name);
  storage_.provisioner = std::string(provisioner.empty() ? kNoProvisioner : provisioner);
  storage_.waits_for_consumer = true;
}
MakeClass& MakeClass::Immediate() {
  storage_.waits_for_consumer = false;
  return *this;
}
MakeClass& MakeClass::Where(absl::string_view key, std::vector<absl::string_view> values) {
  storage_.allowed_topologies = TermsOf(key, values);
  return *this;
}

ObjectEvent AttachLimit(absl::string_view node, absl::string_view driver, int64_t most) {
  CsiNode csi;
  csi.meta.name = std::string(node);
  csi.limits = {{.driver = std::string(driver), .most = most}};
  return ObjectUpserted{csi};
}

ObjectEvent Attachment(absl::string_view name, absl::string_view volume, absl::string_view node) {
  VolumeAttachment attachment;
  attachment.meta.name = std::string(name);
  attachment.volume = std::string(volume);
  attachment.node = std::string(node);
  return ObjectUpserted{attachment};
}

ObjectEvent TrackingDriver(absl::string_view name) {
  CsiDriver driver;
  driver.meta.name = std::string(name);
  driver.tracks_capacity = true;
  return ObjectUpserted{driver};
}

ObjectEvent CapacityOf(absl::string_view storage_class, int64_t bytes, absl::string_view key,
                       absl::string_view value) {
  CsiStorageCapacity capacity;
  capacity.meta.namespace_name = "kube-system";
  capacity.meta.name = absl::StrCat(storage_class, "-", value, "-", bytes);
  capacity.storage_class = std::string(storage_class);
  capacity.nodes = LabelSelector{
      .requirements = {{std::string(key), SelectorOperator::kIn, {std::string(value)}}}};
  capacity.largest = Amount(bytes);
  return ObjectUpserted{capacity};
}

}  // namespace maniple
