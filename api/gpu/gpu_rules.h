// The sources of facts about GPUs: the meaning of a node's labels, and the treatment of nodes
// in doubt. Built once from configuration. The defaults are the labels of GPU Feature Discovery
// and the GPU Operator, then those of clouds, then topograph's.
#pragma once

#include <string>
#include <vector>

#include "api/gpu/product_table.h"

namespace maniple {

// Label keys; the first of the list that the node carries with some value counts.
using LabelKeys = std::vector<std::string>;

// A label that tells how the GPUs of its node are linked, whatever their product.
struct LinkageRule {
  std::string label;
  std::string value;
  GpuLinkage linkage = GpuLinkage::kUnknown;
  friend auto operator<=>(const LinkageRule&, const LinkageRule&) = default;
};

// The treatment of a node whose repartitioning failed or whose driver upgrade is due.
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
  // A node with one of these labels is on an NVLink fabric, through which its GPUs are linked.
  LabelKeys fabric = {"nvidia.com/gpu.clique", "accelerator.topograph.run/domain",
                      "network.topology.nvidia.com/accelerator"};
  // "nvlink" alone is not among them: it does not tell pairs from all-to-all.
  std::vector<LinkageRule> linkage = {
      {"nvidia.com/gpu-topology", "nvlink-8", GpuLinkage::kAllToAll},
      {"node.kubernetes.io/gpu-topology", "pcie", GpuLinkage::kNone},
      {"gpu-topology", "pcie", GpuLinkage::kNone},
  };
  std::vector<GpuProduct> products;  // take precedence over the product table
  SuspectPolicy suspects = SuspectPolicy::kScoreDown;
};

}  // namespace maniple
