// Evaluates a parsed CEL expression, within a budget of steps.
#include "api/validation/cel.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "api/validation/cel_parser.h"

namespace maniple {
namespace {

using Answer = absl::StatusOr<CelValue>;
using Kind = CelExpr::Kind;

constexpr int64_t kCallBudget = 1'000'000;

absl::Status OutOfBudget() { return absl::ResourceExhaustedError("the cost limit is exceeded"); }

bool IsOutOfBudget(const absl::Status& status) { return absl::IsResourceExhausted(status); }

class Evaluator {
 public:
  Evaluator(size_t slots, int64_t budget) : slots_(slots), budget_(budget) {}

  void Bind(size_t slot, CelValue value) { slots_[slot] = std::move(value); }
  int64_t budget() const { return budget_; }

  Answer Evaluate(const CelExpr& node) {
    RETURN_IF_ERROR(Spend(1));
    switch (node.kind) {
      case Kind::kLiteral:
        return node.literal;
      case Kind::kText:
        return CelValue::BorrowedText(node.name);
      case Kind::kVariable:
        return slots_[node.slot];
      case Kind::kSelect:
      case Kind::kOptionalSelect:
      case Kind::kHas:
        return Select(node);
      case Kind::kIndex:
      case Kind::kOptionalIndex:
        return Index(node);
      case Kind::kCall:
        return Call(node);
      case Kind::kMatches:
        return Matches(node);
      case Kind::kArithmetic:
        return Arithmetic(node);
      case Kind::kNegate:
        return Negate(node);
      case Kind::kEqual:
      case Kind::kUnequal:
        return Equality(node);
      case Kind::kLess:
      case Kind::kLessOrEqual:
      case Kind::kGreater:
      case Kind::kGreaterOrEqual:
        return Comparison(node);
      case Kind::kIn:
        return In(node);
      case Kind::kNot:
        return Not(node);
      case Kind::kAnd:
        return Junction(node, false);
      case Kind::kOr:
        return Junction(node, true);
      case Kind::kConditional:
        return Conditional(node);
      case Kind::kList:
        return List(node);
      case Kind::kMap:
        return Map(node);
      case Kind::kAll:
        return Quantified(node, false);
      case Kind::kExists:
        return Quantified(node, true);
      case Kind::kExistsOne:
        return ExistsOne(node);
      case Kind::kFilter:
        return Filter(node);
      case Kind::kMapItems:
        return MapItems(node);
    }
    return absl::InternalError("unknown expression");
  }

 private:
  absl::Status Spend(int64_t cost) {
    budget_ -= cost;
    return budget_ < 0 ? OutOfBudget() : absl::OkStatus();
  }

  absl::StatusOr<bool> Truth(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue value, Evaluate(node));
    if (const bool* truth = value.As<bool>()) return *truth;
    return NoOverload("a condition", value);
  }

  // What `key` selects; nullopt when there is no such member.
  absl::StatusOr<std::optional<CelValue>> Lookup(const CelValue& from, absl::string_view key) {
    if (const auto* optional = from.As<CelValue::Optional>()) {
      if (optional->value == nullptr) return std::optional<CelValue>();
      return Lookup(*optional->value, key);
    }
    if (!from.is_map()) return NoOverload(absl::StrCat("field ", key), from);
    RETURN_IF_ERROR(Spend(*from.Size() / 16));  // members are searched in order
    return from.Member(key);
  }

  Answer Select(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue operand, Evaluate(node.children[0]));
    ASSIGN_OR_RETURN(std::optional<CelValue> member, Lookup(operand, node.name));
    if (node.kind == Kind::kHas) return CelValue::Bool(member.has_value());
    const bool optional =
        node.kind == Kind::kOptionalSelect || operand.As<CelValue::Optional>() != nullptr;
    if (optional) return member.has_value() ? CelValue::Some(*std::move(member)) : CelValue::None();
    if (member.has_value()) return *std::move(member);
    return absl::InvalidArgumentError(absl::StrCat("no such key: ", node.name));
  }

