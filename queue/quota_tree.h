// The quota algebra: each (flavor, resource) that every Queue and Cohort may use, and uses.
//
// A forest: Queues are leaves, Cohorts inner nodes, and usage beyond a node's own guarantee
// bubbles up. Formulas: Kueue's algebra (KEP-79 and pkg/cache/scheduler/resource_node.go).
// Lenders and borrowers are never tracked.
//
//   quota S: queue N; cohort N + sum over children min(S, L)        guaranteed G = max(0, S - L)
//   usage U: queue as charged; cohort sum over children max(0, U - G)
//   room of a node for what reaches it: root S - U; else S - U + B
//   available: the least, over the path, of the room there + what the nodes below it absorb
//   (max(0, G - U) each); where a room on the path is negative, the worst such room
//
// The last clause is the closed form of legality (see CheckLegal): at or below a node in debt
// nothing may start, also not within a guarantee.
//
// Sums are exact (128 bits, for up to 2^32 nodes and 2^32 demands of any amount), so nothing
// saturates inside and Remove leaves no residue; answers saturate to an Amount.
//
// Plain data owned by the scheduling thread: a copy is a snapshot (limits are shared,
// usage is copied). Every question and change costs O(depth) per cell.
// A supposition is a tree that keeps its changes beside the usage of the tree that it was made of.
//
//   if (tree.Fits(queue, demand)) tree.Add(queue, demand);
//   tree.Remove(queue, demand);                          // exactly as it was before
//   QuotaTree without = tree.Supposed();
//   without.Remove(queue, demand);                       // and `tree` has it still
//
// Invariants:
//   1. U of a cohort is the sum of what bubbles up from its children, whatever the order of adds
//      and removes.
//   2. No call changes limits: a tree of other limits is another tree.
//   3. The changes of a supposition never reach the tree that it was made of.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "api/base/amount.h"
#include "api/base/id.h"
#include "queue/dominant_share.h"

namespace maniple {

using QuotaNodeId = Id<struct QuotaNodeTag>;  // a Queue or a Cohort
using QuotaCellId = Id<struct QuotaCellTag>;  // one (flavor, resource)

struct CellAmount {
  QuotaCellId cell;
  Amount amount;
  friend auto operator<=>(const CellAmount&, const CellAmount&) = default;
};
// By cell, each once, none zero or negative. Most demands are of one cell,
// and every waiting gang has some.
using Demand = absl::InlinedVector<CellAmount, 1>;

struct QuotaLimit {
  QuotaCellId cell;
  Amount nominal;
  std::optional<Amount> borrowing;  // none: unlimited; a root borrows nothing
  std::optional<Amount> lending;    // none: everything
};

struct QuotaNodeSpec {
  QuotaNodeId parent;  // invalid: a root
  int64_t weight_milli = 1000;
  std::vector<QuotaLimit> limits;  // each cell at most once; a cell not listed has nominal 0
};

struct BorrowHeight {
  // 0: within the queue's own quota. Else the height (longest way down to a leaf) of the lowest
  // ancestor whose own quota covers the borrowed amount; of the root if none does.
  int32_t height = 0;
  bool may_reclaim = false;  // that node has a parent: others may use its quota
  friend bool operator==(const BorrowHeight&, const BorrowHeight&) = default;
};

class QuotaTree final {
 public:
  QuotaTree();  // empty
  // Node i of `nodes` has id i; `resource_of_cell[c]` tells cells of one resource (in several
  // flavors) apart from others. REQUIRES: no cycle, parents and cells in range, no negative amount.
  QuotaTree(const std::vector<QuotaNodeSpec>& nodes, std::vector<uint32_t> resource_of_cell);

  [[nodiscard]] size_t node_count() const;
  [[nodiscard]] size_t cell_count() const;
  [[nodiscard]] QuotaNodeId Parent(QuotaNodeId node) const;  // invalid: it is a root
  [[nodiscard]] QuotaNodeId Root(QuotaNodeId node) const;
  [[nodiscard]] int32_t Depth(QuotaNodeId node) const;                             // 0: a root
  [[nodiscard]] int32_t Height(QuotaNodeId node) const;                            // 0: a leaf
  [[nodiscard]] const std::vector<QuotaNodeId>& Children(QuotaNodeId node) const;  // by id
  [[nodiscard]] bool IsWithin(QuotaNodeId node, QuotaNodeId ancestor) const;       // or equal

