// The section `gpu` of the configuration file: where facts about GPUs are read from.
//
//   gpu:
//     nvlinkDomainLabels: [nvidia.com/gpu.clique, ds.coreweave.com/nvlink.domain]
//     productTable:
//       A100-PCIE-40GB: {linkage: None}           # these have no bridges
//       "ACME-*": {memoryMiB: 65536, linkage: AllToAll}
//     labels: {product: [nvidia.com/gpu.product, example.com/board]}
//     linkageLabels: [{label: example.com/links, value: nvswitch, linkage: AllToAll}]
//     suspectNodes: Skip
#pragma once

#include <string>
#include <vector>

#include "api/gpu/gpu_rules.h"
#include "scheduler/app/config/config_section.h"
#include "scheduler/mig/mig_fleet.h"

namespace maniple {

struct GpuConfig {
  GpuRules rules;
  // Node labels that name a domain of multi-node NVLink; the first that a node has counts.
  std::vector<std::string> nvlink_domain_labels = {"nvidia.com/gpu.clique"};
  MigOptions mig;  // config_mig.h
};

void ReadGpuConfig(const Json& map, const std::string& path, Problems& problems, GpuConfig& out);

}  // namespace maniple
