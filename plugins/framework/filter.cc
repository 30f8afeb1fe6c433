#include "plugins/framework/filter.h"

#include <algorithm>

namespace maniple {

void NodeFilter::Narrow(const NodeBlock& block, const PartialPlan& placed, NodeMask& fits) const {
  fits.ForEach([&](uint32_t row) {
    if (!Check({.block = block, .row = row}, placed).fits()) fits.Clear(row);
  });
}

bool NodeFilter::MayHelp(const NodeBlock&) const { return true; }

void NodeFilter::Cap(const NodeBlock& block, const NodeMask& rows, std::span<int32_t> caps) const {
  rows.ForEach(
      [&](uint32_t row) { caps[row] = std::min(caps[row], CapOn({.block = block, .row = row})); });
}

int32_t NodeFilter::CapOn(const NodeView&) const { return kNoCap; }

}  // namespace maniple
