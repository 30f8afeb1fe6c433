// The published baseline: fragmentation gradient descent (Weng et al., "Beware of Fragmentation",
// ATC'23), written from the formula.
//
// A node's fragment for a typical pod is all its free GPU if the pod cannot run there, else what
// lies on devices too full for it; a pod goes where the expected fragment grows least, measured as
// floor(100 * sigmoid(shrinkage of it in GPUs)).
#pragma once

#include <vector>

#include "bench/quality/replay.h"

namespace maniple {

class FragmentationGradient final : public QualityPolicy {
 public:
  // Borrows the list.
  explicit FragmentationGradient(const OpenbList& list);

  [[nodiscard]] Offer OfferFor(const NodeState& node, uint32_t shape) override;
  // The expected fragment of a node in milli.
  [[nodiscard]] double FragmentOf(const NodeState& node) const;

 private:
  struct Typical {
    OpenbShape shape;
    double probability = 0;
  };

  const OpenbList& list_;
  std::vector<Typical> typical_;
};

}  // namespace maniple
