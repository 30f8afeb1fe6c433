#include "scheduler/app/metrics/metrics_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace maniple {

std::string Label(absl::string_view name, absl::string_view value) {
  // Most values need no escapes, and there are thousands of them in a scrape.
  const auto is_escaped = [](char c) { return c == '\\' || c == '"' || c == '\n'; };
  if (std::ranges::none_of(value, is_escaped)) return absl::StrCat(name, "=\"", value, "\"");
  return absl::StrCat(name, "=\"",
                      absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
                      "\"");
}

double InBaseUnits(absl::string_view resource, Amount amount) {
  return static_cast<double>(amount.units()) / (resource == "cpu" ? 1000 : 1);
}

void MetricText::Begin(absl::string_view name, absl::string_view help, absl::string_view type) {
  absl::StrAppend(&out_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void MetricText::Add(absl::string_view name, absl::string_view labels, absl::string_view more,
                     double value) {
  constexpr double kWholeBelow = 1e15;
  const bool whole = std::trunc(value) == value && std::abs(value) < kWholeBelow;
  out_.append(name.data(), name.size()).append(1, '{');
  out_.append(labels.data(), labels.size());
  out_.append(more.data(), more.size()).append("} ", 2);
  if (whole) return EndLine(static_cast<int64_t>(value));
  absl::StrAppendFormat(&out_, "%.15g\n", value);
}

void MetricText::EndLine(int64_t value) {
  std::array<char, 24> digits;
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  *end = '\n';
  out_.append(digits.data(), static_cast<size_t>(end + 1 - digits.data()));
}

}  // namespace maniple
