// Holds a value to the types, bounds and formats of a schema.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/codec/utf8.h"
#include "api/validation/schema_walk.h"

namespace maniple {
namespace {

absl::string_view TypeNameOf(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull:
      return "null";
    case Json::Type::kBool:
      return "boolean";
    case Json::Type::kInt:
      return "integer";
    case Json::Type::kDouble:
      return "number";
    case Json::Type::kString:
      return "string";
    case Json::Type::kArray:
      return "array";
    case Json::Type::kObject:
      return "object";
  }
  return "null";
}

bool IsWhole(const Json& value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (value.is_int()) return true;
  const double number = value.AsDouble();
  return value.is_number() && std::trunc(number) == number && std::abs(number) < kLimit;
}

bool HasType(const Json& value, const SchemaNode& node) {
  switch (node.type) {
    case SchemaNode::Type::kAny:
      return node.int_or_string == SchemaNode::IntOrString::kNo || value.is_string() ||
             IsWhole(value);
    case SchemaNode::Type::kObject:
      return value.is_object();
    case SchemaNode::Type::kArray:
      return value.is_array();
    case SchemaNode::Type::kString:
      return value.is_string();
    case SchemaNode::Type::kInteger:
      return IsWhole(value);
    case SchemaNode::Type::kNumber:
      return value.is_number();
    case SchemaNode::Type::kBoolean:
      return value.is_bool();
  }
  return false;
}

// False when `value` is below the limit of a minimum, or at one that is exclusive.
bool WithinBound(const Json& value, const NumberBound& bound, int direction) {
  const bool exact = value.is_int() && bound.limit.is_int();
  const double distance =
      exact ? 0 : (value.AsDouble() - bound.limit.AsDouble()) * static_cast<double>(direction);
  const bool at_limit = exact ? value.AsInt() == bound.limit.AsInt() : distance == 0;
  if (at_limit) return bound.edge == NumberBound::Edge::kInclusive;
  if (exact) return (value.AsInt() > bound.limit.AsInt()) == (direction > 0);
  return distance > 0;
}

class ValueWalk {
 public:
  explicit ValueWalk(std::vector<FieldError>& errors) : errors_(errors) {}

  void Visit(const SchemaNode& node, const Json& value, const Json* old) {
    if (errors_.size() >= kMaxFieldErrors) return;
    if (old != nullptr && *old == value) return;  // what did not change is tolerated
    if (value.is_null() && node.nulls == SchemaNode::Nulls::kAllowed) return;
    if (!node.allowed.empty()) CheckEnum(node, value);
    if (!HasType(value, node)) {
      WrongType(node, value);
      return CheckJunctions(node, value);
    }
    if (value.is_number()) CheckNumber(node, value);
    if (value.is_string()) CheckText(node, value.AsString());
    CheckJunctions(node, value);
    if (value.is_array()) CheckItems(node, value, old);
    if (value.is_object()) CheckMembers(node, value, old);
  }

 private:
  void Report(FieldErrorReason reason, std::string message) {
    errors_.push_back({.path = path_.text(), .reason = reason, .message = std::move(message)});
  }

  // "Invalid value: 0: spec.size in body should be …"
  void ReportInvalid(absl::string_view printed, absl::string_view rest) {
    Report(FieldErrorReason::kInvalid,
           absl::StrCat("Invalid value: ", printed, ": ", path_.text(), " in body ", rest));
  }

  void ReportType(absl::string_view wanted, absl::string_view printed) {
    Report(FieldErrorReason::kTypeInvalid,
           absl::StrCat("Invalid value: ", printed, ": ", path_.text(), " in body must be of type ",
                        wanted, ": ", printed));
  }

  void ReportWithoutField(absl::string_view text) {
    errors_.push_back({.path = kNoField,
                       .reason = FieldErrorReason::kInvalid,
                       .message = absl::StrCat("Invalid value: \"\": ", text)});
  }

  void WrongType(const SchemaNode& node, const Json& value) {
    const bool fraction = node.type == SchemaNode::Type::kInteger && value.is_number();
    if (fraction && !node.format_name.empty()) {
      ReportType(node.format_name, "\"float64\"");
    } else {
      const bool any = node.type == SchemaNode::Type::kAny;
      ReportType(any ? "integer,string" : TypeNameOf(node.type),
                 absl::StrCat("\"", TypeNameOf(value), "\""));
    }
    if (fraction) OutsideFormat(node);
  }

  void OutsideFormat(const SchemaNode& node) {
    const std::string format = node.format_name.empty()
                                   ? " (default format)"
                                   : absl::StrCat(" with format ", node.format_name);
    ReportWithoutField(
        absl::StrCat("Checked value must be of type integer", format, " in ", path_.text()));
  }

