// The contract of filters: which nodes can a pod of one shape run on?
//
// A FilterPlugin is built once from configuration. For each decision and shape it is bound; the
// bound NodeFilter holds what it precomputed as typed members and dies with the decision. Bound
// filters are const, may be called from several threads, and allocate nothing when a node fits.
// Plugins get no handle: no client, no clock, no queue; what they need is in the snapshot.
//
// What a bound filter or score says of the nodes of a block without cool-downs follows from that
// block, their classes, the shape, the names in the tables and the mix of requests alone: neither
// from `now` or the seed nor from other blocks or topologies. The search remembers it while these
// stay the same (scheduler/cycle/room_cache.h); what depends on PartialPlan says so by kShared.
// What looks at other blocks says so by looks_around(): it is shown all blocks whenever any of them
// changed, and nothing of it is remembered.
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

// What is asked of the nodes.
enum class Question : uint8_t {
  kNow,
  // Could it ever fit? Filters then leave out what passes by itself or by an operator's hand: a
  // cordon, a condition of the node.
  kEver,
};

class MemberPodCounts;

struct CycleInput {
  const Snapshot& snapshot;
  absl::Time now;
  uint64_t seed = 0;
  Question question = Question::kNow;
  // Of all the gang's members that may be placed, so that a filter can tell whether they bear on
  // each other; none: of the bound shape alone.
  std::span<const ShapeId> members = {};
  // The counts of pods that these add to; null: there are no other members.
  const MemberPodCounts* member_counts = nullptr;
};

// The blocks of nodes as they stand now, with what is placed and freed on them.
using BlockSpan = std::span<const NodeBlock* const>;

// What the answer depends on.
enum class FilterScope : uint8_t {
  kNodeClass,  // the node's class only: asked once per class
  kDynamic,    // columns as well
};

// How members of one gang and shape bear on each other.
enum class FilterCoupling : uint8_t {
  kNone,
  kPerNodeCap,  // a node may take only so many; CapOn says how many
  // Members take from each other what several nodes share: each is searched for by itself, but what
  // counting finds lacking (caps as if the others were not there) is lacking.
  kShared,
  kAcrossNodes,  // what is placed on one node changes what fits on others: the gang is searched
                 // member by member
};

inline constexpr int32_t kNoCap = std::numeric_limits<int32_t>::max();

class NodeFilter {
 public:
  virtual ~NodeFilter() = default;

  [[nodiscard]] virtual FilterScope scope() const = 0;
  [[nodiscard]] virtual FilterCoupling coupling() const { return FilterCoupling::kNone; }

  // Whether the answers depend on other blocks than the one at hand. Then LookAround is called
  // before anything else is asked, and again when a block has changed; the rest is const.
  [[nodiscard]] virtual bool looks_around() const { return false; }
  virtual void LookAround(BlockSpan) {}
  // Whether what it says of a block is true as long as that block stands.
  [[nodiscard]] virtual bool may_be_remembered() const { return !looks_around(); }

  // Columns of labels (Tables::label_columns): all members of the gang must share their values,
  // and among nodes that do the filter says nothing more of it. Empty: it asks nothing of the
  // sort. As of the last LookAround.
  [[nodiscard]] virtual std::span<const size_t> one_domain_of() const { return {}; }

  // The answer for one node, with the reason that a report will print.
  [[nodiscard]] virtual Verdict Check(const NodeView& node, const PartialPlan& placed) const = 0;

  // Clears in `fits` the nodes of the block that Check would refuse.
  virtual void Narrow(const NodeBlock& block, const PartialPlan& placed, NodeMask& fits) const;

  // False when no node of the block can fit; a cheap look at maxima. True proves nothing.
  [[nodiscard]] virtual bool MayHelp(const NodeBlock& block) const;

  // For kAcrossNodes. Clears the nodes that take no member now and will take none, whichever other
  // members are placed.
  virtual void NarrowForGood(const NodeBlock&, NodeMask&) const {}
  // For kAcrossNodes. At most so many members of the shape find room in all, if each node takes
  // at most the members that `rooms` say, in the order of ids.
  struct RoomOnNode {
    NodeId node;
    int32_t pods = 0;
  };
  [[nodiscard]] virtual int64_t Most(std::span<const RoomOnNode> rooms) const;

  // Lowers caps[row] to what the node can take more of, for each row in `rows`; never below zero.
  // For kPerNodeCap and kShared only. The default asks CapOn row by row.
  virtual void Cap(const NodeBlock& block, const NodeMask& rows, std::span<int32_t> caps) const;
  [[nodiscard]] virtual int32_t CapOn(const NodeView& node) const;
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  [[nodiscard]] virtual absl::string_view name() const = 0;
  // Null: nothing to say for this shape. kUnimplemented: the shape asks for what this version
  // refuses, and the message names the path; kFailedPrecondition: its volumes are not ready;
  // kInvalidArgument: the shape makes no sense.
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(
      const CycleInput& cycle, const PodShape& shape) const = 0;
};

}  // namespace maniple
