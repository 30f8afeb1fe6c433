// Labels and selectors. Plain values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace maniple {

// A small sorted map of strings: labels, annotations, node selectors.
class StringMap final {
 public:
  StringMap() = default;
  explicit StringMap(std::vector<std::pair<std::string, std::string>> entries);

  void Set(absl::string_view key, absl::string_view value);
  [[nodiscard]] const std::string* Find(absl::string_view key) const;
  // "" when absent.
  [[nodiscard]] absl::string_view Get(absl::string_view key) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& entries() const {
    return entries_;
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  friend auto operator<=>(const StringMap&, const StringMap&) = default;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;  // sorted by key, keys unique
};

enum class SelectorOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
struct SelectorRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values;
  friend auto operator<=>(const SelectorRequirement&, const SelectorRequirement&) = default;
};
// Whether a label of this value (nullptr = the label is absent) meets the requirement,
// as kube-scheduler decides it. An absent label meets kNotIn and kDoesNotExist;
// kGt and kLt need whole numbers on both sides.
[[nodiscard]] bool Satisfies(const SelectorRequirement& requirement, const std::string* value);

// Label selector of a Queue, PDB, affinity term … matchLabels folded into expressions (kIn with one
// value).
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;  // empty selects everything
  [[nodiscard]] bool Matches(const StringMap& labels) const;
  friend auto operator<=>(const LabelSelector&, const LabelSelector&) = default;
};

}  // namespace maniple
