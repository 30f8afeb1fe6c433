// The accounts: the quota book, the nodes it charges by, and the charge of every gang.
//
// Owned by the scheduling loop. The tree's usage is the sum of the accounts at every moment.
//
//   ledger.Note(event); …; if (ledger.Refresh()) touch every gang;   // limits changed
//   if (ledger.Charge(gang, queue, cost)) …;  // replaced the old charge: wake waiting gangs
//   const auto ask = ledger.AskFor(queue, shapes, tables);  // for Decide
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "queue/quota_book.h"
#include "scheduler/cycle/question/quota_ask.h"
#include "scheduler/loop/records/node_charges.h"

namespace maniple {

// Pods of one shape on one node.
struct PlacedPods {
  ShapeId shape;
  NodeId node;  // invalid: a node that we do not know
  int64_t pods = 1;
  NodeKindId kind = {};  // of a node that is gone, if that is known
};

class QuotaLedger final {
 public:
  void Note(const ObjectEvent& event) { stale_ = book_.Note(event) || stale_; }
  // Brings the tree up to date with the objects. True: it is a new one, and every gang is to be
  // charged again.
  bool Refresh();

  // True: pods there cost something else now.
  bool NodeChanged(NodeId node, const StringMap& labels, const GpuFacts& gpus) {
    return nodes_.Upsert(node, labels, gpus, book_);
  }
  void NodeGone(NodeId node) { nodes_.Remove(node); }
  [[nodiscard]] NodeKindId KindOf(NodeId node) const { return nodes_.KindOf(node); }
  // "" for none.
  [[nodiscard]] std::string FlavorOf(NodeKindId kind) const {
    return std::string(book_.FlavorName(nodes_.FlavorOf(kind)));
  }

  [[nodiscard]] Demand CostOf(absl::string_view queue, std::span<const PlacedPods> placed,
                              const Tables& tables) const;
  // Replaces the charge of the gang. True: usage changed.
  bool Charge(GangId gang, absl::string_view queue, Demand cost);
  // What is about to come free there is promised to nobody any more: to those who wait that is as
  // good as usage that fell.
  void NotePromiseEnded(absl::string_view queue);
  [[nodiscard]] Demand ChargedTo(QuotaNodeId queue, GangId gang) const;
  // The queues whose usage has changed since the last call, and whether some of their usage fell.
  struct Changed {
    QuotaNodeId queue;
    bool fell = false;
  };
  [[nodiscard]] std::vector<Changed> TakeChanged();
  [[nodiscard]] bool HasChanged() const { return !changed_.empty(); }
  void Forget();  // every account
  [[nodiscard]] bool NothingCharged() const { return accounts_.empty(); }

  // None: the gang has no Queue that is known. The answer borrows the tree.
  [[nodiscard]] std::optional<QuotaAsk> AskFor(absl::string_view queue,
                                               std::span<const ShapeId> shapes,
                                               const Tables& tables) const;

  [[nodiscard]] std::vector<QuotaOption> OptionsFor(QuotaNodeId queue, ShapeId shape,
                                                    const Tables& tables) const {
    return nodes_.OptionsFor(book_, queue, tables.ShapeOf(shape).constraints);
  }

  [[nodiscard]] const QuotaBook& book() const { return book_; }
  [[nodiscard]] const QuotaTree& tree() const { return book_.tree(); }

  // The tree's usage recomputed from the accounts.
  [[nodiscard]] absl::Status CheckInvariants() const;

 private:
  struct Account {
    QuotaNodeId queue;
    Demand cost;
  };
  QuotaBook book_;
  NodeCharges nodes_;
  bool stale_ = true;
  absl::btree_map<GangId, Account> accounts_;
  absl::btree_map<QuotaNodeId, bool> changed_;  // whether some of its usage fell
};

}  // namespace maniple
