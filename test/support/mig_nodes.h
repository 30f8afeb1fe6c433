// Nodes whose GPUs can be divided, as the GPU operator labels them.
#pragma once

#include "absl/strings/string_view.h"
#include "test/support/builders.h"

namespace maniple {

// Eight whole H100s that nobody has divided yet.
inline MakeNode MigCapableNode(absl::string_view name) {
  return MakeNode(name)
      .Gpu(8)
      .Label("nvidia.com/mig.capable", "true")
      .Label("nvidia.com/mig.strategy", "mixed")
      .Label("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
      .Label("nvidia.com/gpu.memory", "81559")
      .Label("nvidia.com/gpu.count", "8")
      .Label("nvidia.com/mig.config", "all-disabled")
      .Label("nvidia.com/mig.config.state", "success");
}

}  // namespace maniple
