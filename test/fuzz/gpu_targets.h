// What labels say of GPUs, and how MIG divides them. Oracles as in codec_targets.h.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace maniple {

// A profile that is read is written as a name, a label and a resource that are read as it.
[[nodiscard]] std::string FuzzMigProfile(absl::string_view bytes);
// A label "key=value" a line, "@resource=amount" for what is allocatable: the facts are never
// negative, and promise no more than the labels do.
[[nodiscard]] std::string FuzzGpuLabels(absl::string_view bytes);
// The first byte chooses a table, the others counts of its slices: a layout is found if and only if
// one of all legal ones has these counts, and a node offers so many for each of its GPUs.
[[nodiscard]] std::string FuzzMigLayout(absl::string_view bytes);

}  // namespace maniple
