#include "scheduler/loop/cluster_views.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "api/gpu/gpu_resource.h"
#include "plugins/framework/place_label.h"
#include "plugins/framework/reasons.h"
#include "scheduler/cycle/topology/topology.h"
#include "scheduler/loop/desk/expected_ends.h"
#include "scheduler/loop/desk/standing_of.h"
#include "scheduler/loop/views/node_uses.h"
#include "scheduler/report/message.h"
#include "scheduler/report/quota_report.h"

namespace maniple {
namespace {

// Nodes and pods in one piece, which takes a millisecond or two.
constexpr size_t kNodesAtOnce = 500, kPodsAtOnce = 1000;

absl::string_view MemberStateName(const Member& member) {
  switch (member.state) {
    case MemberState::kPending:
      return "pending";
    case MemberState::kGated:
      return "gated";
    case MemberState::kBound:
      return member.running ? "running" : "bound";
    case MemberState::kTerminating:
      return "terminating";
    case MemberState::kSucceeded:
      return "succeeded";
    case MemberState::kFailed:
      return "failed";
  }
  return "";
}

bool TakesRoom(const GangMemberView& pod) {
  return !pod.node.empty() && pod.state != "succeeded" && pod.state != "failed";
}

// The node's value of a label that a Topology or an NVLink domain is told by.
std::string LabelOf(const NodeView& node, const std::string& key, const Tables& tables) {
  const auto at = std::ranges::find(node.block.rows().label_columns, key, &LabelColumn::key);
  const bool tracked = at != node.block.rows().label_columns.end();
  const LabelValueId value = tracked ? at->values[node.row] : LabelValueId();
  return value.valid() ? tables.label_values[value.index()] : "";
}

std::vector<std::string> PathOf(const NodeView& node, const Topology& topology,
                                const Tables& tables) {
  std::vector<std::string> path;
  for (const TopologyLevel& level : topology.levels) {
    path.push_back(LabelOf(node, PlaceLabel(level.node_label), tables));
  }
  return path;
}

// The node's value of the first NVLink label that it has.
std::string NvlinkOf(const NodeView& node, const Tables& tables) {
  for (const std::string& key : tables.nvlink_labels) {
    if (std::string value = LabelOf(node, key, tables); !value.empty()) return value;
  }
  return "";
}

// What Kubernetes itself keeps pods away by; other taints are for somebody to tolerate. "" = it
// does not.
std::string KeptAwayText(const std::vector<Taint>& taints) {
  for (const Taint& taint : taints) {
    absl::string_view what = taint.key;
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;
    if (!absl::ConsumePrefix(&what, "node.kubernetes.io/")) continue;
    if (what == "unschedulable") return "cordoned";
    return absl::StrReplaceAll(what, {{"-", " "}});  // "not ready"
  }
  return "";
}

std::string ClosedText(const NodeClass& node, int64_t free_pods) {
  if (node.unschedulable) return std::string(SpecOf(kReasonUnschedulable).sentence);
  if (std::string away = KeptAwayText(node.taints); !away.empty()) return away;
  const ReasonId gpus = ReasonOf(node.gpus.condition);
  if (gpus != kReasonNone) return std::string(SpecOf(gpus).sentence);
  return free_pods > 0 ? "" : "no room for another pod";
}

NodeRow RowFor(NodeId node, const Snapshot& snapshot, const Topology* topology) {
  const Tables& tables = *snapshot.tables;
  const NodeBlock& block = *snapshot.blocks[BlockOf(node)];
  const uint32_t at = RowOf(node);
  NodeRow row{.name = block.rows().names[at]};
  const NodeClassId id = block.rows().classes[at];
  const auto& node_class = tables.classes[id.index()];
  if (node_class != nullptr) {
    row.schedulable = !node_class->unschedulable;
    row.taints = node_class->taints;
    row.closed = ClosedText(*node_class, block.Free(kPods)[at]);
    row.gpu_model = DeviceText(node_class->gpus);
  }
  if (topology != nullptr) row.path = PathOf({.block = block, .row = at}, *topology, tables);
  row.nvlink = NvlinkOf({.block = block, .row = at}, tables);
  row.pods = block.Allocatable(kPods)[at] - block.Free(kPods)[at];
  for (uint32_t r = 0; r < tables.resources.size(); ++r) {
    const int64_t allocatable = block.Allocatable(ResourceId(r))[at];
    const int64_t free = block.Free(ResourceId(r))[at];
    if (allocatable == 0 && free == 0) continue;
    const ResourceFacts& facts = tables.resources[r];
    const auto gpu = facts.gpu ? GpuResourceOf(facts.name) : std::nullopt;
    row.resources.push_back({.resource = facts.name,
                             .allocatable = Amount(allocatable),
                             .free = Amount(free),
                             .gpu = facts.gpu,
                             .one_per_container = gpu.has_value() && node_class != nullptr &&
                                                  IsOnePerContainer(node_class->gpus, *gpu)});
  }
  std::ranges::sort(row.resources, {}, &NodeResourceView::resource);
  return row;
}

// Calls `use` for each GPU resource that a pod of the shape asks for.
template <typename Use>
void ForEachGpu(ShapeId shape, const Tables& tables, const Use& use) {
  for (const auto& [resource, amount] : tables.ShapeOf(shape).requests) {
    const ResourceFacts& facts = tables.FactsOf(resource);
    if (facts.gpu) use(facts.name, amount);
  }
}

void AddUses(const GangView& gang, const Gang& members, const Tables& tables, NodeUses& uses) {
  for (size_t i = 0; i < gang.pods.size(); ++i) {
    const GangMemberView& pod = gang.pods[i];
    const Member& member = members.members[i];
    if (!TakesRoom(pod)) continue;
    uses.Stands(pod.node);
    if (!member.shape.valid()) continue;
    const Leaving leaving =
        member.state == MemberState::kTerminating ? Leaving::kYes : Leaving::kNo;
    ForEachGpu(member.shape, tables, [&](const std::string& resource, int64_t amount) {
      uses.Takes(pod.node, resource, amount, leaving);
    });
  }
}

std::vector<PlacedPods> RoomKeptFor(const GangRecord& record) {
  std::vector<PlacedPods> rooms = HeldPods(record);
  if (!record.reservation.has_value()) return rooms;
  for (const Reservation::Room& room : record.reservation->rooms) {
    rooms.push_back({.shape = room.shape, .node = room.node});
  }
  return rooms;
}

std::vector<GangAskView> AsksOf(const Gang& gang, const Tables& tables) {
  std::map<ShapeId, int64_t> of_shape;
  for (const Member& member : gang.members) {
    const bool ended =
        member.state == MemberState::kSucceeded || member.state == MemberState::kFailed;
    if (!ended && member.shape.valid()) ++of_shape[member.shape];
  }
  std::map<std::pair<std::string, int64_t>, int64_t> members;  // by resource and amount
  for (const auto& [shape, count] : of_shape) {
    ForEachGpu(shape, tables, [&, count = count](const std::string& resource, int64_t amount) {
      members[{resource, amount}] += count;
    });
  }
  std::vector<GangAskView> asks;
  for (const auto& [of, count] : members) {
    asks.push_back({.members = count, .resource = of.first, .amount = of.second});
  }
  return asks;
}

}  // namespace

GangView ClusterViews::ViewOf(const Case& c, const Leadership* leader) const {
  GangView view{
      .namespace_name = c.gang.key.namespace_name,
      .name = c.gang.key.name,
      .queue = c.gang.queue,
      .source = {.kind = c.gang.spec.source.kind,
                 .name = c.gang.spec.source.name,
                 .part = c.gang.spec.source.part,
                 .api_version = c.gang.spec.source.api_version,
                 .owner_kind = c.gang.foreign != nullptr ? c.gang.foreign->owner_kind : "",
                 .owner_name = c.gang.foreign != nullptr ? c.gang.foreign->owner_name : "",
                 .owner_group = c.gang.foreign != nullptr ? c.gang.foreign->owner_group : ""},
      .singleton = c.gang.key.dialect == GangDialect::kSingleton,
      .priority = c.gang.priority,
      .min_member = QuorumOf(c.gang.spec),
      .quorum_met = c.record.quorum_met,
      .members = KnownAssembly(c).counts,
      .created = CreatedAt(c.gang),
      .nodes = NodesOf(c, warm_.state)};
  if (const std::optional<Standing> standing =
          leader != nullptr ? leader->StandingOf(c) : std::nullopt) {
    view.phase = std::string(GangPhaseName(standing->phase));
    view.reason = std::string(WaitReasonName(standing->reason));
    view.message = standing->message;
    view.unnamed = standing->unnamed;
    view.stage = std::string(StageName(standing->reason));
    if (standing->phase == GangPhase::kCompleted || standing->phase == GangPhase::kFailed) {
      view.stage.clear();
    }
  } else {
    // A standby repeats the leader's status, which may still be empty.
    view.phase = c.gang.status.phase;
    view.reason = c.gang.status.reason;
    view.message = c.gang.status.message;
  }
  const WaitingForPtr& waiting =
      c.record.waiting != nullptr ? c.record.waiting : c.record.surplus_waiting;
  if (waiting != nullptr) {
    view.node_reasons = waiting->nodes;
    view.quota = waiting->quota;
    if (view.quota.has_value())
      view.quota->borrowers = BorrowersOf(*view.quota, warm_.ledger.book());
  }
  if (c.record.waiting != nullptr) view.preemption = c.record.waiting->no_preemption;
  if (c.record.reservation.has_value()) {
    const Reservation& held = *c.record.reservation;
    view.planned_start = {
        .at = held.start, .first_at = held.first_start, .estimated = held.end == EndIs::kEstimated};
  }
  if (c.record.quorum_reached_at.has_value()) {
    const RunSpan span = SpanOf(c.gang, c.record, c.now);
    view.expected_end = {.at = span.end, .estimated = span.told == EndIs::kEstimated};
  }
  if (c.record.binding.has_value() && c.record.binding->phase() == BindPhase::kRepairing) {
    view.given_up_at = c.record.binding->deadline();
  }
  for (const Member& member : c.gang.members) {
    GangMemberView pod{.pod = member.name,
                       .node = NodeOf(c, member, warm_.state),
                       .state = std::string(MemberStateName(member))};
    if (const PodFacts* facts = warm_.state.FindPod(member.pod); facts != nullptr) {
      pod.uid = facts->uid;
      if (member.state == MemberState::kTerminating) pod.node = facts->node_name;
    }
    if (member.state == MemberState::kPending && c.record.binding.has_value()) {
      if (const std::optional<NodeId> node = c.record.binding->PlacedOn(member.pod)) {
        pod.node = std::string(warm_.state.NodeName(*node));
        pod.state = "binding";
      }
    }
    if (const std::optional<NodeId> node = c.record.PlaceWhileVolumesAreBound(member.pod)) {
      pod.node = std::string(warm_.state.NodeName(*node));
      pod.state = "binding";
    }
    view.pods.push_back(std::move(pod));
  }
  return view;
}

void ClusterViews::NumberThoseWhoWait(ViewRound& round, const GangQueue& queue) const {
  absl::flat_hash_map<std::string, int64_t> in_queue;
  int64_t position = 0;
  for (const QueueItem item : queue.WaitingItems()) {
    const Gang* gang = warm_.state.FindGang(item.gang);
    if (item.kind != ItemKind::kQuorum || gang == nullptr) continue;
    round.positions[item.gang] = {++position, ++in_queue[gang->queue]};
  }
}

void ClusterViews::BeginView(ViewRound& round, const Leadership* leader, absl::Time now) {
  round.view = std::make_unique<ClusterView>();
  round.view->at = now;
  round.view->leader = leader != nullptr;
  if (leader != nullptr) NumberThoseWhoWait(round, leader->desk().queue);
  round.nodes = warm_.Picture();
  if (const Topology* topology = FindTopology(*round.nodes.tables, "")) {
    for (const TopologyLevel& level : topology->levels) {
      round.view->levels.push_back(level.node_label);
    }
  }
  round.next = ViewRound::Next::kNodes;
}

void ClusterViews::AddNodes(ViewRound& round) const {
  const std::vector<NodeId>& all = round.nodes.order->by_name;
  const Topology* topology = FindTopology(*round.nodes.tables, "");
  const size_t end = std::min(all.size(), round.at + kNodesAtOnce);
  for (; round.at < end; ++round.at) {
    round.view->nodes.push_back(RowFor(all[round.at], round.nodes, topology));
  }
  if (end < all.size()) return;
  round.uses.emplace(round.view->nodes);
  round.gangs = warm_.state.Gangs();
  round.at = 0;
  round.next = ViewRound::Next::kGangs;
}

void ClusterViews::AddGangs(ViewRound& round, const Leadership* leader, absl::Time now) {
  const Tables& tables = *warm_.Picture().tables;
  for (size_t pods = 0; round.at < round.gangs.size() && pods < kPodsAtOnce; ++round.at) {
    const GangId id = round.gangs[round.at];
    if (leader == nullptr) warm_.state.RecallSucceeded(id);  // no leader has looked at it
    const Gang* known = warm_.state.FindGang(id);
    if (known == nullptr) continue;  // it went since the round began
    std::unique_ptr<GangRecord> unseen;
    GangRecord* record = leader == nullptr ? nullptr : leader->desk().FindRecord(id);
    if (record == nullptr) {
      unseen = Desk::FirstRecord(*known, now);
      record = unseen.get();
    }
    const Case c{.gang = *known, .record = *record, .assembly = Assemble(*known), .now = now};
    GangView gang = ViewOf(c, leader);
    pods += 1 + gang.pods.size();
    if (const auto it = round.positions.find(id); it != round.positions.end()) {
      gang.position = it->second.first;
      if (!gang.queue.empty()) gang.queue_position = it->second.second;
    }
    round.uses->Of(GangText(c.gang.key));
    AddUses(gang, c.gang, tables, *round.uses);
    for (const PlacedPods& room : RoomKeptFor(c.record)) {
      if (!room.node.valid()) continue;
      ForEachGpu(room.shape, tables, [&](const std::string& resource, int64_t amount) {
        round.uses->Keeps(warm_.state.NodeName(room.node), resource, amount);
      });
    }
    gang.asks = AsksOf(c.gang, tables);
    round.view->gangs.push_back(std::move(gang));
  }
  if (round.at == round.gangs.size()) round.next = ViewRound::Next::kQueues;
}

void ClusterViews::AddQueues(ViewRound& round, const Leadership* leader, absl::Time now) const {
  ClusterView& view = *round.view;
  view.queues = warm_.directory.Views(warm_.ledger.book(), now);
  view.used_without_queue = warm_.directory.WithoutQueueView(now).used;
  view.cohorts = warm_.directory.CohortViews(warm_.ledger.book(), NameQueues::kYes);
  std::map<std::string, int64_t> uncharged;
  if (leader != nullptr) {
    for (const GangId id : leader->unadmitted()) {
      if (const Gang* gang = warm_.state.FindGang(id)) ++uncharged[gang->queue];
    }
  }
  for (QueueView& queue : view.queues) {
    if (const auto it = uncharged.find(queue.name); it != uncharged.end()) {
      queue.uncharged = it->second;
    }
  }
  round.next = ViewRound::Next::kNothing;
}

void ClusterViews::AddPiece(ViewRound& round, const Leadership* leader, absl::Time now) {
  switch (round.next) {
    case ViewRound::Next::kBegin:
      return BeginView(round, leader, now);
    case ViewRound::Next::kNodes:
      return AddNodes(round);
    case ViewRound::Next::kGangs:
      return AddGangs(round, leader, now);
    case ViewRound::Next::kQueues:
      return AddQueues(round, leader, now);
    case ViewRound::Next::kNothing:
      return;
  }
}

ClusterViewPtr ClusterViews::View(const Leadership* leader, absl::Time now) {
  ViewRound round;
  while (round.next != ViewRound::Next::kNothing) AddPiece(round, leader, now);
  Arrange(*round.view);
  return std::move(round.view);
}

std::unique_ptr<ClusterView> ClusterViews::MoreView(const Leadership* leader, absl::Time now) {
  if (view_ == nullptr) view_ = std::make_unique<ViewRound>();
  AddPiece(*view_, leader, now);
  if (view_->next != ViewRound::Next::kNothing) return nullptr;
  std::unique_ptr<ClusterView> made = std::move(view_->view);
  view_.reset();
  return made;
}

}  // namespace maniple
