#include "test/support/turn_audit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "test/support/invariants.h"

namespace maniple {
namespace {

// Everything is recomputed after every turn; beyond this only what the loop itself can tell is.
constexpr size_t kMostPods = 1000;

bool SetsLimits(ResourceKind kind) {
  return kind == ResourceKind::kQueue || kind == ResourceKind::kCohort ||
         kind == ResourceKind::kResourceFlavor;
}

std::string NamespaceOf(absl::string_view key) { return std::string(key.substr(0, key.find('/'))); }

}  // namespace

void TurnAudit::Hear(const ObjectEvent& event) {
  facts_.told.Hear(event);
  if (const auto* deleted = std::get_if<ObjectDeleted>(&event)) {
    if (SetsLimits(deleted->key.kind)) ++limits_;
  } else if (const auto* invalid = std::get_if<ObjectInvalid>(&event)) {
    if (SetsLimits(invalid->key.kind)) ++limits_;
  }
  const auto* upserted = std::get_if<ObjectUpserted>(&event);
  if (upserted == nullptr) return;
  const ObjectMeta& meta = MetaOf(upserted->object);
  const ResourceKind kind = KindOf(upserted->object);
  if (SetsLimits(kind)) {
    const std::string name = absl::StrCat(ResourceKindName(kind), " ", meta.uid, " ", meta.name);
    const auto [known, fresh] = generations_.try_emplace(name, meta.generation);
    const bool same = !fresh && known->second == meta.generation && meta.generation != 0;
    if (!same) ++limits_;
    known->second = meta.generation;
  }
  if (const auto* pod = std::get_if<Pod>(&upserted->object)) NotePod(*pod);
}

void TurnAudit::NotePod(const Pod& pod) {
  if (!pod.node_name.empty()) facts_.first_node.try_emplace(pod.meta.uid, pod.node_name);
  if (pod.phase == PodPhase::kFailed && !pod.status_reason.empty()) {
    facts_.doubtful_nodes.insert(pod.node_name);
  }
}

void TurnAudit::Hear(const WriteResult& result) {
  const auto bind = bind_of_gang_.find(result.id);
  if (bind == bind_of_gang_.end()) return;
  const bool done = result.outcome == WriteOutcome::kAnswered && result.http_status / 100 == 2;
  if (!done) facts_.troubled.insert(bind->second);
  bind_of_gang_.erase(bind);
}

std::string TurnAudit::Identity(const std::string& gang) const {
  const auto group = facts_.told.groups.find(gang);
  if (group != facts_.told.groups.end()) return absl::StrCat(gang, " ", group->second.meta.uid);
  const auto pod = facts_.told.pods.find(gang);
  return absl::StrCat(gang, " ", pod == facts_.told.pods.end() ? "" : pod->second.meta.uid);
}

int32_t TurnAudit::PriorityOf(const std::string& gang) const {
  const auto it = std::ranges::find(facts_.view.gangs, gang, GangName);
  return it == facts_.view.gangs.end() ? 0 : it->priority;
}

void TurnAudit::ReadLine(absl::string_view line) {
  if (absl::ConsumePrefix(&line, "place ")) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    const std::pair<std::string, std::string> who = absl::StrSplit(parts.first, ' ');
    PlacedItem item{.gang = who.first, .item = who.second, .node_of = {}, .held_room_moved = false};
    for (const absl::string_view place : absl::StrSplit(parts.second, ' ', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> at = absl::StrSplit(place, '=');
      item.node_of[absl::StrCat(NamespaceOf(who.first), "/", at.first)] = at.second;
    }
    facts_.placed.push_back(std::move(item));
  } else if (absl::ConsumePrefix(&line, "backfill ") || absl::ConsumePrefix(&line, "let in ")) {
    facts_.in_held_room.insert(std::string(line.substr(0, line.find(' '))));
  } else if (absl::ConsumePrefix(&line, "reserve ")) {
    facts_.in_held_room.insert(std::string(line.substr(0, line.find(' '))));
    for (PlacedItem& item : facts_.placed) item.held_room_moved = true;
  } else if (absl::ConsumePrefix(&line, "preempt ")) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    facts_.made_room.insert(parts.first);
    for (const absl::string_view left : absl::StrSplit(parts.second, ", ")) {
      const std::string victim(left);
      if (absl::StrContains(victim, " surplus pod")) continue;
      facts_.preempted.push_back({.victim = Identity(victim),
                                  .preemptor = Identity(parts.first),
                                  .limits = limits_,
                                  .victim_priority = PriorityOf(victim),
                                  .preemptor_priority = PriorityOf(parts.first)});
    }
  }
}

