// Claims, volumes, storage classes and what CSI drivers say of themselves.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "api/base/sort_unique.h"
#include "api/codec/decode_constraints.h"
#include "api/codec/decode_parts.h"
#include "api/model/csi_migration.h"

namespace maniple {
namespace {

AccessModes ReadModes(const Cursor& modes) {
  AccessModes out = 0;
  for (const Cursor& mode : modes.Items()) {
    const absl::string_view name = mode.View();
    if (name == "ReadWriteOnce") {
      out |= kReadWriteOnce;
    } else if (name == "ReadOnlyMany") {
      out |= kReadOnlyMany;
    } else if (name == "ReadWriteMany") {
      out |= kReadWriteMany;
    } else if (name == "ReadWriteOncePod") {
      out |= kReadWriteOncePod;
    } else {
      out |= kUnknownAccess;
    }
  }
  return out;
}

// Of a resource list its "storage"; other entries say nothing here.
Amount ReadStorage(const Cursor& resources) {
  Amount out;
  for (const Cursor& entry : resources.Members()) {
    if (entry.key() == "storage") out = entry.Amount().Units();
  }
  return out;
}

void ReadClaimSpec(const Cursor& spec, PersistentVolumeClaim& claim) {
  for (const Cursor& field : spec.Members()) {
    const absl::string_view key = field.key();
    if (key == "volumeName") claim.volume_name = field.Text();
    if (key == "storageClassName") claim.storage_class = field.Text();
    if (key == "accessModes") claim.modes = ReadModes(field);
    if (key == "volumeMode") claim.block = field.View() == "Block";
    if (key == "selector") claim.selector = ReadLabelSelector(field);
    if (key == "volumeAttributesClassName") claim.attributes_class = field.Text();
    if (key != "resources") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "requests") claim.size = ReadStorage(part);
    }
  }
}

// Before claims had a field for it, their class stood in an annotation, which still goes first.
void ApplyClassAnnotation(const ObjectMeta& meta, std::string& storage_class) {
  if (const std::string* named = meta.annotations.Find(kStorageClassAnnotation)) {
    storage_class = *named;
  }
}

ClaimReference ReadClaimReference(const Cursor& reference) {
  ClaimReference out;
  for (const Cursor& field : reference.Members()) {
    if (field.key() == "namespace") out.namespace_name = field.Text();
    if (field.key() == "name") out.name = field.Text();
    if (field.key() == "uid") out.uid = field.Text();
  }
  return out;
}

// An EBS volume's id also comes as "aws://zone/vol-…".
std::string WithoutZone(std::string id) {
  const size_t slash = id.rfind('/');
  return absl::StartsWith(id, "aws://") ? id.substr(slash + 1) : id;
}

// None: of a kind that no CSI driver took over.
std::optional<CsiVolume> ReadMigrated(const Cursor& source) {
  const auto* plugin = std::ranges::find(kMigratedPlugins, source.key(), &MigratedPlugin::field);
  if (plugin == std::end(kMigratedPlugins)) return std::nullopt;
  CsiVolume out{.driver = std::string(plugin->driver), .handle = ""};
  for (const Cursor& field : source.Members()) {
    if (field.key() == plugin->id) out.handle = WithoutZone(field.Text());
  }
  return out;
}

void ReadVolumeSpec(const Cursor& spec, PersistentVolume& volume) {
  for (const Cursor& field : spec.Members()) {
    const absl::string_view key = field.key();
    if (key == "storageClassName") volume.storage_class = field.Text();
    if (key == "accessModes") volume.modes = ReadModes(field);
    if (key == "volumeMode") volume.block = field.View() == "Block";
    if (key == "capacity") volume.capacity = ReadStorage(field);
    if (key == "volumeAttributesClassName") volume.attributes_class = field.Text();
    if (key == "claimRef") volume.claim = ReadClaimReference(field);
    if (key == "nodeAffinity") {
      for (const Cursor& part : field.Members()) {
        if (part.key() == "required") volume.node_affinity = ReadNodeSelector(part);
      }
    }
    if (key == "csi") {
      for (const Cursor& part : field.Members()) {
        if (part.key() == "driver") volume.csi.driver = part.Text();
        if (part.key() == "volumeHandle") volume.csi.handle = part.Text();
      }
    }
    if (std::optional<CsiVolume> migrated = ReadMigrated(field)) volume.csi = *std::move(migrated);
  }
}

// A term of a StorageClass: every key must have one of its values.
NodeSelectorTerm ReadTopologyTerm(const Cursor& term) {
  NodeSelectorTerm out;
  for (const Cursor& field : term.Members()) {
    if (field.key() != "matchLabelExpressions") continue;
    for (const Cursor& item : field.Items()) {
      SelectorRequirement& requirement =
          out.expressions.emplace_back(SelectorRequirement{.op = SelectorOperator::kIn});
      for (const Cursor& part : item.Members()) {
        if (part.key() == "key") requirement.key = part.Text();
        if (part.key() == "values") requirement.values = part.Texts();
      }
      std::sort(requirement.values.begin(), requirement.values.end());
    }
  }
  std::sort(out.expressions.begin(), out.expressions.end());
  return out;
}

NodeTerms ReadTopologyTerms(const Cursor& terms) {
  NodeTerms out;
  for (const Cursor& term : terms.Items()) out.push_back(ReadTopologyTerm(term));
  SortUnique(out);
  return out;
}

