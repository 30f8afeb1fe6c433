#include "api/devcluster/store/patch.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace maniple::devcluster {
namespace {

constexpr size_t kMaxOperations = 10'000;
constexpr size_t kMaxCopiedBytes = 3 * 1024 * 1024;

ApiError Unprocessable() {
  ApiError error{.code = 422,
                 .reason = "Invalid",
                 .message = "the server rejected our request due to an error in our request"};
  error.has_empty_details = true;
  return error;
}

bool IsWithin(const Json& value, int depth) {
  if (!value.is_array() && !value.is_object()) return true;
  if (depth == 0) return false;
  for (const Json& item : value.items()) {
    if (!IsWithin(item, depth - 1)) return false;
  }
  for (const auto& [name, member] : value.members()) {
    if (!IsWithin(member, depth - 1)) return false;
  }
  return true;
}

ApiOr<Json> Bounded(Json value) {
  if (!IsWithinDepth(value)) return BadRequest("the patched object is nested too deeply");
  return value;
}

// ---------------------------------------------------------------- JSON patch

std::vector<std::string> PointerSegments(absl::string_view pointer) {
  std::vector<std::string> segments;
  if (pointer.empty()) return segments;
  for (const absl::string_view part : absl::StrSplit(pointer.substr(1), '/')) {
    segments.push_back(absl::StrReplaceAll(part, {{"~1", "/"}, {"~0", "~"}}));
  }
  return segments;
}

std::optional<size_t> IndexIn(const Json& array, absl::string_view segment) {
  uint64_t index = 0;
  if (segment.empty() || segment.size() > 9 || !absl::SimpleAtoi(segment, &index)) {
    return std::nullopt;
  }
  if (segment.size() > 1 && segment[0] == '0') return std::nullopt;
  if (index > array.size()) return std::nullopt;
  return index;
}

Json* Child(Json& parent, absl::string_view segment) {
  if (parent.is_object()) return parent.Find(segment);
  if (!parent.is_array()) return nullptr;
  const std::optional<size_t> index = IndexIn(parent, segment);
  if (!index.has_value() || *index >= parent.size()) return nullptr;
  return &parent.mutable_items()[*index];
}

// One application of a JSON patch.
class JsonPatcher final {
 public:
  explicit JsonPatcher(Json target) : root_(std::move(target)) {}

  bool Apply(const Json& operation) {
    const std::string& op = operation["op"].AsString();
    const std::string& path = operation["path"].AsString();
    const std::string& from = operation["from"].AsString();
    const Json* value = operation.Find("value");
    if (op == "add") return value != nullptr && Add(path, *value);
    if (op == "remove") return Remove(path);
    if (op == "replace") return value != nullptr && Replace(path, *value);
    if (op == "test") {
      const Json* have = Read(path);
      const Json null;
      return have != nullptr && *have == (value == nullptr ? null : *value);
    }
    const Json* source = Read(from);
    if (source == nullptr) return false;
    Json copy = *source;
    if (op == "move") return !absl::StartsWith(path, from + "/") && Remove(from) && Add(path, copy);
    if (op != "copy") return false;
    copied_ += copy.Dump().size();
    return copied_ <= kMaxCopiedBytes && Add(path, copy);
  }

  Json Take() { return std::move(root_); }

 private:
  // What stands at the place. A member that an object lacks reads as null, as in kube-apiserver.
  const Json* Read(absl::string_view pointer) {
    if (pointer.empty()) return &root_;
    auto [parent, last] = Parent(pointer);
    if (parent == nullptr) return nullptr;
    const Json* found = Child(*parent, last);
    return found == nullptr && parent->is_object() ? &absent_ : found;
  }
  // The parent of the place and the last segment; nullptr when there is no parent.
  std::pair<Json*, std::string> Parent(absl::string_view pointer) {
    std::vector<std::string> segments = PointerSegments(pointer);
    if (segments.empty()) return {nullptr, ""};
    std::string last = std::move(segments.back());
    segments.pop_back();
    Json* at = &root_;
    for (const std::string& segment : segments) {
      at = Child(*at, segment);
      if (at == nullptr) break;
    }
    return {at, std::move(last)};
  }
  bool Add(absl::string_view pointer, const Json& value) {
    if (pointer.empty()) {
      root_ = value;
      return true;
    }
    auto [parent, last] = Parent(pointer);
    if (parent == nullptr) return false;
    if (parent->is_object()) {
      parent->Set(last, value);
      return true;
    }
    if (!parent->is_array()) return false;
    std::vector<Json>& items = parent->mutable_items();
    const std::optional<size_t> index = last == "-" ? items.size() : IndexIn(*parent, last);
    if (!index.has_value()) return false;
    items.insert(items.begin() + static_cast<ptrdiff_t>(*index), value);
    return true;
  }
  bool Remove(absl::string_view pointer) {
    auto [parent, last] = Parent(pointer);
    if (parent == nullptr) return false;
    if (parent->is_object()) return parent->Erase(last);
    if (Child(*parent, last) == nullptr) return false;
    std::vector<Json>& items = parent->mutable_items();
    items.erase(items.begin() + static_cast<ptrdiff_t>(*IndexIn(*parent, last)));
    return true;
  }
  // Sets a member that is absent, as kube-apiserver does; RFC 6902 would refuse.
  bool Replace(absl::string_view pointer, const Json& value) {
    auto [parent, last] = Parent(pointer);
    if (parent == nullptr || !parent->is_array()) return Add(pointer, value);
    Json* item = Child(*parent, last);
    if (item == nullptr) return false;
    *item = value;
    return true;
  }

