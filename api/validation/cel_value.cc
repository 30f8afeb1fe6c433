#include "api/validation/cel_value.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/codec/utf8.h"
#include "api/validation/format.h"
#include "api/validation/schema_node.h"

namespace maniple {
namespace {

CelValue FromText(const std::string& text, const SchemaNode* schema) {
  if (schema != nullptr && schema->format == StringFormat::kDateTime) {
    if (const std::optional<absl::Time> time = ParseDateTime(text)) return CelValue(*time);
  }
  if (schema != nullptr && schema->format == StringFormat::kDuration) {
    if (const std::optional<absl::Duration> span = ParseGoDuration(text)) return CelValue(*span);
  }
  return CelValue::BorrowedText(text);
}

// A null that the schema does not allow counts as absent: the server drops it.
bool Holds(const Json& value, const SchemaNode* schema) {
  return !value.is_null() || schema == nullptr || schema->nulls == SchemaNode::Nulls::kAllowed;
}

// What tells an item of a set or keyed list from its siblings.
std::string IdentityOf(const Json& item, const SchemaNode& list) {
  if (list.list_type == SchemaNode::ListType::kSet) return item.Dump();
  std::string identity;
  for (const std::string& key : list.list_map_keys)
    absl::StrAppend(&identity, item[key].Dump(), ",");
  return identity;
}

const SchemaNode* ItemsOf(const CelValue::Document& list) {
  return list.schema == nullptr ? nullptr : list.schema->items.get();
}

// What a schema says counts at every depth.
bool EqualWithoutOrder(const CelValue::Document& a, const CelValue::Document& b) {
  if (a.json->size() != b.json->size()) return false;
  const auto sorted = [&list = *a.schema](const Json& array) {
    std::vector<std::pair<std::string, const Json*>> items;
    for (const Json& item : array.items()) items.emplace_back(IdentityOf(item, list), &item);
    std::sort(items.begin(), items.end());
    return items;
  };
  const auto left = sorted(*a.json), right = sorted(*b.json);
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].first != right[i].first) return false;
    if (a.schema->list_type == SchemaNode::ListType::kSet) continue;  // the identity is all of it
    if (!CelEquals(CelValue::FromJson(*left[i].second, ItemsOf(a)),
                   CelValue::FromJson(*right[i].second, ItemsOf(b)))) {
      return false;
    }
  }
  return true;
}

bool ObjectsEqual(const CelValue::Document& a, const CelValue::Document& b) {
  if (a.json->size() != b.json->size()) return false;
  const auto by_name = [](const Json& object) {
    std::vector<const Json::Member*> members;
    for (const Json::Member& member : object.members()) members.push_back(&member);
    std::ranges::sort(members, {}, [](const Json::Member* member) -> const std::string& {
      return member->first;
    });
    return members;
  };
  const auto value = [](const CelValue::Document& of, const Json::Member& member) {
    return CelValue::FromJson(member.second,
                              of.schema == nullptr ? nullptr : of.schema->Member(member.first));
  };
  const auto left = by_name(*a.json), right = by_name(*b.json);
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i]->first != right[i]->first) return false;
    if (!CelEquals(value(a, *left[i]), value(b, *right[i]))) return false;
  }
  return true;
}

bool ListsEqual(const CelValue& a, const CelValue& b) {
  const int64_t size = *a.Size();
  if (size != *b.Size()) return false;
  for (int64_t i = 0; i < size; ++i) {
    if (!CelEquals(a.ItemAt(i), b.ItemAt(i))) return false;
  }
  return true;
}

bool DocumentsEqual(const CelValue::Document& a, const CelValue::Document& b) {
  if (a.json->is_object() && b.json->is_object()) return ObjectsEqual(a, b);
  if (!a.json->is_array() || !b.json->is_array()) return false;
  const bool unordered =
      a.schema != nullptr && a.schema->list_type != SchemaNode::ListType::kAtomic;
  return unordered ? EqualWithoutOrder(a, b) : ListsEqual(CelValue(a), CelValue(b));
}

bool MapsEqual(const CelValue& a, const CelValue& b) {
  const int64_t size = *a.Size();
  if (size != *b.Size()) return false;
  for (int64_t i = 0; i < size; ++i) {
    const absl::string_view key = *a.KeyAt(i).AsText();
    const std::optional<CelValue> left = a.Member(key), right = b.Member(key);
    if (!left.has_value() || !right.has_value() || !CelEquals(*left, *right)) return false;
  }
  return true;
}

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

