// A list as a set. A function of data.
#pragma once

#include <algorithm>
#include <vector>

namespace maniple {

// In order, each value once.
template <typename T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace maniple
