#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/codec/json.h"
#include "api/devcluster/store/apply.h"
#include "api/devcluster/store/patch.h"
#include "api/devcluster/types/merge_rules.h"
#include "api/devcluster/types/type_registry.h"
#include "test/fuzz/devcluster_targets.h"

namespace maniple {
namespace {

using devcluster::ApiOr;

struct Pair {
  Json target, patch;
};
std::optional<Pair> Read(absl::string_view bytes) {
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(bytes, absl::MaxSplits("\n---\n", 1));
  absl::StatusOr<Json> target = Json::Parse(halves.first);
  absl::StatusOr<Json> patch = Json::Parse(halves.second);
  if (!target.ok() || !patch.ok()) return std::nullopt;
  return Pair{*std::move(target), *std::move(patch)};
}

const devcluster::MergeRules& PodRules() {
  static const auto& types = *new devcluster::TypeRegistry();
  static const auto& rules =
      *new devcluster::MergeRules(devcluster::MergeRules::OfType(*types.Find("", "v1", "pods")));
  return rules;
}

// Members of the target that the patch does not have.
std::string TouchedElsewhere(const Json& target, const Json& patch, const Json& result) {
  if (!patch.is_object()) return "";
  for (const auto& [name, value] : target.members()) {
    if (patch.Has(name)) continue;
    const Json* still = result.Find(name);
    if (still == nullptr || !(*still == value)) {
      return absl::StrCat("changes ", name, ", which it does not name");
    }
  }
  return "";
}

bool HasList(const Json& value) {
  if (value.is_array()) return true;
  return std::ranges::any_of(value.members(), [](const auto& m) { return HasList(m.second); });
}

// A directive of a strategic patch, anywhere.
bool HasDirective(const Json& value) {
  return std::ranges::any_of(value.items(), HasDirective) ||
         std::ranges::any_of(value.members(), [](const auto& member) {
           return absl::StartsWith(member.first, "$") || HasDirective(member.second);
         });
}

// MergePatch as RFC 7386 writes it.
Json MergedByTheBook(Json target, const Json& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = Json::Object();
  for (const auto& [name, value] : patch.members()) {
    if (value.is_null()) {
      target.Erase(name);
    } else {
      target.Set(name, MergedByTheBook(target[name], value));
    }
  }
  return target;
}

std::optional<Json> OneByOne(Json target, const Json& patch) {
  for (const Json& operation : patch.items()) {
    ApiOr<Json> next = devcluster::ApplyJsonPatch(target, Json::Array({operation}));
    if (!next.ok()) return std::nullopt;
    target = *std::move(next);
  }
  return target;
}

// The first segments of all paths that the operations name, as an object with these members.
Json NamedBy(const Json& patch) {
  Json out = Json::Object();
  for (const Json& operation : patch.items()) {
    for (const absl::string_view key : {"path", "from"}) {
      absl::string_view pointer = operation[key].AsString();
      if (key == "path" && pointer.empty()) return Json();  // the whole
      absl::ConsumePrefix(&pointer, "/");
      std::string segment(pointer.substr(0, pointer.find('/')));
      segment = absl::StrReplaceAll(segment, {{"~1", "/"}, {"~0", "~"}});
      out.Set(segment, true);
    }
  }
  return out;
}

}  // namespace

std::string FuzzJsonPatch(absl::string_view bytes) {
  const std::optional<Pair> pair = Read(bytes);
  if (!pair.has_value()) return "";
  const ApiOr<Json> whole = devcluster::ApplyJsonPatch(pair->target, pair->patch);
  const std::optional<Json> single = OneByOne(pair->target, pair->patch);
  if (!whole.ok()) {
    // Together the operations may be too many, or copy too much.
    const bool bounded = absl::StrContains(bytes, "copy") || !pair->patch.is_array();
    return single.has_value() && !bounded ? "works one by one only" : "";
  }
  if (!devcluster::IsWithinDepth(*whole)) return "nested too deeply";
  if (single.has_value() && !(*single == *whole)) return "does something else one by one";
  return TouchedElsewhere(pair->target, NamedBy(pair->patch), *whole);
}

std::string FuzzMergePatch(absl::string_view bytes) {
  const std::optional<Pair> pair = Read(bytes);
  if (!pair.has_value()) return "";
  const ApiOr<Json> merged = devcluster::ApplyMergePatch(pair->target, pair->patch);
  if (!merged.ok()) return "";
  if (!(*merged == MergedByTheBook(pair->target, pair->patch))) return "not by the book";
  const ApiOr<Json> again = devcluster::ApplyMergePatch(*merged, pair->patch);
  if (!again.ok() || !(*again == *merged)) return "changes something a second time";
  return TouchedElsewhere(pair->target, pair->patch, *merged);
}

std::string FuzzStrategicPatch(absl::string_view bytes) {
  const std::optional<Pair> pair = Read(bytes);
  if (!pair.has_value()) return "";
  const auto& [target, patch] = *pair;
  const ApiOr<Json> patched = devcluster::ApplyStrategicPatch(target, patch, PodRules());
  if (!patched.ok()) return "";
  if (!devcluster::IsWithinDepth(*patched)) return "nested too deeply";
  if (HasDirective(patch)) return "";
  if (patch.is_object() && !HasList(target) && !HasList(patch)) {
    const ApiOr<Json> merged = devcluster::ApplyMergePatch(target, patch);
    if (!merged.ok() || !(*merged == *patched)) return "another result than a merge patch";
  }
  const ApiOr<Json> again = devcluster::ApplyStrategicPatch(*patched, patch, PodRules());
  if (!again.ok() || !(*again == *patched)) {
    return absl::StrCat("changes something a second time: ", patched->Dump(), " becomes ",
                        again.ok() ? again->Dump() : again.error().message);
  }
  return TouchedElsewhere(target, patch, *patched);
}

std::string FuzzApply(absl::string_view bytes) {
  std::optional<Pair> pair = Read(bytes);
  if (!pair.has_value()) return "";
  auto& [live, applied] = *pair;
  // What comes so far has metadata.
  if (!applied.is_object() || !applied["metadata"].is_object()) return "";
  if (!live.is_null() && (!live.is_object() || !live["metadata"].is_object())) return "";
  const bool owned = live["metadata"].Has("managedFields");
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  const devcluster::ApplyOptions by_me{
      .manager = "me", .force = devcluster::ApplyForce::kYes, .now = now};
  const ApiOr<Json> once = devcluster::ApplyConfiguration(live, applied, PodRules(), by_me);
  if (!once.ok()) return "refused by force";
  // An item without its key fields, which a real server refuses, is like no other.
  const std::string owners = (*once)["metadata"]["managedFields"].Dump();
  if (absl::StrContains(owners, "k:{}")) return "";
  const ApiOr<Json> twice = devcluster::ApplyConfiguration(*once, applied, PodRules(), by_me);
  if (!twice.ok()) return "refused a second time";
  if (!(*twice == *once)) {
    return absl::StrCat("changes something a second time: ", once->Dump(), " becomes ",
                        twice->Dump());
  }
  const devcluster::ApplyOptions by_another{
      .manager = "another", .force = devcluster::ApplyForce::kNo, .now = now};
  if (!owned && !devcluster::ApplyConfiguration(*once, applied, PodRules(), by_another).ok()) {
    return absl::StrCat("another manager may not want the same: ", owners);
  }
  applied.Set("metadata", Json::Object());  // has managedFields now
  return owned ? "" : TouchedElsewhere(live, applied, *once);
}

}  // namespace maniple
