// Models of GPU that some pods insist on, by name: values of the node label that tells the product.
// All other models count as one.
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
  std::vector<std::string> names;  // sorted; at most kMostNamedModels; empty: no pod insists
  friend bool operator==(const GpuModels&, const GpuModels&) = default;

  // names.size() for a model that no pod names, and for none.
  [[nodiscard]] uint32_t IndexOf(const std::string* name) const;
};

// Adds the values of the label that the pod's selector and required terms name;
// unsorted, with repeats.
void AddNamedModels(const PodConstraints& pod, const std::string& label,
                    std::vector<std::string>& names);
// A bit for each model that the pod may run on, as far as selector and terms speak of models.
[[nodiscard]] uint64_t ModelsFor(const PodConstraints& pod, const GpuModels& models);

}  // namespace maniple
