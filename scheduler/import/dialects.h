// One function for each scheduler whose objects are understood. Each takes the objects
// of its kinds, all files together, and leaves the others alone; import.cc reports on these.
//
// Sources of the fields: the CRDs of Kueue 0.19 (kueue.x-k8s.io v1beta1, v1beta2), Volcano 1.15
// (scheduling.volcano.sh v1beta1) and KAI 0.17 (scheduling.run.ai v2, kai.scheduler v1alpha1), and
// the documents of YuniKorn 1.8 ("Partition and Queue Configuration", "Preemption").
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "scheduler/import/foreign_manifest.h"

namespace maniple {

struct Imported {
  std::vector<Json> objects;
  Findings findings;
};

void ImportKueue(ForeignManifests& objects, Imported& out);
void ImportVolcano(ForeignManifests& objects, Imported& out);
void ImportKai(ForeignManifests& objects, Imported& out);
void ImportYuniKorn(ForeignManifests& objects, Imported& out);

// {apiVersion, kind, metadata.name, spec} of our group.
[[nodiscard]] Json OurObject(absl::string_view kind, absl::string_view name, Json spec);
// Kueue's Topology and KAI's are alike: levels with a nodeLabel each.
void ImportTopology(ForeignManifest& topology, Imported& out);

}  // namespace maniple
