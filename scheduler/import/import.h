// Other schedulers' queues, cohorts and flavors as manifests of ours, with a report of every
// part that has no counterpart. Nothing of theirs is passed over in silence.
//
// Pure functions over files; any thread. Behind `maniple import kueue|volcano|kai|yunikorn FILE…`:
//
//   const ImportResult result = ImportObjects(ImportFrom::kKueue, {{"kueue.yaml", text}});
//   for (const Json& object : result.objects) std::cout << "---\n" << DumpYaml(object);
//   for (const ManifestFinding& note : result.findings) std::cerr << note.message;
#pragma once

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/validation/manifest.h"

namespace maniple {

enum class ImportFrom { kKueue, kVolcano, kKai, kYuniKorn };

// "kueue", "volcano", "kai", "yunikorn".
[[nodiscard]] std::optional<ImportFrom> ImportFromNamed(absl::string_view name);

struct ImportResult {
  // Each valid by its CRD; an object comes after those that it refers to.
  std::vector<Json> objects;
  // In the order of files and lines. An error is a file or object that could not be read, or whose
  // translation our CRDs refuse; the rest is translated all the same.
  std::vector<ManifestFinding> findings;
};

// The files are YAML or JSON, lists as kubectl prints them included.
[[nodiscard]] ImportResult ImportObjects(ImportFrom from, const std::vector<ManifestFile>& files);

}  // namespace maniple
