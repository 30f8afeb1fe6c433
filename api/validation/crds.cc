#include "api/validation/crds.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/base/status_macros.h"
#include "api/codec/yaml.h"

namespace maniple {

absl::StatusOr<ManipleSchemas> ManipleSchemas::Load() {
  std::vector<Entry> entries;
  for (const EmbeddedCrd& crd : EmbeddedCrds()) {
    ASSIGN_OR_RETURN(const std::vector<YamlDocument> documents, ParseYaml(crd.yaml));
    for (const YamlDocument& document : documents) {
      const Json& spec = document.value["spec"];
      const std::vector<Json>& versions = spec["versions"].items();
      if (versions.empty()) {
        return absl::InternalError(absl::StrCat(crd.file, ": spec.versions is empty"));
      }
      absl::StatusOr<StructuralSchema> schema =
          StructuralSchema::Compile(versions.front().At("schema.openAPIV3Schema"));
      if (!schema.ok()) return Annotate(schema.status(), crd.file);
      entries.push_back({.kind = spec.At("names.kind").AsString(),
                         .namespaced = spec["scope"].AsString() == "Namespaced",
                         .schema = *std::move(schema)});
    }
  }
  return ManipleSchemas(std::move(entries));
}

const StructuralSchema* ManipleSchemas::Find(absl::string_view kind) const {
  for (const Entry& entry : entries_) {
    if (entry.kind == kind) return &entry.schema;
  }
  return nullptr;
}

bool ManipleSchemas::IsNamespaced(absl::string_view kind) const {
  for (const Entry& entry : entries_) {
    if (entry.kind == kind) return entry.namespaced;
  }
  return false;
}

}  // namespace maniple
