#include "api/devcluster/types/merge_rules.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace maniple::devcluster {
namespace {

using Kind = ListRule::Kind;

const absl::flat_hash_map<absl::string_view, ListRule>& RulesByField() {
  static const auto& rules = *new absl::flat_hash_map<absl::string_view, ListRule>{
      {"containers", {Kind::kMap, {"name"}}},
      {"initContainers", {Kind::kMap, {"name"}}},
      {"ephemeralContainers", {Kind::kMap, {"name"}}},
      {"volumes", {Kind::kMap, {"name"}}},
      {"env", {Kind::kMap, {"name"}}},
      {"imagePullSecrets", {Kind::kMap, {"name"}}},
      {"schedulingGates", {Kind::kMap, {"name"}}},
      {"resourceClaims", {Kind::kMap, {"name"}}},
      {"resourceClaimStatuses", {Kind::kMap, {"name"}}},
      {"hostAliases", {Kind::kMap, {"ip"}}},
      {"podIPs", {Kind::kMap, {"ip"}}},
      {"topologySpreadConstraints", {Kind::kMap, {"topologyKey", "whenUnsatisfiable"}}},
      {"ports", {Kind::kMap, {"containerPort", "protocol"}}},
      {"volumeMounts", {Kind::kMap, {"mountPath"}}},
      {"volumeDevices", {Kind::kMap, {"devicePath"}}},
      {"conditions", {Kind::kMap, {"type"}}},
      {"addresses", {Kind::kMap, {"type"}}},
      {"ownerReferences", {Kind::kMap, {"uid"}}},
      {"drivers", {Kind::kMap, {"name"}}},
      {"finalizers", {Kind::kSet}},
      {"podCIDRs", {Kind::kSet}},
  };
  return rules;
}

bool SameKeys(const ListRule& rule, const Json& a, const Json& b) {
  return std::all_of(rule.keys.begin(), rule.keys.end(), [&](const std::string& key) {
    // A key field that both leave out (a port's protocol) is the same default.
    return a[key] == b[key] || a[key].is_null() || b[key].is_null();
  });
}

}  // namespace

MergeRules MergeRules::OfType(const ResourceType& type) {
  MergeRules rules;
  rules.custom_ = type.custom;
  rules.kind_ = type.kind;
  if (type.custom) rules.schema_ = &type.open_api_schema;
  return rules;
}

MergeRules MergeRules::Field(absl::string_view name) const {
  MergeRules below = *this;
  below.field_ = std::string(name);
  if (!custom_ || schema_ == nullptr) return below;
  const Json& properties = (*schema_)["properties"];
  below.schema_ =
      properties.Has(name) ? properties.Find(name) : schema_->Find("additionalProperties");
  return below;
}

MergeRules MergeRules::Item() const {
  MergeRules below = *this;
  below.field_.clear();
  if (custom_ && schema_ != nullptr) below.schema_ = schema_->Find("items");
  return below;
}

ListRule MergeRules::list() const {
  if (!custom_) {
    if (field_ == "ports" && kind_ == "Service") return {Kind::kMap, {"port", "protocol"}};
    const auto it = RulesByField().find(field_);
    return it == RulesByField().end() ? ListRule() : it->second;
  }
  if (field_ == "finalizers" || field_ == "ownerReferences") return RulesByField().at(field_);
  if (schema_ == nullptr) return {};
  const std::string& type = (*schema_)["x-kubernetes-list-type"].AsString();
  if (type == "set") return {Kind::kSet};
  if (type != "map") return {};
  ListRule rule{Kind::kMap};
  for (const Json& key : (*schema_)["x-kubernetes-list-map-keys"].items()) {
    rule.keys.push_back(key.AsString());
  }
  return rule;
}

bool MergeRules::is_atomic_object() const {
  if (!custom_) return field_ == "selector" && kind_ != "PersistentVolumeClaim";
  return schema_ != nullptr && (*schema_)["x-kubernetes-map-type"].AsString() == "atomic";
}

const Json* FindItem(const Json& list, const ListRule& rule, const Json& like) {
  for (const Json& item : list.items()) {
    if (rule.kind == Kind::kMap ? SameKeys(rule, item, like) : item == like) return &item;
  }
  return nullptr;
}

Json* FindItem(Json& list, const ListRule& rule, const Json& like) {
  const Json* found = FindItem(std::as_const(list), rule, like);
  if (found == nullptr) return nullptr;
  const ptrdiff_t place = found - std::as_const(list).items().data();
  return &list.mutable_items()[static_cast<size_t>(place)];
}

}  // namespace maniple::devcluster
