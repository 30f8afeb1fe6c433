#include "plugins/framework/columns.h"

namespace maniple {

const Columns::Column Columns::kZeros{};

Columns::Column& Columns::Mutable(ResourceId resource) {
  const uint32_t index = resource.index();
  if (index >= slots_.size()) slots_.resize(index + 1, -1);
  if (slots_[index] < 0) {
    slots_[index] = static_cast<int16_t>(values_.size());
    values_.emplace_back().fill(0);
  }
  return values_[static_cast<size_t>(slots_[index])];
}

}  // namespace maniple
