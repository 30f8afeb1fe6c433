// A resource type as the server serves it: its names, its verbs, and how writes to it differ.
//
// A value; the registry (type_registry.h) owns those that are served.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/base/id.h"
#include "api/codec/json.h"

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
  // In the order of discovery: create, delete, …; "create" alone: a review kind.
  std::vector<std::string> verbs;
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

}  // namespace maniple::devcluster
