#include "scheduler/loop/desk/expected_ends.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace maniple {
namespace {

// The assumed time within which a leaving pod is gone.
constexpr absl::Duration kLeaving = absl::Seconds(30);

}  // namespace

RunSpan SpanOf(const Gang& gang, const GangRecord& record, absl::Time now) {
  const absl::Time started = std::min(record.quorum_reached_at.value_or(now), now);
  const std::optional<absl::Duration> runtime = ExpectedRuntime(gang);
  if (runtime.has_value() && now <= started + *runtime + kEndGrace) {
    return {.started = started, .end = started + *runtime, .told = EndIs::kKnown};
  }
  return {.started = started, .end = now + (now - started), .told = EndIs::kEstimated};
}

// A holder that follows estimates from room to room would otherwise wait for gangs that began after
// it, again and again.
std::vector<Release> Releases(Desk& desk, absl::Time now, absl::Time by) {
  const Tables& tables = *desk.Picture().tables;
  std::vector<Release> releases;
  for (const auto& [id, record] : desk.records) {
    const Gang* gang = desk.state.FindGang(id);
    if (gang == nullptr) continue;
    const auto [started, end, told] = SpanOf(*gang, *record, now);
    const QuotaNodeId queue = desk.ledger.book().QueueNamed(record->queue);
    const bool leaves = record->LeavesWhole();
    const bool stays = told == EndIs::kEstimated && started > by && !record->backfill.has_value();
    for (const Member& member : gang->members) {
      const PodFacts* pod = desk.state.FindPod(member.pod);
      if (pod == nullptr || pod->terminal) continue;
      if (stays && !leaves && !pod->terminating) continue;
      // Whoever was placed a moment ago is not bound yet, and will leave its room all the same.
      const NodeId node = pod->node.valid() ? pod->node : pod->reserved;
      if (!node.valid()) continue;
      const PlacedPods placed{.shape = member.shape, .node = node};
      Release release{.at = end,
                      .end = told,
                      .room = {node, member.shape},
                      .queue = queue,
                      .charge = desk.ledger.CostOf(record->queue, {&placed, 1}, tables)};
      if (leaves || pod->terminating) {
        release.at = now + std::max(kLeaving, pod->grace);
        release.end = EndIs::kEstimated;
      }
      releases.push_back(std::move(release));
    }
  }
  return releases;
}

std::vector<FreedRoom> GivenBackOn(const Desk& desk, NodeId node, absl::Time by, absl::Time now) {
  std::vector<FreedRoom> rooms;
  desk.state.ForEachPodOn(node, [&](const PodFacts& pod) {
    const GangRecord* record = desk.FindRecord(pod.gang);
    const Gang* gang = desk.state.FindGang(pod.gang);
    if (record == nullptr || gang == nullptr || pod.terminal || pod.terminating) return;
    if (record->LeavesWhole()) return;
    const RunSpan span = SpanOf(*gang, *record, now);
    if (span.told == EndIs::kKnown && span.end <= by) rooms.push_back({node, pod.shape});
  });
  return rooms;
}

}  // namespace maniple
