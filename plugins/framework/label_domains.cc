#include "plugins/framework/label_domains.h"

#include <algorithm>

namespace maniple {

std::optional<size_t> ColumnOf(const Tables& tables, absl::string_view key) {
  const auto at = std::ranges::find(tables.label_columns, key);
  if (at == tables.label_columns.end()) return std::nullopt;
  return static_cast<size_t>(at - tables.label_columns.begin());
}

LabelDomains::LabelDomains(const Snapshot& snapshot, size_t column)
    : column_(column), by_value_(snapshot.tables->label_values.size(), kNone) {
  for (const auto& block : snapshot.blocks) {
    const NodeRows& rows = block->rows();
    const std::vector<LabelValueId>& values = rows.label_columns[column].values;
    rows.present.ForEach([&](uint32_t row) {
      if (!values[row].valid()) return;
      uint32_t& domain = by_value_[values[row].index()];
      if (domain == kNone) {
        domain = count_++;
      } else {
        one_node_each_ = false;
      }
    });
  }
}

void LabelDomains::AddTo(std::span<int64_t> sums, BlockSpan blocks, PodCountId count,
                         int64_t factor) const {
  for (const NodeBlock* block : blocks) {
    Add(block->pod_counts().Of(count), block->rows(), factor, sums);
  }
}

void LabelDomains::AddPromisedTo(std::span<int64_t> sums, BlockSpan blocks,
                                 PodCountId count) const {
  for (const NodeBlock* block : blocks) {
    Add(block->promised_counts().Of(count), block->rows(), 1, sums);
  }
}

void LabelDomains::Add(std::span<const PodCounts::Entry> entries, const NodeRows& rows,
                       int64_t factor, std::span<int64_t> sums) const {
  for (const PodCounts::Entry& entry : entries) {
    const uint32_t domain = Of(rows, entry.row);
    if (domain != kNone) sums[domain] += factor * entry.value;
  }
}

}  // namespace maniple
