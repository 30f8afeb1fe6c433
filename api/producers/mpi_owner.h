// MPIJob of kubeflow.org/v2beta1 and v1.
#pragma once

#include "api/codec/cursor.h"
#include "api/model/foreign.h"

namespace maniple {

// Its launcher is late if it is made only once all workers are Ready.
[[nodiscard]] ForeignSpec ReadMpiJob(const Cursor& root);

}  // namespace maniple
