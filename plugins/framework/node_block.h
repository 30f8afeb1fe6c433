// Nodes in columns, in blocks of 256: node n is row n % 256 of block n / 256.
//
// A block is written by its one owner, scheduler/state or an overlay of scheduler/cycle,
// until others see it; once published it never changes and any thread may read it. Columns that
// change with every pod are apart from rows that rarely change (NodeRows), which blocks share.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "api/model/ids.h"
#include "plugins/framework/columns.h"
#include "plugins/framework/node_images.h"
#include "plugins/framework/pod_counts.h"

namespace maniple {

struct PodShape;  // plugins/framework/tables.h

[[nodiscard]] constexpr uint32_t BlockOf(NodeId node) { return node.index() / kBlockNodes; }
[[nodiscard]] constexpr uint32_t RowOf(NodeId node) { return node.index() % kBlockNodes; }
[[nodiscard]] constexpr NodeId NodeAt(uint32_t block, uint32_t row) {
  return NodeId(block * kBlockNodes + row);
}

// A label with many values: one value id per node; invalid = the node lacks the label.
struct LabelColumn {
  std::string key;
  std::vector<LabelValueId> values;  // one for each row of the block
};

// The facts of a block's nodes that change rarely.
struct NodeRows {
  NodeMask present;
  std::vector<std::string> names;    // kBlockNodes
  std::vector<NodeClassId> classes;  // kBlockNodes
  Columns allocatable;
  std::vector<int64_t> max_allocatable;  // by resource; at least the largest of the column
  struct AttachLimit {
    uint32_t row = 0;
    VolumeDriverId driver;
    int64_t most = 0;
    int64_t unused = 0;  // of these, attached although no pod that stands there uses them
    friend auto operator<=>(const AttachLimit&, const AttachLimit&) = default;
  };
  std::vector<AttachLimit> attach_limits;  // sorted; a driver that is not named has no limit
  std::vector<ImageRows> images;           // that shapes run, by id
  std::vector<LabelColumn> label_columns;  // the same keys in the same order in every block

  NodeRows() : names(kBlockNodes), classes(kBlockNodes) {}
  void RecomputeMaxima();
};

class NodeBlock final {
 public:
  explicit NodeBlock(std::shared_ptr<const NodeRows> rows) : rows_(std::move(rows)) {}
  // The same nodes with no pod on them: all allocatable room is free. Shares the rows, copies
  // nothing.
  [[nodiscard]] NodeBlock Emptied() const;

  [[nodiscard]] const NodeRows& rows() const { return *rows_; }
  // For readers that remember facts of the rows: the same pointer means the same rows.
  [[nodiscard]] const std::shared_ptr<const NodeRows>& shared_rows() const { return rows_; }
  // Signed: negative when a device failed or others oversubscribed the node.
  [[nodiscard]] const Columns::Column& Free(ResourceId resource) const {
    return emptied_ ? rows_->allocatable.Of(resource) : free_.Of(resource);
  }
  [[nodiscard]] const Columns::Column& Allocatable(ResourceId resource) const {
    return rows_->allocatable.Of(resource);
  }
  // At least the largest Free(resource) of the present rows; a search may skip the block by it.
  [[nodiscard]] int64_t MaxFree(ResourceId resource) const;
  struct UsedPort {
    uint32_t row = 0;
    HostPortId port;
    friend auto operator<=>(const UsedPort&, const UsedPort&) = default;
  };
  [[nodiscard]] const std::vector<UsedPort>& used_ports() const { return used_ports_; }  // sorted
  struct UsedVolume {
    uint32_t row = 0;
    VolumeUseId use;
    friend auto operator<=>(const UsedVolume&, const UsedVolume&) = default;
  };
  [[nodiscard]] const std::vector<UsedVolume>& used_volumes() const {  // sorted
    return used_volumes_;
  }
  [[nodiscard]] std::span<const UsedVolume> UsedVolumesOn(uint32_t row) const;
  [[nodiscard]] const PodCounts& pod_counts() const { return pod_counts_; }
  // Of pods that are yet to come: they keep others away, and are nobody's reason to be there.
  [[nodiscard]] const PodCounts& promised_counts() const { return promised_counts_; }
  struct CoolDown {
    uint32_t row = 0;
    absl::Time until;
  };
  [[nodiscard]] const std::vector<CoolDown>& cool_downs() const { return cool_downs_; }  // by row
  // Resources that Free or Allocatable may be non-zero for have indices below this.
  [[nodiscard]] uint32_t resource_limit() const;
  [[nodiscard]] uint64_t Fingerprint() const;

  // Mutation, for the owner of a copy that nobody else sees yet.
  void SetRows(std::shared_ptr<const NodeRows> rows) { rows_ = std::move(rows); }
  void AddFree(uint32_t row, ResourceId resource, int64_t amount);
  enum class Change {
    kTake,
    kGive,
    kTakePromised,  // for a pod that is yet to come: it is counted apart
    kGivePromised,
    kTakeAmounts,  // of resources alone
    kGiveAmounts,
  };
  // Takes or gives back everything that one pod of the shape needs, ports and volumes included, and
  // counts the pod.
  void Charge(uint32_t row, const PodShape& shape, Change change);
  void SetCoolDown(uint32_t row, std::optional<absl::Time> until);
  // Makes the maxima exact again; they only grow between calls.
  void RecomputeMaxima();

 private:
  void Materialise();

  std::shared_ptr<const NodeRows> rows_;
  bool emptied_ = false;  // free_ is unused: everything allocatable is free
  Columns free_;
  std::vector<int64_t> max_free_;  // by resource
  std::vector<UsedPort> used_ports_;
  std::vector<UsedVolume> used_volumes_;
  PodCounts pod_counts_;
  PodCounts promised_counts_;
  std::vector<CoolDown> cool_downs_;
};

// One node, for the length of a call.
struct NodeView {
  const NodeBlock& block;
  uint32_t row = 0;
};

}  // namespace maniple
