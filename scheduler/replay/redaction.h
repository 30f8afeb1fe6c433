// A redaction: objects of a cluster without traces of its owners. Every name becomes another one,
// the same everywhere, and fields that no decision rests on are dropped.
//
// These stay as they are: amounts, times, short numbers, words of the Kubernetes API and of its
// known extensions, GPU models. Pieces of a name between its separators are renamed one by one,
// and names keep their order. So a scheduler decides on the redacted objects as on the true ones,
// with two exceptions. Names of GPUs' labels that only a configuration knows are lost unless given.
// So is the order among numbers of pieces that mix letters and leading digits.
//
//   const Redaction redaction(snapshot.objects, LabelsReadOfGpus(rules));
//   redaction.Of(snapshot.objects[0]);    // RedactedSnapshot does so for all
//   redaction.NameOf("research/llama-0");  // "qb/m4-0"
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/gpu/gpu_rules.h"
#include "scheduler/replay/hyper_node_names.h"

namespace maniple {

class Redaction final {
 public:
  // Knows the names of these objects. `kept_labels` stay, with their values.
  Redaction(const std::vector<Json>& objects, const std::vector<std::string>& kept_labels);

  // REQUIRES: the object, or an equal one, was among the objects.
  [[nodiscard]] Json Of(const Json& object) const;
  // A name, or several with separators. A piece that was nowhere among them is "unknown".
  [[nodiscard]] std::string NameOf(absl::string_view text) const;

 private:
  HyperNodeNames hyper_nodes_;
  absl::flat_hash_set<std::string> kept_labels_;
  absl::flat_hash_map<std::string, std::string> names_;  // by piece
};

// Node labels that decisions read by these rules.
[[nodiscard]] std::vector<std::string> LabelsReadOfGpus(const GpuRules& rules);

}  // namespace maniple
