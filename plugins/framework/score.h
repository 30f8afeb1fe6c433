// The contract of scores: which of the nodes that fit is best? 0 (worst) to 100 (best), weighted in
// the profile.
//
// Bound like filters, under the same rules (filter.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/strings/string_view.h"
#include "plugins/framework/filter.h"

namespace maniple {

inline constexpr int64_t kMostScore = 100;

class NodeScore {
 public:
  virtual ~NodeScore() = default;
  // Whether scores depend on other nodes than the one at hand. Then Compare is called before any
  // node is scored, and again when a block or the nodes that fit have changed; the rest is const.
  [[nodiscard]] virtual bool looks_around() const { return false; }
  virtual void Compare(BlockSpan, const NodeSet& /*fitting*/) {}
  // REQUIRES: the node fits.
  [[nodiscard]] virtual int64_t Score(const NodeView& node) const = 0;
  // The pod is to be there only where no other node will do, and so in another domain rather than
  // there.
  [[nodiscard]] virtual bool IsLastResort(const NodeView& /*node*/) const { return false; }
  // Adds weight * Score to totals[row] for each row in `rows`.
  virtual void AddTo(const NodeBlock& block, const NodeMask& rows, int64_t weight,
                     std::span<int64_t> totals) const;
};

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  [[nodiscard]] virtual absl::string_view name() const = 0;
  // Null: no opinion on this shape.
  [[nodiscard]] virtual std::unique_ptr<NodeScore> Bind(const CycleInput& cycle,
                                                        const PodShape& shape) const = 0;
};

}  // namespace maniple
