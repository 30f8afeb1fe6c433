#include "api/devcluster/store/apply.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/codec/kubernetes_time.h"
#include "api/devcluster/store/writes.h"

namespace maniple::devcluster {
namespace {

// A set of fields is kept as Kubernetes writes it (FieldsV1): an object whose keys are "f:name" of
// a member, `k:{"name":"x"}` of a list item by its keys, `v:"x"` of a value in a set; what is empty
// is one value.

using ListKind = ListRule::Kind;

std::string ItemKey(const ListRule& rule, const Json& item) {
  if (rule.kind == ListKind::kSet) return absl::StrCat("v:", item.Dump());
  Json keys = Json::Object();
  for (const std::string& key : rule.keys) {
    if (item.Has(key)) keys.Set(key, item[key]);
  }
  return absl::StrCat("k:", keys.Dump());
}

bool IsServerField(absl::string_view path) {
  return path == ".apiVersion" || path == ".kind" || path == ".metadata.name" ||
         path == ".metadata.namespace" || path == ".metadata.resourceVersion" ||
         path == ".metadata.uid" || path == ".metadata.managedFields" ||
         path == ".metadata.creationTimestamp" || path == ".metadata.generation";
}

Json FieldsOf(const Json& value, const MergeRules& rules, const std::string& path) {
  Json fields = Json::Object();
  if (value.is_object() && !rules.is_atomic_object()) {
    for (const auto& [name, member] : value.members()) {
      const std::string at = absl::StrCat(path, ".", name);
      if (IsServerField(at) || member.is_null()) continue;
      Json below = FieldsOf(member, rules.Field(name), at);
      if (at == ".metadata" && below.size() == 0) continue;
      fields.Set(absl::StrCat("f:", name), std::move(below));
    }
  } else if (value.is_array()) {
    const ListRule rule = rules.list();
    if (rule.kind == ListKind::kAtomic) return fields;
    for (const Json& item : value.items()) {
      Json below =
          rule.kind == ListKind::kMap ? FieldsOf(item, rules.Item(), path + "[]") : Json::Object();
      fields.Set(ItemKey(rule, item), std::move(below));
    }
  }
  return fields;
}

// `Value` is Json or const Json; so is the child.
template <typename Value>
Value* ChildAt(Value& value, absl::string_view key, const MergeRules& rules) {
  if (absl::ConsumePrefix(&key, "f:")) return value.Find(key);
  const bool is_value = absl::ConsumePrefix(&key, "v:");
  if (!is_value) absl::ConsumePrefix(&key, "k:");
  const absl::StatusOr<Json> like = Json::Parse(key);
  return like.ok() ? FindItem(value, rules.list(), *like) : nullptr;
}

MergeRules RulesAt(const MergeRules& rules, absl::string_view key) {
  return absl::ConsumePrefix(&key, "f:") ? rules.Field(key) : rules.Item();
}

std::string PathAt(absl::string_view path, absl::string_view key) {
  if (absl::ConsumePrefix(&key, "f:")) return absl::StrCat(path, ".", key);
  const bool is_value = absl::ConsumePrefix(&key, "v:");
  if (is_value) return absl::StrCat(path, "[=", key, "]");
  absl::ConsumePrefix(&key, "k:");
  const absl::StatusOr<Json> keys = Json::Parse(key);
  std::vector<std::string> parts;
  if (keys.ok()) {
    for (const auto& [name, value] : keys->members()) {
      parts.push_back(absl::StrCat(name, "=", value.Dump()));
    }
  }
  return absl::StrCat(path, "[", absl::StrJoin(parts, ","), "]");
}

void MergeApplied(Json& live, const Json& applied, const MergeRules& rules) {
  if (applied.is_object() && live.is_object() && !rules.is_atomic_object()) {
    for (const auto& [name, member] : applied.members()) {
      if (member.is_null()) continue;
      MergeApplied(live.Mutable(name), member, rules.Field(name));
    }
    return;
  }
  const ListRule rule = rules.list();
  if (!applied.is_array() || !live.is_array() || rule.kind == ListKind::kAtomic) {
    live = applied;
    return;
  }
  for (const Json& item : applied.items()) {
    Json* found = FindItem(live, rule, item);
    if (found == nullptr) {
      live.Append(item);
    } else {
      MergeApplied(*found, item, rules.Item());
    }
  }
}

// An empty object or list wants nothing of what is there.
bool Changes(const Json& live, const Json& applied, const MergeRules& rules) {
  Json merged = live;
  MergeApplied(merged, applied, rules);
  return !(merged == live);
}

// Two versions of one place in the object.
struct Sides {
  const Json& live;
  const Json& applied;
};

// Fields of both sets whose values would change.
void FindConflicts(const Json& mine, const Json& theirs, const Sides& sides,
                   const MergeRules& rules, const std::string& path,
                   std::vector<std::string>& out) {
  static const auto& kNull = *new Json();
  for (const auto& [key, below] : mine.members()) {
    const Json* their_below = theirs.Find(key);
    if (their_below == nullptr) continue;
    const Json* live = ChildAt(sides.live, key, rules);
    const Json* applied = ChildAt(sides.applied, key, rules);
    const Sides next{live == nullptr ? kNull : *live, applied == nullptr ? kNull : *applied};
    const std::string at = PathAt(path, key);
    if (below.size() == 0 || their_below->size() == 0) {
      if (Changes(next.live, next.applied, RulesAt(rules, key))) out.push_back(at);
    } else {
      FindConflicts(below, *their_below, next, RulesAt(rules, key), at, out);
    }
  }
}

// Takes out of `object` what `gone` names and neither `mine` nor anybody in `others` has.
struct Owners {
  const Json* mine;
  std::vector<const Json*> others;
  [[nodiscard]] bool Has(const std::string& key) const {
    if (mine != nullptr && mine->Has(key)) return true;
    for (const Json* other : others) {
      if (other->Has(key)) return true;
    }
    return false;
  }
  [[nodiscard]] Owners At(const std::string& key) const {
    Owners below{mine == nullptr ? nullptr : mine->Find(key), {}};
    for (const Json* other : others) {
      if (const Json* child = other->Find(key); child != nullptr) below.others.push_back(child);
    }
    return below;
  }
};

void RemoveChild(Json& object, absl::string_view key, const Json& child) {
  if (absl::ConsumePrefix(&key, "f:")) {
    object.Erase(key);
    return;
  }
  const Json* at = &child;
  std::vector<Json>& items = object.mutable_items();
  for (auto it = items.begin(); it != items.end(); ++it) {
    if (&*it == at) {
      items.erase(it);
      return;
    }
  }
}

void RemoveUnowned(Json& object, const Json& gone, const Owners& owners, const MergeRules& rules) {
  for (const auto& [key, below] : gone.members()) {
    Json* child = ChildAt(object, key, rules);
    if (child == nullptr) continue;
    const bool is_member = absl::StartsWith(key, "f:");
    if (!owners.Has(key) && (below.size() == 0 || !is_member)) {
      RemoveChild(object, key, *child);
    } else if (below.size() > 0) {
      RemoveUnowned(*child, below, owners.At(key), RulesAt(rules, key));
      if (child->size() == 0 && !owners.Has(key)) RemoveChild(object, key, *child);
    }
  }
}

// What is left of a set when another manager takes over, of the fields in `taken`, those whose
// values it changes. The others are both managers' then.
void Disown(Json& set, const Json& taken, const Sides& sides, const MergeRules& rules) {
  static const auto& kNull = *new Json();
  for (const auto& [key, below] : taken.members()) {
    Json* theirs = set.Find(key);
    if (theirs == nullptr) continue;
    const Json* live = ChildAt(sides.live, key, rules);
    const Json* applied = ChildAt(sides.applied, key, rules);
    const Sides next{live == nullptr ? kNull : *live, applied == nullptr ? kNull : *applied};
    const MergeRules next_rules = RulesAt(rules, key);
    if (below.size() == 0 || theirs->size() == 0) {
      if (Changes(next.live, next.applied, next_rules)) set.Erase(key);
      continue;
    }
    Disown(*theirs, below, next, next_rules);
    if (theirs->size() == 0) set.Erase(key);
  }
}

ApiError ConflictError(const std::vector<StatusCause>& causes, absl::string_view text) {
  ApiError error{.code = 409, .reason = "Conflict", .message = std::string(text)};
  error.causes = causes;
  return error;
}

MaybeError CheckConflicts(const Json& live, const Json& applied, const Json& mine,
                          const MergeRules& rules, const ApplyOptions& options) {
  std::vector<StatusCause> causes;
  std::vector<std::string> lines;
  for (const Json& entry : live["metadata"]["managedFields"].items()) {
    if (entry["manager"].AsString() == options.manager) continue;
    std::vector<std::string> paths;
    FindConflicts(mine, entry["fieldsV1"], {live, applied}, rules, "", paths);
    const std::string with = absl::StrCat("\"", entry["manager"].AsString(), "\" using ",
                                          entry["apiVersion"].AsString());
    for (const std::string& path : paths) {
      causes.push_back({.reason = "FieldManagerConflict",
                        .message = absl::StrCat("conflict with ", with),
                        .field = path});
    }
    if (paths.size() == 1) lines.push_back(absl::StrCat("conflict with ", with, ": ", paths[0]));
    if (paths.size() > 1) {
      lines.push_back(absl::StrCat("conflicts with ", with, ":\n- ", absl::StrJoin(paths, "\n- ")));
    }
  }
  if (causes.empty()) return std::nullopt;
  return ConflictError(
      causes, absl::StrCat("Apply failed with ", causes.size(), " conflict",
                           causes.size() == 1 ? "" : "s", ": ", absl::StrJoin(lines, "\n")));
}

Json ManagerEntry(const ApplyOptions& options, const Json& applied, Json fields) {
  return Json::Object({{"manager", Json(options.manager)},
                       {"operation", Json("Apply")},
                       {"apiVersion", applied["apiVersion"]},
                       {"time", Json(FormatKubernetesTime(options.now))},
                       {"fieldsType", Json("FieldsV1")},
                       {"fieldsV1", std::move(fields)}});
}

}  // namespace

ApiOr<Json> ApplyConfiguration(const Json& live, const Json& applied, const MergeRules& rules,
                               const ApplyOptions& options) {
  Json mine = FieldsOf(applied, rules, "");
  if (live.is_null()) {
    Json made = applied;
    made.Mutable("metadata")
        .Set("managedFields", Json::Array({ManagerEntry(options, applied, std::move(mine))}));
    return made;
  }
  if (options.force == ApplyForce::kNo) {
    if (MaybeError error = CheckConflicts(live, applied, mine, rules, options)) {
      return *std::move(error);
    }
  }
  Json before;
  Json entries = Json::Array();
  const Json* own_entry = nullptr;
  for (const Json& entry : live["metadata"]["managedFields"].items()) {
    if (entry["manager"].AsString() == options.manager) {
      before = entry["fieldsV1"];
      own_entry = &entry;
      continue;
    }
    Json other = entry;
    if (options.force == ApplyForce::kYes) {
      Disown(other.Mutable("fieldsV1"), mine, {live, applied}, rules);
    }
    if (other["fieldsV1"].size() > 0) entries.Append(std::move(other));
  }
  Json merged = live;
  Json wanted = applied;
  Json& metadata = wanted.Mutable("metadata");
  for (const absl::string_view field : {"managedFields", "creationTimestamp"}) {
    metadata.Erase(field);
  }
  MergeApplied(merged, wanted, rules);
  Owners owners{&mine, {}};
  for (const Json& entry : entries.items()) owners.others.push_back(&entry["fieldsV1"]);
  RemoveUnowned(merged, before, owners, rules);

  // An apply that changes nothing leaves the entry, and so the object, as it was.
  if (own_entry != nullptr && (*own_entry)["fieldsV1"] == mine) {
    entries.Append(*own_entry);
  } else {
    entries.Append(ManagerEntry(options, applied, std::move(mine)));
  }
  merged.Mutable("metadata").Set("managedFields", std::move(entries));
  return merged;
}

}  // namespace maniple::devcluster
