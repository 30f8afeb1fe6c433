// A node that is cordoned or tainted, back in service.
#include <algorithm>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "scheduler/advice/changes.h"

namespace maniple {
namespace {

constexpr absl::string_view kCordonTaint = "node.kubernetes.io/unschedulable";
// At most so many nodes are tried one by one, and named.
constexpr size_t kMostTried = 12, kMostNamed = 3;

bool KeepsOut(const Taint& taint) { return taint.effect != TaintEffect::kPreferNoSchedule; }
// kubectl cordon sets both.
bool IsOfCordon(const Taint& taint) { return taint.key == kCordonTaint; }

void Uncordon(NodeClass& node) {
  node.unschedulable = false;
  std::erase_if(node.taints, IsOfCordon);
}

std::string TaintText(const Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":",
                      taint.effect == TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule");
}

const NodeClass& ClassOf(const Snapshot& snapshot, NodeId node) {
  const NodeClassId id = snapshot.blocks[BlockOf(node)]->rows().classes[RowOf(node)];
  return *snapshot.tables->classes[id.index()];
}

// Nodes that a cordon or taint keeps pods off, by name; first those that would be
// used if all were back.
std::vector<NodeId> Candidates(const Hypothesis& from, Trials& trials) {
  const Snapshot& snapshot = *from.snapshot;
  std::vector<NodeId> closed;
  for (const NodeId node : snapshot.order->by_name) {
    const NodeClass& of = ClassOf(snapshot, node);
    if (of.unschedulable || std::ranges::any_of(of.taints, KeepsOut)) closed.push_back(node);
  }
  if (closed.empty()) return closed;
  const std::optional<Plan> plan = trials.Start(ChangeClasses(from, closed, [](NodeClass& node) {
    node.unschedulable = false;
    std::erase_if(node.taints, KeepsOut);
  }));
  if (!plan.has_value()) return {};
  absl::btree_set<NodeId> used;
  for (const Placement& placement : plan->placements) used.insert(placement.node);
  std::stable_partition(closed.begin(), closed.end(),
                        [&](NodeId node) { return used.contains(node); });
  return closed;
}

}  // namespace

std::vector<FoundChange> FindNodesBack(const Hypothesis& from, Trials& trials) {
  std::vector<FoundChange> found;
  const auto attempt = [&](NodeId node, const std::string& taint,
                           absl::FunctionRef<void(NodeClass&)> change) {
    Hypothesis with = ChangeClasses(from, std::span(&node, 1), change);
    if (!trials.Starts(with)) return;
    found.push_back({.change = NodeBack{.node = from.snapshot->NodeName(node), .taint = taint},
                     .after = std::move(with)});
  };
  const std::vector<NodeId> candidates = Candidates(from, trials);
  size_t tried = 0;
  for (const NodeId node : candidates) {
    if (found.size() >= kMostNamed) break;
    if (tried++ == kMostTried) {
      trials.NoteUntried();
      break;
    }
    const NodeClass& of = ClassOf(*from.snapshot, node);
    if (of.unschedulable) attempt(node, "", Uncordon);
    for (const Taint& taint : of.taints) {
      if (!KeepsOut(taint) || (of.unschedulable && IsOfCordon(taint))) continue;
      attempt(node, TaintText(taint), [&](NodeClass& back) { std::erase(back.taints, taint); });
    }
  }
  return found;
}

}  // namespace maniple
