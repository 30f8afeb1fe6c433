// Names and definitions behind the ids of a snapshot: shapes of pods, classes of nodes, resources.
// Plain values, immutable once published.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/check.h"
#include "api/gpu/gpu_ask.h"
#include "api/gpu/gpu_facts.h"
#include "api/model/ids.h"
#include "api/model/maniple_types.h"
#include "api/model/model.h"
#include "api/model/volume_needs.h"
#include "plugins/framework/free_volume.h"
#include "plugins/framework/pod_counts.h"
#include "plugins/framework/shared_vector.h"

namespace maniple {

inline constexpr ResourceId kPods{0};
inline constexpr ResourceId kCpu{1};
inline constexpr ResourceId kMemory{2};
// Amounts of nodes and shapes are clamped to this (1 PiB, 10^12 cores), so that no sum on a node
// can overflow.
inline constexpr int64_t kMostAmount = int64_t{1} << 50;

struct ResourceFacts {
  std::string name;
  bool gpu = false;  // a whole GPU or a slice of one, of any vendor
  friend bool operator==(const ResourceFacts&, const ResourceFacts&) = default;
};

// Names that nodes have are numbered from zero and take a column. A name that only pods ask for is
// numbered from here, so that pods alone make no columns: no node has any of it.
inline constexpr uint32_t kFirstPodResource = uint32_t{1} << 24;
[[nodiscard]] constexpr bool IsOnNodes(ResourceId resource) {
  return resource.index() < kFirstPodResource;
}

// One distinct pair of PodConstraints and matching selectors,
// with precomputed facts for the search.
struct PodShape {
  ShapeId id;
  // The same without images, which affect how soon a pod starts, never where it fits;
  // the shape itself, if it has none.
  ShapeId room_shape;
  PodConstraints constraints;
  // GPUs first, then other extended resources, memory, cpu and one pod slot; no zero amounts.
  // A report names lacking resources in this order.
  std::vector<std::pair<ResourceId, int64_t>> requests;
  std::vector<HostPortId> host_ports;
  std::vector<ImageId> images;           // of every container; sorted
  std::vector<VolumeUseId> volume_uses;  // as in the constraints: equal ones count each
  bool wants_gpu = false;
  GpuAsk gpus;
  std::vector<PodCountId> matches;          // counts whose selector it matches; sorted
  std::vector<PodCountChange> counts;       // the counts that it changes where it stands; by count
  std::shared_ptr<const ShapeTerms> terms;  // null: it has no terms on other pods
};

// The facts that nodes of a class share; only static filters look at them. Labels: only keys that
// some selector uses, and only those with few values; the others are columns.
struct NodeClass {
  StringMap labels;
  std::vector<Taint> taints;  // sorted
  bool unschedulable = false;
  GpuFacts gpus;
  friend auto operator<=>(const NodeClass&, const NodeClass&) = default;
};

// Names and definitions behind the ids. An id stays valid in later snapshots while something uses
// it; then another may be given the number.
struct Tables {
  std::vector<ResourceFacts> resources;       // of nodes; a vacant number has no name
  SharedVector<ResourceFacts> pod_resources;  // from kFirstPodResource on
  std::vector<std::string> taint_keys;
  SharedVector<HostPort> host_ports;
  struct VolumeUseFacts {
    VolumeUse use;
    VolumeDriverId driver;  // of kAttached
  };
  SharedVector<VolumeUseFacts> volume_uses;
  std::vector<std::string> volume_drivers;
  // Never null; sorted. Changed as a whole.
  std::shared_ptr<const std::vector<FreeVolume>> free_volumes =
      std::make_shared<const std::vector<FreeVolume>>();
  SharedVector<std::shared_ptr<const PodShape>> shapes;  // null: a vacant number
  SharedVector<std::string> label_values;
  std::vector<std::shared_ptr<const NodeClass>> classes;  // null: no node is of this class now
  std::vector<std::string> label_columns;                 // keys, as in every NodeRows
  std::vector<Topology> topologies;                       // by name
  // Node labels that name an NVLink domain, each a column; the first that a node has counts.
  std::vector<std::string> nvlink_labels;

  [[nodiscard]] const PodShape& ShapeOf(ShapeId shape) const {
    const std::shared_ptr<const PodShape>& known = shapes[shape.index()];
    CHECK(known != nullptr) << "a shape that was given back is asked for";
    return *known;
  }
  [[nodiscard]] const ResourceFacts& FactsOf(ResourceId resource) const {
    return IsOnNodes(resource) ? resources[resource.index()]
                               : pod_resources[resource.index() - kFirstPodResource];
  }
  [[nodiscard]] std::optional<TaintKeyId> TaintKey(absl::string_view key) const;
};

}  // namespace maniple
