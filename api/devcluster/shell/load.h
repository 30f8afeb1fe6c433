// Manifests from files, as --load names them: YAML or JSON, several documents a file, lists
// flattened.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/codec/json.h"

namespace maniple::devcluster {

struct LoadedObject {
  Json object;
  std::string file;
  int line = 0;

  // "cluster.yaml:12: "
  [[nodiscard]] std::string Where() const;
};

// A file, or every *.yaml, *.yml and *.json below a directory in order of their paths. In an order
// that can be created one by one: definitions of custom types, then namespaces, then what else.
// Errors name file, line and path.
[[nodiscard]] absl::StatusOr<std::vector<LoadedObject>> LoadManifests(
    const std::vector<std::string>& paths);

}  // namespace maniple::devcluster
