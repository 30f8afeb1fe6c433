#include "scheduler/state/volume_resolve.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/base/sort_unique.h"
#include "api/model/csi_migration.h"

namespace maniple {
namespace {

// A name apart from the volumes of drivers, for a claim that is not bound yet and has none.
std::string PendingName(const std::string& claim_key) { return absl::StrCat("claim ", claim_key); }

NodeSelectorTerm TermOf(const LabelSelector& selector) {
  return {.expressions = selector.requirements, .fields = {}};
}

class Resolver final {
 public:
  Resolver(const StorageObjects& objects, const VolumeUser& user)
      : objects_(objects), user_(user) {}

  ResolvedVolumes Run(absl::FunctionRef<bool(absl::string_view)> shared) {
    for (const ClaimUse& use : user_.volumes.claims) Add(use, shared);
    VolumeNeeds& needs = out_.needs;
    for (const Disk& disk : user_.volumes.disks) {
      needs.uses.push_back({.kind = VolumeUseKind::kDisk, .driver = "", .name = "", .disk = disk});
    }
    for (const CsiVolume& volume : user_.volumes.attached) Attach(volume.driver, volume.handle);
    SortUnique(needs.reachable);
    SortUnique(needs.zones);
    SortUnique(needs.uses);
    // Claims of equal size stay in the order of the spec, as in kube-scheduler:
    // it decides which volume is left.
    std::ranges::stable_sort(out_.to_bind, {},
                             [](const ClaimToBind& claim) { return claim.need.size; });
    for (const ClaimToBind& claim : out_.to_bind) needs.unbound.push_back(claim.need);
    return std::move(out_);
  }

 private:
  void Trouble(VolumeTrouble trouble, const std::string& claim) {
    if (out_.needs.trouble != VolumeTrouble::kNone && out_.needs.trouble <= trouble) return;
    out_.needs.trouble = trouble;
    out_.trouble_claim = claim;
  }

  void Add(const ClaimUse& use, absl::FunctionRef<bool(absl::string_view)> shared) {
    const std::string key = ClaimKey(user_.namespace_name, use.claim);
    const auto it = objects_.claims.find(key);
    if (it == objects_.claims.end()) return Trouble(VolumeTrouble::kNoClaim, use.claim);
    if (!it->second.object.has_value()) return Trouble(VolumeTrouble::kUnreadable, use.claim);
    const PersistentVolumeClaim& claim = *it->second.object;
    if (claim.phase == ClaimPhase::kLost) Trouble(VolumeTrouble::kLost, use.claim);
    if (claim.meta.deleted.has_value()) Trouble(VolumeTrouble::kLeaving, use.claim);
    const bool owned = claim.meta.controller.has_value() && claim.meta.controller->uid == user_.uid;
    if (use.ephemeral && !owned) return Trouble(VolumeTrouble::kForeignClaim, use.claim);
    if ((claim.modes & kReadWriteOncePod) != 0 && !use.ephemeral && shared(key)) {
      out_.needs.uses.push_back(
          {.kind = VolumeUseKind::kExclusive, .driver = "", .name = key, .disk = {}});
    }
    if (claim.bound()) {
      AddBound(claim, use);
    } else {
      AddUnbound(claim, use, key);
    }
  }

  void Attach(absl::string_view driver, std::string name) {
    if (driver.empty() || name.empty()) return;
    out_.needs.uses.push_back({.kind = VolumeUseKind::kAttached,
                               .driver = std::string(driver),
                               .name = std::move(name),
                               .disk = {}});
  }

  void AddBound(const PersistentVolumeClaim& claim, const ClaimUse& use) {
    const auto it = objects_.volumes.find(claim.volume_name);
    if (it == objects_.volumes.end()) return Trouble(VolumeTrouble::kNoVolume, use.claim);
    if (!it->second.object.has_value()) return Trouble(VolumeTrouble::kUnreadable, use.claim);
    const PersistentVolume& volume = *it->second.object;
    if (volume.node_affinity.has_value()) out_.needs.reachable.push_back(*volume.node_affinity);
    if (!use.ephemeral) AddZones(volume);
    Attach(volume.csi.driver, volume.csi.handle);
  }

  void AddZones(const PersistentVolume& volume) {
    for (const absl::string_view key : kZoneLabels) {
      const std::string* label = volume.meta.labels.Find(key);
      if (label == nullptr) continue;
      std::vector<std::string> zones = ZonesIn(*label);
      if (zones.empty()) continue;
      out_.needs.zones.push_back({.key = std::string(key), .values = std::move(zones)});
    }
  }

