#include "scheduler/cli/manifest_files.h"

#include <utility>

#include "api/base/status_macros.h"
#include "api/codec/yaml.h"

namespace maniple {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

}  // namespace

absl::StatusOr<std::vector<Json>> ParseManifests(absl::string_view text) {
  if (text.size() > kMostBytes) return absl::InvalidArgumentError("larger than 64 MiB");
  ASSIGN_OR_RETURN(const std::vector<YamlDocument> documents, ParseYaml(text));
  std::vector<Json> objects;
  for (const YamlDocument& document : documents) {
    for (ManifestItem& item : ItemsOf(document)) {
      if (!item.value.is_null()) objects.push_back(std::move(item.value));
    }
  }
  return objects;
}

void PutInto(absl::string_view namespace_name, std::vector<Json>& objects) {
  for (Json& object : objects) {
    if (namespace_name.empty() || !object["metadata"].is_object()) continue;
    Json& meta = object.Mutable("metadata");
    if (meta["namespace"].AsString().empty()) meta.Set("namespace", namespace_name);
  }
}

}  // namespace maniple
