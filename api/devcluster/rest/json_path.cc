#include "api/devcluster/rest/json_path.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace maniple::devcluster {
namespace {

using Matches = std::vector<const Json*>;

Matches Members(const Matches& from, absl::string_view name) {
  Matches out;
  for (const Json* value : from) {
    if (const Json* member = value->Find(name)) out.push_back(member);
  }
  return out;
}

Matches AllOf(const Matches& from) {
  Matches out;
  for (const Json* value : from) {
    for (const Json& item : value->items()) out.push_back(&item);
    for (const auto& [name, member] : value->members()) out.push_back(&member);
  }
  return out;
}

Matches ItemAt(const Matches& from, int64_t index) {
  Matches out;
  for (const Json* value : from) {
    const int64_t size = static_cast<int64_t>(value->items().size());
    const int64_t at = index < 0 ? size + index : index;
    if (at >= 0 && at < size) out.push_back(&value->items()[at]);
  }
  return out;
}

std::optional<absl::string_view> Unquoted(absl::string_view text) {
  if (text.size() < 2 || text.front() != text.back()) return std::nullopt;
  if (text.front() != '"' && text.front() != '\'') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

// "@.type=="Ready"": the items for which it holds. Nullopt: not a filter that we read.
std::optional<Matches> Filtered(const Matches& from, absl::string_view condition) {
  const size_t equals = condition.find("==");
  if (equals == absl::string_view::npos || !absl::ConsumePrefix(&condition, "@")) {
    return std::nullopt;
  }
  const absl::string_view path = absl::StripAsciiWhitespace(condition.substr(0, equals - 1));
  const absl::string_view literal = absl::StripAsciiWhitespace(condition.substr(equals + 1));
  const absl::string_view wanted = Unquoted(literal).value_or(literal);
  Matches out;
  for (const Json* value : from) {
    for (const Json& item : value->items()) {
      const Matches found = FindByJsonPath(item, path);
      const bool holds = std::any_of(found.begin(), found.end(), [&](const Json* one) {
        return one->is_string() ? one->AsString() == wanted : one->Dump() == wanted;
      });
      if (holds) out.push_back(&item);
    }
  }
  return out;
}

std::optional<Matches> Subscript(const Matches& from, absl::string_view inside) {
  if (inside == "*") return AllOf(from);
  if (const std::optional<absl::string_view> name = Unquoted(inside)) return Members(from, *name);
  if (absl::ConsumePrefix(&inside, "?(") && absl::ConsumeSuffix(&inside, ")")) {
    return Filtered(from, inside);
  }
  int64_t index = 0;
  if (!absl::SimpleAtoi(inside, &index)) return std::nullopt;
  return ItemAt(from, index);
}

// Takes "name" off the front of a path after its dot; a backslash keeps a dot inside the name.
std::string TakeName(absl::string_view& path) {
  std::string name;
  while (!path.empty() && path[0] != '.' && path[0] != '[') {
    if (path[0] == '\\' && path.size() > 1) path.remove_prefix(1);
    name.push_back(path[0]);
    path.remove_prefix(1);
  }
  return name;
}

// The end of a subscript, not misled by brackets inside quotes.
size_t SubscriptEnd(absl::string_view path) {
  char quote = 0;
  for (size_t i = 1; i < path.size(); ++i) {
    if (quote != 0) {
      if (path[i] == quote) quote = 0;
    } else if (path[i] == '"' || path[i] == '\'') {
      quote = path[i];
    } else if (path[i] == ']') {
      return i;
    }
  }
  return absl::string_view::npos;
}

}  // namespace

std::vector<const Json*> FindByJsonPath(const Json& root, absl::string_view path) {
  if (absl::ConsumePrefix(&path, "{")) absl::ConsumeSuffix(&path, "}");
  absl::ConsumePrefix(&path, "$");
  Matches at = {&root};
  while (!path.empty() && !at.empty()) {
    if (path[0] == '[') {
      const size_t end = SubscriptEnd(path);
      if (end == absl::string_view::npos) return {};
      std::optional<Matches> next = Subscript(at, path.substr(1, end - 1));
      if (!next.has_value()) return {};
      at = *std::move(next);
      path.remove_prefix(end + 1);
      continue;
    }
    absl::ConsumePrefix(&path, ".");
    if (path.empty() || path[0] == '[') continue;
    const std::string name = TakeName(path);
    if (name.empty()) return {};  // "..": recursive descent is not ours
    at = name == "*" ? AllOf(at) : Members(at, name);
  }
  return at;
}

}  // namespace maniple::devcluster