bool TurnAudit::Admits(const std::string& name, const std::string& namespace_name) const {
  const auto queue = facts_.told.queues.find(name);
  if (queue == facts_.told.queues.end() || !queue->second.namespace_selector.has_value()) {
    return true;
  }
  const auto space = facts_.told.namespaces.find(namespace_name);
  const bool known = space != facts_.told.namespaces.end();
  return queue->second.namespace_selector->Matches(known ? space->second.meta.labels : StringMap());
}

// As an annotation of one of its pods says, which an earlier process has bound.
bool TurnAudit::WasBoundUnder(const std::string& queue, const GangView& gang) const {
  return std::ranges::any_of(gang.pods, [&](const GangMemberView& member) {
    const auto pod = facts_.told.pods.find(absl::StrCat(gang.namespace_name, "/", member.pod));
    return pod != facts_.told.pods.end() && !pod->second.node_name.empty() &&
           pod->second.meta.annotations.Get(kAdmittedQueueAnnotation) == queue;
  });
}

// As the status says that an earlier leader wrote: of a pod that runs still where it then did.
bool TurnAudit::StatusTellsOf(const std::string& queue, const GangView& gang) const {
  const auto group = facts_.told.groups.find(GangName(gang));
  if (group == facts_.told.groups.end()) return false;
  const PodGroupStatus& status = group->second.status;
  if (queue.empty() || status.admitted_queue != queue) return false;
  return std::ranges::any_of(gang.pods, [&](const GangMemberView& member) {
    const auto pod = facts_.told.pods.find(absl::StrCat(gang.namespace_name, "/", member.pod));
    return pod != facts_.told.pods.end() && status.quorum_reached_at.has_value() &&
           pod->second.meta.created <= *status.quorum_reached_at &&
           std::ranges::find(status.placement_nodes, pod->second.node_name) !=
               status.placement_nodes.end();
  });
}

void TurnAudit::NoteGangs() {
  std::map<std::string, std::string> charged;
  for (const GangView& gang : facts_.view.gangs) {
    const std::string name = GangName(gang);
    const bool foreign = !gang.source.kind.empty();  // its PodGroup comes later
    const bool named = gang.singleton || foreign || facts_.told.groups.contains(name);
    const auto before = facts_.charged_to.find(name);
    const bool known = before != facts_.charged_to.end();
    if (known && (!named || before->second == gang.queue)) {
      charged[name] = before->second;
    } else if (named || WasBoundUnder(gang.queue, gang)) {
      const bool holds = Admits(gang.queue, gang.namespace_name) || StatusTellsOf(gang.queue, gang);
      charged[name] = holds ? gang.queue : "";
    }
  }
  facts_.charged_to = std::move(charged);
}

std::vector<std::string> TurnAudit::AfterTurn(const SchedulingLoop& loop, const TurnOutput& out,
                                              const std::vector<std::string>& lines,
                                              absl::Time now) {
  std::vector<std::string> found;
  const auto must = [&found](absl::string_view name, const absl::Status& status) {
    if (!status.ok()) found.push_back(absl::StrCat(name, ": ", status.message()));
  };
  must("ReservationsMatchState", loop.CheckInvariants());
  if (facts_.told.pods.size() > kMostPods) return found;
  if (!out.more) must("ParkedCannotStart", loop.CheckParkedCannotStart(now));
  const ClusterViewPtr view = loop.View(now);
  if (!view->leader) return found;
  ++turns_;
  facts_.view = *view;
  // What is ready and not decided waits for the end of a drain, or for binds to come back.
  facts_.more = out.more || loop.counters().gangs_ready > 0;
  facts_.writes = out.writes;
  facts_.reversals = loop.counters().preemption_reversals;
  facts_.placed.clear();
  for (const std::string& line : lines) ReadLine(line);
  for (const WriteCommand& write : out.writes) {
    if (!absl::EndsWith(write.request.target, "/binding")) continue;
    const std::vector<std::string> parts = absl::StrSplit(write.request.target, '/');
    const auto pod = facts_.told.pods.find(absl::StrCat(parts.at(4), "/", parts.at(6)));
    if (pod == facts_.told.pods.end()) continue;
    const absl::string_view group = pod->second.meta.labels.Get(kPodGroupLabel);
    bind_of_gang_[write.id] =
        absl::StrCat(parts.at(4), "/", group.empty() ? parts.at(6) : std::string(group));
  }
  NoteGangs();
  for (std::string& violation : invariants::CheckAll(facts_)) found.push_back(std::move(violation));
  return found;
}

}  // namespace maniple
