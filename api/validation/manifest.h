// Manifests checked offline: the library behind `maniple validate FILE…`.
//
// Objects of our group are held to their CRDs (unknown fields, structure, CEL rules) and to each
// other: cycles of cohorts, levels that a Topology does not have, pods that name a gang. A
// reference to what is not among the files is a note, since it may exist in the cluster. Other
// kinds are skipped with one note per file and kind, except what matters to a gang: Pods, pod
// templates, PriorityClasses.
//
//   for (const ManifestFinding& f : ValidateManifests({{"queue.yaml", text}}))
//     std::cerr << f.file << ":" << f.line << ": " << f.path << ": " << f.message;
#pragma once

#include <string>
#include <vector>

namespace maniple {

struct ManifestFile {
  std::string name;  // for the findings only
  std::string text;  // YAML or JSON, any number of documents
};

struct ManifestFinding {
  enum class Severity { kNote, kError };

  Severity severity = Severity::kError;
  std::string file;
  int line = 0;      // from 1
  std::string path;  // inside the object; "" = the object or file as a whole
  std::string message;
};

// In the order of files and lines.
[[nodiscard]] std::vector<ManifestFinding> ValidateManifests(
    const std::vector<ManifestFile>& files);

}  // namespace maniple
