// Storage objects, the pods that use them, and the needs of each pod's volumes of its node.
//
// Owned by ClusterState; scheduling thread. A volume that only one pod uses needs no name in that
// pod's needs, so that pods with a claim each are of one shape; other users are followed here.
// A change names the pods whose needs are to be worked out again (TakeStale).
//
//   table.SetUse(pod, object);
//   constraints.volumes = SharedVolumeNeeds(table.NeedsOf(pod));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/model/claim_binding.h"
#include "api/model/ids.h"
#include "api/model/object.h"
#include "plugins/framework/free_volume.h"
#include "scheduler/state/storage_objects.h"
#include "scheduler/state/volume_resolve.h"

namespace maniple {

class VolumeTable final {
 public:
  void Upsert(const PersistentVolumeClaim& claim);
  void Upsert(const PersistentVolume& volume);
  void Upsert(const StorageClass& storage);
  void Upsert(const CsiNode& node);
  void Upsert(const CsiDriver& driver);
  void Upsert(const CsiStorageCapacity& capacity);
  void Upsert(const VolumeAttachment& attachment);
  // The object is gone. Objects that are not of storage change nothing, here and below.
  void Remove(const ObjectKey& key);
  // The server holds an object that cannot be read.
  void Refuse(const ObjectKey& key);

  void SetUse(PodId pod, const Pod& object);
  void Forget(PodId pod);
  [[nodiscard]] bool Uses(PodId pod) const { return users_.contains(pod); }
  [[nodiscard]] VolumeNeeds NeedsOf(PodId pod);
  [[nodiscard]] std::vector<ClaimToBind> ToBind(PodId pod) const;
  // The volume is as good as taken for a claim of the pod, until that is released or bound.
  void Assume(PodId pod, const std::string& volume);
  void Unassume(PodId pod);
  [[nodiscard]] ClaimSight SightOf(const ClaimGoal& goal) const;
  // Whether every claim of the pod is bound to a volume that a node with these labels reaches.
  [[nodiscard]] bool Reached(PodId pod, absl::string_view node, const StringMap& labels) const;
  // Why the pod's volumes are not ready, for people; "" = they are.
  [[nodiscard]] std::string TroubleOf(PodId pod) const;
  [[nodiscard]] bool any_stale() const { return !stale_.empty(); }
  [[nodiscard]] std::vector<PodId> TakeStale();
  // Users of claims not yet bound that were written since the last call, the same as before to
  // pods. Whoever binds one must look: a node selected and taken back shows in nothing else.
  void TakeUsersOfRewritten(absl::FunctionRef<void(PodId)> visit);

  // By driver; empty: no limit.
  [[nodiscard]] std::vector<NodeAttachments> LimitsOf(absl::string_view node,
                                                      absl::FunctionRef<bool(PodId)> stands) const;
  // A pod with volumes has come there, or has left.
  void NoteUsersChanged(absl::string_view node);
  // Nodes whose limits may have changed since the last call.
  [[nodiscard]] absl::btree_set<std::string> TakeStaleLimits();

  // The volumes that a claim which waits for a node could have, sorted;
  // none: they have not changed since the last call.
  [[nodiscard]] std::optional<std::vector<FreeVolume>> TakeFreeVolumes();
  [[nodiscard]] bool free_volumes_changed() const { return free_changed_; }

  [[nodiscard]] const StorageObjects& objects() const { return objects_; }

 private:
  struct User {
    VolumeUser what;
    std::vector<std::string> attached;  // names in attached_by_
  };
  void ForgetVolume(const std::string& name);
  void SetVolume(const std::string& name, Readable<PersistentVolume> volume);
  void ForgetClaim(const std::string& key);
  void SetClaim(const std::string& key, Readable<PersistentVolumeClaim> claim);
  void SetClass(const std::string& name, std::optional<Readable<StorageClass>> storage);
  void SetCapacity(const std::string& key, std::optional<CsiStorageCapacity> capacity);
  void ForgetAttachment(const std::string& name);
  void MarkLimitsOf(const std::string& volume);
  void MarkLimitsOfHandle(const std::string& attached);
  [[nodiscard]] bool IsUsed(const std::string& attached,
                            absl::FunctionRef<bool(PodId)> stands) const;
  void MarkUsers(const std::string& claim_key);
  void MarkUnboundOf(absl::string_view storage_class);
  void Leave(PodId pod, User& user);
  void Attach(PodId pod, User& user, std::vector<std::string> names);

  StorageObjects objects_;
  absl::btree_map<std::string, std::vector<VolumeLimit>> limits_;  // by node
  absl::flat_hash_map<PodId, User> users_;
  absl::btree_map<std::string, absl::btree_set<PodId>> users_of_claim_;  // by claim key
  absl::btree_map<std::string, absl::btree_set<PodId>> attached_by_;     // by driver and volume
  absl::btree_map<std::string, PodId> assumed_;                          // by volume
  absl::btree_set<PodId> stale_;
  absl::btree_set<std::string> rewritten_;     // claim keys
  absl::btree_set<std::string> stale_limits_;  // nodes
  // (driver and handle, volume)
  absl::btree_set<std::pair<std::string, std::string>> volumes_of_handle_;
  bool free_changed_ = false;
};

}  // namespace maniple
