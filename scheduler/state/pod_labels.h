// The labels of pods, kept small: each pair of key and value is stored once, with its pods,
// and goes with the last of them.
//
// Owned by ClusterState; scheduling thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/model/ids.h"
#include "api/model/model.h"

namespace maniple {

class PodLabels final {
 public:
  using Pair = std::pair<std::string, std::string>;

  // Whether the labels differ from the known ones. A pod that was not known has no labels.
  bool Put(PodId pod, const StringMap& labels);
  void Forget(PodId pod);
  // nullptr when the pod does not carry the label. Until the next change.
  [[nodiscard]] const std::string* Find(PodId pod, absl::string_view key) const;
  // In the order of keys.
  void ForEach(PodId pod, absl::FunctionRef<void(const Pair&)> visit) const;
  [[nodiscard]] bool Matches(PodId pod, const LabelSelector& selector) const;

  // How many pods carry the label, and which; in the order of ids.
  [[nodiscard]] size_t CountOf(const Pair& label) const;
  [[nodiscard]] std::vector<PodId> PodsWith(const Pair& label) const;
  // The same for a key with any value.
  [[nodiscard]] size_t CountOfKey(absl::string_view key) const;
  [[nodiscard]] std::vector<PodId> PodsWithKey(absl::string_view key) const;
  // Distinct pairs of key and value.
  [[nodiscard]] size_t distinct() const { return pairs_.size(); }

 private:
  using Pairs = absl::node_hash_map<Pair, absl::flat_hash_set<PodId>>;

  void GiveBack(PodId pod, const std::vector<Pairs::value_type*>& carried);

  Pairs pairs_;
  struct OfKey {
    absl::flat_hash_set<const Pairs::value_type*> pairs;
    size_t pods = 0;
  };
  absl::flat_hash_map<std::string, OfKey> keys_;
  // In the order of keys; no pod without labels. Borrowed from pairs_, whose nodes stay in place.
  absl::flat_hash_map<PodId, std::vector<Pairs::value_type*>> pods_;
};

}  // namespace maniple