  Answer Index(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue operand, Evaluate(node.children[0]));
    ASSIGN_OR_RETURN(const CelValue key, Evaluate(node.children[1]));
    std::optional<CelValue> found;
    if (operand.is_list()) {
      const int64_t* index = key.As<int64_t>();
      if (index == nullptr) return NoOverload("a list index", key);
      if (*index >= 0 && *index < *operand.Size()) found = operand.ItemAt(*index);
    } else {
      const auto text = key.AsText();
      if (!text.has_value()) return NoOverload("a map key", key);
      ASSIGN_OR_RETURN(found, Lookup(operand, *text));
    }
    if (node.kind == Kind::kOptionalIndex) {
      return found.has_value() ? CelValue::Some(*std::move(found)) : CelValue::None();
    }
    if (found.has_value()) return *std::move(found);
    return absl::InvalidArgumentError(operand.is_list() ? "index out of bounds" : "no such key");
  }

  Answer Call(const CelExpr& node) {
    absl::InlinedVector<CelValue, 3> arguments;
    int64_t cost = node.function->cost;
    for (const CelExpr& child : node.children) {
      ASSIGN_OR_RETURN(CelValue argument, Evaluate(child));
      cost += CelWeight(argument);
      arguments.push_back(std::move(argument));
    }
    RETURN_IF_ERROR(Spend(cost));
    Answer answer = node.function->call(arguments);
    if (answer.ok()) RETURN_IF_ERROR(Spend(CelWeight(*answer)));
    return answer;
  }

  Answer Matches(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue subject, Evaluate(node.children[0]));
    const auto text = subject.AsText();
    if (!text.has_value()) return NoOverload("matches", subject);
    RETURN_IF_ERROR(Spend(CelWeight(subject)));
    return CelValue::Bool(node.pattern->Matches(*text));
  }

  Answer Arithmetic(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue a, Evaluate(node.children[0]));
    ASSIGN_OR_RETURN(const CelValue b, Evaluate(node.children[1]));
    RETURN_IF_ERROR(Spend(CelWeight(a) + CelWeight(b)));
    return CelCompute(node.operation, a, b);
  }

  Answer Negate(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue value, Evaluate(node.children[0]));
    if (const auto* number = value.As<double>()) return CelValue::Double(-*number);
    return CelCompute(CelArithmetic::kSubtract, CelValue::Int(0), value);
  }

  Answer Equality(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue a, Evaluate(node.children[0]));
    ASSIGN_OR_RETURN(const CelValue b, Evaluate(node.children[1]));
    RETURN_IF_ERROR(Spend(DeepWeight(a) + DeepWeight(b)));
    return CelValue::Bool(CelEquals(a, b) == (node.kind == Kind::kEqual));
  }

  Answer Comparison(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue a, Evaluate(node.children[0]));
    ASSIGN_OR_RETURN(const CelValue b, Evaluate(node.children[1]));
    RETURN_IF_ERROR(Spend(std::min(CelWeight(a), CelWeight(b))));
    ASSIGN_OR_RETURN(const int order, CelCompare(a, b));
    const bool smaller = node.kind == Kind::kLess || node.kind == Kind::kLessOrEqual;
    const bool or_equal = node.kind == Kind::kLessOrEqual || node.kind == Kind::kGreaterOrEqual;
    return CelValue::Bool(order == 0 ? or_equal : (order < 0) == smaller);
  }

  Answer In(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue item, Evaluate(node.children[0]));
    ASSIGN_OR_RETURN(const CelValue range, Evaluate(node.children[1]));
    if (range.is_map()) {
      const auto key = item.AsText();
      return CelValue::Bool(key.has_value() && range.Member(*key).has_value());
    }
    if (!range.is_list()) return NoOverload("in", range);
    const int64_t weight = DeepWeight(item);
    for (int64_t i = 0; i < *range.Size(); ++i) {
      RETURN_IF_ERROR(Spend(weight));
      if (CelEquals(range.ItemAt(i), item)) return CelValue::Bool(true);
    }
    return CelValue::Bool(false);
  }

  Answer Not(const CelExpr& node) {
    ASSIGN_OR_RETURN(const bool truth, Truth(node.children[0]));
    return CelValue::Bool(!truth);
  }

  // && and ||: an operand that decides wins over operands that fail, on either side.
  Answer Junction(const CelExpr& node, bool decisive) {
    absl::Status failure;
    for (const CelExpr& child : node.children) {
      const absl::StatusOr<bool> truth = Truth(child);
      if (truth.ok() && *truth == decisive) return CelValue::Bool(decisive);
      if (IsOutOfBudget(truth.status())) return truth.status();
      failure.Update(truth.status());
    }
    if (!failure.ok()) return failure;
    return CelValue::Bool(!decisive);
  }

  Answer Conditional(const CelExpr& node) {
    ASSIGN_OR_RETURN(const bool truth, Truth(node.children[0]));
    return Evaluate(node.children[truth ? 1 : 2]);
  }

  Answer List(const CelExpr& node) {
    CelValue::List items;
    for (const CelExpr& child : node.children) {
      ASSIGN_OR_RETURN(CelValue item, Evaluate(child));
      items.push_back(std::move(item));
    }
    return CelValue::OfList(std::move(items));
  }

  Answer Map(const CelExpr& node) {
    CelValue::Map members;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      ASSIGN_OR_RETURN(const CelValue key, Evaluate(node.children[i]));
      ASSIGN_OR_RETURN(CelValue value, Evaluate(node.children[i + 1]));
      if (!key.AsText().has_value()) return NoOverload("a map key", key);
      members.emplace_back(std::string(*key.AsText()), std::move(value));
    }
    return CelValue::OfMap(std::move(members));
  }

  // The items of a list or the keys of a map.
  Answer Range(const CelExpr& node) {
    ASSIGN_OR_RETURN(CelValue range, Evaluate(node));
    if (!range.is_list() && !range.is_map()) return NoOverload("a macro", range);
    return range;
  }

  static CelValue ElementAt(const CelValue& range, int64_t index) {
    return range.is_list() ? range.ItemAt(index) : range.KeyAt(index);
  }

  // all and exists: junctions over a range.
  Answer Quantified(const CelExpr& node, bool decisive) {
    ASSIGN_OR_RETURN(const CelValue range, Range(node.children[0]));
    absl::Status failure;
    for (int64_t i = 0; i < *range.Size(); ++i) {
      Bind(node.slot, ElementAt(range, i));
      const absl::StatusOr<bool> truth = Truth(node.children[1]);
      if (truth.ok() && *truth == decisive) return CelValue::Bool(decisive);
      if (IsOutOfBudget(truth.status())) return truth.status();
      failure.Update(truth.status());
    }
    if (!failure.ok()) return failure;
    return CelValue::Bool(!decisive);
  }

  Answer ExistsOne(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue range, Range(node.children[0]));
    int64_t count = 0;
    for (int64_t i = 0; i < *range.Size(); ++i) {
      Bind(node.slot, ElementAt(range, i));
      ASSIGN_OR_RETURN(const bool truth, Truth(node.children[1]));
      count += truth ? 1 : 0;
    }
    return CelValue::Bool(count == 1);
  }

  Answer Filter(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue range, Range(node.children[0]));
    CelValue::List kept;
    for (int64_t i = 0; i < *range.Size(); ++i) {
      CelValue element = ElementAt(range, i);
      Bind(node.slot, element);
      ASSIGN_OR_RETURN(const bool truth, Truth(node.children[1]));
      if (truth) kept.push_back(std::move(element));
    }
    return CelValue::OfList(std::move(kept));
  }

  Answer MapItems(const CelExpr& node) {
    ASSIGN_OR_RETURN(const CelValue range, Range(node.children[0]));
    const bool filtered = node.children.size() == 3;
    CelValue::List mapped;
    for (int64_t i = 0; i < *range.Size(); ++i) {
      Bind(node.slot, ElementAt(range, i));
      if (filtered) {
        ASSIGN_OR_RETURN(const bool truth, Truth(node.children[1]));
        if (!truth) continue;
      }
      ASSIGN_OR_RETURN(CelValue item, Evaluate(node.children.back()));
      RETURN_IF_ERROR(Spend(CelWeight(item)));
      mapped.push_back(std::move(item));
    }
    return CelValue::OfList(std::move(mapped));
  }

  // The work of comparing the whole value; counts the nodes of a document up to what the budget
  // could pay for.
  int64_t DeepWeight(const CelValue& value) const {
    const auto* document = value.As<CelValue::Document>();
    if (document == nullptr) return CelWeight(value);
    int64_t weight = 0;
    std::vector<const Json*> open = {document->json};
    while (!open.empty() && weight <= budget_) {
      const Json& node = *open.back();
      open.pop_back();
      weight += 1 + (node.is_string() ? static_cast<int64_t>(node.AsString().size()) / 10 : 0);
      for (const Json& item : node.items()) open.push_back(&item);
      for (const Json::Member& member : node.members()) open.push_back(&member.second);
    }
    return weight;
  }

  std::vector<CelValue> slots_;
  int64_t budget_;
};

}  // namespace