  Json root_;
  const Json absent_;
  size_t copied_ = 0;
};

MaybeError CheckOperation(const Json& operation) {
  static constexpr absl::string_view kNames[] = {"add",  "remove", "replace",
                                                 "move", "copy",   "test"};
  const std::string& op = operation["op"].AsString();
  bool known = false;
  for (const absl::string_view name : kNames) known = known || name == op;
  if (!operation.is_object() || !known) {
    return BadRequest(
        absl::StrCat("Unexpected kind: \"", op, "\" is no operation of a JSON patch"));
  }
  for (const absl::string_view member : {"path", "from"}) {
    const Json& pointer = operation[member];
    if (member == "path" ? !pointer.is_string() : !pointer.is_string() && !pointer.is_null()) {
      return BadRequest(absl::StrCat("missing or bad \"", member, "\" in a JSON patch operation"));
    }
    if (!pointer.AsString().empty() && pointer.AsString().front() != '/') return Unprocessable();
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- merge patch

void Merge(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::Object();
  for (const auto& [name, value] : patch.members()) {
    if (value.is_null()) {
      target.Erase(name);
    } else {
      Merge(target.Mutable(name), value);
    }
  }
}

// ---------------------------------------------------------------- strategic merge patch

constexpr absl::string_view kDirective = "$patch";
constexpr absl::string_view kDeleteValues = "$deleteFromPrimitiveList/";

MaybeError MergeStrategically(Json& target, const Json& patch, const MergeRules& rules);

MaybeError MergeItem(Json& list, const Json& item, const ListRule& rule, const MergeRules& rules) {
  const ListRule by_first{rule.kind, {rule.keys.front()}};
  if (!item.is_object() || item[rule.keys.front()].is_null()) {
    return ApiError{
        .code = 500,
        .message = absl::StrCat("map: ", item.Dump().substr(0, 256),
                                " does not contain declared merge key: ", rule.keys.front())};
  }
  Json* found = FindItem(list, by_first, item);
  if (item[kDirective].AsString() == "delete") {
    if (found != nullptr) {
      std::erase_if(list.mutable_items(), [&](const Json& other) {
        return other[rule.keys.front()] == item[rule.keys.front()];
      });
    }
    return std::nullopt;
  }
  if (found == nullptr) {
    list.Append(Json::Object());
    found = &list.mutable_items().back();
  }
  return MergeStrategically(*found, item, rules);
}

// Where the item stands in `order` by its key; the size of it when nowhere.
size_t PlaceIn(const Json& order, const ListRule& rule, const Json& item) {
  const Json* found = FindItem(order, rule, item);
  return found == nullptr ? order.size() : static_cast<size_t>(found - order.items().data());
}

// Items that the patch names come in its order, the others in theirs; where both are told by the
// list as it was, that decides.
void OrderItems(Json& merged, const Json& before, const Json& order, const ListRule& rule) {
  const ListRule by_key =
      rule.kind == ListRule::Kind::kMap ? ListRule{rule.kind, {rule.keys.front()}} : rule;
  std::vector<Json> named;
  std::vector<Json> others;
  for (Json& item : merged.mutable_items()) {
    const bool is_named = PlaceIn(order, by_key, item) < order.size();
    (is_named ? named : others).push_back(std::move(item));
  }
  std::stable_sort(named.begin(), named.end(), [&](const Json& a, const Json& b) {
    return PlaceIn(order, by_key, a) < PlaceIn(order, by_key, b);
  });
  std::vector<Json> out;
  auto other = others.begin();
  for (Json& item : named) {
    const size_t place = PlaceIn(before, by_key, item);
    while (other != others.end() && place < before.size() &&
           PlaceIn(before, by_key, *other) < place) {
      out.push_back(std::move(*other++));
    }
    out.push_back(std::move(item));
  }
  out.insert(out.end(), std::make_move_iterator(other), std::make_move_iterator(others.end()));
  merged.mutable_items() = std::move(out);
}

// `order`: the patch's $setElementOrder for this list, or null.
MaybeError MergeList(Json& target, const Json& patch, const MergeRules& rules, const Json& order) {
  const ListRule rule = rules.list();
  const bool replaces = patch.size() > 0 && patch.items()[0].is_object() &&
                        patch.items()[0][kDirective].AsString() == "replace";
  if (rule.kind == ListRule::Kind::kAtomic) {
    target = patch;
    return std::nullopt;
  }
  if (!target.is_array() || replaces) target = Json::Array();
  const Json before = target;
  for (size_t i = replaces ? 1 : 0; i < patch.size(); ++i) {
    const Json& item = patch.items()[i];
    if (rule.kind == ListRule::Kind::kSet) {
      if (FindItem(target, rule, item) == nullptr) target.Append(item);
      continue;
    }
    if (MaybeError error = MergeItem(target, item, rule, rules.Item())) return error;
  }
  OrderItems(target, before, order.is_array() ? order : patch, rule);
  return std::nullopt;
}

void DeleteValues(Json& target, absl::string_view field, const Json& values) {
  Json* list = target.Find(field);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& value : values.items()) {
    std::erase_if(list->mutable_items(), [&](const Json& item) { return item == value; });
  }
}

void RetainKeys(Json& target, const Json& keys) {
  std::erase_if(target.mutable_members(), [&](const Json::Member& member) {
    return FindItem(keys, {ListRule::Kind::kSet}, Json(member.first)) == nullptr;
  });
}

MaybeError MergeStrategically(Json& target, const Json& patch, const MergeRules& rules) {
  if (patch.is_array()) return MergeList(target, patch, rules, Json());
  if (!patch.is_object()) {
    target = patch;
    return std::nullopt;
  }
  const std::string& directive = patch[kDirective].AsString();
  if (!target.is_object() || directive == "replace" || directive == "delete") {
    target = Json::Object();
  }
  if (directive == "delete") return std::nullopt;
  if (!directive.empty() && directive != "replace" && directive != "merge") {
    return BadRequest(absl::StrCat("Unknown patch type found: ", directive));
  }
  if (patch["$retainKeys"].is_array()) RetainKeys(target, patch["$retainKeys"]);
  for (const auto& [name, value] : patch.members()) {
    if (name == kDirective || name == "$retainKeys" ||
        absl::StartsWith(name, "$setElementOrder/")) {
      continue;
    }
    absl::string_view field = name;
    if (absl::ConsumePrefix(&field, kDeleteValues)) {
      DeleteValues(target, field, value);
    } else if (value.is_null()) {
      target.Erase(name);
    } else if (value.is_array()) {
      const Json& order = patch[absl::StrCat("$setElementOrder/", name)];
      if (MaybeError error = MergeList(target.Mutable(name), value, rules.Field(name), order)) {
        return error;
      }
    } else if (MaybeError error =
                   MergeStrategically(target.Mutable(name), value, rules.Field(name))) {
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace

bool IsWithinDepth(const Json& value) { return IsWithin(value, Json::kMaxDepth); }

ApiOr<Json> ApplyJsonPatch(Json target, const Json& patch) {
  if (!patch.is_array()) {
    return BadRequest(
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "[]handlers.jsonPatchOp");
  }
  if (patch.size() > kMaxOperations) {
    return ApiError{.code = 413,
                    .reason = "RequestEntityTooLarge",
                    .message = absl::StrCat("Request entity too large: The allowed maximum "
                                            "operations in a JSON patch is ",
                                            kMaxOperations, ", got ", patch.size())};
  }
  JsonPatcher patcher(std::move(target));
  for (const Json& operation : patch.items()) {
    if (MaybeError error = CheckOperation(operation)) return *std::move(error);
    if (!patcher.Apply(operation)) return Unprocessable();
  }
  return Bounded(patcher.Take());
}

ApiOr<Json> ApplyMergePatch(Json target, const Json& patch) {
  if (!patch.is_object()) {
    return BadRequest(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}");
  }
  Merge(target, patch);
  return Bounded(std::move(target));
}

ApiOr<Json> ApplyStrategicPatch(Json target, const Json& patch, const MergeRules& rules) {
  if (!patch.is_object()) return BadRequest("Invalid JSON document");
  if (MaybeError error = MergeStrategically(target, patch, rules)) return *std::move(error);
  return Bounded(std::move(target));
}

}  // namespace maniple::devcluster
