#include "api/devcluster/store/selector.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/devcluster/store/event_form.h"
#include "api/devcluster/types/names.h"

namespace maniple::devcluster {

// A cursor over the text of a label selector.
class LabelSelector::Parser final {
 public:
  explicit Parser(absl::string_view text) : whole_(text), rest_(text) {}

  ApiOr<LabelSelector> Run() {
    LabelSelector selector;
    SkipSpace();
    if (rest_.empty()) return selector;
    while (true) {
      API_ASSIGN_OR_RETURN(Requirement requirement, OneRequirement());
      selector.requirements_.push_back(std::move(requirement));
      SkipSpace();
      if (rest_.empty()) return selector;
      if (!Take(","))
        return Bad("found '", rest_.substr(0, 32), "', expected: ',' or 'end of string'");
      SkipSpace();
      if (rest_.empty()) return Bad("found '', expected: identifier after ','");
    }
  }

 private:
  template <typename... Parts>
  ApiError Bad(const Parts&... parts) const {
    return BadRequest(absl::StrCat("unable to parse requirement: ", parts...));
  }
  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  bool Take(absl::string_view token) { return absl::ConsumePrefix(&rest_, token); }
  std::string Word() {
    SkipSpace();
    const size_t end = std::min(rest_.find_first_of(" \t\r\n,()=!<>"), rest_.size());
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    SkipSpace();
    return word;
  }

  ApiOr<Requirement> OneRequirement() {
    Requirement out;
    if (Take("!")) {
      out.op = Operator::kDoesNotExist;
      out.key = Word();
      API_RETURN_IF_ERROR(CheckKey(out.key));
      return out;
    }
    out.key = Word();
    API_RETURN_IF_ERROR(CheckKey(out.key));
    if (rest_.empty() || rest_.front() == ',') return out;
    API_RETURN_IF_ERROR(TakeOperator(out));
    for (const std::string& value : out.values) {
      if (const auto problems = LabelValueProblems(value); !problems.empty()) {
        return Bad("values[0][", out.key, "]: Invalid value: \"", value, "\": ", problems[0]);
      }
    }
    return out;
  }

  MaybeError TakeOperator(Requirement& out) {
    if (Take("==") || Take("=")) {
      out.op = Operator::kIn;
      out.values = {Word()};
    } else if (Take("!=")) {
      out.op = Operator::kNotIn;
      out.values = {Word()};
    } else if (Take(">") || Take("<")) {
      out.op =
          whole_[whole_.size() - rest_.size() - 1] == '>' ? Operator::kGreater : Operator::kLess;
      out.values = {Word()};
      int64_t number = 0;
      if (!absl::SimpleAtoi(out.values[0], &number)) {
        return Bad("values[0]: Invalid value: \"", out.values[0],
                   "\": for 'Gt', 'Lt' operators, the value must be an integer");
      }
    } else {
      const std::string word = Word();
      if (word != "in" && word != "notin") {
        return Bad("found '", word.empty() ? rest_.substr(0, 1) : absl::string_view(word),
                   "', expected: in, notin, =, ==, !=, gt, lt");
      }
      out.op = word == "in" ? Operator::kIn : Operator::kNotIn;
      return TakeSet(out);
    }
    return std::nullopt;
  }

  MaybeError TakeSet(Requirement& out) {
    if (!Take("(")) return Bad("found '", rest_.substr(0, 1), "', expected: '('");
    do {
      out.values.push_back(Word());
    } while (Take(","));
    if (!Take(")")) return Bad("found '", rest_.substr(0, 1), "', expected: ',', or ')'");
    return std::nullopt;
  }

  MaybeError CheckKey(absl::string_view key) const {
    const std::vector<std::string> problems = QualifiedNameProblems(key);
    if (problems.empty()) return std::nullopt;
    return Bad("key: Invalid value: \"", key, "\": ", problems[0]);
  }

