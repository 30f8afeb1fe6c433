#include "plugins/framework/node_terms.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace maniple {
namespace {

bool IsAlphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// A label value, or the name in a label key.
bool IsLabelWord(absl::string_view text) {
  constexpr size_t kMost = 63;
  return !text.empty() && text.size() <= kMost && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool IsLabelPrefix(absl::string_view text) {
  constexpr size_t kMost = 253;
  if (text.size() > kMost) return false;
  const std::vector<absl::string_view> words = absl::StrSplit(text, '.');
  // A word in it may be of any length.
  return std::all_of(words.begin(), words.end(), [](absl::string_view word) {
    return !word.empty() && word.front() != '-' && word.back() != '-' &&
           std::all_of(word.begin(), word.end(), [](char c) {
             return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' ||
                    absl::ascii_islower(static_cast<unsigned char>(c));
           });
  });
}

bool IsLabelKey(absl::string_view key) {
  const size_t slash = key.find('/');
  if (slash == absl::string_view::npos) return IsLabelWord(key);
  return IsLabelPrefix(key.substr(0, slash)) && IsLabelWord(key.substr(slash + 1));
}

// Whether kube-scheduler can read the requirement; a term with one that it cannot matches nothing.
bool IsSound(const SelectorRequirement& requirement) {
  const std::vector<std::string>& values = requirement.values;
  const bool words = std::all_of(values.begin(), values.end(), [](const std::string& value) {
    return value.empty() || IsLabelWord(value);
  });
  if (!words || !IsLabelKey(requirement.key)) return false;
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return !values.empty();
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      return values.empty();
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return values.size() == 1;
  }
  return false;
}

// Fields know one name, one value, and two operators.
bool MatchesField(const SelectorRequirement& field, const std::string& node_name) {
  if (field.key != "metadata.name" || field.values.size() != 1) return false;
  switch (field.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return Satisfies(field, &node_name);
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return false;
  }
  return false;
}

}  // namespace

BoundTerm::BoundTerm(const Tables& tables, const NodeSelectorTerm& term)
    : tables_(tables), fields_(term.fields) {
  for (const SelectorRequirement& requirement : term.expressions) Add(requirement);
  matches_nothing_ = (term.expressions.empty() && term.fields.empty()) ||
                     !std::all_of(term.expressions.begin(), term.expressions.end(), IsSound);
  if (!term.fields.empty()) of_class_only_ = false;
}

BoundTerm::BoundTerm(const Tables& tables, const StringMap& selector) : tables_(tables) {
  for (const auto& [key, value] : selector.entries()) {
    Add({.key = key, .op = SelectorOperator::kIn, .values = {value}});
  }
}

void BoundTerm::Add(SelectorRequirement requirement) {
  Clause clause{.requirement = std::move(requirement), .column = std::nullopt};
  const auto& columns = tables_.label_columns;
  const auto at = std::find(columns.begin(), columns.end(), clause.requirement.key);
  if (at != columns.end()) {
    clause.column = static_cast<size_t>(at - columns.begin());
    of_class_only_ = false;
  }
  clauses_.push_back(std::move(clause));
}

bool BoundTerm::MatchesLabel(const Clause& clause, const NodeView& node) const {
  const NodeRows& rows = node.block.rows();
  if (!clause.column.has_value()) {
    const NodeClass& node_class = *tables_.classes[rows.classes[node.row].index()];
    return Satisfies(clause.requirement, node_class.labels.Find(clause.requirement.key));
  }
  const LabelValueId value = rows.label_columns[*clause.column].values[node.row];
  return Satisfies(clause.requirement,
                   value.valid() ? &tables_.label_values[value.index()] : nullptr);
}

bool BoundTerm::Matches(const NodeView& node) const {
  if (matches_nothing_) return false;
  for (const Clause& clause : clauses_) {
    if (!MatchesLabel(clause, node)) return false;
  }
  return std::all_of(fields_.begin(), fields_.end(), [&](const SelectorRequirement& field) {
    return MatchesField(field, node.block.rows().names[node.row]);
  });
}

}  // namespace maniple
