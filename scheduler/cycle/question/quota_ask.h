// The quota of a gang's Queue, as the decision needs it: the options of each shape,
// their cost, and the quota that is left.
//
// Made by the loop for one snapshot. Quota and nodes are one decision: for each shape
// the options are tried in turn, each with its nodes and its quota.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/model/ids.h"
#include "plugins/framework/columns.h"
#include "queue/quota_tree.h"

namespace maniple {

// One way of charging the pods of one shape: on these nodes each costs at most this.
struct QuotaOption {
  std::optional<NodeSet> nodes;  // none: all nodes
  Demand each;                   // per pod; empty: nothing is limited there
  std::string flavor;            // for messages; "" = none
};

// Where nodes of one flavor differ in price, options are nested: first all of these nodes at the
// dearest price, then all but the dearest nodes at the next. True: `part` is of no other nodes than
// `whole`, and costs no more of anything.
[[nodiscard]] bool IsCheaperPart(const QuotaOption& part, const QuotaOption& whole);
// The cost of so many members.
void AddTo(Demand& demand, const QuotaOption& option, int64_t members);

struct QuotaAsk {
  const QuotaTree* tree = nullptr;  // own holds are not charged in it
  QuotaNodeId queue;
  // By shape, in the order in which they are tried; one at least. Where the queue lets the shape in
  // nowhere, that one has no nodes.
  absl::flat_hash_map<ShapeId, std::vector<QuotaOption>> options;
};

// The amounts that members may still draw from the cells of one choice of options. A plain value: a
// copy is a checkpoint.
class QuotaBudget final {
 public:
  QuotaBudget() = default;  // no limit
  // One option per kind. Of::kEver: what the empty tree would give.
  enum class Of : uint8_t { kNow, kEver };
  QuotaBudget(const QuotaTree& tree, QuotaNodeId queue,
              const std::vector<const QuotaOption*>& option_of_kind, Of of);

  // How many members of the kind may be taken now; int64 max when not limited.
  [[nodiscard]] int64_t CountOf(uint32_t kind) const;
  void Take(uint32_t kind, int64_t members);
  void GiveBack(uint32_t kind, int64_t members) { Take(kind, -members); }
  // The cells that are drawn on, by number: what a member of the kind costs there, and what is
  // left.
  [[nodiscard]] uint32_t cell_count() const { return static_cast<uint32_t>(left_.size()); }
  [[nodiscard]] Amount CostIn(uint32_t cell, uint32_t kind) const;
  [[nodiscard]] Amount LeftIn(uint32_t cell) const { return left_[cell].amount; }
  // The same for parts of kinds, each named by its kind: `kinds` is by part.
  [[nodiscard]] QuotaBudget PartedInto(std::span<const uint32_t> kinds) const;

 private:
  struct Draw {
    uint32_t slot = 0;
    Amount each;
  };
  std::vector<std::vector<Draw>> draws_;  // by kind
  std::vector<CellAmount> left_;          // by slot
};

}  // namespace maniple
