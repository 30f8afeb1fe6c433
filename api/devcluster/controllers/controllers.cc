#include "api/devcluster/controllers/controllers.h"

#include <algorithm>

#include "api/devcluster/controllers/disruption.h"
#include "api/devcluster/controllers/garbage.h"
#include "api/devcluster/controllers/kubelet.h"
#include "api/devcluster/controllers/mig_manager.h"
#include "api/devcluster/controllers/namespace_life.h"
#include "api/devcluster/controllers/node_lifecycle.h"
#include "api/devcluster/controllers/volume_life.h"

namespace maniple::devcluster {

class Controllers::Impl final {
 public:
  Impl(const ApiServerOptions& options, const TypeRegistry& types)
      : nodes_(types),
        kubelet_({.start_delay = options.kubelet_start_delay, .delete_delay = options.delete_delay},
                 types),
        mig_(options.mig, types),
        disruption_(types),
        volumes_(options.volume_delay, types),
        namespaces_(types) {}

  // In this order, so that what one writes is heard by those after it in the same turn.
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(nodes_);
    visit(mig_);
    visit(kubelet_);
    visit(volumes_);
    visit(garbage_);
    visit(namespaces_);
    visit(disruption_);
  }

 private:
  NodeLifecycle nodes_;
  Kubelet kubelet_;
  MigManager mig_;
  GarbageCollector garbage_;
  DisruptionController disruption_;
  VolumeLife volumes_;
  NamespaceLife namespaces_;
};

Controllers::Controllers(const ApiServerOptions& options, const TypeRegistry& types)
    : impl_(std::make_unique<Impl>(options, types)) {}
Controllers::~Controllers() = default;

void Controllers::OnChange(const Change& change) {
  impl_->ForEach([&](auto& part) { part.OnChange(change); });
}

absl::Time Controllers::NextDeadline() const {
  absl::Time next = absl::InfiniteFuture();
  impl_->ForEach([&](auto& part) { next = std::min(next, part.NextDeadline()); });
  return next;
}

void Controllers::OnTime(const Cluster& cluster) {
  impl_->ForEach([&](auto& part) {
    if (part.NextDeadline() <= cluster.now) part.OnTime(cluster);
  });
}

}  // namespace maniple::devcluster
