// Models of GPU that some pods insist on, as they name them: by values of the label of nodes that
// tells the product. All models that nobody names are one.
//
// Plain values and a pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/model/model.h"

namespace maniple {

inline constexpr size_t kMostNamedModels = 63;  // each has a bit, and so have all others together

struct GpuModels {
  std::string label;
  std::vector<std::string> names;  // sorted; at most kMostNamedModels; empty: nobody insists
  friend bool operator==(const GpuModels&, const GpuModels&) = default;

  // names.size() for a model that nobody names, and for none.
  [[nodiscard]] uint32_t IndexOf(const std::string* name) const;
};

// The values that the pod's selector and required terms name of the label; unsorted, with repeats.
void AddNamedModels(const PodConstraints& pod, const std::string& label,
                    std::vector<std::string>& names);
// A bit for each model that the pod may run on, as far as these speak of models.
[[nodiscard]] uint64_t ModelsFor(const PodConstraints& pod, const GpuModels& models);

}  // namespace maniple
