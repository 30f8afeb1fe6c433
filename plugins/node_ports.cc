// NodePorts: a host port can be used once per node, address and protocol; 0.0.0.0 stands for every
// address.
//
// A per-node cap: members of one shape ask for the same ports, so a node takes one of them.
#include "plugins/factories.h"

#include <algorithm>

namespace maniple {
namespace {

constexpr absl::string_view kAnyAddress = "0.0.0.0";

bool Collide(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == kAnyAddress || b.ip == kAnyAddress);
}

class BoundNodePorts final : public NodeFilter {
 public:
  BoundNodePorts(const Tables& tables, const PodShape& shape)
      : collides_(tables.host_ports.size()) {
    for (size_t i = 0; i < collides_.size(); ++i) {
      collides_[i] = std::any_of(
          shape.constraints.host_ports.begin(), shape.constraints.host_ports.end(),
          [&](const HostPort& wanted) { return Collide(wanted, tables.host_ports[i]); });
    }
  }

  FilterScope scope() const override { return FilterScope::kDynamic; }
  FilterCoupling coupling() const override { return FilterCoupling::kPerNodeCap; }

  Verdict Check(const NodeView& node, const PartialPlan&) const override {
    if (CapOn(node) > 0) return {};
    return {.code = Code::kUnschedulable, .reason = {.id = kReasonHostPort}};
  }

  void Narrow(const NodeBlock& block, const PartialPlan&, NodeMask& fits) const override {
    for (const NodeBlock::UsedPort& used : block.used_ports()) {
      if (collides_[used.port.index()]) fits.Clear(used.row);
    }
  }

  int32_t CapOn(const NodeView& node) const override {
    const auto& used = node.block.used_ports();
    auto at = std::lower_bound(
        used.begin(), used.end(), node.row,
        [](const NodeBlock::UsedPort& port, uint32_t row) { return port.row < row; });
    for (; at != used.end() && at->row == node.row; ++at) {
      if (collides_[at->port.index()]) return 0;
    }
    return 1;
  }

 private:
  std::vector<bool> collides_;  // by HostPortId
};

class NodePorts final : public FilterPlugin {
 public:
  absl::string_view name() const override { return "NodePorts"; }
  absl::StatusOr<std::unique_ptr<NodeFilter>> Bind(const CycleInput& cycle,
                                                   const PodShape& shape) const override {
    if (shape.host_ports.empty()) return nullptr;
    return std::make_unique<BoundNodePorts>(*cycle.snapshot.tables, shape);
  }
};

}  // namespace

std::unique_ptr<const FilterPlugin> MakeNodePorts() { return std::make_unique<NodePorts>(); }

}  // namespace maniple
