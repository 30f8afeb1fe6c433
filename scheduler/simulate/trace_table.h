// Delimited text with a line of names on top.
//
//   ASSIGN_OR_RETURN(TraceTable table, TraceTable::Read(text, ','));
//   ASSIGN_OR_RETURN(double seconds, table.Number(row, "duration_s", 0, 1e9));
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maniple {

inline constexpr int64_t kMostTraceJobs = 5'000'000;  // rows of one file

class TraceTable final {
 public:
  // The text must outlive the table. Rows may have fewer fields than there are names. Between
  // commas a field may stand in quotes (RFC 4180), on one line.
  [[nodiscard]] static absl::StatusOr<TraceTable> Read(absl::string_view text, char delimiter);

  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] bool Has(absl::string_view column) const { return columns_.contains(column); }
  // "" where the row or the table has none.
  [[nodiscard]] absl::string_view At(size_t row, absl::string_view column) const;
  // Else InvalidArgument: `line 7, duration_s: "x" is not a number from 0 to 1e9`.
  [[nodiscard]] absl::StatusOr<double> Number(size_t row, absl::string_view column, double least,
                                              double most) const;
  // A whole number; `otherwise` where the field is empty.
  [[nodiscard]] absl::StatusOr<int64_t> Whole(size_t row, absl::string_view column, int64_t least,
                                              int64_t most, int64_t otherwise) const;
  [[nodiscard]] absl::Status Wrong(size_t row, absl::string_view column,
                                   absl::string_view expected) const;

 private:
  [[nodiscard]] absl::StatusOr<std::vector<absl::string_view>> SplitQuoted(absl::string_view row);

  absl::flat_hash_map<std::string, size_t> columns_;
  std::vector<std::vector<absl::string_view>> rows_;
  std::vector<size_t> lines_;         // of each row, from 1
  std::deque<std::string> unquoted_;  // fields that had quotes inside
};

}  // namespace maniple
