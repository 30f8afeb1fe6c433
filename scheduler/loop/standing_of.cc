#include "scheduler/loop/standing_of.h"

#include <set>
#include <utility>

namespace maniple {

Assembly KnownAssembly(const Case& c) {
  Assembly known = c.assembly;
  if (!c.record.binding.has_value()) return known;
  for (const Member& member : c.gang.members) {
    if (member.state != MemberState::kPending) continue;
    const std::optional<BindState> state = c.record.binding->StateOf(member.pod);
    if (!state.has_value() || !CountsAsBound(*state)) continue;
    --known.counts.pending;
    ++known.counts.bound;
  }
  return known;
}

std::string NodeOf(const Case& c, const Member& member, const ClusterState& state) {
  if (member.state == MemberState::kBound || member.state == MemberState::kSucceeded) {
    const PodFacts* pod = state.FindPod(member.pod);
    return pod == nullptr ? "" : pod->node_name;
  }
  if (!c.record.binding.has_value()) return "";
  const std::optional<BindState> bind = c.record.binding->StateOf(member.pod);
  if (!bind.has_value() || !CountsAsBound(*bind)) return "";
  const std::optional<NodeId> node = c.record.binding->PlacedOn(member.pod);
  return node.has_value() ? std::string(state.NodeName(*node)) : "";
}

std::vector<std::string> NodesOf(const Case& c, const ClusterState& state) {
  std::set<std::string> nodes;
  for (const Member& member : c.gang.members) {
    if (std::string node = NodeOf(c, member, state); !node.empty()) nodes.insert(std::move(node));
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace maniple
