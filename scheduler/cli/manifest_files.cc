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
  ASSIGN_OR_RETURN(std::vector<YamlDocument> documents, ParseYaml(text));
  std::vector<Json> objects;
  for (YamlDocument& document : documents) {
    const bool list = document.value["kind"].AsString() == "List";
    std::vector<Json> items =
        list ? document.value["items"].items() : std::vector<Json>{std::move(document.value)};
    for (Json& item : items) {
      if (!item.is_null()) objects.push_back(std::move(item));
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
