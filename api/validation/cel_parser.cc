#include "api/validation/cel_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/base/status_macros.h"
#include "api/validation/cel_lexer.h"

namespace maniple {
namespace {

using Kind = CelExpr::Kind;
using ParsedExpr = absl::StatusOr<CelExpr>;

constexpr int kMaxNesting = 64;
constexpr int kMaxHeight = 200;
constexpr int kMaxNodes = 5'000;

// Property names that are no CEL identifiers reach rules escaped.
std::string Unescaped(absl::string_view name) {
  constexpr absl::string_view kKeywords[] = {
      "true",     "false",   "null",      "in",       "as",  "break",  "const",
      "continue", "else",    "for",       "function", "if",  "import", "let",
      "loop",     "package", "namespace", "return",   "var", "void",   "while"};
  for (absl::string_view keyword : kKeywords) {
    if (name == absl::StrCat("__", keyword, "__")) return std::string(keyword);
  }
  return absl::StrReplaceAll(
      name, {{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}});
}

class Parser {
 public:
  explicit Parser(std::vector<CelToken> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<CelTree> Run() {
    ASSIGN_OR_RETURN(CelExpr root, Expression());
    if (Peek().kind != CelToken::Kind::kEnd) return Unexpected();
    return CelTree{
        .root = std::move(root), .slots = 2 + most_variables_, .uses_old_self = uses_old_self_};
  }

 private:
  const CelToken& Peek() const { return tokens_[at_]; }
  bool At(absl::string_view symbol) const {
    return Peek().kind == CelToken::Kind::kOperator && Peek().text == symbol;
  }
  bool Take(absl::string_view symbol) {
    if (!At(symbol)) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(absl::string_view symbol) {
    if (Take(symbol)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("at byte ", Peek().offset, ": expected '", symbol, "'"));
  }
  absl::Status Unexpected() const {
    const CelToken& token = Peek();
    if (token.kind == CelToken::Kind::kEnd) {
      return absl::InvalidArgumentError("the expression ends too early");
    }
    return absl::InvalidArgumentError(
        absl::StrCat("at byte ", token.offset, ": unexpected '", token.text.substr(0, 40), "'"));
  }

  // The node over its children, within the bounds on size and height.
  ParsedExpr Make(CelExpr node) {
    for (const CelExpr& child : node.children)
      node.height = std::max(node.height, child.height + 1);
    if (node.height > kMaxHeight || ++nodes_ > kMaxNodes) {
      return absl::InvalidArgumentError("the expression is too large");
    }
    return node;
  }
  ParsedExpr Make(Kind kind, CelExpr a) {
    CelExpr node{.kind = kind};
    node.children.push_back(std::move(a));
    return Make(std::move(node));
  }
  ParsedExpr Make(Kind kind, CelExpr a, CelExpr b) {
    CelExpr node{.kind = kind};
    node.children.push_back(std::move(a));
    node.children.push_back(std::move(b));
    return Make(std::move(node));
  }

  ParsedExpr Expression() {
    if (++nesting_ > kMaxNesting) {
      return absl::InvalidArgumentError(absl::StrCat("nested more than ", kMaxNesting, " levels"));
    }
    ASSIGN_OR_RETURN(CelExpr condition, AnyOf());
    if (Take("?")) {
      ASSIGN_OR_RETURN(CelExpr then, AnyOf());
      RETURN_IF_ERROR(Expect(":"));
      ASSIGN_OR_RETURN(CelExpr otherwise, Expression());
      CelExpr node{.kind = Kind::kConditional};
      node.children.push_back(std::move(condition));
      node.children.push_back(std::move(then));
      node.children.push_back(std::move(otherwise));
      ASSIGN_OR_RETURN(condition, Make(std::move(node)));
    }
    --nesting_;
    return condition;
  }

  // A chain of && or || is one flat node, however long.
  ParsedExpr Chain(Kind kind, absl::string_view symbol, ParsedExpr (Parser::*operand)()) {
    ASSIGN_OR_RETURN(CelExpr first, (this->*operand)());
    if (!At(symbol)) return first;
    CelExpr node{.kind = kind};
    node.children.push_back(std::move(first));
    while (Take(symbol)) {
      ASSIGN_OR_RETURN(CelExpr next, (this->*operand)());
      node.children.push_back(std::move(next));
    }
    return Make(std::move(node));
  }
  ParsedExpr AnyOf() { return Chain(Kind::kOr, "||", &Parser::AllOf); }
  ParsedExpr AllOf() { return Chain(Kind::kAnd, "&&", &Parser::Relation); }

  std::optional<Kind> TakeRelation() {
    if (Peek().kind == CelToken::Kind::kIdentifier && Peek().text == "in") {
      ++at_;
      return Kind::kIn;
    }
    constexpr std::pair<absl::string_view, Kind> kRelations[] = {
        {"==", Kind::kEqual},          {"!=", Kind::kUnequal}, {"<=", Kind::kLessOrEqual},
        {">=", Kind::kGreaterOrEqual}, {"<", Kind::kLess},     {">", Kind::kGreater}};
    for (const auto& [symbol, kind] : kRelations) {
      if (Take(symbol)) return kind;
    }
    return std::nullopt;
  }

  ParsedExpr Relation() {
    ASSIGN_OR_RETURN(CelExpr left, Sum());
    while (const std::optional<Kind> kind = TakeRelation()) {
      ASSIGN_OR_RETURN(CelExpr right, Sum());
      ASSIGN_OR_RETURN(left, Make(*kind, std::move(left), std::move(right)));
    }
    return left;
  }

  ParsedExpr Arithmetic(CelArithmetic operation, CelExpr left, CelExpr right) {
    ASSIGN_OR_RETURN(CelExpr node, Make(Kind::kArithmetic, std::move(left), std::move(right)));
    node.operation = operation;
    return node;
  }

  ParsedExpr Sum() {
    ASSIGN_OR_RETURN(CelExpr left, Product());
    while (At("+") || At("-")) {
      const CelArithmetic operation = At("+") ? CelArithmetic::kAdd : CelArithmetic::kSubtract;
      ++at_;
      ASSIGN_OR_RETURN(CelExpr right, Product());
      ASSIGN_OR_RETURN(left, Arithmetic(operation, std::move(left), std::move(right)));
    }
    return left;
  }

  ParsedExpr Product() {
    ASSIGN_OR_RETURN(CelExpr left, Unary());
    while (At("*") || At("/") || At("%")) {
      const CelArithmetic operation = At("*")   ? CelArithmetic::kMultiply
                                      : At("/") ? CelArithmetic::kDivide
                                                : CelArithmetic::kModulo;
      ++at_;
      ASSIGN_OR_RETURN(CelExpr right, Unary());
      ASSIGN_OR_RETURN(left, Arithmetic(operation, std::move(left), std::move(right)));
    }
    return left;
  }

  ParsedExpr Unary() {
    std::vector<Kind> signs;
    while (At("!") || At("-")) {
      signs.push_back(At("!") ? Kind::kNot : Kind::kNegate);
      ++at_;
    }
    const bool number =
        Peek().kind == CelToken::Kind::kInt || Peek().kind == CelToken::Kind::kDouble;
    CelExpr operand;
    if (number && !signs.empty() && signs.back() == Kind::kNegate) {
      signs.pop_back();
      ASSIGN_OR_RETURN(operand, Number("-"));
      ASSIGN_OR_RETURN(operand, Members(std::move(operand)));
    } else {
      ASSIGN_OR_RETURN(CelExpr primary, Primary());
      ASSIGN_OR_RETURN(operand, Members(std::move(primary)));
    }
    for (; !signs.empty(); signs.pop_back()) {
      ASSIGN_OR_RETURN(operand, Make(signs.back(), std::move(operand)));
    }
    return operand;
  }

  ParsedExpr Members(CelExpr operand) {
    while (true) {
      if (Take(".")) {
        ASSIGN_OR_RETURN(operand, Selected(std::move(operand)));
      } else if (Take("[")) {
        const Kind kind = Take("?") ? Kind::kOptionalIndex : Kind::kIndex;
        ASSIGN_OR_RETURN(CelExpr index, Expression());
        RETURN_IF_ERROR(Expect("]"));
        ASSIGN_OR_RETURN(operand, Make(kind, std::move(operand), std::move(index)));
      } else {
        return operand;
      }
    }
  }

  ParsedExpr Selected(CelExpr operand) {
    const bool optional = Take("?");
    if (Peek().kind != CelToken::Kind::kIdentifier) return Unexpected();
    const std::string name = tokens_[at_++].text;
    if (!optional && Take("(")) return ReceiverCall(std::move(operand), name);
    ASSIGN_OR_RETURN(CelExpr node,
                     Make(optional ? Kind::kOptionalSelect : Kind::kSelect, std::move(operand)));
    node.name = Unescaped(name);
    return node;
  }

  ParsedExpr ReceiverCall(CelExpr receiver, const std::string& name) {
    constexpr std::pair<absl::string_view, Kind> kMacros[] = {{"all", Kind::kAll},
                                                              {"exists", Kind::kExists},
                                                              {"exists_one", Kind::kExistsOne},
                                                              {"filter", Kind::kFilter},
                                                              {"map", Kind::kMapItems}};
    for (const auto& [macro, kind] : kMacros) {
      if (name == macro) return Macro(kind, std::move(receiver));
    }
    std::vector<CelExpr> arguments;
    arguments.push_back(std::move(receiver));
    RETURN_IF_ERROR(Items(arguments, ")"));
    return Call(name, CelFunction::Style::kReceiver, std::move(arguments));
  }

  // range.all(x, body); map() may have a filter before its body.
  ParsedExpr Macro(Kind kind, CelExpr range) {
    if (Peek().kind != CelToken::Kind::kIdentifier) return Unexpected();
    CelExpr node{.kind = kind, .slot = 2 + variables_.size()};
    node.children.push_back(std::move(range));
    variables_.push_back(tokens_[at_++].text);
    most_variables_ = std::max(most_variables_, variables_.size());
    RETURN_IF_ERROR(Expect(","));
    RETURN_IF_ERROR(Items(node.children, ")"));
    variables_.pop_back();
    const size_t bodies = node.children.size() - 1;
    if (bodies != 1 && !(kind == Kind::kMapItems && bodies == 2)) {
      return absl::UnimplementedError("a macro with this number of arguments");
    }
    return Make(std::move(node));
  }

  // Expressions up to the closing symbol, which is taken.
  absl::Status Items(std::vector<CelExpr>& items, absl::string_view close) {
    while (!Take(close)) {
      if (At("?")) return absl::UnimplementedError("optional items");
      ASSIGN_OR_RETURN(CelExpr item, Expression());
      items.push_back(std::move(item));
      if (!At(close)) RETURN_IF_ERROR(Expect(","));
    }
    return absl::OkStatus();
  }

  ParsedExpr Call(const std::string& name, CelFunction::Style style,
                  std::vector<CelExpr> arguments) {
    const CelFunction* function = FindCelFunction(name, style, arguments.size());
    if (function == nullptr) {
      return absl::UnimplementedError(
          absl::StrCat("function ", name, " with ", arguments.size(), " operands"));
    }
    CelExpr node{.kind = Kind::kCall, .function = function, .children = std::move(arguments)};
    if (name == "matches" && node.children[1].kind == Kind::kText) {
      ASSIGN_OR_RETURN(Pattern pattern, Pattern::Compile(node.children[1].name));
      node.kind = Kind::kMatches;
      node.pattern = std::move(pattern);
    }
    return Make(std::move(node));
  }

  ParsedExpr Primary() {
    switch (Peek().kind) {
      case CelToken::Kind::kInt:
      case CelToken::Kind::kDouble:
        return Number("");
      case CelToken::Kind::kText:
        return Make({.kind = Kind::kText, .name = tokens_[at_++].text});
      case CelToken::Kind::kIdentifier:
        return Identifier();
      case CelToken::Kind::kOperator:
        break;
      case CelToken::Kind::kEnd:
        return Unexpected();
    }
    if (Take("(")) {
      ASSIGN_OR_RETURN(CelExpr inner, Expression());
      RETURN_IF_ERROR(Expect(")"));
      return inner;
    }
    if (Take("[")) {
      CelExpr node{.kind = Kind::kList};
      RETURN_IF_ERROR(Items(node.children, "]"));
      return Make(std::move(node));
    }
    if (Take("{")) return MapLiteral();
    return Unexpected();
  }

  ParsedExpr MapLiteral() {
    CelExpr node{.kind = Kind::kMap};
    while (!Take("}")) {
      ASSIGN_OR_RETURN(CelExpr key, Expression());
      RETURN_IF_ERROR(Expect(":"));
      ASSIGN_OR_RETURN(CelExpr value, Expression());
      node.children.push_back(std::move(key));
      node.children.push_back(std::move(value));
      if (!At("}")) RETURN_IF_ERROR(Expect(","));
    }
    return Make(std::move(node));
  }

  ParsedExpr Number(absl::string_view sign) {
    const CelToken& token = tokens_[at_++];
    const std::string text = absl::StrCat(sign, token.text);
    int64_t whole = 0;
    double decimal = 0;
    const bool hexadecimal =
        absl::StrContains(token.text, "x") || absl::StrContains(token.text, "X");
    if (token.kind == CelToken::Kind::kDouble && absl::SimpleAtod(text, &decimal)) {
      return Make({.literal = CelValue::Double(decimal)});
    }
    if (token.kind == CelToken::Kind::kInt &&
        (hexadecimal ? absl::SimpleHexAtoi(text, &whole) : absl::SimpleAtoi(text, &whole))) {
      return Make({.literal = CelValue::Int(whole)});
    }
    return absl::InvalidArgumentError(
        absl::StrCat("at byte ", token.offset, ": the number is out of range"));
  }

  ParsedExpr Identifier() {
    const CelToken& token = tokens_[at_++];
    const std::string& name = token.text;
    if (name == "true" || name == "false") {
      return Make({.literal = CelValue::Bool(name == "true")});
    }
    if (name == "null") return Make({.literal = CelValue()});
    if (name == "has" && At("(")) return Has();
    if (Take("(")) {
      std::vector<CelExpr> arguments;
      RETURN_IF_ERROR(Items(arguments, ")"));
      return Call(name, CelFunction::Style::kGlobal, std::move(arguments));
    }
    for (size_t i = variables_.size(); i-- > 0;) {
      if (variables_[i] == name) return Variable(2 + i);
    }
    if (name == "self") return Variable(CelTree::kSelfSlot);
    if (name == "oldSelf") {
      uses_old_self_ = true;
      return Variable(CelTree::kOldSelfSlot);
    }
    const absl::string_view type = CelTypeByName(name);
    if (!type.empty()) return Make({.literal = CelValue(CelValue::TypeName{type})});
    return absl::UnimplementedError(absl::StrCat("at byte ", token.offset, ": the name ", name));
  }

  ParsedExpr Has() {
    RETURN_IF_ERROR(Expect("("));
    ASSIGN_OR_RETURN(CelExpr field, Expression());
    RETURN_IF_ERROR(Expect(")"));
    if (field.kind != Kind::kSelect) {
      return absl::InvalidArgumentError("the argument of has() must be a field selection");
    }
    field.kind = Kind::kHas;
    return field;
  }

  ParsedExpr Variable(size_t slot) {
    CelExpr node{.kind = Kind::kVariable, .slot = slot};
    return Make(std::move(node));
  }

  const std::vector<CelToken> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  int nodes_ = 0;
  std::vector<std::string> variables_;  // of the macros around the current token
  size_t most_variables_ = 0;
  bool uses_old_self_ = false;
};

}  // namespace

absl::StatusOr<CelTree> ParseCel(absl::string_view source) {
  ASSIGN_OR_RETURN(std::vector<CelToken> tokens, TokenizeCel(source));
  return Parser(std::move(tokens)).Run();
}

}  // namespace maniple
