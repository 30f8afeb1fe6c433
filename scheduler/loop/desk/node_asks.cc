#include "scheduler/loop/desk/node_asks.h"

#include <algorithm>
#include <utility>

namespace maniple {
namespace {

// The pause between a request that is taken back and the next,
// however often the gang's reason for waiting changes in between.
constexpr absl::Duration kBetweenRequests = absl::Seconds(10);

// No existing node has room, and more nodes would help.
bool LacksNodes(WaitReason reason) {
  return reason == WaitReason::kNoFit || reason == WaitReason::kNeverFits;
}

}  // namespace

void NodeAsks::AskForNodes(Case& c, const Standing& standing) {
  if (desk_.options.node_requests.class_name.empty()) return;
  GangRecord& record = c.record;
  std::optional<NodeAsk> ask;
  if (standing.phase == GangPhase::kPending && LacksNodes(standing.reason)) ask = NodeAskOf(c.gang);
  if (record.node_request.has_value()) {
    if (record.node_request->under_way()) return;  // its reply brings us back
    if (!ask.has_value() || ask->name != record.node_request->ask().name) {
      for (HttpRequest& request : record.node_request->TakeBack()) {
        desk_.Send({.kind = ErrandKind::kNodeRequest, .gang = c.gang.id, .begun = true},
                   std::move(request));
      }
      record.node_request.reset();
      record.nodes_again_at = c.now + kBetweenRequests;
    }
  }
  if (!ask.has_value()) return;
  if (!record.node_request.has_value() && c.now < record.nodes_again_at) {
    record.status_due = std::min(record.status_due, record.nodes_again_at);
    return;
  }
  if (!record.node_request.has_value()) {
    record.node_request.emplace(*std::move(ask), desk_.options.node_requests, c.now);
  }
  if (std::optional<HttpRequest> next = record.node_request->Next(c.now)) {
    desk_.Send({.kind = ErrandKind::kNodeRequest, .gang = c.gang.id}, *std::move(next));
  } else {
    record.status_due = std::min(record.status_due, record.node_request->again_at());
  }
}

void NodeAsks::HearNodeRequest(const Errand& errand, const WriteResult& result, absl::Time now) {
  if (errand.begun) return;
  const auto it = desk_.records.find(errand.gang);
  if (it == desk_.records.end() || !it->second->node_request.has_value()) return;
  it->second->node_request->Hear(result, now, desk_.random);
  desk_.to_report.insert(errand.gang);
}

// Pods must not first say something that they would not say later. For a gang that somebody
// else declares, the PodGroup that owns the request may be made only after the pods are told;
// and a request may have to wait.
bool NodeAsks::AwaitsNodes(const Case& c, const WaitingFor& waits) const {
  if (desk_.options.node_requests.class_name.empty() || !LacksNodes(waits.reason)) return false;
  if (c.record.node_request.has_value()) return c.record.node_request->waits();
  const bool comes = c.gang.foreign != nullptr && !c.gang.stand_in.has_value() &&
                     (!c.record.stand_in.has_value() || c.record.stand_in->trouble.empty());
  return (comes || c.now < c.record.nodes_again_at) && c.assembly.counts.bound == 0;
}

}  // namespace maniple
