// Where facts about GPUs are read from: which labels of a node say what, and what is to be made of
// a node that nobody can vouch for. Built once from configuration; the defaults are the labels of
// GPU Feature Discovery and the GPU Operator, then those of clouds, then topograph's.
#pragma once

#include <string>
#include <vector>

#include "api/gpu/product_table.h"

namespace maniple {

// Label keys; of each list the first that the node carries with some value counts.
using LabelKeys = std::vector<std::string>;

// A label that says how the GPUs of its node are linked, whatever their product.
struct LinkageRule {
  std::string label;
  std::string value;
  GpuLinkage linkage = GpuLinkage::kUnknown;
  friend auto operator<=>(const LinkageRule&, const LinkageRule&) = default;
};

// What becomes of a node whose last change failed: a partitioning, or a driver.
enum class SuspectPolicy : uint8_t { kTrust, kScoreDown, kSkip };

struct GpuRules {
  LabelKeys product = {"nvidia.com/gpu.product", "cloud.google.com/gke-accelerator",
                       "karpenter.k8s.aws/instance-gpu-name"};
  LabelKeys family = {"nvidia.com/gpu.family"};
  LabelKeys memory = {"nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory"};  // MiB
  LabelKeys count = {"nvidia.com/gpu.count", "cloud.google.com/gke-accelerator-count",
                     "karpenter.k8s.aws/instance-gpu-count"};
  LabelKeys replicas = {"nvidia.com/gpu.replicas",
                        "cloud.google.com/gke-max-shared-clients-per-gpu"};
  LabelKeys sharing_strategy = {"nvidia.com/gpu.sharing-strategy",
                                "cloud.google.com/gke-gpu-sharing-strategy"};
  // The profile that every nvidia.com/gpu of the node is a slice of.
  LabelKeys partition = {"cloud.google.com/gke-gpu-partition-size"};
  LabelKeys mig_strategy = {"nvidia.com/mig.strategy"};
  LabelKeys mig_config_state = {"nvidia.com/mig.config.state"};
  LabelKeys driver_upgrade_state = {"nvidia.com/gpu-driver-upgrade-state"};
  // Who carries one of these is on an NVLink fabric, and its GPUs are linked through that.
  LabelKeys fabric = {"nvidia.com/gpu.clique", "accelerator.topograph.run/domain",
                      "network.topology.nvidia.com/accelerator"};
  // "nvlink" alone is not among them: it does not tell pairs from all-to-all.
  std::vector<LinkageRule> linkage = {
      {"nvidia.com/gpu-topology", "nvlink-8", GpuLinkage::kAllToAll},
      {"node.kubernetes.io/gpu-topology", "pcie", GpuLinkage::kNone},
      {"gpu-topology", "pcie", GpuLinkage::kNone},
  };
  std::vector<GpuProduct> products;  // before those of the product table
  SuspectPolicy suspects = SuspectPolicy::kScoreDown;
};

}  // namespace maniple
