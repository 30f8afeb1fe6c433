#include "plugins/framework/snapshot.h"

#include <algorithm>

#include "plugins/framework/fingerprint.h"

namespace maniple {

bool Snapshot::HasNode(NodeId node) const {
  return node.valid() && BlockOf(node) < blocks.size() &&
         blocks[BlockOf(node)]->rows().present.Test(RowOf(node));
}

const std::string& Snapshot::NodeName(NodeId node) const {
  return blocks[BlockOf(node)]->rows().names[RowOf(node)];
}

const HeldRoom* Snapshot::FindHold(HoldId hold) const {
  const auto at = std::lower_bound(holds->begin(), holds->end(), hold,
                                   [](const HeldRoom& room, HoldId id) { return room.hold < id; });
  return at != holds->end() && at->hold == hold ? &*at : nullptr;
}

uint64_t Snapshot::Fingerprint() const {
  Fingerprinter out;
  out.Add(version);
  for (const auto& block : blocks) out.Add(block->Fingerprint());
  for (const auto& node_class : tables->classes) {
    if (node_class == nullptr) continue;
    for (const auto& [key, value] : node_class->labels.entries()) {
      out.Add(key);
      out.Add(value);
    }
    for (const Taint& taint : node_class->taints) {
      out.Add(taint.key);
      out.Add(taint.value);
      out.Add(static_cast<uint64_t>(taint.effect));
    }
    out.Add(uint64_t{node_class->unschedulable});
  }
  out.Add(uint64_t{tables->shapes.size()});
  for (const NodeId node : order->by_name) out.Add(uint64_t{node.index()});
  for (const ImageFacts& facts : *images) {
    out.Add(static_cast<uint64_t>(facts.nodes));
    out.Add(static_cast<uint64_t>(facts.bytes));
  }
  for (const HeldRoom& room : *holds) {
    out.Add(uint64_t{room.hold.index()} << 32 | room.node.index());
    out.Add(uint64_t{room.shape.index()});
  }
  return out.hash();
}

}  // namespace maniple