CelProgram::CelProgram(std::unique_ptr<const CelTree> tree) : tree_(std::move(tree)) {}
CelProgram::CelProgram(CelProgram&&) noexcept = default;
CelProgram& CelProgram::operator=(CelProgram&&) noexcept = default;
CelProgram::~CelProgram() = default;

absl::StatusOr<CelProgram> CelProgram::Compile(absl::string_view source) {
  ASSIGN_OR_RETURN(CelTree tree, ParseCel(source));
  return CelProgram(std::make_unique<const CelTree>(std::move(tree)));
}

bool CelProgram::UsesOldSelf() const { return tree_->uses_old_self; }

absl::StatusOr<CelValue> CelProgram::Evaluate(const CelInput& input, CelBudget& budget) const {
  const int64_t granted = std::min(kCallBudget, budget.remaining);
  Evaluator evaluator(tree_->slots, granted);
  evaluator.Bind(CelTree::kSelfSlot, CelValue::FromJson(*input.self, input.schema));
  if (input.old_self != nullptr) {
    CelValue old = CelValue::FromJson(*input.old_self, input.schema);
    const bool optional = input.old_self_as == CelInput::OldSelf::kOptional;
    evaluator.Bind(CelTree::kOldSelfSlot,
                   optional ? CelValue::Some(std::move(old)) : std::move(old));
  } else {
    evaluator.Bind(CelTree::kOldSelfSlot, CelValue::None());
  }
  absl::StatusOr<CelValue> answer = evaluator.Evaluate(tree_->root);
  budget.remaining -= granted - std::max<int64_t>(evaluator.budget(), 0);
  return answer;
}

}  // namespace maniple
