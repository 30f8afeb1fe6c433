// What a pod asks for, as kube-scheduler's NodeResourcesFit counts it. Private to this room.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/cursor.h"
#include "api/codec/quantity.h"
#include "api/model/model.h"

namespace maniple {

// The quantities of one resource list, exact until the pod's sums are rounded; the names are views
// into the tape.
// Invariant: sorted by name, each name once.
class RequestTable final {
 public:
  RequestTable() = default;
  RequestTable(absl::string_view resource, const Quantity& quantity)
      : entries_({{resource, quantity}}) {}
  // Of a Kubernetes resource list such as requests, limits, overhead or allocatable. Refuses
  // negative amounts and parts of an extended resource.
  static RequestTable Read(const Cursor& resource_list);

  // What this lacks is taken from `other`.
  void FillFrom(const RequestTable& other);
  void RaiseTo(const RequestTable& other);
  [[nodiscard]] const std::vector<std::pair<absl::string_view, Quantity>>& entries() const {
    return entries_;
  }
  // Zero when the list does not name it.
  [[nodiscard]] Quantity Of(absl::string_view resource) const;
  [[nodiscard]] bool Has(absl::string_view resource) const;
  // Without zero amounts.
  [[nodiscard]] ResourceAmounts Amounts() const;

 private:
  template <typename Combine>
  void Merge(const RequestTable& other, Combine combine);
  std::vector<std::pair<absl::string_view, Quantity>> entries_;
};

// `resources` of a container or pod: its requests, a missing one taken from the limits as the API
// server does.
struct ResourceAsk {
  RequestTable requests;
  RequestTable limits;
};
[[nodiscard]] ResourceAsk ReadResources(const Cursor& resources);

struct ContainerAsk {
  absl::string_view name;
  RequestTable requests;
  bool always_restarts = false;  // an init container that does is a sidecar
};

// What the kubelet says a container has, while it is resized in place; or the whole pod.
struct ContainerActual {
  absl::string_view name;  // "" = the pod
  RequestTable allocated;
  // Absent: the kubelet has not said so yet, and what it promised does not count either.
  std::optional<RequestTable> actual;
};

struct PodAsk {
  std::vector<ContainerAsk> containers;
  std::vector<ContainerAsk> init_containers;
  std::optional<ResourceAsk> pod_level;
  RequestTable overhead;
  std::vector<ContainerActual> actuals;
  ContainerActual pod_actual;
  bool resize_infeasible = false;
  bool bound = false;  // only then does what the kubelet says count
};

// The larger of all containers and sidecars together, and of the init containers one after another
// beside the sidecars started before them; cpu, memory and huge pages as the pod level says if it
// does; plus the overhead. Missing requests at the pod level are those that the API server fills
// in.
[[nodiscard]] ResourceAmounts EffectiveRequests(PodAsk ask);
// Of each GPU resource: what the container asks for that asks for most.
[[nodiscard]] ResourceAmounts MostGpusPerContainer(const PodAsk& ask);

}  // namespace maniple
