// The contract of filters: which nodes can a pod of one shape run on?
//
// A FilterPlugin is built once from configuration. For each decision and shape it is bound; the
// bound NodeFilter holds its precomputed facts as typed members and dies with the decision. Bound
// filters are const, may be called from several threads, and allocate nothing when a node fits.
// Plugins get no handle: no client, no clock, no queue; the snapshot has all that they need.
//
// The answers of a bound filter or score on a block without cool-downs follow from few facts.
// These are the block, its classes, the shape, the names in the tables and the mix of requests.
// They do not depend on `now` or the seed, nor on other blocks or topologies. The search remembers
// them while these stay the same (scheduler/cycle/room/room_cache.h). A filter that depends on
// PartialPlan says so by kShared. A filter that looks at other blocks is a ClusterFilter.
//
// The search narrows one mask per block and asks Check only for the nodes that a report names. For
// every node, Narrow (and a cap of zero) must agree with Check; the contract test holds them equal
// for every row of plugins/builtin.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugins/framework/partial_plan.h"
#include "plugins/framework/snapshot.h"
#include "plugins/framework/verdict.h"

namespace maniple {

// The question that is asked of the nodes.
enum class Question : uint8_t {
  kNow,
  // Could it ever fit? Filters then ignore obstacles that pass by themselves or by
  // an operator's hand: a cordon, a condition of the node.
  kEver,
};

class MemberPodCounts;

struct CycleInput {
  const Snapshot& snapshot;
  absl::Time now;
  uint64_t seed = 0;
  Question question = Question::kNow;
  // The shapes of all members of the gang that may be placed, so that a filter can tell
  // whether they bear on each other; none: the bound shape alone.
  std::span<const ShapeId> members = {};
  // The counts of pods that members add to; null: there are no other members.
  const MemberPodCounts* member_counts = nullptr;
};

// The blocks of nodes as they stand now, with the rooms that are placed and freed on them.
using BlockSpan = std::span<const NodeBlock* const>;

// The facts that the answer depends on.
enum class FilterScope : uint8_t {
  kNodeClass,  // the node's class only: asked once per class
  kDynamic,    // columns as well
};

// How members of one gang and shape bear on each other.
enum class FilterCoupling : uint8_t {
  kNone,
  kPerNodeCap,  // a node may take only so many; CapOn says how many
  // Members compete for something that several nodes share. Each is searched for by itself, but a
  // shortage by count (with caps as if the others were not there) is a proof.
  kShared,
  // A placement on one node changes the room on others: the gang is searched member by member. Of a
  // ClusterFilter only.
  kAcrossNodes,
};

inline constexpr int32_t kNoCap = std::numeric_limits<int32_t>::max();

class ClusterFilter;

class NodeFilter {
 public:
  virtual ~NodeFilter() = default;

  [[nodiscard]] virtual FilterScope scope() const = 0;
  [[nodiscard]] virtual FilterCoupling coupling() const { return FilterCoupling::kNone; }

  // The answer for one node, with the reason that a report will print.
  [[nodiscard]] virtual Verdict Check(const NodeView& node, const PartialPlan& placed) const = 0;

  // Clears in `fits` the nodes of the block that Check would refuse.
  virtual void Narrow(const NodeBlock& block, const PartialPlan& placed, NodeMask& fits) const;

  // False when no node of the block can fit; a cheap look at maxima. True proves nothing.
  [[nodiscard]] virtual bool MayHelp(const NodeBlock& block) const;

  // Lowers caps[row] to the number of further members that the node can take, for each row in
  // `rows`; never below zero. For kPerNodeCap and kShared only. The default asks CapOn row by row.
  virtual void Cap(const NodeBlock& block, const NodeMask& rows, std::span<int32_t> caps) const;
  [[nodiscard]] virtual int32_t CapOn(const NodeView& node) const;

  // Itself, if its answers depend on other nodes (plugins/framework/cluster_filter.h); else null.
  [[nodiscard]] virtual ClusterFilter* as_cluster_filter() { return nullptr; }
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  [[nodiscard]] virtual absl::string_view name() const = 0;
  // Null: nothing to say for this shape. kUnimplemented: the shape asks for something that
  // this version refuses, and the message names the path; kFailedPrecondition: its volumes
  // are not ready; kInvalidArgument: the shape makes no sense.
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(
      const CycleInput& cycle, const PodShape& shape) const = 0;
};

}  // namespace maniple
