#include "scheduler/simulate/trace_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/base/status_macros.h"

namespace maniple {

absl::StatusOr<std::vector<absl::string_view>> TraceTable::SplitQuoted(absl::string_view row) {
  std::vector<absl::string_view> fields;
  for (size_t at = 0; at <= row.size();) {
    if (at == row.size() || row[at] != '"') {
      const size_t end = std::min(row.find(',', at), row.size());
      fields.push_back(row.substr(at, end - at));
      at = end + 1;
      continue;
    }
    size_t end = row.find('"', at + 1);
    while (end != absl::string_view::npos && row.substr(end, 2) == "\"\"") {
      end = row.find('"', end + 2);
    }
    if (end == absl::string_view::npos) {
      return absl::InvalidArgumentError("a quote is opened and not closed");
    }
    const absl::string_view inside = row.substr(at + 1, end - at - 1);
    fields.push_back(absl::StrContains(inside, '"')
                         ? unquoted_.emplace_back(absl::StrReplaceAll(inside, {{"\"\"", "\""}}))
                         : inside);
    at = end + 1;
    if (at < row.size() && row[at] != ',') {
      return absl::InvalidArgumentError("a comma is missing after a quoted field");
    }
    ++at;
  }
  return fields;
}

absl::StatusOr<TraceTable> TraceTable::Read(absl::string_view text, char delimiter) {
  TraceTable table;
  size_t line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    row = absl::StripSuffix(row, "\r");
    if (row.empty()) continue;
    std::vector<absl::string_view> fields;
    if (delimiter == ',' && absl::StrContains(row, '"')) {
      absl::StatusOr<std::vector<absl::string_view>> split = table.SplitQuoted(row);
      if (!split.ok()) return Annotate(split.status(), absl::StrCat("line ", line));
      fields = *std::move(split);
    } else {
      fields = absl::StrSplit(row, delimiter);
    }
    if (table.columns_.empty()) {
      for (size_t i = 0; i < fields.size(); ++i) {
        table.columns_.try_emplace(std::string(absl::StripAsciiWhitespace(fields[i])), i);
      }
      continue;
    }
    if (table.rows_.size() == kMostTraceJobs) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line, ": more than ", kMostTraceJobs, " rows"));
    }
    table.rows_.push_back(std::move(fields));
    table.lines_.push_back(line);
  }
  return table;
}

absl::string_view TraceTable::At(size_t row, absl::string_view column) const {
  const auto at = columns_.find(column);
  if (at == columns_.end() || at->second >= rows_[row].size()) return "";
  return absl::StripAsciiWhitespace(rows_[row][at->second]);
}

absl::Status TraceTable::Wrong(size_t row, absl::string_view column,
                               absl::string_view expected) const {
  return absl::InvalidArgumentError(absl::StrCat("line ", lines_[row], ", ", column, ": \"",
                                                 At(row, column).substr(0, 60), "\" is not ",
                                                 expected));
}

absl::StatusOr<double> TraceTable::Number(size_t row, absl::string_view column, double least,
                                          double most) const {
  double number = 0;
  if (absl::SimpleAtod(At(row, column), &number) && number >= least && number <= most) {
    return number;
  }
  return Wrong(row, column, absl::StrCat("a number from ", least, " to ", most));
}

absl::StatusOr<int64_t> TraceTable::Whole(size_t row, absl::string_view column, int64_t least,
                                          int64_t most, int64_t otherwise) const {
  if (At(row, column).empty()) return otherwise;
  ASSIGN_OR_RETURN(const double number,
                   Number(row, column, static_cast<double>(least), static_cast<double>(most)));
  if (number == std::floor(number)) return static_cast<int64_t>(number);
  return Wrong(row, column, "a whole number");
}

}  // namespace maniple
