// Our five CustomResourceDefinitions, as deploy/crds had them when this was built, and their
// compiled schemas.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/codec/json.h"
#include "api/validation/schema.h"

namespace maniple {

struct EmbeddedCrd {
  absl::string_view file;  // "podgroups.yaml"
  absl::string_view yaml;
};
// Sorted by file.
[[nodiscard]] absl::Span<const EmbeddedCrd> EmbeddedCrds();

// Immutable once loaded.
class ManipleSchemas final {
 public:
  // Fails only when the build embedded a broken CRD.
  static absl::StatusOr<ManipleSchemas> Load();

  // nullptr when the kind is none of ours.
  [[nodiscard]] const StructuralSchema* Find(absl::string_view kind) const;
  [[nodiscard]] bool IsNamespaced(absl::string_view kind) const;

 private:
  struct Entry {
    std::string kind;
    bool namespaced = false;
    StructuralSchema schema;
  };
  explicit ManipleSchemas(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  std::vector<Entry> entries_;
};

}  // namespace maniple
