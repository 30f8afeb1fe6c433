// One immutable picture of the cluster, as every decision and every plugin sees it.
//
// Written by scheduler/state (Publish) and by the overlay of scheduler/cycle (its own copies of
// blocks); once published it never changes and any thread may read it. Nodes live in columns inside
// blocks of 256: node n is row n % 256 of block n / 256. Static facts of equal nodes are shared as
// node classes; a label with more than 64 values is a column instead.
//
//   for (uint32_t b = 0; b < snapshot.blocks.size(); ++b) {
//     const NodeBlock& block = *snapshot.blocks[b];
//     block.rows().present.ForEach([&](uint32_t row) { … block.Free(kCpu)[row] … });
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/model/ids.h"
#include "plugins/framework/node_block.h"
#include "plugins/framework/node_images.h"
#include "plugins/framework/tables.h"

namespace maniple {

// Nodes in the order of their names; recomputed when the set of nodes changes.
struct NodeOrder {
  std::vector<NodeId> by_name;
  std::vector<uint32_t> rank;  // by node index
};

struct HeldRoom {
  HoldId hold;
  NodeId node;
  ShapeId shape;
};

class RequestMix;  // plugins/framework/request_mix.h

struct Snapshot {
  uint64_t version = 0;
  std::vector<std::shared_ptr<const NodeBlock>> blocks;
  std::shared_ptr<const Tables> tables;
  std::shared_ptr<const NodeOrder> order;
  std::shared_ptr<const std::vector<HeldRoom>> holds;  // by id
  std::shared_ptr<const RequestMix> mix;               // null: too little was seen to tell
  std::shared_ptr<const NodeImages> images = std::make_shared<const NodeImages>();  // never null

  [[nodiscard]] int64_t node_count() const { return static_cast<int64_t>(order->by_name.size()); }
  [[nodiscard]] bool HasNode(NodeId node) const;
  // REQUIRES: HasNode(node).
  [[nodiscard]] const std::string& NodeName(NodeId node) const;
  [[nodiscard]] const HeldRoom* FindHold(HoldId hold) const;
  // Equal for equal contents; for tests that a snapshot never changes.
  [[nodiscard]] uint64_t Fingerprint() const;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace maniple
