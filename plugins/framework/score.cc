#include "plugins/framework/score.h"

namespace maniple {

void NodeScore::AddTo(const NodeBlock& block, const NodeMask& rows, int64_t weight,
                      std::span<int64_t> totals) const {
  rows.ForEach([&](uint32_t row) { totals[row] += weight * Score({.block = block, .row = row}); });
}

}  // namespace maniple
