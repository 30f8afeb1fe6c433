#include "api/model/model.h"

#include <algorithm>

#include "absl/strings/numbers.h"

namespace maniple {
namespace {

// strconv.ParseInt in base 10: no spaces, an optional sign, nothing else.
std::optional<int64_t> WholeNumber(absl::string_view text) {
  const absl::string_view digits =
      !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
  if (digits.empty() || digits.find_first_not_of("0123456789") != absl::string_view::npos) {
    return std::nullopt;
  }
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

bool ComparesTo(const SelectorRequirement& requirement, const std::string& value) {
  if (requirement.values.size() != 1) return false;
  const std::optional<int64_t> have = WholeNumber(value);
  const std::optional<int64_t> bound = WholeNumber(requirement.values[0]);
  if (!have.has_value() || !bound.has_value()) return false;
  return requirement.op == SelectorOperator::kGt ? *have > *bound : *have < *bound;
}

using Entry = std::pair<std::string, std::string>;

auto LowerBound(const std::vector<Entry>& entries, absl::string_view key) {
  return std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const Entry& entry, absl::string_view wanted) { return entry.first < wanted; });
}

}  // namespace

StringMap::StringMap(std::vector<std::pair<std::string, std::string>> entries)
    : entries_(std::move(entries)) {
  const auto by_key = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  std::stable_sort(entries_.begin(), entries_.end(), by_key);
  // Of equal keys the last one counts.
  const auto same_key = [](const Entry& a, const Entry& b) { return a.first == b.first; };
  const auto kept = std::unique(entries_.rbegin(), entries_.rend(), same_key);
  entries_.erase(entries_.begin(), kept.base());
}

void StringMap::Set(absl::string_view key, absl::string_view value) {
  const auto at = LowerBound(entries_, key);
  const auto index = at - entries_.begin();
  if (at != entries_.end() && at->first == key) {
    entries_[static_cast<size_t>(index)].second = std::string(value);
    return;
  }
  entries_.emplace(at, std::string(key), std::string(value));
}

const std::string* StringMap::Find(absl::string_view key) const {
  const auto at = LowerBound(entries_, key);
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

absl::string_view StringMap::Get(absl::string_view key) const {
  const std::string* value = Find(key);
  return value != nullptr ? absl::string_view(*value) : absl::string_view();
}

bool Satisfies(const SelectorRequirement& requirement, const std::string* value) {
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return value != nullptr && listed();
    case SelectorOperator::kNotIn:
      return value == nullptr || !listed();
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return value != nullptr && ComparesTo(requirement, *value);
  }
  return false;
}

bool LabelSelector::Matches(const StringMap& labels) const {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const SelectorRequirement& requirement) {
                       return Satisfies(requirement, labels.Find(requirement.key));
                     });
}

bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  const auto matches = [&taint](const Toleration& toleration) {
    if (toleration.effect.has_value() && *toleration.effect != taint.effect) return false;
    if (!toleration.key.empty() && toleration.key != taint.key) return false;
    return toleration.op == TolerationOperator::kExists || toleration.value == taint.value;
  };
  return std::any_of(tolerations.begin(), tolerations.end(), matches);
}

}  // namespace maniple
