#include "api/codec/json.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_split.h"
#include "api/base/check.h"

namespace maniple {
namespace {

// Objects up to this size are searched linearly; larger ones are sorted where all pairs would be
// compared.
constexpr size_t kSmallObject = 16;

// Whether a key stands twice; of a large object, where all pairs are too many, unknown and so true.
bool MayRepeat(const std::vector<Json::Member>& members) {
  if (members.size() > kSmallObject) return true;
  for (size_t i = 1; i < members.size(); ++i) {
    const std::string& key = members[i].first;
    for (size_t j = 0; j < i; ++j) {
      const std::string& other = members[j].first;
      // Most keys differ in these two; comparing all of both is a call.
      if (key.size() == other.size() && (key.empty() || key.back() == other.back()) &&
          key == other) {
        return true;
      }
    }
  }
  return false;
}

// Removes the earlier of members with equal keys, keeping the order of the rest.
void KeepLastOfEqualKeys(std::vector<Json::Member>& members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return members[a].first < members[b].first; });
  std::vector<char> replaced(members.size(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    if (members[order[i - 1]].first == members[order[i]].first) replaced[order[i - 1]] = 1;
  }
  size_t out = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    if (replaced[i]) continue;
    if (out != i) members[out] = std::move(members[i]);
    ++out;
  }
  members.resize(out);
}

const Json& NullJson() {
  static const Json null;
  return null;
}

bool SameMembers(const std::vector<Json::Member>& a, const std::vector<Json::Member>& b) {
  if (a.size() != b.size()) return false;
  // Mostly both come from one source and have one order.
  const auto same_key = [](const Json::Member& x, const Json::Member& y) {
    return x.first == y.first;
  };
  if (std::equal(a.begin(), a.end(), b.begin(), same_key)) return a == b;
  const auto sorted = [](const std::vector<Json::Member>& members) {
    std::vector<const Json::Member*> out;
    out.reserve(members.size());
    for (const Json::Member& member : members) out.push_back(&member);
    std::sort(out.begin(), out.end(),
              [](const Json::Member* x, const Json::Member* y) { return x->first < y->first; });
    return out;
  };
  const auto equal = [](const Json::Member* x, const Json::Member* y) {
    return x->first == y->first && x->second == y->second;
  };
  const std::vector<const Json::Member*> left = sorted(a);
  const std::vector<const Json::Member*> right = sorted(b);
  return std::equal(left.begin(), left.end(), right.begin(), equal);
}

}  // namespace

Json Json::Array(std::vector<Json> items) {
  Json out;
  new (&out.items_) Items(std::move(items));
  out.type_ = Type::kArray;
  return out;
}

Json Json::Object(std::vector<Member> members) {
  if (MayRepeat(members)) KeepLastOfEqualKeys(members);
  Json out;
  new (&out.members_) Members(std::move(members));
  out.type_ = Type::kObject;
  return out;
}
Json Json::Strings(const std::vector<std::string>& texts) {
  return Array(std::vector<Json>(texts.begin(), texts.end()));
}

void Json::CopyFrom(const Json& other) { Fill(other); }

void Json::Destroy() {
  if (type_ == Type::kString) {
    string_.~basic_string();
  } else if (type_ == Type::kArray) {
    items_.~Items();
  } else {
    members_.~Members();
  }
}

bool Json::AsBool() const { return is_bool() && bool_; }

int64_t Json::AsInt() const { return is_int() ? int_ : 0; }

double Json::AsDouble() const {
  return type_ == Type::kDouble ? double_ : static_cast<double>(AsInt());
}

const std::string& Json::AsString() const {
  static const std::string empty;
  return is_string() ? string_ : empty;
}

const std::vector<Json>& Json::items() const {
  static const std::vector<Json> empty;
  return is_array() ? items_.Get() : empty;
}

const std::vector<Json::Member>& Json::members() const {
  static const std::vector<Member> empty;
  return is_object() ? members_.Get() : empty;
}

size_t Json::size() const { return is_array() ? items().size() : members().size(); }

const Json* Json::Find(absl::string_view key) const {
  for (const Member& member : members()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json* Json::Find(absl::string_view key) {
  // Looked for first: what is absent is no reason to take a copy apart.
  if (!Has(key)) return nullptr;
  return &Mutable(key);
}

const Json& Json::operator[](absl::string_view key) const {
  const Json* found = Find(key);
  return found != nullptr ? *found : NullJson();
}

const Json& Json::At(absl::string_view dotted_path) const {
  const Json* at = this;
  for (const absl::string_view key : absl::StrSplit(dotted_path, '.')) at = &(*at)[key];
  return *at;
}

Json& Json::Set(absl::string_view key, Json value) {
  // A null that comes in stays a null member; Mutable makes room for it first.
  Json& slot = Mutable(key);
  slot = std::move(value);
  return slot;
}

Json& Json::Mutable(absl::string_view key) {
  if (is_null()) *this = Object();
  std::vector<Member>& members = mutable_members();
  for (Member& member : members) {
    if (member.first == key) return member.second;
  }
  return members.emplace_back(std::string(key), Json()).second;
}

bool Json::Erase(absl::string_view key) {
  if (!Has(key)) return false;
  std::erase_if(mutable_members(), [key](const Member& member) { return member.first == key; });
  return true;
}

void Json::Append(Json value) {
  if (is_null()) *this = Array();
  mutable_items().push_back(std::move(value));
}

std::vector<Json>& Json::mutable_items() {
  CHECK(is_array());
  return items_.Mutable();
}

std::vector<Json::Member>& Json::mutable_members() {
  CHECK(is_object());
  return members_.Mutable();
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_int() && b.is_int() ? a.AsInt() == b.AsInt() : a.AsDouble() == b.AsDouble();
  }
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Json::Type::kNull:
      return true;
    case Json::Type::kBool:
      return a.AsBool() == b.AsBool();
    case Json::Type::kInt:
    case Json::Type::kDouble:
      return false;  // compared above
    case Json::Type::kString:
      return a.AsString() == b.AsString();
    case Json::Type::kArray:
      return a.items_.Shares(b.items_) || a.items() == b.items();
    case Json::Type::kObject:
      return a.members_.Shares(b.members_) || SameMembers(a.members(), b.members());
  }
  return false;
}

}  // namespace maniple
