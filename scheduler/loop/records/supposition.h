// A supposition: a question for a gang as if some held or used room or quota were free,
// or some of the free were taken. It is a value: it changes nothing that is charged or held,
// so no answer can leave a trace.
//
// Made by the scheduling loop for the length of a call: borrows the picture, the request and the
// usage of the ledger. A copy supposes more and leaves the original as it is.
//
//   Supposition supposition = Suppose(gang, request);  // as things are
//   supposition.Free(holds);
//   Decide(supposition.Input(), profile);
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "queue/quota_book.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/loop/records/gang_record.h"

namespace maniple {

// Room and quota of some holders, to be taken for free.
struct OpenHolds {
  std::vector<GangId> holders;
  std::vector<FreedRoom> rooms;
  std::vector<std::pair<QuotaNodeId, Demand>> quota;
  std::vector<std::pair<QuotaNodeId, Demand>> taken;  // of that quota, by claims as it comes free
  void Add(GangId holder, const GangRecord& record, const QuotaBook& book);
};

[[nodiscard]] absl::btree_set<NodeId> NodesIn(const std::vector<FreedRoom>& rooms);

class Supposition final {
 public:
  // REQUIRES: `as_is` has no quota. `limits`: what the gang's Queue allows in `tree`;
  // none: no quota applies to it.
  Supposition(const DecideInput& as_is, const QuotaTree& tree, std::optional<QuotaAsk> limits);

  void Free(const OpenHolds& open);
  void Free(std::span<const FreedRoom> rooms);
  void Refund(QuotaNodeId queue, const Demand& demand) { tree_.Remove(queue, demand); }
  void Charge(QuotaNodeId queue, const Demand& demand) { tree_.Add(queue, demand); }
  // Others will have this room.
  void Promise(std::vector<FreedRoom> rooms) { promised_ = std::move(rooms); }
  // Lets the gang have these nodes only, or all but these; also one to which no quota applies.
  enum class To : uint8_t { kThese, kOthers };
  void Restrict(const absl::btree_set<NodeId>& nodes, To to);

  [[nodiscard]] const GangRequest& request() const { return as_is_.request; }
  // The Queue whose limits apply; invalid: none do.
  [[nodiscard]] QuotaNodeId queue() const;
  [[nodiscard]] const QuotaTree& tree() const { return tree_; }
  // The input borrows this, as it is now.
  [[nodiscard]] DecideInput Input();

 private:
  DecideInput as_is_;
  QuotaTree tree_;
  std::optional<QuotaAsk> limits_;
  std::optional<QuotaTree> no_limits_;  // in which `limits_` limits no more than nodes
  std::vector<FreedRoom> freed_, promised_;
};

}  // namespace maniple
