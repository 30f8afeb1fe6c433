// GpuKind: GPUs of the kind that the pod asks for come first, those of another kind last.
//
// A pod that asks for one GPU wants a whole one of its own; next best is a shared one, last a MIG
// slice that goes by the same name. A pod that names slices or shared GPUs in its node selector or
// affinity gets these first. Nodes whose last repartitioning failed stand behind others of their
// kind.
#pragma once

#include <memory>

#include "plugins/framework/score.h"

namespace maniple {

[[nodiscard]] std::unique_ptr<const ScorePlugin> MakeGpuKind();

}  // namespace maniple
