// Claims, volumes, classes, drivers and attachments as the watches show them, and how they name
// each other.
//
// Part of VolumeTable; scheduling thread. Small maps by name; nothing here is derived but indices.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/model/object.h"

namespace maniple {

// An object, or the fact that the server holds one which cannot be read.
template <typename T>
struct Readable {
  std::optional<T> object;  // none: it is there, and cannot be read
};
template <typename T>
using ByName = absl::node_hash_map<std::string, Readable<T>>;

// "namespace/name"
[[nodiscard]] std::string ClaimKey(absl::string_view namespace_name, absl::string_view name);

struct StorageObjects {
  ByName<PersistentVolumeClaim> claims;  // by ClaimKey
  ByName<PersistentVolume> volumes;
  ByName<StorageClass> classes;
  absl::btree_map<std::string, bool> tracks_capacity;           // by driver
  absl::btree_map<std::string, CsiStorageCapacity> capacities;  // by "namespace/name"
  absl::btree_map<std::string, VolumeAttachment> attachments;

  absl::btree_set<std::pair<std::string, std::string>> claims_of_volume;   // (volume, claim key)
  absl::btree_set<std::pair<std::string, std::string>> volumes_for_claim;  // (claim key, volume)
  absl::btree_set<std::pair<std::string, std::string>> unbound_of_class;   // (class, claim key)
  absl::btree_set<std::string> free_volumes;  // Available, and no claim has them
  absl::btree_set<std::pair<std::string, std::string>> attached_to;     // (node, attachment)
  absl::btree_set<std::pair<std::string, std::string>> attachments_of;  // (volume, attachment)
};

// The one of that name; null: none, or it cannot be read.
template <typename T>
[[nodiscard]] const T* FindReadable(const ByName<T>& objects, absl::string_view name) {
  const auto it = objects.find(name);
  return it == objects.end() || !it->second.object.has_value() ? nullptr : &*it->second.object;
}

}  // namespace maniple
