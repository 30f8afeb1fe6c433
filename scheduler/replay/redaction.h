// Objects of a cluster without what they tell of its owners: every name becomes another one, the
// same everywhere, and what no decision rests on goes.
//
// What stays as it is: amounts, times, short numbers, words of the Kubernetes API and of those that
// extend it, GPU models. Pieces of a name between its separators are renamed one by one, and names
// keep their order. So a scheduler decides of the redacted objects as of the true ones, with few
// exceptions: names of GPUs' labels that only a configuration knows, unless given; and pieces that
// mix letters and leading digits, whose order among numbers is lost.
//
//   const Redaction redaction(snapshot.objects, LabelsReadOfGpus(rules));
//   for (Json& object : snapshot.objects) object = redaction.Of(object);
//   redaction.NameOf("research/llama-0");  // "eb/e4-0"
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "api/codec/json.h"
#include "api/gpu/gpu_rules.h"

namespace maniple {

class Redaction final {
 public:
  // Knows the names of these objects. `kept_labels` stay, with their values.
  Redaction(const std::vector<Json>& objects, const std::vector<std::string>& kept_labels);

  // REQUIRES: it, or an equal one, was among the objects.
  [[nodiscard]] Json Of(const Json& object) const;
  // A name, or several with separators. A piece that stood nowhere is "unknown".
  [[nodiscard]] std::string NameOf(absl::string_view text) const;

 private:
  absl::flat_hash_set<std::string> kept_labels_;
  absl::flat_hash_map<std::string, std::string> names_;  // by piece
};

// Node labels whose values decisions read, as these rules have it.
[[nodiscard]] std::vector<std::string> LabelsReadOfGpus(const GpuRules& rules);

}  // namespace maniple
