// Label and field selectors, as query parameters and as LabelSelector objects.
//
// Immutable after parsing.
//
//   API_ASSIGN_OR_RETURN(const LabelSelector want, LabelSelector::Parse("app=web,tier!=db"));
//   if (want.Matches(pod["metadata"]["labels"])) …
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

class LabelSelector final {
 public:
  LabelSelector() = default;  // matches everything

  // "a=b,c==d,e!=f,g in (h,i),j notin (k),l,!m,n>1": BadRequest when it is none.
  static ApiOr<LabelSelector> Parse(absl::string_view text);
  // {matchLabels, matchExpressions}; an empty one matches everything.
  static LabelSelector OfObject(const Json& selector);

  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] bool Matches(const Json& labels) const;

 private:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;
  };
  class Parser;
  static bool Holds(const Requirement& requirement, const Json& labels);

  std::vector<Requirement> requirements_;
};

class FieldSelector final {
 public:
  FieldSelector() = default;  // matches everything

  // "a=b,c!=d" over the fields that the type supports; BadRequest for another field.
  static ApiOr<FieldSelector> Parse(absl::string_view text, const ResourceType& type);

  [[nodiscard]] bool empty() const { return terms_.empty(); }
  // `object` in the form that is stored.
  [[nodiscard]] bool Matches(const Json& object) const;
  // The value that the field must have, or nullptr: what narrows a list to one object.
  [[nodiscard]] const std::string* ExactValue(absl::string_view field) const;

 private:
  struct Term {
    std::string field;        // as asked for
    std::string stored_path;  // where it lies in the stored object
    std::string value;
    bool equal = true;
  };
  std::vector<Term> terms_;
};

}  // namespace maniple::devcluster
