// YAML (and JSON, which is YAML) into Json values: manifests and configuration files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"

namespace maniple {

struct YamlDocument {
  Json value;
  int line = 0;  // first line of the document in its file, from 1

  // Where each node stands in the file: (path like "spec.levels[0].name", line), in document order.
  // For error messages.
  std::vector<std::pair<std::string, int>> lines;
  // The line of the path, or of its nearest ancestor.
  [[nodiscard]] int LineOf(absl::string_view path) const;
};

// One object of a document, and where it stands there.
struct ManifestItem {
  Json value;
  std::string path;  // "": it is the document; "items[3]": of a list
  int line = 0;
};
// The document, or the items of a list: of kind List, PodList and so on.
[[nodiscard]] std::vector<ManifestItem> ItemsOf(const YamlDocument& document);

// Every non-empty document of a multi-document stream. Plain scalars follow the YAML 1.2 core
// schema as Kubernetes users expect: true/false, integers and decimals become JSON values,
// everything quoted stays text. Anchors are resolved with a bound on the expanded size (a
// billion-laughs document is refused). Errors name the line and column.
[[nodiscard]] absl::StatusOr<std::vector<YamlDocument>> ParseYaml(absl::string_view text);

// The inverse, for `-o yaml`; strings are quoted where YAML would read them as something else.
[[nodiscard]] std::string DumpYaml(const Json& value);

}  // namespace maniple
