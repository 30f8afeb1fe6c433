#include "queue/tournament.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/base/check.h"
#include "api/base/sort_unique.h"

namespace maniple {

Tournament::Tournament(const QuotaTree& tree, FairSharing fair_sharing)
    : tree_(&tree),
      fair_sharing_(fair_sharing),
      heads_(tree.node_count()),
      entries_(tree.node_count()),
      places_(tree.node_count()),
      brackets_(tree.node_count() + 1),
      is_changed_(tree.node_count()),
      has_fallen_(tree.node_count()) {
  const auto count = static_cast<uint32_t>(tree.node_count());
  std::vector<QuotaNodeId> roots;
  // No node has a head yet, so any child may stand for the outcome of a match.
  const auto seat = [this](Bracket& bracket, const std::vector<QuotaNodeId>& siblings) {
    bracket.best.resize(siblings.size() * 2);
    for (uint32_t i = 0; i < siblings.size(); ++i) {
      bracket.best[siblings.size() + i] = siblings[i];
      places_[siblings[i].index()] = i;
    }
    for (size_t k = siblings.size(); k-- > 1;) bracket.best[k] = bracket.best[2 * k];
  };
  for (uint32_t i = 0; i < count; ++i) {
    const QuotaNodeId node(i);
    if (!tree.Parent(node).valid()) {
      roots.push_back(node);
      changed_.resize(std::max(changed_.size(), static_cast<size_t>(tree.Height(node)) + 1));
    }
    seat(brackets_[i], tree.Children(node));
  }
  seat(brackets_[count], roots);
  if (fair_sharing_ == FairSharing::kOn) return;
  seen_.resize(tree.node_count() * tree.cell_count());
  for (uint32_t i = 0; i < count; ++i) (void)NoteUsage(QuotaNodeId(i));
}

void Tournament::SetHead(QuotaNodeId queue, std::optional<QueueHead> head) {
  CHECK(tree_->Children(queue).empty());
  heads_[queue.index()] = std::move(head);
  Touch(queue);
}

void Tournament::Touch(QuotaNodeId queue) {
  if (is_changed_[queue.index()]) return;
  is_changed_[queue.index()] = true;
  changed_[static_cast<size_t>(tree_->Depth(queue))].push_back(queue);
}

std::optional<QuotaNodeId> Tournament::Winner() {
  if (heads_.empty()) return std::nullopt;
  switch (fair_sharing_) {
    case FairSharing::kOn:
      PlayChanged();
      break;
    case FairSharing::kOff: {
      const std::vector<QuotaNodeId> trees = NoteChanges();
      PlayChanged();
      SettleHeights(trees);
      break;
    }
  }
  const QuotaNodeId winner = entries_[brackets_.back().best[1].index()].queue;
  return winner.valid() ? std::optional(winner) : std::nullopt;
}

const QueueHead& Tournament::HeadOf(QuotaNodeId queue) const { return *heads_[queue.index()]; }

bool Tournament::HeadBeats(QuotaNodeId queue_a, QuotaNodeId queue_b) const {
  const QueueHead& a = *heads_[queue_a.index()];
  const QueueHead& b = *heads_[queue_b.index()];
  if (a.priority != b.priority) return a.priority > b.priority;
  return std::tie(a.queued, a.namespace_name, a.name, queue_a) <
         std::tie(b.queued, b.namespace_name, b.name, queue_b);
}

bool Tournament::Beats(QuotaNodeId a, QuotaNodeId b) const {
  const Entry& ours = entries_[a.index()];
  const Entry& theirs = entries_[b.index()];
  if (!ours.queue.valid() || !theirs.queue.valid()) return ours.queue.valid();
  if (tree_->Parent(a).valid()) {  // trees do not lend to each other
    switch (fair_sharing_) {
      case FairSharing::kOn:
        if (ours.borrows != theirs.borrows) return theirs.borrows;
        if (ours.share != theirs.share) return ours.share < theirs.share;
        break;
      case FairSharing::kOff: {
        const int32_t height = entries_[ours.queue.index()].height;
        const int32_t other = entries_[theirs.queue.index()].height;
        if (height != other) return height < other;
        break;
      }
    }
  }
  return HeadBeats(ours.queue, theirs.queue);
}

Tournament::Bracket& Tournament::BracketOver(QuotaNodeId node) {
  const QuotaNodeId parent = tree_->Parent(node);
  return parent.valid() ? brackets_[parent.index()] : brackets_.back();
}

// Finds out anew which head stands for the node, and with what rank.
void Tournament::Enter(QuotaNodeId node) {
  const Bracket& below = brackets_[node.index()];
  Entry& entry = entries_[node.index()];
  entry = {};
  if (!below.best.empty()) {
    entry.queue = entries_[below.best[1].index()].queue;
  } else if (heads_[node.index()].has_value()) {
    entry.queue = node;
  }
  if (!entry.queue.valid() || !tree_->Parent(node).valid()) return;
  const Demand& demand = heads_[entry.queue.index()]->demand;
  switch (fair_sharing_) {
    case FairSharing::kOn:
      entry.borrows = tree_->BorrowsWith(node, entry.queue, demand);
      entry.share = tree_->ShareWith(node, entry.queue, demand);
      return;
    case FairSharing::kOff:
      if (entry.queue == node) entry.height = tree_->HeightOf(node, demand).height;
      return;
  }
}

// Plays the matches of the node against its siblings, as far as it has a part in them.
void Tournament::Play(QuotaNodeId node) {
  std::vector<QuotaNodeId>& best = BracketOver(node).best;
  for (size_t k = (best.size() / 2 + places_[node.index()]) / 2; k > 0; k /= 2) {
    const QuotaNodeId before = best[k];
    best[k] = Beats(best[2 * k + 1], best[2 * k]) ? best[2 * k + 1] : best[2 * k];
    if (best[k] == before && before != node) return;
  }
}

// Plays all matches again that depend on the changed nodes: level by level,
// so that both nodes of a match have been entered.
void Tournament::PlayChanged() {
  for (size_t depth = changed_.size(); depth-- > 0;) {
    for (const QuotaNodeId node : changed_[depth]) Enter(node);
    for (const QuotaNodeId node : changed_[depth]) {
      Play(node);
      is_changed_[node.index()] = false;
      if (depth > 0) Touch(tree_->Parent(node));
    }
    changed_[depth].clear();
  }
}

// Notes the node's usage; true: some of it fell.
bool Tournament::NoteUsage(QuotaNodeId node) {
  bool fell = false;
  for (uint32_t cell = 0; cell < tree_->cell_count(); ++cell) {
    Amount& seen = seen_[node.index() * tree_->cell_count() + cell];
    const Amount usage = tree_->Usage(node, QuotaCellId(cell));
    fell |= usage < seen;
    seen = usage;
  }
  return fell;
}

// Before the matches: notes the new usage, and enters nodes again whose height may have fallen with
// it. Returns the trees in which anything changed.
std::vector<QuotaNodeId> Tournament::NoteChanges() {
  std::vector<QuotaNodeId> trees;
  std::vector<QuotaNodeId> fallen;
  for (const std::vector<QuotaNodeId>& level : changed_) {
    for (const QuotaNodeId queue : level) {
      QuotaNodeId root = queue;
      while (tree_->Parent(root).valid()) {
        root = tree_->Parent(root);
        if (NoteUsage(root)) fallen.push_back(root);
      }
      trees.push_back(root);
    }
  }
  SortUnique(trees);
  TouchBelow(std::move(fallen));
  return trees;
}

// A Cohort in which usage fell may now cover more. That lowers heights above its own,
// to no less than its own; and nothing stands higher than the root.
void Tournament::TouchBelow(std::vector<QuotaNodeId> fallen) {
  std::erase_if(fallen, [this](QuotaNodeId cohort) { return !tree_->Parent(cohort).valid(); });
  std::ranges::sort(fallen, {}, [this](QuotaNodeId cohort) { return tree_->Depth(cohort); });
  for (const QuotaNodeId cohort : fallen) has_fallen_[cohort.index()] = true;
  std::vector<std::pair<QuotaNodeId, int32_t>> to_visit;
  for (const QuotaNodeId cohort : fallen) {
    if (has_fallen_[cohort.index()]) to_visit.emplace_back(cohort, tree_->Height(cohort));
    while (!to_visit.empty()) {
      auto [node, height] = to_visit.back();
      to_visit.pop_back();
      if (has_fallen_[node.index()]) height = tree_->Height(node);
      has_fallen_[node.index()] = false;
      if (entries_[node.index()].queue == node && entries_[node.index()].height > height) {
        Touch(node);
      }
      for (const QuotaNodeId child : tree_->Children(node)) to_visit.emplace_back(child, height);
    }
  }
}

// After the matches: where usage rose, heights rose or stayed. So a head that wins a tree at an
// unchanged height truly wins it.
void Tournament::SettleHeights(const std::vector<QuotaNodeId>& trees) {
  for (const QuotaNodeId root : trees) {
    for (;;) {
      const QuotaNodeId queue = entries_[root.index()].queue;
      if (!queue.valid() || queue == root) break;
      const int32_t height = tree_->HeightOf(queue, heads_[queue.index()]->demand).height;
      if (height == entries_[queue.index()].height) break;
      Touch(queue);
      PlayChanged();
    }
  }
}

}  // namespace maniple
