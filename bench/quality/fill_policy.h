// Ours: places where the expected fill that is lost is least (plugins/framework/expected_fill.h).
#pragma once

#include <vector>

#include "bench/quality/replay.h"
#include "plugins/framework/expected_fill.h"

namespace maniple {

struct FillPolicyOptions {
  FillOptions fill = {.memo_bits = 18};
  int32_t price = 300;  // of a scarce model, in thousandths
};

class FillPolicy final : public QualityPolicy {
 public:
  // Borrows the list.
  FillPolicy(const OpenbCluster& cluster, const OpenbList& list, const FillPolicyOptions& options);

  [[nodiscard]] Offer OfferFor(const NodeState& node, uint32_t shape) override;

 private:
  const OpenbList& list_;
  ExpectedFill fill_;
  std::vector<int64_t> prices_;  // by model
};

}  // namespace maniple
