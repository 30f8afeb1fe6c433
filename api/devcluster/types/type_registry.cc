#include "api/devcluster/types/type_registry.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/check.h"
#include "api/validation/schema.h"

namespace maniple::devcluster {
namespace {

std::string StorageName(absl::string_view group, absl::string_view plural) {
  // Events are one set of objects that two groups show.
  if (group == "events.k8s.io" && plural == "events") return "/events";
  return absl::StrCat(group, "/", plural);
}

std::vector<std::string> Strings(const Json& array) {
  std::vector<std::string> out;
  for (const Json& item : array.items()) out.push_back(item.AsString());
  return out;
}

// ".spec.color" in a CRD is "spec.color" in a selector.
std::vector<std::string> SelectableFieldsOf(const Json& version) {
  std::vector<std::string> out;
  for (const Json& field : version["selectableFields"].items()) {
    absl::string_view path = field["jsonPath"].AsString();
    if (!path.empty() && path.front() == '.') path.remove_prefix(1);
    out.emplace_back(path);
  }
  return out;
}

ResourceType CustomType(const Json& spec, const Json& version) {
  const Json& names = spec["names"];
  ResourceType type;
  type.custom = true;
  type.traits.counts_generation = true;
  type.traits.unconditional_update = false;
  type.group = spec["group"].AsString();
  type.version = version["name"].AsString();
  type.kind = names["kind"].AsString();
  type.list_kind = names["listKind"].AsString();
  if (type.list_kind.empty()) type.list_kind = absl::StrCat(type.kind, "List");
  type.plural = names["plural"].AsString();
  type.singular = names["singular"].AsString();
  type.short_names = Strings(names["shortNames"]);
  type.categories = Strings(names["categories"]);
  type.scope = spec["scope"].AsString() == "Cluster" ? Scope::kCluster : Scope::kNamespaced;
  type.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  const std::vector<std::string> read_and_write = {"get", "patch", "update"};
  if (version["subresources"].Has("status")) {
    type.subresources.push_back({"status", type.group, type.version, type.kind, read_and_write});
  }
  if (version["subresources"].Has("scale")) {
    type.subresources.push_back({"scale", "autoscaling", "v1", "Scale", read_and_write});
  }
  type.selectable_fields = SelectableFieldsOf(version);
  type.open_api_schema = version["schema"]["openAPIV3Schema"];
  type.printer_columns = version["additionalPrinterColumns"];
  return type;
}

}  // namespace

TypeRegistry::TypeRegistry() {
  for (ResourceType& type : BuiltinTypes()) {
    const bool stored = type.verbs.size() > 1;
    if (stored) type.storage = InternStorage(type.group, type.plural);
    builtin_.push_back(std::make_unique<const ResourceType>(std::move(type)));
  }
  Publish();
}

TypeRegistry::~TypeRegistry() = default;

StorageId TypeRegistry::InternStorage(absl::string_view group, absl::string_view plural) {
  return storage_names_.Intern(StorageName(group, plural));
}

const ResourceType* TypeRegistry::Find(absl::string_view group, absl::string_view version,
                                       absl::string_view plural) const {
  for (const ResourceType* type : served_) {
    if (type->plural == plural && type->group == group && type->version == version) return type;
  }
  return nullptr;
}

const ResourceType* TypeRegistry::FindByKind(absl::string_view api_version,
                                             absl::string_view kind) const {
  for (const ResourceType* type : served_) {
    if (type->kind == kind && type->api_version() == api_version) return type;
  }
  return nullptr;
}

void TypeRegistry::Publish() {
  served_.clear();
  for (const auto& type : builtin_) served_.push_back(type.get());
  for (const CustomTypes& custom : custom_) {
    for (const auto& type : custom.versions) served_.push_back(type.get());
  }
  ++generation_;
}

StorageId TypeRegistry::Storage(absl::string_view group, absl::string_view plural) const {
  const std::optional<StorageId> id = storage_names_.Find(StorageName(group, plural));
  CHECK(id.has_value()) << group << "/" << plural;
  return *id;
}

const ResourceType* TypeRegistry::OfStorage(StorageId storage) const {
  for (const ResourceType* type : served_) {
    if (type->storage == storage) return type;
  }
  return nullptr;
}

MaybeError TypeRegistry::DefineCustom(const Json& crd) {
  const std::string& name = crd["metadata"]["name"].AsString();
  const Json& spec = crd["spec"];
  CustomTypes custom;
  custom.crd_name = name;
  // There also while no version of it is served: its objects go with the definition.
  const StorageId storage =
      InternStorage(spec["group"].AsString(), spec["names"]["plural"].AsString());
  std::vector<StatusCause> causes;
  for (size_t i = 0; i < spec["versions"].size(); ++i) {
    const Json& version = spec["versions"].items()[i];
    absl::StatusOr<StructuralSchema> schema =
        StructuralSchema::Compile(version["schema"]["openAPIV3Schema"]);
    if (!schema.ok()) {
      causes.push_back({.reason = "FieldValueInvalid",
                        .message = std::string(schema.status().message()),
                        .field = absl::StrCat("spec.versions[", i, "].schema.openAPIV3Schema")});
      continue;
    }
    if (!version["served"].AsBool()) continue;
    ResourceType type = CustomType(spec, version);
    type.schema = std::make_shared<const StructuralSchema>(*std::move(schema));
    type.storage = storage;
    custom.versions.push_back(std::make_unique<const ResourceType>(std::move(type)));
  }
  if (!causes.empty()) {
    const ResourceType* crds = FindByKind("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    return Invalid(*crds, name, std::move(causes));
  }
  RemoveCustom(name);
  const auto place = std::lower_bound(
      custom_.begin(), custom_.end(), name,
      [](const CustomTypes& types, const std::string& key) { return types.crd_name < key; });
  custom_.insert(place, std::move(custom));
  Publish();
  return std::nullopt;
}

void TypeRegistry::RemoveCustom(absl::string_view crd_name) {
  const size_t gone =
      std::erase_if(custom_, [&](const CustomTypes& types) { return types.crd_name == crd_name; });
  if (gone > 0) Publish();
}

}  // namespace maniple::devcluster
