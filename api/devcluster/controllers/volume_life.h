// What the volume controllers of Kubernetes do, simulated: claims are bound to volumes, volumes are
// made for claims that a provisioner serves, and pods' ephemeral volumes get their claims.
//
// A claim of a class that binds at once takes the smallest volume that serves it, or has one made;
// a claim of one that waits is bound when a volume is set aside for it, or made when its
// annotation names a node. A volume that is made is reached from the zone of that node, or else
// from the node alone. A class with the parameter maniple.dev/fails has none made: the annotation
// is taken away, as provisioners do. Claims and volumes are looked at `delay` after they changed.
// Nothing is recycled or deleted. A state machine, part of Controllers. One thread.
#pragma once

#include <set>

#include "absl/time/time.h"
#include "api/codec/json.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

class VolumeLife final {
 public:
  VolumeLife(absl::Duration delay, const TypeRegistry& types);

  void OnChange(const Change& change);
  [[nodiscard]] absl::Time NextDeadline() const;
  void OnTime(const Cluster& cluster);

 private:
  void MakeEphemeralClaims(const Cluster& cluster, const ObjectName& name);
  void Serve(const Cluster& cluster, const Json& claim);
  void Bind(const Cluster& cluster, const Json& claim, const Json& volume);
  [[nodiscard]] ObjectPtr VolumeFor(const Cluster& cluster, const Json& claim,
                                    const Json* storage) const;
  void Provision(const Cluster& cluster, const Json& claim, const Json& storage);
  void SetPhases(const Cluster& cluster);

  const absl::Duration delay_;
  const StorageId pods_, nodes_, claims_, volumes_, classes_;
  std::set<ObjectName> new_pods_;   // with ephemeral volumes
  std::set<ObjectName> late_pods_;  // whose claims' names are taken by those of namesakes
  bool changed_ = false;            // since it was last asked
  absl::Time look_at_ = absl::InfiniteFuture();  // when all claims and volumes are looked at
};

}  // namespace maniple::devcluster
