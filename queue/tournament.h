// The next among the heads of all Queues: a tournament from the root of each tree of Cohorts.
//
// With fair sharing, at each Cohort that child wins whose subtree would not borrow for
// its candidate; then the child with the lower dominant share including the candidate;
// then higher priority, longer waiting, name. Without fair sharing: the candidate
// with the lower borrow height, then higher priority, longer waiting, name.
// Winners of different trees compare by priority, waiting, name.
//
// Owned by GangQueue; borrows the tree, which must outlive it and keep its limits.
//
//   tournament.SetHead(queue, head);
//   while (auto queue = tournament.Winner()) … tree.Add(*queue, …), tournament.Touch(*queue);
//
// Cost. Each Cohort keeps a bracket of its children, so that one change is log(children) matches at
// each level of its path. With fair sharing, a child's rank depends only on usage at or below that
// child. Without, a borrow height depends on every Cohort above. Where usage of a Cohort fell, the
// Queues below it that borrow from above it are entered again. Where it rose, heights are found out
// one by one, as they reach the top.
//
// Invariants, when Winner() returns:
//   1. With fair sharing every entry is as the tree stands.
//   2. Without, no entry's height is above the truth, and that of each tree's winner is the truth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "queue/quota_tree.h"

namespace maniple {

enum class FairSharing : uint8_t { kOn, kOff };

// The first item of one Queue, as far as Queues are compared by it.
struct QueueHead {
  int32_t priority = 0;
  absl::Time queued;
  std::string namespace_name, name;
  Demand demand;
};

class Tournament final {
 public:
  Tournament(const QuotaTree& tree, FairSharing fair_sharing);

  // REQUIRES: the queue is a leaf of the tree.
  void SetHead(QuotaNodeId queue, std::optional<QueueHead> head);
  // The usage of the queue changed in the tree.
  void Touch(QuotaNodeId queue);
  // The Queue whose head is next; none: no Queue has a head.
  [[nodiscard]] std::optional<QuotaNodeId> Winner();
  // REQUIRES: the Queue has a head.
  [[nodiscard]] const QueueHead& HeadOf(QuotaNodeId queue) const;

 private:
  // A node's standing in the match against its siblings.
  struct Entry {
    QuotaNodeId queue;     // whose head stands for the node; invalid: there is none
    bool borrows = false;  // fair sharing only, with that head
    DominantShare share;   // fair sharing only, with that head
    int32_t height = 0;    // of a queue, without fair sharing
  };
  // A knockout among siblings: match k is between the winners of matches 2k and 2k+1; the last half
  // are the siblings themselves.
  struct Bracket {
    std::vector<QuotaNodeId> best;
  };

  [[nodiscard]] bool Beats(QuotaNodeId a, QuotaNodeId b) const;
  [[nodiscard]] bool HeadBeats(QuotaNodeId queue_a, QuotaNodeId queue_b) const;
  [[nodiscard]] Bracket& BracketOver(QuotaNodeId node);
  void Enter(QuotaNodeId node);
  void Play(QuotaNodeId node);
  void PlayChanged();
  [[nodiscard]] bool NoteUsage(QuotaNodeId node);
  [[nodiscard]] std::vector<QuotaNodeId> NoteChanges();
  void TouchBelow(std::vector<QuotaNodeId> fallen);
  void SettleHeights(const std::vector<QuotaNodeId>& trees);

  const QuotaTree* tree_;
  FairSharing fair_sharing_;
  std::vector<std::optional<QueueHead>> heads_;    // by node
  std::vector<Entry> entries_;                     // by node
  std::vector<uint32_t> places_;                   // by node: which child of its parent it is
  std::vector<Bracket> brackets_;                  // by node; the last one is between the roots
  std::vector<std::vector<QuotaNodeId>> changed_;  // by depth: since the last question, each once
  std::vector<bool> is_changed_;                   // by node
  // Without fair sharing: usage as of the last question, node by node, to tell a fall from a rise.
  std::vector<Amount> seen_;
  std::vector<bool> has_fallen_;  // by node: within one question
};

}  // namespace maniple
