#include "api/devcluster/controllers/volume_life.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/codec/quantity.h"
#include "api/devcluster/store/object_facts.h"
#include "api/devcluster/store/selector.h"
#include "api/model/storage.h"

namespace maniple::devcluster {
namespace {

constexpr char kZone[] = "topology.kubernetes.io/zone";

Amount Storage(const Json& resources) {
  const Json& storage = resources["storage"];
  const std::string text = storage.is_int() ? absl::StrCat(storage.AsInt()) : storage.AsString();
  return ParseAmount("storage", text).value_or(Amount());
}

bool IsBound(const Json& claim) {
  return !claim["spec"]["volumeName"].AsString().empty() &&
         claim["metadata"]["annotations"].Has(kBindCompletedAnnotation);
}

bool IsSetAside(const Json& volume) { return !volume["spec"]["claimRef"].is_null(); }

bool IsFor(const Json& volume, const Json& claim) {
  const Json& reference = volume["spec"]["claimRef"];
  const Json& meta = claim["metadata"];
  if (!reference.is_object()) return false;
  const std::string& uid = reference["uid"].AsString();
  return reference["namespace"] == meta["namespace"] && reference["name"] == meta["name"] &&
         (uid.empty() || uid == meta["uid"].AsString());
}

bool IsOwnedBy(const Json& claim, const Json& pod) {
  const std::vector<Json>& owners = claim["metadata"]["ownerReferences"].items();
  return std::any_of(owners.begin(), owners.end(),
                     [&pod](const Json& owner) { return owner["uid"] == pod["metadata"]["uid"]; });
}

bool HasEvery(const Json& modes, const Json& wanted) {
  return std::all_of(wanted.items().begin(), wanted.items().end(), [&modes](const Json& mode) {
    return std::find(modes.items().begin(), modes.items().end(), mode) != modes.items().end();
  });
}

bool Serves(const Json& volume, const Json& claim) {
  const Json& offer = volume["spec"];
  const Json& want = claim["spec"];
  if (IsLeaving(volume)) return false;
  if (offer["storageClassName"].AsString() != want["storageClassName"].AsString()) return false;
  if (offer["volumeMode"].AsString() != want["volumeMode"].AsString()) return false;
  if (Storage(offer["capacity"]) < Storage(want["resources"]["requests"])) return false;
  if (!HasEvery(offer["accessModes"], want["accessModes"])) return false;
  return !want["selector"].is_object() ||
         LabelSelector::OfObject(want["selector"]).Matches(volume["metadata"]["labels"]);
}

// Where a volume that is made for the node can be reached from; null: everywhere.
Json AffinityOf(const Json& node) {
  const Json& labels = node["metadata"]["labels"];
  const char* key = labels.Has(kZone) ? kZone : kHostnameLabel;
  if (!labels.Has(key)) return Json();
  Json expression = Json::Object(
      {{"key", key}, {"operator", "In"}, {"values", Json::Array({labels[key].AsString()})}});
  Json term = Json::Object({{"matchExpressions", Json::Array({std::move(expression)})}});
  return Json::Object(
      {{"required", Json::Object({{"nodeSelectorTerms", Json::Array({std::move(term)})}})}});
}

}  // namespace

VolumeLife::VolumeLife(absl::Duration delay, const TypeRegistry& types)
    : delay_(delay),
      pods_(types.Storage("", "pods")),
      nodes_(types.Storage("", "nodes")),
      claims_(types.Storage("", "persistentvolumeclaims")),
      volumes_(types.Storage("", "persistentvolumes")),
      classes_(types.Storage("storage.k8s.io", "storageclasses")) {}

void VolumeLife::OnChange(const Change& change) {
  if (change.storage == claims_ || change.storage == volumes_ || change.storage == classes_) {
    changed_ = true;
  }
  if (change.storage == claims_ && change.kind == ChangeKind::kDeleted) {
    new_pods_.merge(late_pods_);
  }
  if (change.storage != pods_ || change.kind != ChangeKind::kAdded) return;
  for (const Json& volume : (*change.object)["spec"]["volumes"].items()) {
    if (volume.Has("ephemeral")) new_pods_.insert(change.name);
  }
}

absl::Time VolumeLife::NextDeadline() const {
  return changed_ || !new_pods_.empty() ? absl::InfinitePast() : look_at_;
}

void VolumeLife::OnTime(const Cluster& cluster) {
  for (const ObjectName& pod : std::exchange(new_pods_, {})) MakeEphemeralClaims(cluster, pod);
  if (std::exchange(changed_, false)) look_at_ = std::min(look_at_, cluster.now + delay_);
  if (cluster.now < look_at_) return;
  look_at_ = absl::InfiniteFuture();
  for (const ObjectPtr& claim : cluster.store.List(claims_)) {
    if (!IsBound(*claim) && !IsLeaving(*claim)) {
      Serve(cluster, *claim);
    }
  }
  SetPhases(cluster);
}

void VolumeLife::MakeEphemeralClaims(const Cluster& cluster, const ObjectName& name) {
  const ObjectPtr pod = cluster.store.Get(pods_, name);
  if (pod == nullptr) return;
  for (const Json& volume : (*pod)["spec"]["volumes"].items()) {
    const Json& claim_template = volume["ephemeral"]["volumeClaimTemplate"];
    if (!claim_template.is_object()) continue;
    const std::string claim = absl::StrCat(name.name, "-", volume["name"].AsString());
    const ObjectPtr known = cluster.store.Get(claims_, {name.namespace_name, claim});
    if (known != nullptr) {
      if (!IsOwnedBy(*known, *pod)) late_pods_.insert(name);
      continue;
    }
    Json object = Json::Object({{"spec", claim_template["spec"]}});
    Json owner = Json::Object({{"apiVersion", "v1"},
                               {"kind", "Pod"},
                               {"name", name.name},
                               {"uid", (*pod)["metadata"]["uid"]},
                               {"controller", true},
                               {"blockOwnerDeletion", true}});
    object.Set("metadata", Json::Object({{"name", claim},
                                         {"namespace", name.namespace_name},
                                         {"ownerReferences", Json::Array({std::move(owner)})}}));
    (void)CreateObject(cluster, *cluster.types.FindByKind("v1", "PersistentVolumeClaim"),
                       std::move(object), {});
  }
}

// The volume that the claim names or that names it; of a class that binds at once the smallest
// free one as well.
ObjectPtr VolumeLife::VolumeFor(const Cluster& cluster, const Json& claim,
                                const Json* storage) const {
  const std::string& named = claim["spec"]["volumeName"].AsString();
  if (!named.empty()) {
    const ObjectPtr volume = cluster.store.Get(volumes_, {"", named});
    const bool taken = volume != nullptr && IsSetAside(*volume) && !IsFor(*volume, claim);
    return taken ? ObjectPtr() : volume;
  }
  const bool waits =
      storage != nullptr && (*storage)["volumeBindingMode"].AsString() == "WaitForFirstConsumer";
  ObjectPtr best;
  for (const ObjectPtr& volume : cluster.store.List(volumes_)) {
    const bool set_aside = IsSetAside(*volume);
    if (set_aside ? !IsFor(*volume, claim) : waits) continue;
    if (!Serves(*volume, claim)) continue;
    if (set_aside) return volume;
    const bool better = best == nullptr || Storage((*volume)["spec"]["capacity"]) <
                                               Storage((*best)["spec"]["capacity"]);
    if (better) best = volume;
  }
  return best;
}

void VolumeLife::Serve(const Cluster& cluster, const Json& claim) {
  const std::string& class_name = claim["spec"]["storageClassName"].AsString();
  const ObjectPtr storage = cluster.store.Get(classes_, {"", class_name});
  if (const ObjectPtr volume = VolumeFor(cluster, claim, storage.get()); volume != nullptr) {
    Bind(cluster, claim, *volume);
    return;
  }
  if (storage == nullptr || !claim["spec"]["volumeName"].AsString().empty()) return;
  const bool waits = (*storage)["volumeBindingMode"].AsString() == "WaitForFirstConsumer";
  if (waits && !claim["metadata"]["annotations"].Has(kSelectedNodeAnnotation)) return;
  if ((*storage)["provisioner"].AsString() == "kubernetes.io/no-provisioner") return;
  Provision(cluster, claim, *storage);
}

void VolumeLife::Provision(const Cluster& cluster, const Json& claim, const Json& storage) {
  const Json& meta = claim["metadata"];
  const std::string node_name = meta["annotations"][kSelectedNodeAnnotation].AsString();
  if (storage["parameters"].Has("maniple.dev/fails")) {
    if (node_name.empty()) return;
    Json next = claim;
    next.Mutable("metadata").Mutable("annotations").Erase(kSelectedNodeAnnotation);
    cluster.store.Put(claims_, std::move(next));
    return;
  }
  Json spec = Json::Object(
      {{"capacity", Json::Object({{"storage", claim["spec"]["resources"]["requests"]["storage"]}})},
       {"accessModes", claim["spec"]["accessModes"]},
       {"volumeMode", claim["spec"]["volumeMode"]},
       {"storageClassName", claim["spec"]["storageClassName"]},
       {"persistentVolumeReclaimPolicy", storage["reclaimPolicy"]},
       {"csi", Json::Object({{"driver", storage["provisioner"]}, {"volumeHandle", meta["uid"]}})},
       {"claimRef", Json::Object({{"apiVersion", "v1"},
                                  {"kind", "PersistentVolumeClaim"},
                                  {"namespace", meta["namespace"]},
                                  {"name", meta["name"]},
                                  {"uid", meta["uid"]}})}});
  if (const ObjectPtr node = cluster.store.Get(nodes_, {"", node_name}); node != nullptr) {
    if (Json affinity = AffinityOf(*node); !affinity.is_null()) {
      spec.Set("nodeAffinity", std::move(affinity));
    }
  }
  Json volume = Json::Object(
      {{"metadata", Json::Object({{"name", absl::StrCat("pvc-", meta["uid"].AsString())}})},
       {"spec", std::move(spec)}});
  const auto made = CreateObject(cluster, *cluster.types.FindByKind("v1", "PersistentVolume"),
                                 std::move(volume), {});
  if (made.ok()) Bind(cluster, claim, **made);
}

void VolumeLife::Bind(const Cluster& cluster, const Json& claim, const Json& volume) {
  const Json& meta = claim["metadata"];
  Json taken = volume;
  taken.Mutable("spec").Set("claimRef", Json::Object({{"apiVersion", "v1"},
                                                      {"kind", "PersistentVolumeClaim"},
                                                      {"namespace", meta["namespace"]},
                                                      {"name", meta["name"]},
                                                      {"uid", meta["uid"]}}));
  taken.Mutable("status").Set("phase", "Bound");
  cluster.store.Put(volumes_, std::move(taken));
  Json bound = claim;
  bound.Mutable("spec").Set("volumeName", volume["metadata"]["name"]);
  Json& annotations = bound.Mutable("metadata").Mutable("annotations");
  annotations.Set(kBindCompletedAnnotation, "yes");
  annotations.Set(kBoundByControllerAnnotation, "yes");
  Json& status = bound.Mutable("status");
  status.Set("phase", "Bound");
  status.Set("capacity", volume["spec"]["capacity"]);
  status.Set("accessModes", volume["spec"]["accessModes"]);
  cluster.store.Put(claims_, std::move(bound));
}

void VolumeLife::SetPhases(const Cluster& cluster) {
  const auto set = [&cluster](StorageId storage, const Json& object, absl::string_view phase) {
    if (object["status"]["phase"].AsString() == phase) return;
    Json next = object;
    next.Mutable("status").Set("phase", phase);
    cluster.store.Put(storage, std::move(next));
  };
  for (const ObjectPtr& volume : cluster.store.List(volumes_)) {
    const Json& reference = (*volume)["spec"]["claimRef"];
    const ObjectPtr claim = cluster.store.Get(
        claims_, {reference["namespace"].AsString(), reference["name"].AsString()});
    const bool mine = claim != nullptr && IsFor(*volume, *claim);
    if (!mine && !reference["uid"].AsString().empty()) {
      set(volumes_, *volume, "Released");
    } else if (mine && IsBound(*claim) &&
               (*claim)["spec"]["volumeName"] == (*volume)["metadata"]["name"]) {
      set(volumes_, *volume, "Bound");
    } else {
      set(volumes_, *volume, "Available");
    }
  }
  for (const ObjectPtr& claim : cluster.store.List(claims_)) {
    if (!IsBound(*claim)) continue;
    const std::string& volume = (*claim)["spec"]["volumeName"].AsString();
    const bool there = cluster.store.Get(volumes_, {"", volume}) != nullptr;
    set(claims_, *claim, there ? "Bound" : "Lost");
  }
}

}  // namespace maniple::devcluster