// None: of another kind.
std::optional<Disk> ReadDisk(const Cursor& volume) {
  constexpr std::array kKinds = std::to_array<std::pair<absl::string_view, DiskKind>>(
      {{"gcePersistentDisk", DiskKind::kGcePersistentDisk},
       {"awsElasticBlockStore", DiskKind::kAwsElasticBlockStore},
       {"iscsi", DiskKind::kIscsi},
       {"rbd", DiskKind::kRbd}});
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&volume](const auto& entry) {
    return entry.first == volume.key();
  });
  if (kind == kKinds.end()) return std::nullopt;
  Disk out{.kind = kind->second};
  for (const Cursor& field : volume.Members()) {
    const absl::string_view key = field.key();
    if (key == "pdName" || key == "volumeID" || key == "iqn" || key == "image") {
      out.name = field.Text();
    }
    if (key == "pool") out.pool = field.Text();
    if (key == "monitors") out.monitors = field.Texts();
    if (key == "readOnly") out.read_only = field.Bool();
  }
  std::sort(out.monitors.begin(), out.monitors.end());
  return out;
}

void ReadDriver(const Cursor& driver, std::vector<VolumeLimit>& limits) {
  VolumeLimit limit;
  bool limited = false;
  for (const Cursor& field : driver.Members()) {
    if (field.key() == "name") limit.driver = field.Text();
    if (field.key() != "allocatable") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() != "count") continue;
      limit.most = part.Int32();
      limited = true;
    }
  }
  if (limited) limits.push_back(std::move(limit));
}

}  // namespace

PodVolumes ReadPodVolumes(const Cursor& volumes) {
  PodVolumes out;
  for (const Cursor& volume : volumes.Items()) {
    std::string name;
    bool ephemeral = false;
    for (const Cursor& field : volume.Members()) {
      const absl::string_view key = field.key();
      if (key == "name") name = field.Text();
      if (key == "ephemeral") ephemeral = true;
      if (key == "persistentVolumeClaim") {
        ClaimUse use;
        for (const Cursor& part : field.Members()) {
          if (part.key() == "claimName") use.claim = part.Text();
        }
        out.claims.push_back(std::move(use));
      }
      if (std::optional<Disk> disk = ReadDisk(field)) out.disks.push_back(*std::move(disk));
      if (std::optional<CsiVolume> volume = ReadMigrated(field)) {
        out.attached.push_back(*std::move(volume));
      }
    }
    if (ephemeral) out.claims.push_back({.claim = std::move(name), .ephemeral = true});
  }
  return out;
}

PersistentVolumeClaim ReadPersistentVolumeClaim(const Cursor& root) {
  PersistentVolumeClaim out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() == "spec") ReadClaimSpec(field, out);
    if (field.key() != "status") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() != "phase") continue;
      if (part.View() == "Bound") out.phase = ClaimPhase::kBound;
      if (part.View() == "Lost") out.phase = ClaimPhase::kLost;
    }
  }
  ApplyClassAnnotation(out.meta, out.storage_class);
  return out;
}

PersistentVolume ReadPersistentVolume(const Cursor& root) {
  PersistentVolume out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() == "spec") ReadVolumeSpec(field, out);
    if (field.key() != "status") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "phase") out.available = part.View() == "Available";
    }
  }
  ApplyClassAnnotation(out.meta, out.storage_class);
  return out;
}

StorageClass ReadStorageClass(const Cursor& root) {
  StorageClass out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() == "provisioner") out.provisioner = field.Text();
    if (field.key() == "volumeBindingMode") {
      out.waits_for_consumer = field.View() == "WaitForFirstConsumer";
    }
    if (field.key() == "allowedTopologies") {
      NodeTerms terms = ReadTopologyTerms(field);
      if (!terms.empty()) out.allowed_topologies = std::move(terms);
    }
  }
  return out;
}

CsiNode ReadCsiNode(const Cursor& root) {
  CsiNode out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() != "spec") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() != "drivers") continue;
      for (const Cursor& driver : part.Items()) ReadDriver(driver, out.limits);
    }
  }
  std::sort(out.limits.begin(), out.limits.end());
  return out;
}

CsiDriver ReadCsiDriver(const Cursor& root) {
  CsiDriver out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() != "spec") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "storageCapacity") out.tracks_capacity = part.Bool();
    }
  }
  return out;
}

CsiStorageCapacity ReadCsiStorageCapacity(const Cursor& root) {
  CsiStorageCapacity out;
  std::optional<Amount> capacity;
  for (const Cursor& field : root.Members()) {
    const absl::string_view key = field.key();
    if (key == "metadata") out.meta = ReadMeta(field);
    if (key == "storageClassName") out.storage_class = field.Text();
    if (key == "nodeTopology") out.nodes = ReadLabelSelector(field);
    if (key == "maximumVolumeSize") out.largest = field.Amount().Units();
    if (key == "capacity") capacity = field.Amount().Units();
  }
  if (!out.largest.has_value()) out.largest = capacity;
  return out;
}

VolumeAttachment ReadVolumeAttachment(const Cursor& root) {
  VolumeAttachment out;
  for (const Cursor& field : root.Members()) {
    if (field.key() == "metadata") out.meta = ReadMeta(field);
    if (field.key() != "spec") continue;
    for (const Cursor& part : field.Members()) {
      if (part.key() == "nodeName") out.node = part.Text();
      if (part.key() != "source") continue;
      for (const Cursor& source : part.Members()) {
        if (source.key() == "persistentVolumeName") out.volume = source.Text();
      }
    }
  }
  return out;
}

}  // namespace maniple
