// The CustomResourceDefinitions of deploy/crds, for tests that install them in an embedded server.
#pragma once

#include <vector>

#include "api/codec/json.h"

namespace maniple {

// From the root of the repository.
inline constexpr char kCrdFolder[] = "deploy/crds";

// In order of file name; read once. REQUIRES: the working directory is the root of the repository.
[[nodiscard]] const std::vector<Json>& InstalledCrds();
// Those of other projects, which are optional.
[[nodiscard]] const std::vector<Json>& ProducerCrds();

}  // namespace maniple