  void CheckEnum(const SchemaNode& node, const Json& value) {
    if (std::find(node.allowed.begin(), node.allowed.end(), value) != node.allowed.end()) return;
    const auto quote = [](std::string* out, const Json& allowed) {
      absl::StrAppend(out, allowed.is_string() ? allowed.Dump() : Json(allowed.Dump()).Dump());
    };
    Report(FieldErrorReason::kNotSupported,
           absl::StrCat("Unsupported value: ", PrintedValue(value),
                        ": supported values: ", absl::StrJoin(node.allowed, ", ", quote)));
  }

  // The limit as it prints beside this value: of the same kind.
  static std::string PrintedLimit(const Json& limit, const Json& value) {
    return PrintedValue(value.is_int() ? limit : Json(limit.AsDouble()));
  }

  void CheckBound(const std::optional<NumberBound>& bound, const Json& value, int direction) {
    if (!bound.has_value() || WithinBound(value, *bound, direction)) return;
    const bool inclusive = bound->edge == NumberBound::Edge::kInclusive;
    ReportInvalid(PrintedValue(value),
                  absl::StrCat("should be ", direction > 0 ? "greater" : "less", " than ",
                               inclusive ? "or equal to " : "", PrintedLimit(bound->limit, value)));
  }

  void CheckNumber(const SchemaNode& node, const Json& value) {
    CheckBound(node.minimum, value, 1);
    CheckBound(node.maximum, value, -1);
    if (node.multiple_of.has_value()) {
      const double quotient = value.AsDouble() / *node.multiple_of;
      if (std::abs(quotient - std::round(quotient)) > 1e-9) {
        ReportInvalid(PrintedValue(value), absl::StrCat("should be a multiple of ",
                                                        PrintedValue(Json(*node.multiple_of))));
      }
    }
    const double number = value.AsDouble();
    const bool beyond = number < std::numeric_limits<int32_t>::min() ||
                        number > std::numeric_limits<int32_t>::max();
    if (node.type == SchemaNode::Type::kInteger && node.format_name == "int32" && beyond) {
      OutsideFormat(node);
    }
  }

  void CheckText(const SchemaNode& node, const std::string& text) {
    const auto quoted = [&text] { return Json(text).Dump(); };
    const int64_t length = CodePoints(text);
    // Of length and pattern only the first that fails is named; a pattern never runs over what is
    // too long.
    if (node.length.most.has_value() && length > *node.length.most) {
      return Report(FieldErrorReason::kTooLong,
                    absl::StrCat("Too long: may not be more than ", *node.length.most,
                                 *node.length.most == 1 ? " byte" : " bytes"));
    }
    if (node.length.least.has_value() && length < *node.length.least) {
      ReportInvalid(quoted(),
                    absl::StrCat("should be at least ", *node.length.least, " chars long"));
    } else if (node.pattern.has_value() && !node.pattern->Matches(text)) {
      ReportInvalid(quoted(), absl::StrCat("should match '", node.pattern_text, "'"));
    }
    if (!MatchesFormat(node.format, text)) ReportType(node.format_name, quoted());
  }

  std::vector<FieldError> ErrorsOf(const SchemaNode& nested, const Json& value) const {
    std::vector<FieldError> found;
    ValueWalk walk(found);
    walk.path_ = path_;
    walk.Visit(nested, value, nullptr);
    return found;
  }

  // How many of `nested` accept the value; the errors of the first that does not go to `errors`.
  size_t CountAccepting(const std::vector<SchemaNode>& nested, const Json& value,
                        std::vector<FieldError>& errors) const {
    size_t accepting = 0;
    for (const SchemaNode& each : nested) {
      std::vector<FieldError> found = ErrorsOf(each, value);
      if (found.empty()) ++accepting;
      if (errors.empty()) errors = std::move(found);
    }
    return accepting;
  }

  void ReportJunction(absl::string_view what, std::vector<FieldError> causes) {
    ReportWithoutField(absl::StrCat("\"", path_.text(), "\" must ", what));
    for (FieldError& cause : causes) errors_.push_back(std::move(cause));
  }

  void CheckJunctions(const SchemaNode& node, const Json& value) {
    std::vector<FieldError> causes;
    if (!node.any_of.empty() && CountAccepting(node.any_of, value, causes) == 0) {
      ReportJunction("validate at least one schema (anyOf)", std::move(causes));
    }
    causes.clear();
    const size_t one = CountAccepting(node.one_of, value, causes);
    if (!node.one_of.empty() && one == 0) {
      ReportJunction("validate one and only one schema (oneOf). Found none valid",
                     std::move(causes));
    } else if (one > 1) {
      ReportJunction(absl::StrCat("validate one and only one schema (oneOf). Found ", one,
                                  " valid alternatives"),
                     {});
    }
    causes.clear();
    const size_t all = CountAccepting(node.all_of, value, causes);
    if (all != node.all_of.size()) {
      ReportJunction(
          absl::StrCat("validate all the schemas (allOf)", all == 0 ? ". None validated" : ""),
          std::move(causes));
    }
    if (node.negated != nullptr && ErrorsOf(*node.negated, value).empty()) {
      ReportJunction("not validate the schema (not)", {});
    }
  }

