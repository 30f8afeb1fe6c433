// GPUs of a cluster while pods come and go: the number in use, and the number of free ones on nodes
// where others are in use. A value; every change is O(log nodes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "api/codec/json.h"

namespace maniple {

// The GPUs that the node can give.
[[nodiscard]] int64_t GpusOfNode(const Json& node);

class GpuUse final {
 public:
  // Counts the nodes' `allocatable` and the pods that stand on them.
  explicit GpuUse(const std::vector<Json>& cluster);

  // A pod takes so many GPUs of the node, or gives them back where `gpus` is negative.
  // Does nothing for an unknown node.
  void Take(const std::string& node, int64_t gpus);

  // A pod that waited at the beginning is bound there. Does nothing for another pod.
  void Arrive(const std::string& pod, const std::string& node);  // "namespace/name"
  // A pod that stood there at the beginning, or has arrived, is gone. Does nothing for another pod.
  void Leave(const std::string& pod);  // "namespace/name"

  [[nodiscard]] int64_t nodes() const { return static_cast<int64_t>(nodes_.size()); }
  [[nodiscard]] int64_t all() const { return all_; }
  [[nodiscard]] int64_t used() const { return used_; }
  [[nodiscard]] int64_t split() const { return split_; }

 private:
  struct NodeGpus {
    int64_t gpus = 0, used = 0;
    [[nodiscard]] int64_t split() const { return used > 0 && used < gpus ? gpus - used : 0; }
  };
  struct Stands {
    std::string node;
    int64_t gpus = 0;
  };
  absl::btree_map<std::string, NodeGpus> nodes_;  // by node
  absl::btree_map<std::string, Stands> stand_;    // by pod
  absl::btree_map<std::string, int64_t> wait_;    // GPUs, by pod
  int64_t all_ = 0, used_ = 0, split_ = 0;
};

}  // namespace maniple
