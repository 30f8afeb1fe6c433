// WholeGpus: a container that asks for more than one GPU wants GPUs, not slices or replicas that go
// by the same name.
//
// Where MIG slices are presented as nvidia.com/gpu, eight of them are not eight GPUs.
// Where replicas are, two of them may be the same GPU twice, and the kubelet may refuse them.
// Per container: two containers with one each are served by slices and replicas as well.
#pragma once

#include <memory>

#include "plugins/framework/filter.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const FilterPlugin> MakeWholeGpus();

}  // namespace maniple