bool IsNan(const CelValue& value) {
  const auto* number = value.As<double>();
  return number != nullptr && std::isnan(*number);
}

// Neither is NaN. Exact for integers beyond 2^53 too.
int OrderMixed(int64_t a, double b) {
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  const double whole = std::trunc(b);
  const int order = Order(a, static_cast<int64_t>(whole));
  return order != 0 ? order : Order(whole, b);
}

std::optional<int> OrderNumbers(const CelValue& a, const CelValue& b) {
  const int64_t* a_int = a.As<int64_t>();
  const int64_t* b_int = b.As<int64_t>();
  const double* a_double = a.As<double>();
  const double* b_double = b.As<double>();
  if (a_int != nullptr && b_int != nullptr) return Order(*a_int, *b_int);
  if (a_double != nullptr && b_double != nullptr) return Order(*a_double, *b_double);
  if (a_int != nullptr && b_double != nullptr) return OrderMixed(*a_int, *b_double);
  if (a_double != nullptr && b_int != nullptr) return -OrderMixed(*b_int, *a_double);
  return std::nullopt;
}

}  // namespace

CelValue CelValue::OfList(List items) {
  return CelValue(Variant(std::make_shared<const List>(std::move(items))));
}

CelValue CelValue::OfMap(Map members) {
  return CelValue(Variant(std::make_shared<const Map>(std::move(members))));
}

CelValue CelValue::Some(CelValue value) {
  return CelValue(Variant(Optional{std::make_shared<const CelValue>(std::move(value))}));
}

CelValue CelValue::FromJson(const Json& json, const SchemaNode* schema) {
  switch (json.type()) {
    case Json::Type::kNull:
      return CelValue();
    case Json::Type::kBool:
      return Bool(json.AsBool());
    case Json::Type::kInt:
      if (schema != nullptr && schema->type == SchemaNode::Type::kNumber)
        return Double(json.AsDouble());
      return Int(json.AsInt());
    case Json::Type::kDouble: {
      const double value = json.AsDouble();
      const bool whole = schema != nullptr && schema->type == SchemaNode::Type::kInteger &&
                         std::trunc(value) == value && std::abs(value) < 9e18;
      return whole ? Int(static_cast<int64_t>(value)) : Double(value);
    }
    case Json::Type::kString:
      return FromText(json.AsString(), schema);
    case Json::Type::kArray:
    case Json::Type::kObject:
      return CelValue(Variant(Document{&json, schema}));
  }
  return CelValue();
}

std::optional<absl::string_view> CelValue::AsText() const {
  if (const auto* borrowed = As<absl::string_view>()) return *borrowed;
  if (const auto* owned = As<std::string>()) return absl::string_view(*owned);
  return std::nullopt;
}

bool CelValue::is_list() const {
  if (const auto* document = As<Document>()) return document->json->is_array();
  return As<std::shared_ptr<const List>>() != nullptr;
}

bool CelValue::is_map() const {
  if (const auto* document = As<Document>()) return document->json->is_object();
  return As<std::shared_ptr<const Map>>() != nullptr;
}

std::optional<int64_t> CelValue::Size() const {
  if (const auto* document = As<Document>()) return static_cast<int64_t>(document->json->size());
  if (const auto* list = As<std::shared_ptr<const List>>()) {
    return static_cast<int64_t>((*list)->size());
  }
  if (const auto* map = As<std::shared_ptr<const Map>>()) {
    return static_cast<int64_t>((*map)->size());
  }
  if (const auto text = AsText()) return CodePoints(*text);
  return std::nullopt;
}

CelValue CelValue::ItemAt(int64_t index) const {
  if (const auto* document = As<Document>()) {
    const SchemaNode* items = document->schema == nullptr ? nullptr : document->schema->items.get();
    return FromJson(document->json->items()[index], items);
  }
  return (**As<std::shared_ptr<const List>>())[index];
}

CelValue CelValue::KeyAt(int64_t index) const {
  if (const auto* document = As<Document>()) {
    return BorrowedText(document->json->members()[index].first);
  }
  return BorrowedText((**As<std::shared_ptr<const Map>>())[index].first);
}

