// The nodes that topology spread constraints of one kind count, and their domains.
//
// For the length of a decision; const once made. Shared by the filter and the score of topology
// spread.
#pragma once

#include <vector>

#include "plugins/framework/filter.h"
#include "plugins/framework/label_domains.h"
#include "plugins/framework/snapshot.h"

namespace maniple {

class SpreadNodes final {
 public:
  struct Constraint {
    const SpreadCount* count = nullptr;
    LabelDomains domains;
    NodeSet counted;             // nodes with all keys that the constraint's policies let in
    std::vector<bool> a_domain;  // by domain: some node of it is counted
  };
  SpreadNodes(const CycleInput& cycle, const PodShape& shape, WhenUnsatisfiable when);

  [[nodiscard]] const std::vector<Constraint>& constraints() const { return constraints_; }
  // None: the pod has no constraint of this kind.
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool HasAllKeys(const NodeRows& rows, uint32_t row) const;

  // The sums by domain of the pods on nodes that are counted.
  static void Sum(const Constraint& constraint, BlockSpan blocks, std::vector<int64_t>& sums);
  // The same sums once the pods that are yet to come are there. Empty: there are none of them.
  [[nodiscard]] static std::vector<int64_t> SumWithPromised(const Constraint& constraint,
                                                            BlockSpan blocks,
                                                            const std::vector<int64_t>& sums);

 private:
  bool any_ = false;
  bool lacks_key_ = false;  // no node carries one of the labels
  std::vector<Constraint> constraints_;
};

}  // namespace maniple
