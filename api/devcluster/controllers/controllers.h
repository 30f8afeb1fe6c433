// The simulated kubelet and the controllers that a scheduler meets: pods run and end, nodes become
// unready or are divided by MIG, claims are bound, PodDisruptionBudgets count, namespaces end,
// owners' dependents go.
//
// A state machine. It hears changes from the Store, notes what is due, and does it in OnTime,
// writing through Store and writes.h. ApiServer calls OnTime after every request as long as
// NextDeadline() has come, so what has no delay happens before the next request is served.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "api/devcluster/controllers/api_server_options.h"
#include "api/devcluster/store/store.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {

class Controllers final : public ChangeObserver {
 public:
  Controllers(const ApiServerOptions& options, const TypeRegistry& types);
  ~Controllers() override;

  // Notes only; never writes.
  void OnChange(const Change& change) override;
  // InfiniteFuture when nothing is due; InfinitePast when something is due at once.
  [[nodiscard]] absl::Time NextDeadline() const;
  // Does all that is due at cluster.now.
  void OnTime(const Cluster& cluster);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace maniple::devcluster
