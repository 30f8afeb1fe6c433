#include "api/validation/schema_walk.h"

#include <charconv>
#include <cmath>

namespace maniple {
namespace {

std::string KeysOf(const Json& item, const SchemaNode& list) {
  std::string identity;
  for (const std::string& key : list.list_map_keys)
    absl::StrAppend(&identity, item[key].Dump(), ",");
  return identity;
}

// As Go prints a float64: shortest digits, an exponent from 1e+06 on.
std::string PrintedDouble(double value) {
  char buffer[64];
  const double magnitude = std::abs(value);
  const auto format = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e6)
                          ? std::chars_format::scientific
                          : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  return end.ec == std::errc() ? std::string(buffer, end.ptr) : Json(value).Dump();
}

}  // namespace

ListIndex::ListIndex(const SchemaNode& list, const Json* items) : list_(list) {
  if (items == nullptr || list.list_type != SchemaNode::ListType::kMap) return;
  for (const Json& item : items->items()) items_.try_emplace(KeysOf(item, list), &item);
}

const Json* ListIndex::Find(const Json& item) const {
  if (items_.empty()) return nullptr;
  const auto at = items_.find(KeysOf(item, list_));
  return at == items_.end() ? nullptr : at->second;
}

const Json* OldMember(const Json* old, absl::string_view name) {
  return old == nullptr ? nullptr : old->Find(name);
}

std::string PrintedValue(const Json& value) {
  return value.type() == Json::Type::kDouble ? PrintedDouble(value.AsDouble()) : value.Dump();
}

}  // namespace maniple