  // "Too many: 3: must have at most 2 items", and its opposite.
  void CheckCount(const SizeBounds& bounds, int64_t count, absl::string_view noun) {
    if (bounds.most.has_value() && count > *bounds.most) {
      Report(FieldErrorReason::kTooMany,
             absl::StrCat("Too many: ", count, ": must have at most ", *bounds.most,
                          *bounds.most == 1 ? " item" : " items"));
    }
    if (bounds.least.has_value() && count < *bounds.least) {
      ReportInvalid(absl::StrCat(count),
                    absl::StrCat("should have at least ", *bounds.least, " ", noun));
    }
  }

  void CheckItems(const SchemaNode& node, const Json& value, const Json* old) {
    CheckCount(node.item_count, static_cast<int64_t>(value.size()), "items");
    if (node.unique_items) CheckUnique(value);
    VisitItems(node, value, old, path_,
               [this](const SchemaNode& schema, const Json& item, const Json* old_item) {
                 Visit(schema, item, old_item);
               });
  }

  void CheckUnique(const Json& value) {
    std::vector<std::string> printed;
    for (const Json& item : value.items()) printed.push_back(item.Dump());
    std::sort(printed.begin(), printed.end());
    if (std::adjacent_find(printed.begin(), printed.end()) == printed.end()) return;
    ReportInvalid(value.Dump(), "shouldn't contain duplicates");
  }

  void CheckMembers(const SchemaNode& node, const Json& value, const Json* old) {
    CheckCount(node.property_count, static_cast<int64_t>(value.size()), "properties");
    for (const std::string& name : node.required) {
      if (value.Has(name)) continue;
      const FieldPath::Step step = path_.Field(name);
      Report(FieldErrorReason::kRequired, "Required value");
    }
    for (const auto& [name, member] : value.members()) {
      const SchemaNode* schema = node.Member(name);
      if (schema == nullptr) continue;
      const FieldPath::Step step = path_.Field(name);
      Visit(*schema, member, OldMember(old, name));
    }
  }

  std::vector<FieldError>& errors_;
  FieldPath path_;
};

// Walks lists and says which items repeat an earlier one.
class ListWalk {
 public:
  explicit ListWalk(std::vector<FieldError>& errors) : errors_(errors) {}

  void Visit(const SchemaNode& node, const Json& value, const Json* old) {
    if (errors_.size() >= kMaxFieldErrors || (old != nullptr && *old == value)) return;
    if (value.is_array() && node.items != nullptr &&
        node.list_type != SchemaNode::ListType::kAtomic) {
      CheckRepeats(node, value);
    }
    const auto visit = [this](const SchemaNode& schema, const Json& child, const Json* old_child) {
      Visit(schema, child, old_child);
    };
    VisitItems(node, value, old, path_, visit);
    VisitMembers(node, value, old, path_, visit);
  }

 private:
  static Json IdentityOf(const SchemaNode& list, const Json& item) {
    if (list.list_type == SchemaNode::ListType::kSet) return item;
    Json identity = Json::Object();
    for (const std::string& key : list.list_map_keys) {
      if (const Json* value = item.Find(key)) identity.Set(key, *value);
    }
    return identity;
  }

  void CheckRepeats(const SchemaNode& list, const Json& value) {
    absl::flat_hash_map<std::string, bool> reported;  // identity -> named already
    size_t index = 0;
    for (const Json& item : value.items()) {
      const std::string identity = IdentityOf(list, item).Dump();
      const FieldPath::Step step = path_.Item(index++);
      const auto [at, fresh] = reported.try_emplace(identity, false);
      if (fresh || at->second || errors_.size() >= kMaxFieldErrors) continue;
      at->second = true;
      errors_.push_back({.path = path_.text(),
                         .reason = FieldErrorReason::kDuplicate,
                         .message = absl::StrCat("Duplicate value: ", identity)});
    }
  }

  std::vector<FieldError>& errors_;
  FieldPath path_;
};

}  // namespace

absl::string_view TypeNameOf(SchemaNode::Type type) {
  switch (type) {
    case SchemaNode::Type::kAny:
      return "";
    case SchemaNode::Type::kObject:
      return "object";
    case SchemaNode::Type::kArray:
      return "array";
    case SchemaNode::Type::kString:
      return "string";
    case SchemaNode::Type::kInteger:
      return "integer";
    case SchemaNode::Type::kNumber:
      return "number";
    case SchemaNode::Type::kBoolean:
      return "boolean";
  }
  return "";
}

void ValidateValues(const SchemaNode& root, const Json& object, const Json* old,
                    std::vector<FieldError>& errors) {
  ValueWalk(errors).Visit(root, object, old);
}

void ValidateLists(const SchemaNode& root, const Json& object, const Json* old,
                   std::vector<FieldError>& errors) {
  ListWalk(errors).Visit(root, object, old);
}

}  // namespace maniple
