// A hypothesis: the question of one gang in a cluster that differs a little from the present one.
// A value.
//
// Made from another hypothesis by one change. Parts that the change does not touch are shared
// with the snapshot that they came from, which never changes. Any thread.
//
//   Hypothesis with = RaiseQuota(as_is, research, h100_gpus, Amount(16));
//   if (trials.Starts(with)) …
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugins/framework/snapshot.h"
#include "queue/quota_tree.h"
#include "scheduler/cycle/decide.h"
#include "scheduler/cycle/question/quota_ask.h"
#include "scheduler/cycle/victims/preemption.h"

namespace maniple {

struct Hypothesis {
  SnapshotPtr snapshot;
  GangRequest request;
  // Null: no quota applies. It has no charge for the gang's holds.
  std::shared_ptr<const QuotaTree> tree;
  QuotaAsk ask;              // of the tree, if there is one; names no tree itself
  bool quota_counts = true;  // false: it asks for room alone
  std::vector<FreedRoom> freed;
};

// One more node, a copy of `like` with nothing on it and a host name of its own.
struct NodeCopy {
  NodeId like;
  // The node has so much of this resource, and no more; none: as much as `like`.
  std::optional<std::pair<ResourceId, int64_t>> only;
};
// New nodes have the ids from `FirstNewNode(hypothesis)` on, in the order of `copies`.
[[nodiscard]] Hypothesis AddNodes(const Hypothesis& from, std::span<const NodeCopy> copies);
[[nodiscard]] NodeId FirstNewNode(const Hypothesis& hypothesis);

// No present node lacks any of these resources.
[[nodiscard]] Hypothesis WithPlenty(const Hypothesis& from, std::span<const ResourceId> resources);

// `change` alters the labels, taints and the like of these nodes.
[[nodiscard]] Hypothesis ChangeClasses(const Hypothesis& from, std::span<const NodeId> nodes,
                                       absl::FunctionRef<void(NodeClass&)> change);

// REQUIRES: a quota applies.
[[nodiscard]] Hypothesis RaiseQuota(const Hypothesis& from, QuotaNodeId at, QuotaCellId cell,
                                    Amount more);

// All members of the gang have ended, and nothing is held for it.
[[nodiscard]] Hypothesis EndGang(Hypothesis from, const RunningGang& gang);

}  // namespace maniple
