// Manifests checked offline: the library behind `maniple validate FILE…`.
//
// Objects of our group are held to their CRDs (unknown fields, structure, CEL rules) and to each
// other: cycles of cohorts, levels that a Topology does not have, pods that name a gang. A
// reference to what is not among the files is a note, since it may exist in the cluster. Other
// kinds get one note per file and kind: only their names are checked, and what matters to a gang in
// Pods, pod templates and PriorityClasses.
//
//   for (const ManifestFinding& f : ValidateManifests({{"queue.yaml", text}}))
//     std::cerr << f.file << ":" << f.line << ": " << f.path << ": " << f.message;
#pragma once

#include <string>
#include <vector>

#include "api/validation/manifest_finding.h"

namespace maniple {

// In the order of files and lines. `scheduler_names`: the schedulerNames that Maniple serves.
[[nodiscard]] std::vector<ManifestFinding> ValidateManifests(
    const std::vector<ManifestFile>& files,
    const std::vector<std::string>& scheduler_names = {"maniple"});

}  // namespace maniple