  const absl::string_view whole_;
  absl::string_view rest_;
};

ApiOr<LabelSelector> LabelSelector::Parse(absl::string_view text) { return Parser(text).Run(); }

LabelSelector LabelSelector::OfObject(const Json& object) {
  LabelSelector selector;
  for (const auto& [key, value] : object["matchLabels"].members()) {
    selector.requirements_.push_back({key, Operator::kIn, {value.AsString()}});
  }
  for (const Json& expression : object["matchExpressions"].items()) {
    Requirement requirement{expression["key"].AsString(), Operator::kExists, {}};
    const std::string& op = expression["operator"].AsString();
    if (op == "In") requirement.op = Operator::kIn;
    if (op == "NotIn") requirement.op = Operator::kNotIn;
    if (op == "DoesNotExist") requirement.op = Operator::kDoesNotExist;
    for (const Json& value : expression["values"].items()) {
      requirement.values.push_back(value.AsString());
    }
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool LabelSelector::Holds(const Requirement& requirement, const Json& labels) {
  const Json* value = labels.Find(requirement.key);
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), value->AsString()) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kIn:
      return value != nullptr && listed();
    case Operator::kNotIn:
      return value == nullptr || !listed();
    case Operator::kGreater:
    case Operator::kLess: {
      int64_t have = 0;
      int64_t want = 0;
      if (value == nullptr || !absl::SimpleAtoi(value->AsString(), &have) ||
          !absl::SimpleAtoi(requirement.values[0], &want)) {
        return false;
      }
      return requirement.op == Operator::kGreater ? have > want : have < want;
    }
  }
  return false;
}

bool LabelSelector::Matches(const Json& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return Holds(requirement, labels); });
}

namespace {

// Takes the next term off the text; a backslash escapes ',', '=' and itself.
std::string NextTerm(absl::string_view& rest) {
  std::string term;
  size_t i = 0;
  for (; i < rest.size() && rest[i] != ','; ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) term += rest[i++];
    term += rest[i];
  }
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return term;
}

std::string Unescaped(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

std::string AsText(const Json& value) {
  if (value.is_string()) return value.AsString();
  if (value.is_null()) return "";
  return value.Dump();
}

// What a field selector sees: booleans and numbers read as text, absent ones as their zero.
std::string FieldText(const Json& object, absl::string_view path) {
  const Json& value = object.At(path);
  if (value.is_null()) {
    if (path == "spec.unschedulable" || path == "spec.hostNetwork") return "false";
    if (path == "status.replicas" || path == "status.successful") return "0";
  }
  if (path == "source") {
    const std::string& component = object["source"]["component"].AsString();
    return component.empty() ? object["reportingComponent"].AsString() : component;
  }
  return AsText(value);
}

}  // namespace

ApiOr<FieldSelector> FieldSelector::Parse(absl::string_view text, const ResourceType& type) {
  FieldSelector selector;
  absl::string_view rest = text;
  while (!rest.empty()) {
    const std::string term = NextTerm(rest);
    if (term.empty()) continue;
    size_t at = term.find('=');
    for (; at != std::string::npos && at > 0 && term[at - 1] == '\\'; at = term.find('=', at + 1)) {
    }
    if (at == std::string::npos) {
      return BadRequest(
          absl::StrCat("invalid selector: '", text, "'; can't understand '", term, "'"));
    }
    Term out;
    out.equal = at == 0 || term[at - 1] != '!';
    out.field = term.substr(0, out.equal ? at : at - 1);
    const size_t value_at =
        at + 1 < term.size() && term[at + 1] == '=' && out.equal ? at + 2 : at + 1;
    out.value = Unescaped(absl::string_view(term).substr(value_at));
    const bool always = out.field == "metadata.name" || (out.field == "metadata.namespace");
    if (!always && std::find(type.selectable_fields.begin(), type.selectable_fields.end(),
                             out.field) == type.selectable_fields.end()) {
      return BadRequest(absl::StrCat("field label not supported: ", out.field));
    }
    out.stored_path = StoredFieldPath(type, out.field);
    selector.terms_.push_back(std::move(out));
  }
  return selector;
}

bool FieldSelector::Matches(const Json& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (FieldText(object, term.stored_path) == term.value) == term.equal;
  });
}

const std::string* FieldSelector::ExactValue(absl::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) return &term.value;
  }
  return nullptr;
}

}  // namespace maniple::devcluster
