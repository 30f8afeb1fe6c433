#include "scheduler/cycle/search/node_likeness.h"

#include "api/base/sort_unique.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// No fact: it keeps lists of any length apart. The numbers of ports, volumes and drivers may be
// equal.
constexpr int64_t kNextList = -1;

}  // namespace

NodeLikeness::NodeLikeness(const std::vector<Kind>& kinds, const Overlay& overlay,
                           std::vector<const DomainLevel*> levels)
    : overlay_(overlay), levels_(std::move(levels)) {
  for (const Kind& kind : kinds) {
    if (kind.bound == nullptr) continue;
    for (const auto& [resource, amount] : kind.bound->shape().requests) {
      resources_.push_back(resource);
    }
  }
  SortUnique(resources_);
}

Likeness NodeLikeness::Of(NodeId node, std::span<const int32_t> rooms) {
  const NodeView view = overlay_.At(node);
  facts_.assign(rooms.begin(), rooms.end());
  facts_.push_back(view.block.rows().classes[view.row].index());
  for (const ResourceId resource : resources_) {
    facts_.push_back(view.block.Free(resource)[view.row]);
    facts_.push_back(view.block.Allocatable(resource)[view.row]);
  }
  for (const DomainLevel* level : levels_) facts_.push_back(level->DomainOf(node));
  for (const NodeBlock::UsedPort& used : view.block.used_ports()) {
    if (used.row == view.row) facts_.push_back(used.port.index());
  }
  facts_.push_back(kNextList);
  for (const NodeBlock::UsedVolume& used : view.block.UsedVolumesOn(view.row)) {
    facts_.push_back(used.use.index());
  }
  facts_.push_back(kNextList);
  for (const NodeRows::AttachLimit& limit : view.block.rows().attach_limits) {
    if (limit.row != view.row) continue;
    facts_.push_back(limit.driver.index());
    facts_.push_back(limit.most);
    facts_.push_back(limit.unused);
  }
  const auto next = static_cast<Likeness>(known_.size());
  return known_.try_emplace(facts_, next).first->second;
}

RoomyNodes NodesWithRoom(const std::vector<Kind>& kinds, const Overlay& overlay,
                         const NodeSet* within) {
  std::vector<int32_t> by_id(size_t{overlay.block_count()} * kBlockNodes * kinds.size(), 0);
  NodeSet some(overlay.block_count());
  for (size_t k = 0; k < kinds.size(); ++k) {
    if (kinds[k].bound == nullptr) continue;
    kinds[k].bound->ByBlockOn(overlay, within).ForEach([&](const NodeRoom& room) {
      by_id[room.node.index() * kinds.size() + k] = room.pods;
      some[BlockOf(room.node)].Set(RowOf(room.node));
    });
  }
  RoomyNodes roomy;
  NodeLikeness likeness(kinds, overlay, {});
  for (uint32_t b = 0; b < some.size(); ++b) {
    some[b].ForEach([&](uint32_t row) { roomy.nodes.push_back(NodeAt(b, row)); });
  }
  std::ranges::sort(roomy.nodes, {},
                    [&overlay](NodeId node) { return overlay.base().order->rank[node.index()]; });
  roomy.rooms.reserve(roomy.nodes.size() * kinds.size());
  for (const NodeId node : roomy.nodes) {
    const std::span<const int32_t> rooms =
        std::span(by_id).subspan(node.index() * kinds.size(), kinds.size());
    roomy.rooms.insert(roomy.rooms.end(), rooms.begin(), rooms.end());
    roomy.like.push_back(likeness.Of(node, rooms));
  }
  return roomy;
}

}  // namespace maniple
