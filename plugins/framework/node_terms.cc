#include "plugins/framework/node_terms.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

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
    : tables_(tables), fields_(&term.fields) {
  for (const SelectorRequirement& requirement : term.expressions) Add(requirement);
  matches_nothing_ = term.expressions.empty() && term.fields.empty();
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
  if (fields_ == nullptr) return true;
  return std::all_of(fields_->begin(), fields_->end(), [&](const SelectorRequirement& field) {
    return MatchesField(field, node.block.rows().names[node.row]);
  });
}

}  // namespace maniple
