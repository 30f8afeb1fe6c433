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
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/id.h"
#include "api/codec/json.h"
#include "api/devcluster/types/api_error.h"
#include "api/devcluster/types/resource_type.h"

namespace maniple::devcluster {

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