  void AddUnbound(const PersistentVolumeClaim& claim, const ClaimUse& use, const std::string& key) {
    const auto it = objects_.classes.find(claim.storage_class);
    const bool known = it != objects_.classes.end();
    if (claim.volume_name.empty() && known && !it->second.object.has_value()) {
      return Trouble(VolumeTrouble::kUnreadable, use.claim);
    }
    const StorageClass* storage = FindReadable(objects_.classes, claim.storage_class);
    if (storage == nullptr || !storage->waits_for_consumer || !claim.volume_name.empty()) {
      const bool no_class =
          claim.volume_name.empty() && !claim.storage_class.empty() && storage == nullptr;
      Trouble(no_class ? VolumeTrouble::kNoClass : VolumeTrouble::kNotBound, use.claim);
      return;
    }
    ClaimToBind to_bind{.namespace_name = claim.meta.namespace_name,
                        .name = claim.meta.name,
                        .uid = claim.meta.uid};
    UnboundClaim& unbound = to_bind.need;
    unbound = UnboundClaim{.storage_class = claim.storage_class,
                           .size = claim.size,
                           .modes = claim.modes,
                           .block = claim.block,
                           .selector = claim.selector,
                           .attributes_class = claim.attributes_class};
    if (claim.meta.annotations.Find(kSelectedNodeAnnotation) != nullptr) {
      Select(claim.selected_node());
      unbound.provision_only = true;
    } else if (const PersistentVolume* reserved = ReservedFor(objects_, claim)) {
      unbound.reserved_where = reserved->node_affinity.value_or(NodeTerms{});
      to_bind.reserved_volume = reserved->meta.name;
    }
    FindProvisioning(*storage, unbound);
    out_.to_bind.push_back(std::move(to_bind));
    Attach(CsiDriverOf(storage->provisioner), PendingName(key));
  }

  void Select(absl::string_view node) {
    std::string& selected = out_.needs.selected_node;
    if (node.empty() || (!selected.empty() && selected != node)) out_.needs.torn = true;
    if (!node.empty()) selected = std::string(node);
  }

  void FindProvisioning(const StorageClass& storage, UnboundClaim& claim) const {
    if (storage.provisioner.empty() || storage.provisioner == kNoProvisioner) return;
    std::vector<NodeTerms> where;
    if (storage.allowed_topologies.has_value()) where.push_back(*storage.allowed_topologies);
    const auto tracks = objects_.tracks_capacity.find(storage.provisioner);
    const bool limited = tracks != objects_.tracks_capacity.end() && tracks->second;
    if (limited && claim.size > Amount(0)) {
      NodeTerms pools;
      bool everywhere = false;
      for (const auto& [name, capacity] : objects_.capacities) {
        if (capacity.storage_class != storage.meta.name || !capacity.nodes.has_value() ||
            !capacity.largest.has_value() || *capacity.largest < claim.size) {
          continue;
        }
        everywhere = everywhere || capacity.nodes->requirements.empty();
        pools.push_back(TermOf(*capacity.nodes));
      }
      claim.short_of_capacity = pools.empty();
      if (pools.empty()) return;
      SortUnique(pools);
      if (!everywhere) where.push_back(std::move(pools));
    }
    claim.provision_where = std::move(where);
  }

  const StorageObjects& objects_;
  const VolumeUser& user_;
  ResolvedVolumes out_;
};

}  // namespace

std::string ClaimKey(absl::string_view namespace_name, absl::string_view name) {
  return absl::StrCat(namespace_name, "/", name);
}

const PersistentVolume* ReservedFor(const StorageObjects& objects,
                                    const PersistentVolumeClaim& claim) {
  const std::string key = ClaimKey(claim.meta.namespace_name, claim.meta.name);
  for (auto it = objects.volumes_for_claim.lower_bound({key, ""});
       it != objects.volumes_for_claim.end() && it->first == key; ++it) {
    const PersistentVolume* volume = FindReadable(objects.volumes, it->second);
    if (volume == nullptr || !RefersTo(*volume->claim, claim)) continue;
    const bool serves = volume->storage_class == claim.storage_class &&
                        volume->capacity >= claim.size && volume->block == claim.block &&
                        volume->attributes_class == claim.attributes_class &&
                        !volume->meta.deleted.has_value();
    if (serves) return volume;
  }
  return nullptr;
}

std::vector<std::string> ZonesIn(absl::string_view label) {
  std::vector<std::string> zones;
  for (const absl::string_view part : absl::StrSplit(label, "__")) {
    const absl::string_view zone = absl::StripAsciiWhitespace(part);
    if (zone.empty()) return {};
    zones.emplace_back(zone);
  }
  SortUnique(zones);
  return zones;
}

ResolvedVolumes ResolveVolumes(const StorageObjects& objects, const VolumeUser& user,
                               absl::FunctionRef<bool(absl::string_view)> shared) {
  return Resolver(objects, user).Run(shared);
}

std::string TroubleText(VolumeTrouble trouble, absl::string_view claim) {
  const auto of_claim = [claim](absl::string_view what) {
    return absl::StrCat("claim \"", claim, "\" ", what);
  };
  switch (trouble) {
    case VolumeTrouble::kNone:
      return "";
    case VolumeTrouble::kNoClaim:
      return of_claim("does not exist");
    case VolumeTrouble::kForeignClaim:
      return of_claim("was not made for the pod, whose ephemeral volume needs that name");
    case VolumeTrouble::kUnreadable:
      return of_claim("cannot be used: it, its volume or its class cannot be read");
    case VolumeTrouble::kLost:
      return of_claim("has lost its volume");
    case VolumeTrouble::kLeaving:
      return of_claim("is being deleted");
    case VolumeTrouble::kNoVolume:
      return of_claim("is bound to a volume that does not exist");
    case VolumeTrouble::kNotBound:
      return of_claim("is not bound yet");
    case VolumeTrouble::kNoClass:
      return of_claim("is not bound, and its storage class does not exist");
  }
  return "";
}

}  // namespace maniple
