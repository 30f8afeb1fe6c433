// The garbage collector: what an owner leaves behind when it goes.
//
// Background: dependents go once none of their owners exists. Foreground (finalizer
// foregroundDeletion): the owner waits for those that block it. Orphan (finalizer orphan):
// dependents lose the reference and stay. An object that names only owners which do not exist goes,
// too.
//
// A state machine, part of Controllers. One thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

class GarbageCollector final {
 public:
  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  struct Place {
    StorageId storage;
    ObjectName name;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  [[nodiscard]] std::vector<Place> DependentsOf(const std::string& owner_uid) const;
  void LookAtDependent(const Cluster& cluster, const Place& place);
  void LookAtLeavingOwner(const Cluster& cluster, const Place& place);
  bool DeleteDependents(const Cluster& cluster, const std::string& owner_uid);
  void OrphanDependents(const Cluster& cluster, const std::string& owner_uid);

  absl::flat_hash_map<std::string, std::set<Place>> dependents_;  // by the owner's uid
  absl::flat_hash_map<std::string, Place> leaving_owners_;        // by uid; held by our finalizers
  std::set<Place> noted_dependents_;
  std::set<Place> noted_owners_;
};

}  // namespace maniple::devcluster
