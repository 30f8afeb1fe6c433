#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/codec/json.h"
#include "api/devcluster/store/selector.h"
#include "api/devcluster/types/type_registry.h"
#include "api/model/labels.h"
#include "test/fuzz/byte_source.h"
#include "test/fuzz/devcluster_targets.h"

namespace maniple {
namespace {

constexpr absl::string_view kKeys[] = {"a", "b", "example.com/c"};
constexpr absl::string_view kValues[] = {"", "x", "y-1", "7", "0.3", "in"};

std::string DrawnValue(ByteSource& bytes) {
  return std::string(kValues[bytes.Below(std::size(kValues))]);
}

SelectorRequirement DrawnRequirement(ByteSource& bytes) {
  SelectorRequirement out{.key = std::string(kKeys[bytes.Below(std::size(kKeys))]),
                          .op = static_cast<SelectorOperator>(bytes.Below(4)),
                          .values = {}};
  if (out.op == SelectorOperator::kIn || out.op == SelectorOperator::kNotIn) {
    for (int i = bytes.Below(3); i >= 0; --i) out.values.push_back(DrawnValue(bytes));
  }
  return out;
}

std::string TextOf(const SelectorRequirement& requirement) {
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return absl::StrCat(requirement.key,
                          requirement.op == SelectorOperator::kIn ? " in (" : " notin (",
                          absl::StrJoin(requirement.values, ","), ")");
    case SelectorOperator::kExists:
      return requirement.key;
    case SelectorOperator::kDoesNotExist:
      return absl::StrCat("!", requirement.key);
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      break;  // not in label selectors
  }
  return "";
}

Json JsonOf(const SelectorRequirement& requirement) {
  static constexpr absl::string_view kNames[] = {"In", "NotIn", "Exists", "DoesNotExist"};
  Json out = Json::Object(
      {{"key", requirement.key}, {"operator", kNames[static_cast<size_t>(requirement.op)]}});
  for (const std::string& value : requirement.values) out.Mutable("values").Append(value);
  return out;
}

bool SelectsNaively(const std::vector<SelectorRequirement>& all, const StringMap& labels) {
  for (const SelectorRequirement& one : all) {
    const std::string* value = labels.Find(one.key);
    const bool listed = value != nullptr && std::ranges::count(one.values, *value) > 0;
    if (one.op == SelectorOperator::kIn && !listed) return false;
    if (one.op == SelectorOperator::kNotIn && listed) return false;
    if (one.op == SelectorOperator::kExists && value == nullptr) return false;
    if (one.op == SelectorOperator::kDoesNotExist && value != nullptr) return false;
  }
  return true;
}

Json JsonOf(const StringMap& labels) {
  Json out = Json::Object();
  for (const auto& [key, value] : labels.entries()) out.Set(key, value);
  return out;
}

}  // namespace

std::string FuzzSelectors(absl::string_view input) {
  ByteSource bytes(input);
  std::vector<SelectorRequirement> drawn;
  std::vector<std::string> texts;
  Json object = Json::Object();
  for (int i = bytes.Below(5); i > 0; --i) {
    drawn.push_back(DrawnRequirement(bytes));
    texts.push_back(TextOf(drawn.back()));
    object.Mutable("matchExpressions").Append(JsonOf(drawn.back()));
  }
  const std::string text = absl::StrJoin(texts, ",");
  const auto parsed = devcluster::LabelSelector::Parse(text);
  if (!parsed.ok()) return absl::StrCat("refused: ", text);
  const auto of_object = devcluster::LabelSelector::OfObject(object);
  const LabelSelector of_model{.requirements = drawn};
  for (int sets = 0; sets < 8; ++sets) {
    StringMap labels;
    for (const absl::string_view key : kKeys) {
      if (bytes.Below(2) == 1) labels.Set(key, DrawnValue(bytes));
    }
    const Json json = JsonOf(labels);
    const bool selects = SelectsNaively(drawn, labels);
    if (parsed->Matches(json) != selects || of_object.Matches(json) != selects ||
        of_model.Matches(labels) != selects) {
      return absl::StrCat("\"", text, "\" on ", json.Dump());
    }
  }
  return "";
}

std::string FuzzSelectorText(absl::string_view bytes) {
  static const auto& types = *new devcluster::TypeRegistry();
  const auto fields = devcluster::FieldSelector::Parse(bytes, *types.Find("", "v1", "pods"));
  const Json pod = Json::Object(
      {{"metadata", Json::Object({{"name", "a"}})}, {"spec", Json::Object({{"nodeName", "n"}})}});
  if (fields.ok() && fields->empty() && !fields->Matches(pod)) return "no field, and no pod";
  const auto selector = devcluster::LabelSelector::Parse(bytes);
  if (!selector.ok()) return selector.error().code == 400 ? "" : "refused with another code";
  const std::string spaced = absl::StrReplaceAll(bytes, {{",", " , "}, {")", " ) "}});
  const auto again = devcluster::LabelSelector::Parse(spaced);
  if (!again.ok()) return absl::StrCat("refused with spaces: ", again.error().message);
  for (const absl::string_view value : kValues) {
    for (const absl::string_view key : kKeys) {
      const Json labels = Json::Object({{std::string(key), value}, {"d", "x"}});
      if (selector->Matches(labels) != again->Matches(labels)) return "means another with spaces";
    }
  }
  return "";
}

}  // namespace maniple
