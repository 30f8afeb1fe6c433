// The topology domains that one label makes: nodes with equal values are one domain, a node without
// the label is in none. Domains are numbered in the order of nodes.
//
// For the length of a decision; const once made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugins/framework/filter.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

// The column of the label; none: no node carries it, or no shape asked for its column.
[[nodiscard]] std::optional<size_t> ColumnOf(const Tables& tables, absl::string_view key);

class LabelDomains final {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // REQUIRES: a column of the snapshot.
  LabelDomains(const Snapshot& snapshot, size_t column);

  [[nodiscard]] size_t column() const { return column_; }
  [[nodiscard]] uint32_t count() const { return count_; }
  // No two nodes share a value.
  [[nodiscard]] bool one_node_each() const { return one_node_each_; }
  [[nodiscard]] uint32_t Of(const NodeView& node) const { return Of(node.block.rows(), node.row); }
  [[nodiscard]] uint32_t Of(const NodeRows& rows, uint32_t row) const {
    const LabelValueId value = rows.label_columns[column_].values[row];
    return value.valid() ? by_value_[value.index()] : kNone;
  }

  // Adds factor times the count on every node to the sum of its domain. REQUIRES: sums has count()
  // entries.
  void AddTo(std::span<int64_t> sums, BlockSpan blocks, PodCountId count, int64_t factor) const;
  // The same for pods that are yet to come.
  void AddPromisedTo(std::span<int64_t> sums, BlockSpan blocks, PodCountId count) const;

 private:
  void Add(std::span<const PodCounts::Entry> entries, const NodeRows& rows, int64_t factor,
           std::span<int64_t> sums) const;

  size_t column_;
  uint32_t count_ = 0;
  bool one_node_each_ = true;
  std::vector<uint32_t> by_value_;  // by LabelValueId
};

}  // namespace maniple
