#include "scheduler/state/volume_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/state/pod_caps.h"

namespace maniple {
namespace {

std::string KeyOf(const ObjectMeta& meta) { return ClaimKey(meta.namespace_name, meta.name); }

// Nothing of it has changed that decides where its users can run. Any user may write the rest as
// often as they like, and thousands of pods may use it.
bool SameToPods(const Readable<PersistentVolumeClaim>& before,
                const Readable<PersistentVolumeClaim>& after) {
  if (!before.object.has_value() || !after.object.has_value()) return false;
  const auto annotations = [](const PersistentVolumeClaim& claim) {
    const bool selected = claim.meta.annotations.Find(kSelectedNodeAnnotation) != nullptr;
    return std::tuple(claim.bound(), selected, claim.selected_node());
  };
  const auto facts = [](const PersistentVolumeClaim& claim) {
    return std::tie(claim.meta.uid, claim.meta.created, claim.meta.deleted, claim.meta.controller,
                    claim.volume_name, claim.storage_class, claim.modes, claim.block, claim.size,
                    claim.selector, claim.attributes_class, claim.phase);
  };
  return annotations(*before.object) == annotations(*after.object) &&
         facts(*before.object) == facts(*after.object);
}

std::string KeyOf(const ClaimReference& claim) {
  return ClaimKey(claim.namespace_name, claim.name);
}

std::string NameOf(absl::string_view driver, absl::string_view handle) {
  return absl::StrCat(driver, "\n", handle);
}
std::string NameOf(const VolumeUse& use) { return NameOf(use.driver, use.name); }

template <typename Map>
void DropFrom(Map& map, const std::string& key, PodId pod) {
  const auto it = map.find(key);
  if (it == map.end()) return;
  it->second.erase(pod);
  if (it->second.empty()) map.erase(it);
}

}  // namespace

// ---- objects

void VolumeTable::MarkUsers(const std::string& claim_key) {
  const auto it = users_of_claim_.find(claim_key);
  if (it != users_of_claim_.end()) stale_.insert(it->second.begin(), it->second.end());
}

void VolumeTable::MarkUnboundOf(absl::string_view storage_class) {
  for (auto at = objects_.unbound_of_class.lower_bound({std::string(storage_class), ""});
       at != objects_.unbound_of_class.end() && at->first == storage_class; ++at) {
    MarkUsers(at->second);
  }
}

void VolumeTable::ForgetClaim(const std::string& key) {
  const auto it = objects_.claims.find(key);
  if (it == objects_.claims.end()) return;
  if (const std::optional<PersistentVolumeClaim>& claim = it->second.object; claim.has_value()) {
    objects_.claims_of_volume.erase({claim->volume_name, key});
    objects_.unbound_of_class.erase({claim->storage_class, key});
  }
  objects_.claims.erase(it);
}

void VolumeTable::SetClaim(const std::string& key, Readable<PersistentVolumeClaim> claim) {
  const auto known = objects_.claims.find(key);
  const bool is_news = known == objects_.claims.end() || !SameToPods(known->second, claim);
  ForgetClaim(key);
  if (claim.object.has_value() && !claim.object->volume_name.empty()) {
    objects_.claims_of_volume.insert({claim.object->volume_name, key});
  }
  if (claim.object.has_value() && !claim.object->bound()) {
    objects_.unbound_of_class.insert({claim.object->storage_class, key});
  }
  const bool is_bound = claim.object.has_value() && claim.object->bound();
  objects_.claims.emplace(key, std::move(claim));
  if (is_news) {
    MarkUsers(key);
  } else if (!is_bound) {
    rewritten_.insert(key);
  }
}

void VolumeTable::MarkLimitsOf(const std::string& volume) {
  for (auto at = objects_.attachments_of.lower_bound({volume, ""});
       at != objects_.attachments_of.end() && at->first == volume; ++at) {
    stale_limits_.insert(objects_.attachments.at(at->second).node);
  }
}

void VolumeTable::ForgetVolume(const std::string& name) {
  const auto it = objects_.volumes.find(name);
  if (it == objects_.volumes.end()) return;
  if (const std::optional<PersistentVolume>& volume = it->second.object; volume.has_value()) {
    volumes_of_handle_.erase({NameOf(volume->csi.driver, volume->csi.handle), name});
    if (volume->claim.has_value()) {
      const std::string key = KeyOf(*volume->claim);
      objects_.volumes_for_claim.erase({key, name});
      MarkUsers(key);
    }
  }
  objects_.volumes.erase(it);
  MarkLimitsOf(name);
  if (objects_.free_volumes.erase(name) > 0) free_changed_ = true;
  for (auto at = objects_.claims_of_volume.lower_bound({name, ""});
       at != objects_.claims_of_volume.end() && at->first == name; ++at) {
    MarkUsers(at->second);
  }
}

void VolumeTable::SetVolume(const std::string& name, Readable<PersistentVolume> volume) {
  ForgetVolume(name);
  if (const std::optional<PersistentVolume>& readable = volume.object; readable.has_value()) {
    volumes_of_handle_.insert({NameOf(readable->csi.driver, readable->csi.handle), name});
    if (readable->claim.has_value()) {
      const std::string key = KeyOf(*readable->claim);
      objects_.volumes_for_claim.insert({key, name});
      MarkUsers(key);
    } else if (readable->available && !readable->meta.deleted.has_value()) {
      objects_.free_volumes.insert(name);
      free_changed_ = true;
    }
  }
  objects_.volumes.emplace(name, std::move(volume));
  MarkLimitsOf(name);
  for (auto at = objects_.claims_of_volume.lower_bound({name, ""});
       at != objects_.claims_of_volume.end() && at->first == name; ++at) {
    MarkUsers(at->second);
  }
}

void VolumeTable::SetClass(const std::string& name, std::optional<Readable<StorageClass>> storage) {
  objects_.classes.erase(name);
  if (storage.has_value()) objects_.classes.emplace(name, *std::move(storage));
  MarkUnboundOf(name);
  if (!objects_.free_volumes.empty()) free_changed_ = true;
}

void VolumeTable::SetCapacity(const std::string& key, std::optional<CsiStorageCapacity> capacity) {
  if (const auto it = objects_.capacities.find(key); it != objects_.capacities.end()) {
    MarkUnboundOf(it->second.storage_class);
    objects_.capacities.erase(it);
  }
  if (!capacity.has_value()) return;
  MarkUnboundOf(capacity->storage_class);
  objects_.capacities.emplace(key, *std::move(capacity));
}

void VolumeTable::Upsert(const PersistentVolumeClaim& claim) {
  SetClaim(KeyOf(claim.meta), {.object = claim});
}
void VolumeTable::Upsert(const PersistentVolume& volume) {
  SetVolume(volume.meta.name, {.object = volume});
}
void VolumeTable::Upsert(const StorageClass& storage) {
  SetClass(storage.meta.name, Readable<StorageClass>{.object = storage});
}
void VolumeTable::Upsert(const CsiNode& node) {
  limits_[node.meta.name] = node.limits;
  stale_limits_.insert(node.meta.name);
}
void VolumeTable::Upsert(const CsiDriver& driver) {
  objects_.tracks_capacity[driver.meta.name] = driver.tracks_capacity;
  for (const auto& [name, storage] : objects_.classes) {
    if (storage.object.has_value() && storage.object->provisioner == driver.meta.name) {
      MarkUnboundOf(name);
    }
  }
}
void VolumeTable::Upsert(const CsiStorageCapacity& capacity) {
  SetCapacity(KeyOf(capacity.meta), capacity);
}

void VolumeTable::Upsert(const VolumeAttachment& attachment) {
  const std::string& name = attachment.meta.name;
  ForgetAttachment(name);
  if (attachment.node.empty() || attachment.volume.empty()) return;
  objects_.attachments.emplace(name, attachment);
  objects_.attached_to.insert({attachment.node, name});
  objects_.attachments_of.insert({attachment.volume, name});
  stale_limits_.insert(attachment.node);
}

void VolumeTable::ForgetAttachment(const std::string& name) {
  const auto it = objects_.attachments.find(name);
  if (it == objects_.attachments.end()) return;
  objects_.attached_to.erase({it->second.node, name});
  objects_.attachments_of.erase({it->second.volume, name});
  stale_limits_.insert(it->second.node);
  objects_.attachments.erase(it);
}

void VolumeTable::Remove(const ObjectKey& key) {
  const std::string full = ClaimKey(key.namespace_name, key.name);
  if (key.kind == ResourceKind::kPersistentVolumeClaim) {
    ForgetClaim(full);
    MarkUsers(full);
  } else if (key.kind == ResourceKind::kPersistentVolume) {
    ForgetVolume(key.name);
  } else if (key.kind == ResourceKind::kStorageClass) {
    SetClass(key.name, std::nullopt);
  } else if (key.kind == ResourceKind::kCsiNode) {
    limits_.erase(key.name);
    stale_limits_.insert(key.name);
  } else if (key.kind == ResourceKind::kVolumeAttachment) {
    ForgetAttachment(key.name);
  } else if (key.kind == ResourceKind::kCsiDriver) {
    CsiDriver none;
    none.meta.name = key.name;
    Upsert(none);
    objects_.tracks_capacity.erase(key.name);
  } else if (key.kind == ResourceKind::kCsiStorageCapacity) {
    SetCapacity(full, std::nullopt);
  }
}

void VolumeTable::Refuse(const ObjectKey& key) {
  if (key.kind == ResourceKind::kPersistentVolumeClaim) {
    SetClaim(ClaimKey(key.namespace_name, key.name), {});
  } else if (key.kind == ResourceKind::kPersistentVolume) {
    SetVolume(key.name, {});
  } else if (key.kind == ResourceKind::kStorageClass) {
    SetClass(key.name, Readable<StorageClass>{});
  } else if (key.kind == ResourceKind::kCsiNode) {
    return;  // the last limits that could be read are better than none
  } else {
    Remove(key);  // its allowance is not to be relied on
  }
}

// ---- pods

void VolumeTable::SetUse(PodId pod, const Pod& object) {
  const bool ended = object.phase == PodPhase::kSucceeded || object.phase == PodPhase::kFailed;
  if (object.volumes.empty() || ended) {
    Forget(pod);
    return;
  }
  const auto [it, is_new] = users_.try_emplace(pod);
  if (!is_new) return;  // a pod's volumes never change
  it->second.what = {.namespace_name = object.meta.namespace_name,
                     .uid = object.meta.uid,
                     .volumes = CappedVolumesOf(object.volumes).volumes};
  for (const ClaimUse& use : it->second.what.volumes.claims) {
    const std::string key = ClaimKey(object.meta.namespace_name, use.claim);
    absl::btree_set<PodId>& users = users_of_claim_[key];
    if (users.size() == 1) MarkUsers(key);  // which is shared now
    users.insert(pod);
  }
  stale_.erase(pod);
}

void VolumeTable::Forget(PodId pod) {
  const auto it = users_.find(pod);
  if (it == users_.end()) return;
  Leave(pod, it->second);
  Unassume(pod);
  for (const ClaimUse& use : it->second.what.volumes.claims) {
    const std::string key = ClaimKey(it->second.what.namespace_name, use.claim);
    DropFrom(users_of_claim_, key, pod);
    const auto left = users_of_claim_.find(key);
    if (left != users_of_claim_.end() && left->second.size() == 1) MarkUsers(key);
  }
  users_.erase(it);
  stale_.erase(pod);
}

void VolumeTable::MarkLimitsOfHandle(const std::string& attached) {
  for (auto at = volumes_of_handle_.lower_bound({attached, ""});
       at != volumes_of_handle_.end() && at->first == attached; ++at) {
    MarkLimitsOf(at->second);
  }
}

void VolumeTable::Leave(PodId pod, User& user) {
  for (const std::string& name : user.attached) {
    MarkLimitsOfHandle(name);
    DropFrom(attached_by_, name, pod);
    const auto left = attached_by_.find(name);
    if (left != attached_by_.end() && left->second.size() == 1) {
      stale_.insert(*left->second.begin());
    }
  }
  user.attached.clear();
}

void VolumeTable::Attach(PodId pod, User& user, std::vector<std::string> names) {
  if (names == user.attached) return;
  Leave(pod, user);
  for (const std::string& name : names) {
    MarkLimitsOfHandle(name);
    absl::btree_set<PodId>& pods = attached_by_[name];
    if (pods.size() == 1) stale_.insert(*pods.begin());
    pods.insert(pod);
  }
  user.attached = std::move(names);
  stale_.erase(pod);
}

VolumeNeeds VolumeTable::NeedsOf(PodId pod) {
  const auto it = users_.find(pod);
  if (it == users_.end()) return {};
  ResolvedVolumes resolved =
      ResolveVolumes(objects_, it->second.what, [this](absl::string_view claim_key) {
        const auto users = users_of_claim_.find(claim_key);
        return users != users_of_claim_.end() && users->second.size() > 1;
      });
  std::vector<std::string> names;
  for (const VolumeUse& use : resolved.needs.uses) {
    if (use.kind == VolumeUseKind::kAttached) names.push_back(NameOf(use));
  }
  Attach(pod, it->second, std::move(names));
  for (VolumeUse& use : resolved.needs.uses) {
    if (use.kind == VolumeUseKind::kAttached && attached_by_.at(NameOf(use)).size() == 1) {
      use.name.clear();
    }
  }
  std::sort(resolved.needs.uses.begin(), resolved.needs.uses.end());
  return std::move(resolved.needs);
}

std::vector<ClaimToBind> VolumeTable::ToBind(PodId pod) const {
  const auto it = users_.find(pod);
  if (it == users_.end()) return {};
  return ResolveVolumes(objects_, it->second.what, [](absl::string_view) { return false; }).to_bind;
}

void VolumeTable::Assume(PodId pod, const std::string& volume) {
  assumed_[volume] = pod;
  free_changed_ = true;
}

void VolumeTable::Unassume(PodId pod) {
  if (absl::erase_if(assumed_, [pod](const auto& entry) { return entry.second == pod; }) > 0) {
    free_changed_ = true;
  }
}

ClaimSight VolumeTable::SightOf(const ClaimGoal& goal) const {
  ClaimSight sight;
  const PersistentVolumeClaim* claim =
      FindReadable(objects_.claims, ClaimKey(goal.namespace_name, goal.name));
  if (claim == nullptr || claim->meta.uid != goal.uid || claim->meta.deleted.has_value() ||
      claim->phase == ClaimPhase::kLost) {
    return sight;
  }
  sight.there = true;
  sight.named = !claim->volume_name.empty();
  sight.bound = claim->bound() && FindReadable(objects_.volumes, claim->volume_name) != nullptr;
  sight.selected_node = std::string(claim->selected_node());
  sight.claim_version = claim->meta.resource_version;
  const PersistentVolume* volume = FindReadable(objects_.volumes, goal.volume);
  if (volume == nullptr || volume->meta.deleted.has_value()) return sight;
  sight.volume_version = volume->meta.resource_version;
  sight.volume_uid = volume->meta.uid;
  if (!volume->claim.has_value()) {
    sight.volume = volume->available ? VolumeStanding::kFree : VolumeStanding::kNone;
  } else if (!RefersTo(*volume->claim, *claim)) {
    sight.volume = VolumeStanding::kOthers;
  } else {
    // A volume set aside by name alone is meant for this claim,
    // but the volume controller wants the uid.
    sight.volume = volume->claim->uid.empty() ? VolumeStanding::kFree : VolumeStanding::kOurs;
  }
  return sight;
}

bool VolumeTable::Reached(PodId pod, absl::string_view node, const StringMap& labels) const {
  const auto it = users_.find(pod);
  if (it == users_.end()) return true;
  const VolumeNeeds needs =
      ResolveVolumes(objects_, it->second.what, [](absl::string_view) { return false; }).needs;
  if (needs.trouble != VolumeTrouble::kNone || !needs.unbound.empty()) return false;
  const std::string name(node);
  const auto meets = [&](const SelectorRequirement& requirement) {
    return Satisfies(requirement, labels.Find(requirement.key));
  };
  return std::all_of(needs.reachable.begin(), needs.reachable.end(), [&](const NodeTerms& terms) {
    return std::any_of(terms.begin(), terms.end(), [&](const NodeSelectorTerm& term) {
      return (!term.expressions.empty() || !term.fields.empty()) &&
             std::all_of(term.expressions.begin(), term.expressions.end(), meets) &&
             std::all_of(term.fields.begin(), term.fields.end(),
                         [&](const SelectorRequirement& field) { return Satisfies(field, &name); });
    });
  });
}

std::string VolumeTable::TroubleOf(PodId pod) const {
  const auto it = users_.find(pod);
  if (it == users_.end()) return "";
  const ResolvedVolumes resolved =
      ResolveVolumes(objects_, it->second.what, [](absl::string_view) { return false; });
  return TroubleText(resolved.needs.trouble, resolved.trouble_claim);
}

std::vector<PodId> VolumeTable::TakeStale() {
  std::vector<PodId> stale(stale_.begin(), stale_.end());
  stale_.clear();
  return stale;
}

void VolumeTable::TakeUsersOfRewritten(absl::FunctionRef<void(PodId)> visit) {
  for (const std::string& key : std::exchange(rewritten_, {})) {
    const auto it = users_of_claim_.find(key);
    if (it == users_of_claim_.end()) continue;
    for (const PodId pod : it->second) visit(pod);
  }
}

// ---- facts for nodes and tables

bool VolumeTable::IsUsed(const std::string& attached, absl::FunctionRef<bool(PodId)> stands) const {
  const auto users = attached_by_.find(attached);
  return users != attached_by_.end() &&
         std::any_of(users->second.begin(), users->second.end(), stands);
}

std::vector<NodeAttachments> VolumeTable::LimitsOf(absl::string_view node,
                                                   absl::FunctionRef<bool(PodId)> stands) const {
  const auto it = limits_.find(node);
  if (it == limits_.end()) return {};
  std::vector<NodeAttachments> limits;
  for (const VolumeLimit& limit : it->second) {
    limits.push_back({.driver = limit.driver, .most = limit.most});
  }
  absl::btree_set<std::string> unused;
  for (auto at = objects_.attached_to.lower_bound({std::string(node), ""});
       at != objects_.attached_to.end() && at->first == node; ++at) {
    const std::string& name = objects_.attachments.at(at->second).volume;
    const PersistentVolume* volume = FindReadable(objects_.volumes, name);
    if (volume == nullptr || volume->csi == CsiVolume()) continue;
    const auto limit = std::ranges::find(limits, volume->csi.driver, &NodeAttachments::driver);
    if (limit == limits.end()) continue;
    std::string attached = NameOf(volume->csi.driver, volume->csi.handle);
    if (!IsUsed(attached, stands) && unused.insert(std::move(attached)).second) ++limit->unused;
  }
  return limits;
}

void VolumeTable::NoteUsersChanged(absl::string_view node) {
  const std::string name(node);
  const auto at = objects_.attached_to.lower_bound({name, ""});
  if (at != objects_.attached_to.end() && at->first == name) stale_limits_.insert(name);
}

absl::btree_set<std::string> VolumeTable::TakeStaleLimits() {
  return std::exchange(stale_limits_, {});
}

std::optional<std::vector<FreeVolume>> VolumeTable::TakeFreeVolumes() {
  if (!std::exchange(free_changed_, false)) return std::nullopt;
  std::vector<FreeVolume> free;
  for (const std::string& name : objects_.free_volumes) {
    if (assumed_.contains(name)) continue;
    const PersistentVolume& volume = *objects_.volumes.at(name).object;
    const StorageClass* storage = FindReadable(objects_.classes, volume.storage_class);
    if (storage == nullptr || !storage->waits_for_consumer) continue;
    free.push_back({.storage_class = volume.storage_class,
                    .capacity = volume.capacity,
                    .name = name,
                    .modes = volume.modes,
                    .block = volume.block,
                    .attributes_class = volume.attributes_class,
                    .labels = volume.meta.labels,
                    .where = volume.node_affinity});
  }
  std::sort(free.begin(), free.end());
  return free;
}

}  // namespace maniple