std::optional<CelValue> CelValue::Member(absl::string_view key) const {
  if (const auto* document = As<Document>()) {
    const Json* member = document->json->Find(key);
    const SchemaNode* schema =
        document->schema == nullptr ? nullptr : document->schema->Member(key);
    if (member == nullptr || !Holds(*member, schema)) return std::nullopt;
    return FromJson(*member, schema);
  }
  for (const auto& [name, value] : **As<std::shared_ptr<const Map>>()) {
    if (name == key) return value;
  }
  return std::nullopt;
}

absl::string_view CelValue::Type() const {
  struct Namer {
    absl::string_view operator()(std::monostate) const { return "null_type"; }
    absl::string_view operator()(bool) const { return "bool"; }
    absl::string_view operator()(int64_t) const { return "int"; }
    absl::string_view operator()(double) const { return "double"; }
    absl::string_view operator()(absl::string_view) const { return "string"; }
    absl::string_view operator()(const std::string&) const { return "string"; }
    absl::string_view operator()(const Document& d) const {
      return d.json->is_array() ? "list" : "map";
    }
    absl::string_view operator()(const std::shared_ptr<const List>&) const { return "list"; }
    absl::string_view operator()(const std::shared_ptr<const Map>&) const { return "map"; }
    absl::string_view operator()(absl::Duration) const { return "google.protobuf.Duration"; }
    absl::string_view operator()(absl::Time) const { return "google.protobuf.Timestamp"; }
    absl::string_view operator()(const Quantity&) const { return "kubernetes.Quantity"; }
    absl::string_view operator()(const TypeName&) const { return "type"; }
    absl::string_view operator()(const Optional&) const { return "optional_type"; }
  };
  return std::visit(Namer(), value_);
}

bool CelEquals(const CelValue& a, const CelValue& b) {
  if (IsNan(a) || IsNan(b)) return false;
  if (const std::optional<int> order = OrderNumbers(a, b)) return *order == 0;
  if (a.AsText() && b.AsText()) return *a.AsText() == *b.AsText();
  const auto* a_document = a.As<CelValue::Document>();
  const auto* b_document = b.As<CelValue::Document>();
  if (a_document && b_document) return DocumentsEqual(*a_document, *b_document);
  if (a.is_list() && b.is_list()) return ListsEqual(a, b);
  if (a.is_map() && b.is_map()) return MapsEqual(a, b);
  if (a.get().index() != b.get().index()) return false;
  if (const auto* value = a.As<bool>()) return *value == *b.As<bool>();
  if (const auto* value = a.As<absl::Duration>()) return *value == *b.As<absl::Duration>();
  if (const auto* value = a.As<absl::Time>()) return *value == *b.As<absl::Time>();
  if (const auto* value = a.As<Quantity>()) return *value == *b.As<Quantity>();
  if (const auto* value = a.As<CelValue::TypeName>()) {
    return value->name == b.As<CelValue::TypeName>()->name;
  }
  if (const auto* value = a.As<CelValue::Optional>()) {
    const auto* other = b.As<CelValue::Optional>();
    if (value->value == nullptr || other->value == nullptr) return value->value == other->value;
    return CelEquals(*value->value, *other->value);
  }
  return a.is_null();
}

absl::StatusOr<int> CelCompare(const CelValue& a, const CelValue& b) {
  if (IsNan(a) || IsNan(b)) return absl::InvalidArgumentError("NaN values cannot be ordered");
  if (const std::optional<int> order = OrderNumbers(a, b)) return *order;
  if (a.AsText() && b.AsText()) return Order(*a.AsText(), *b.AsText());
  if (a.get().index() == b.get().index()) {
    if (const auto* value = a.As<bool>()) return Order(*value, *b.As<bool>());
    if (const auto* value = a.As<absl::Duration>()) return Order(*value, *b.As<absl::Duration>());
    if (const auto* value = a.As<absl::Time>()) return Order(*value, *b.As<absl::Time>());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no such overload: ", a.Type(), " compared with ", b.Type()));
}

int64_t CelWeight(const CelValue& value) {
  constexpr int64_t kBytesPerUnit = 10;
  if (const auto text = value.AsText())
    return 1 + static_cast<int64_t>(text->size()) / kBytesPerUnit;
  return 1 + value.Size().value_or(0);
}

absl::Status NoOverload(absl::string_view what, const CelValue& value) {
  return absl::InvalidArgumentError(absl::StrCat("no such overload: ", what, " of ", value.Type()));
}

}  // namespace maniple