  [[nodiscard]] Amount Nominal(QuotaNodeId node, QuotaCellId cell) const;
  [[nodiscard]] Amount Quota(QuotaNodeId node, QuotaCellId cell) const;       // S
  [[nodiscard]] Amount Guaranteed(QuotaNodeId node, QuotaCellId cell) const;  // G
  [[nodiscard]] Amount Usage(QuotaNodeId node, QuotaCellId cell) const;       // U
  // Negative where a node of the path is in debt after a cut of quota: then nothing starts here.
  [[nodiscard]] Amount Available(QuotaNodeId node, QuotaCellId cell) const;
  // Available if nothing were used: a demand above it can never start.
  [[nodiscard]] Amount Potential(QuotaNodeId node, QuotaCellId cell) const;

  // A what-if that starts as this tree is. It borrows the usage of this tree, which must not change
  // while it, or a copy of it, lives; it costs as much as it changes.
  [[nodiscard]] QuotaTree Supposed() const;
  // The same with all usage its own: for a what-if that changes much, or outlives this tree.
  [[nodiscard]] QuotaTree Whole() const;

  // The same usage in a tree where the node's nominal amount of the cell is larger by `more`; for
  // what-ifs. Costs O(all cells of all nodes).
  [[nodiscard]] QuotaTree WithMore(QuotaNodeId node, QuotaCellId cell, Amount more) const;

  // REQUIRES: `queue` has no children; a removed demand was added before.
  void Add(QuotaNodeId queue, std::span<const CellAmount> demand);
  void Remove(QuotaNodeId queue, std::span<const CellAmount> demand);

  // Available covers every cell of the demand.
  [[nodiscard]] bool Fits(QuotaNodeId queue, std::span<const CellAmount> demand) const {
    return !ShortAt(queue, demand).valid();
  }
  // The queue or an ancestor of it that has no room for the part of the demand that would reach it;
  // invalid: none. While usage falls nowhere within that node, the demand does not fit.
  [[nodiscard]] QuotaNodeId ShortAt(QuotaNodeId queue, std::span<const CellAmount> demand) const;
  [[nodiscard]] bool FitsEver(QuotaNodeId queue, std::span<const CellAmount> demand) const;
  // With the demand charged to the queue, does `node`, the queue or an ancestor of it,
  // exceed its own quota S on some cell?
  [[nodiscard]] bool BorrowsWith(QuotaNodeId node, QuotaNodeId queue,
                                 std::span<const CellAmount> demand) const;
  // The worst over the cells of the demand.
  [[nodiscard]] BorrowHeight HeightOf(QuotaNodeId queue, std::span<const CellAmount> demand) const;
  // The share of `node`, the queue or an ancestor of it, once the demand is charged to the queue;
  // an empty demand: as it stands. A root borrows nothing.
  [[nodiscard]] DominantShare ShareWith(QuotaNodeId node, QuotaNodeId queue,
                                        std::span<const CellAmount> demand) const;

  // Legal by the closed form: T >= -B at every node of the queue's path and T >= 0 at its root, for
  // every cell. T(queue) = N - U, and T(cohort) = N + sum of min(L, T) over its children.
  // Costs O(nodes) per cell: for checks, not for decisions.
  [[nodiscard]] absl::Status CheckLegal(QuotaNodeId queue) const;
  // Invariant 1, recomputed from the usage of the queues.
  [[nodiscard]] absl::Status CheckInvariants() const;

 private:
  using Wide = __int128;
  struct Limits;
  struct Node;
  struct Forest;

  explicit QuotaTree(std::shared_ptr<const Forest> forest);  // without usage

  [[nodiscard]] size_t At(QuotaNodeId node, QuotaCellId cell) const;
  [[nodiscard]] Wide Used(size_t at) const;
  [[nodiscard]] Wide Room(size_t at) const;
  [[nodiscard]] Wide Spilled(size_t at, Wide charge) const;
  [[nodiscard]] Wide ChargeAt(QuotaNodeId node, QuotaNodeId queue, const CellAmount& part) const;
  void Charge(QuotaNodeId queue, QuotaCellId cell, Wide charge);

  std::shared_ptr<const Forest> forest_;
  std::vector<Wide> usage_;  // node by node, each cell by cell; of a supposition: none
  const std::vector<Wide>* supposed_of_ = nullptr;  // of a supposition: the usage …
  absl::flat_hash_map<size_t, Wide> supposed_;      // … but for this, by place in it
};

}  // namespace maniple
