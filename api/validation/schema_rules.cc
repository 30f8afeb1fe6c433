// The CEL rules of a schema (x-kubernetes-validations), asked of a value and of the one before it.
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/validation/schema_rule.h"
#include "api/validation/schema_walk.h"

namespace maniple {
namespace {

class RuleWalk {
 public:
  explicit RuleWalk(std::vector<FieldError>& errors) : errors_(errors) {}

  void Visit(const SchemaNode& node, const Json& value, const Json* old) {
    if (errors_.size() >= kMaxFieldErrors || exhausted_ || value.is_null()) return;
    for (const auto& rule : node.rules) Apply(*rule, node, value, old);
    const auto visit = [this](const SchemaNode& schema, const Json& child, const Json* old_child) {
      Visit(schema, child, old_child);
    };
    VisitItems(node, value, old, path_, visit);
    VisitMembers(node, value, old, path_, visit);
  }

 private:
  void Apply(const SchemaRule& rule, const SchemaNode& node, const Json& value, const Json* old) {
    if (!rule.program.has_value() || exhausted_) return;
    const bool transition = rule.program->UsesOldSelf();
    if (transition && old == nullptr && !rule.optional_old_self) return;
    if (!transition && old != nullptr && *old == value) return;
    const CelInput input = {.self = &value,
                            .old_self = old,
                            .schema = &node,
                            .old_self_as = rule.optional_old_self ? CelInput::OldSelf::kOptional
                                                                  : CelInput::OldSelf::kValue};
    const absl::StatusOr<CelValue> answer = rule.program->Evaluate(input, budget_);
    const bool* truth = answer.ok() ? answer->As<bool>() : nullptr;
    if (truth != nullptr && *truth) return;
    if (truth != nullptr) return Refuse(rule, value, MessageOf(rule, input));
    Fail(rule, node, answer.ok() ? "the rule is no condition" : answer.status().message());
    if (absl::IsResourceExhausted(answer.status()) && budget_.remaining <= 0) exhausted_ = true;
  }

  std::string MessageOf(const SchemaRule& rule, const CelInput& input) {
    if (rule.message_expression.has_value()) {
      const absl::StatusOr<CelValue> computed = rule.message_expression->Evaluate(input, budget_);
      const auto text = computed.ok() ? computed->AsText() : std::nullopt;
      if (text.has_value() && !absl::StripAsciiWhitespace(*text).empty() &&
          !absl::StrContains(*text, "\n")) {
        return std::string(*text);
      }
    }
    return rule.message.empty() ? absl::StrCat("failed rule: ", rule.rule) : rule.message;
  }

  void Refuse(const SchemaRule& rule, const Json& value, const std::string& message) {
    const bool compound = value.is_array() || value.is_object();
    const std::string printed = compound ? "" : absl::StrCat(": ", PrintedValue(value));
    std::string text;
    switch (rule.reason) {
      case FieldErrorReason::kRequired:
        text = absl::StrCat("Required value: ", message);
        break;
      case FieldErrorReason::kForbidden:
        text = absl::StrCat("Forbidden: ", message);
        break;
      case FieldErrorReason::kDuplicate:
        text = absl::StrCat("Duplicate value", printed);
        break;
      case FieldErrorReason::kInvalid:
      case FieldErrorReason::kNotSupported:
      case FieldErrorReason::kTypeInvalid:
      case FieldErrorReason::kTooLong:
      case FieldErrorReason::kTooMany:
        text = absl::StrCat("Invalid value", printed, ": ", message);
        break;
    }
    Report(rule, rule.reason, std::move(text));
  }

  // The rule could not be evaluated: that refuses the object too.
  void Fail(const SchemaRule& rule, const SchemaNode& node, absl::string_view problem) {
    Report(rule, FieldErrorReason::kInvalid,
           absl::StrCat("Invalid value: \"", TypeNameOf(node.type), "\": ", problem,
                        " evaluating rule: ", rule.message.empty() ? rule.rule : rule.message));
  }

  void Report(const SchemaRule& rule, FieldErrorReason reason, std::string message) {
    std::string path = absl::StrCat(path_.text(), rule.field_path);
    if (absl::StartsWith(path, ".")) path.erase(0, 1);
    if (path.empty()) path = kNoField;
    errors_.push_back({.path = std::move(path), .reason = reason, .message = std::move(message)});
  }

  std::vector<FieldError>& errors_;
  FieldPath path_;
  CelBudget budget_;
  bool exhausted_ = false;
};

}  // namespace

void ValidateRules(const SchemaNode& root, const Json& object, const Json* old,
                   std::vector<FieldError>& errors) {
  RuleWalk(errors).Visit(root, object, old);
}

}  // namespace maniple
