// From a pod's claims and disks to their needs of its node.
//
// A pure function of the storage objects. It decides as kube-scheduler does (VolumeBinding,
// VolumeZone, VolumeRestrictions, NodeVolumeLimits).
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/model/claim_binding.h"
#include "api/model/pod_volumes.h"
#include "api/model/volume_needs.h"
#include "scheduler/state/storage_objects.h"

namespace maniple {

// Labels of volumes and nodes that tell where they are.
inline constexpr absl::string_view kZoneLabels[] = {
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

struct VolumeUser {
  std::string namespace_name, uid;
  PodVolumes volumes;
};

struct ResolvedVolumes {
  VolumeNeeds needs;                 // every attached volume under its name
  std::vector<ClaimToBind> to_bind;  // as needs.unbound
  std::string trouble_claim;         // the claim that needs.trouble speaks of
};
// `shared` says whether several pods name the claim ("namespace/name").
[[nodiscard]] ResolvedVolumes ResolveVolumes(const StorageObjects& objects, const VolumeUser& user,
                                             absl::FunctionRef<bool(absl::string_view)> shared);

// The trouble in words, for people: `claim "data" does not exist`. "" for kNone.
[[nodiscard]] std::string TroubleText(VolumeTrouble trouble, absl::string_view claim);

// The volume that was set aside for the claim and could serve it, wherever that is; null: none.
[[nodiscard]] const PersistentVolume* ReservedFor(const StorageObjects& objects,
                                                  const PersistentVolumeClaim& claim);

// The zones that a volume's label names; empty: the label says nothing.
[[nodiscard]] std::vector<std::string> ZonesIn(absl::string_view label);

}  // namespace maniple
