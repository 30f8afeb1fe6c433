// Which resource types the server serves: the built-in ones and those that
// CustomResourceDefinitions add while it runs.
//
// Owned by ApiServer, one thread. A `const ResourceType*` stays valid until the next change of the
// custom types: keep StorageId across calls, not the pointer.
//
//   const ResourceType* pods = registry.Find("", "v1", "pods");
//   for (const ResourceType* type : registry.All()) …      // discovery, OpenAPI
//   etag = absl::StrCat(registry.generation());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/id.h"
#include "api/codec/json.h"
#include "api/devcluster/api_error.h"

namespace maniple {
class StructuralSchema;
}

namespace maniple::devcluster {

// One table of objects in the Store. Versions of a type share one; so do the Events of both groups.
using StorageId = Id<struct StorageTag>;

enum class Scope { kCluster, kNamespaced };

struct Subresource {
  std::string name;                  // "status", "binding", "eviction", "log", "finalize"
  std::string group, version, kind;  // of the body: policy/v1 Eviction
  std::vector<std::string> verbs;
};

// How writes to a type differ from one another in kube-apiserver.
struct WriteTraits {
  bool counts_generation = false;       // metadata.generation grows with the spec
  bool unconditional_update = true;     // PUT without resourceVersion is allowed
  bool create_on_update = false;        // PUT of an absent object creates it
  bool returns_deleted_object = false;  // DELETE answers the object rather than a Status
  bool orphans_by_default = false;      // DELETE without propagationPolicy leaves dependents
};

struct ResourceType {
  std::string group;    // "" is core
  std::string version;  // "v1"
  std::string kind;     // "Pod"
  std::string list_kind;
  std::string plural;  // "pods"
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  Scope scope = Scope::kNamespaced;
  std::vector<std::string>
      verbs;  // in the order of discovery: create, delete, …; "create" alone: a review kind
  std::vector<Subresource> subresources;
  WriteTraits traits;
  StorageId storage;  // none: nothing is kept (SubjectAccessReviews)

  // Paths besides metadata.name and metadata.namespace that a field selector may name.
  std::vector<std::string> selectable_fields;

  // Of a CustomResourceDefinition's version; for built-in types null and empty.
  std::shared_ptr<const StructuralSchema> schema;
  Json open_api_schema;  // spec.versions[].schema.openAPIV3Schema as it was posted
  Json printer_columns;  // spec.versions[].additionalPrinterColumns as posted; null when absent
  bool custom = false;

  [[nodiscard]] bool namespaced() const { return scope == Scope::kNamespaced; }
  [[nodiscard]] const Subresource* FindSubresource(absl::string_view name) const;
  [[nodiscard]] std::string api_version() const;     // "v1", "apps/v1"
  [[nodiscard]] std::string group_resource() const;  // "pods", "deployments.apps"
};

class TypeRegistry final {
 public:
  TypeRegistry();  // with the built-in types
  ~TypeRegistry();
  TypeRegistry(const TypeRegistry&) = delete;
  TypeRegistry& operator=(const TypeRegistry&) = delete;

  // Served types only; nullptr when there is none.
  [[nodiscard]] const ResourceType* Find(absl::string_view group, absl::string_view version,
                                         absl::string_view plural) const;
  // "v1"/"Pod", "apps/v1"/"Deployment".
  [[nodiscard]] const ResourceType* FindByKind(absl::string_view api_version,
                                               absl::string_view kind) const;
  // All served types: built-in ones in their table's order, then custom ones by group, version,
  // plural.
  [[nodiscard]] const std::vector<const ResourceType*>& All() const { return served_; }

  // The table of objects of a group's resource. REQUIRES: the type exists or existed.
  [[nodiscard]] StorageId Storage(absl::string_view group, absl::string_view plural) const;
  // How many storages there are; ids are below it.
  [[nodiscard]] size_t storages() const { return storage_names_.size(); }

  // The served type whose objects lie in the storage (the first one), or nullptr.
  [[nodiscard]] const ResourceType* OfStorage(StorageId storage) const;

  // Serves the versions of a CustomResourceDefinition, replacing what it served before. Refused
  // with the Invalid status of the CRD when a schema does not compile.
  MaybeError DefineCustom(const Json& crd);
  void RemoveCustom(absl::string_view crd_name);

  // Grows with every change of the set of types: for ETags.
  [[nodiscard]] uint64_t generation() const { return generation_; }

 private:
  struct CustomTypes {
    std::string crd_name;
    std::vector<std::unique_ptr<const ResourceType>> versions;
  };
  StorageId InternStorage(absl::string_view group, absl::string_view plural);
  void Publish();

  Interner<StorageId> storage_names_;  // "group/plural"
  std::vector<std::unique_ptr<const ResourceType>> builtin_;
  std::vector<CustomTypes> custom_;          // by name of the CRD
  std::vector<const ResourceType*> served_;  // of both
  uint64_t generation_ = 1;
};

// The rows of the built-in types, without storages (builtin_types.cc).
[[nodiscard]] std::vector<ResourceType> BuiltinTypes();

}  // namespace maniple::devcluster
