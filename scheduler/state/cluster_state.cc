#include "scheduler/state/cluster_state.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "scheduler/state/gang_table.h"
#include "scheduler/state/node_table.h"
#include "scheduler/state/shape_table.h"

namespace maniple {
namespace {

// A pod as the table keeps it: what others see, and where it stands.
struct PodRecord {
  PodId id;
  PodFacts facts;
  NodeId anchor;         // where it is bound, else reserved, else nominated, if that node is known
  bool charged = false;  // takes room at its anchor
  bool waits = false;    // is listed under its WantedName until that node appears
  bool nominated =
      false;  // another scheduler is about to put it somewhere; only while it is unbound
  bool started_elsewhere = false;
};

// Looks records up by what is written in them, so that an index holds one pointer a pod.
struct UidOf {
  absl::string_view operator()(const PodRecord* record) const { return record->facts.uid; }
  absl::string_view operator()(absl::string_view uid) const { return uid; }
};
using PodKey = std::pair<absl::string_view, absl::string_view>;  // namespace, name
struct KeyOf {
  PodKey operator()(const PodRecord* record) const {
    return {record->facts.namespace_name, record->facts.name};
  }
  PodKey operator()(const PodKey& key) const { return key; }
};
template <typename Of>
struct HashBy {
  using is_transparent = void;
  template <typename T>
  size_t operator()(const T& t) const {
    return absl::HashOf(Of()(t));
  }
};
template <typename Of>
struct EqualBy {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return Of()(a) == Of()(b);
  }
};
template <typename Of>
using PodIndex = absl::flat_hash_set<PodRecord*, HashBy<Of>, EqualBy<Of>>;

MemberState StateOf(const Pod& pod) {
  if (pod.phase == PodPhase::kSucceeded) return MemberState::kSucceeded;
  if (pod.phase == PodPhase::kFailed) return MemberState::kFailed;
  if (pod.meta.deleted.has_value()) return MemberState::kTerminating;
  if (!pod.node_name.empty()) return MemberState::kBound;
  return pod.scheduling_gates.empty() ? MemberState::kPending : MemberState::kGated;
}

void NoteKeys(const std::vector<SelectorRequirement>& requirements,
              std::vector<std::string>& keys) {
  for (const SelectorRequirement& requirement : requirements) keys.push_back(requirement.key);
}

// The label keys that decide where a pod of the shape may or would rather run.
std::vector<std::string> LabelKeysOf(const PodConstraints& constraints) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : constraints.node_selector.entries()) keys.push_back(key);
  if (constraints.required_node_terms.has_value()) {
    for (const NodeSelectorTerm& term : *constraints.required_node_terms) {
      NoteKeys(term.expressions, keys);
    }
  }
  for (const PreferredNodeTerm& preferred : constraints.preferred_node_terms) {
    NoteKeys(preferred.term.expressions, keys);
  }
  return keys;
}

bool SameOccupancy(const PodConstraints& a, const PodConstraints& b) {
  return a.requests == b.requests && a.host_ports == b.host_ports;
}

}  // namespace

class ClusterState::Impl final {
 public:
  explicit Impl(ClusterStateOptions options)
      : options_(std::move(options)),
        shapes_(draft_),
        nodes_(draft_, shapes_),
        gangs_(options_.default_queue) {}

  void Apply(ObjectUpserted event, Delta& delta) {
    std::visit([&](const auto& object) { Upsert(object, delta); }, event.object);
  }
  void Apply(const ObjectDeleted& event, Delta& delta);
  void Apply(const ObjectInvalid& event, Delta& delta);
  void Apply(const KindSynced& event, Delta&) { synced_[static_cast<size_t>(event.kind)] = true; }

  SnapshotPtr Publish();
  void Reserve(PodId pod, NodeId node);
  void Release(PodId pod, Delta& delta);
  HoldId Hold(NodeId node, ShapeId shape);
  void ReleaseHold(HoldId hold, Delta& delta);

  NodeTable& nodes() { return nodes_; }
  const NodeTable& nodes() const { return nodes_; }
  const GangTable& gangs() const { return gangs_; }
  const ShapeTable& shapes() const { return shapes_; }
  const PodFacts* FindPod(PodId pod) const {
    const auto it = pods_.find(pod);
    return it == pods_.end() ? nullptr : &it->second->facts;
  }
  std::optional<PodId> PodWithUid(absl::string_view uid) const {
    const auto it = by_uid_.find(uid);
    if (it == by_uid_.end()) return std::nullopt;
    return (*it)->id;
  }
  std::vector<Queue> Queues() const;
  bool Synced(ResourceKind kind) const { return synced_[static_cast<size_t>(kind)]; }
  absl::Status CheckInvariants() const;

 private:
  void Upsert(const Pod& pod, Delta& delta);
  void Upsert(const Node& node, Delta& delta);
  void Upsert(const Namespace& object, Delta& delta);
  void Upsert(const PriorityClass& object, Delta& delta);
  void Upsert(const PodGroup& object, Delta& delta) { gangs_.UpsertGroup(object, delta); }
  void Upsert(const Queue& object, Delta& delta);
  void Upsert(const Cohort&, Delta& delta) { delta.queues_changed = true; }
  void Upsert(const ResourceFlavor&, Delta& delta) { delta.queues_changed = true; }
  void Upsert(const Topology& object, Delta& delta);
  void RemoveConfiguration(const ObjectKey& key, Delta& delta);

  [[nodiscard]] PodRecord* PodNamed(absl::string_view namespace_name, absl::string_view name);
  [[nodiscard]] PodRecord& Admit(const Pod& pod, Delta& delta);
  void RemovePod(PodRecord& record, Delta& delta);
  void RemoveNode(NodeId node, Delta& delta);
  void SetFacts(PodRecord& record, const Pod& pod);
  void PutMember(const PodRecord& record, const Pod& pod, Delta& delta);
  [[nodiscard]] bool IsOurs(const Pod& pod) const;
  [[nodiscard]] ShapeId ShapeFor(const PodRecord& record, const Pod& pod);
  void PublishTopologies(Delta& delta);

  // The node that a pod belongs to by name, known or not; "" = none.
  [[nodiscard]] const std::string& WantedName(const PodRecord& record) const;
  [[nodiscard]] NodeId AnchorOf(const PodRecord& record) const;
  // Makes anchor, charge and lists follow the facts; the pod is of `shape` from now on.
  void Settle(PodRecord& record, ShapeId shape, Delta& delta);
  void Attach(PodRecord& record, NodeId anchor);
  void Detach(PodRecord& record);
  void GiveBack(PodRecord& record);
  void NoteMove(const PodRecord& record, Delta& delta);
  [[nodiscard]] absl::Status CheckPods() const;
  [[nodiscard]] absl::Status CheckRoom() const;

  ClusterStateOptions options_;
  DraftTables draft_;
  ShapeTable shapes_;
  NodeTable nodes_;
  GangTable gangs_;

  uint32_t next_pod_ = 0;
  absl::flat_hash_map<PodId, std::unique_ptr<PodRecord>> pods_;
  PodIndex<UidOf> by_uid_;
  PodIndex<KeyOf> by_name_;
  absl::flat_hash_map<PodId, std::string> nominations_;  // node names; of nominated records
  std::vector<std::vector<PodRecord*>> anchored_;        // by node index
  absl::btree_map<std::string, std::vector<PodRecord*>> waiting_;  // by the name of an unknown node

  uint32_t next_hold_ = 0;
  absl::btree_map<HoldId, HeldRoom> holds_;
  bool holds_changed_ = true;

  absl::btree_map<std::string, Queue> queues_;
  absl::btree_map<std::string, Topology> topologies_;
  std::array<bool, kResourceKinds> synced_{};

  SnapshotPtr published_;
  std::shared_ptr<const Tables> tables_;
  std::shared_ptr<const std::vector<HeldRoom>> held_;
};

// ---- pods

PodRecord* ClusterState::Impl::PodNamed(absl::string_view namespace_name, absl::string_view name) {
  const auto it = by_name_.find(PodKey(namespace_name, name));
  return it == by_name_.end() ? nullptr : *it;
}

bool ClusterState::Impl::IsOurs(const Pod& pod) const {
  return std::find(options_.scheduler_names.begin(), options_.scheduler_names.end(),
                   pod.scheduler_name) != options_.scheduler_names.end();
}

ShapeId ClusterState::Impl::ShapeFor(const PodRecord& record, const Pod& pod) {
  const bool ours = IsOurs(pod);
  if (record.facts.shape.valid()) {  // most events do not change it
    const PodConstraints& known = shapes_.Of(record.facts.shape).constraints;
    if (ours ? known == pod.constraints : SameOccupancy(known, pod.constraints)) {
      return record.facts.shape;
    }
  }
  if (!ours) return shapes_.Intern(OccupancyOf(pod.constraints)).id;
  const ShapeTable::Interned interned = shapes_.Intern(pod.constraints);
  if (interned.is_new) nodes_.TrackLabels(LabelKeysOf(pod.constraints));
  return interned.id;
}

PodRecord& ClusterState::Impl::Admit(const Pod& pod, Delta& delta) {
  // A uid is unique; one that turns up under another name is not the pod that we knew.
  if (const auto it = by_uid_.find(pod.meta.uid); it != by_uid_.end()) RemovePod(**it, delta);
  auto made = std::make_unique<PodRecord>();
  PodRecord& record = *made;
  record.id = PodId(next_pod_++);
  record.facts.namespace_name = pod.meta.namespace_name;
  record.facts.name = pod.meta.name;
  record.facts.uid = pod.meta.uid;
  if (!record.facts.uid.empty()) by_uid_.insert(&record);
  by_name_.insert(&record);
  pods_.emplace(record.id, std::move(made));
  return record;
}

void ClusterState::Impl::Upsert(const Pod& pod, Delta& delta) {
  PodRecord* known = PodNamed(pod.meta.namespace_name, pod.meta.name);
  if (known != nullptr && known->facts.uid != pod.meta.uid) {
    RemovePod(*known, delta);  // the same name, another pod
    known = nullptr;
  }
  const bool first_sight = known == nullptr;
  PodRecord& record = first_sight ? Admit(pod, delta) : *known;
  if (!first_sight && record.facts.node_name.empty() && !pod.node_name.empty()) {
    record.started_elsewhere = nodes_.NameOf(record.facts.reserved) != pod.node_name;
  }
  SetFacts(record, pod);
  Settle(record, ShapeFor(record, pod), delta);

  const GangId gang = IsOurs(pod) ? gangs_.GangOf(pod, record.facts.gang) : GangId();
  if (record.facts.gang.valid() && record.facts.gang != gang) {
    gangs_.RemoveMember(record.facts.gang, record.id, delta);
  }
  record.facts.gang = gang;
  if (gang.valid()) PutMember(record, pod, delta);
}

// Everything but shape, anchor and gang.
void ClusterState::Impl::SetFacts(PodRecord& record, const Pod& pod) {
  PodFacts& facts = record.facts;
  facts.resource_version = pod.meta.resource_version;
  facts.terminal = pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
  facts.terminating = pod.meta.deleted.has_value();
  if (!pod.node_name.empty()) facts.reserved = NodeId();
  const bool nominated = pod.node_name.empty() && !facts.terminating && !IsOurs(pod);
  const std::string& wanted = nominated ? pod.nominated_node_name : pod.node_name;
  if (WantedName(record) == wanted && facts.node_name == pod.node_name) return;
  if (record.waits) Detach(record);  // it is listed under the old name
  facts.node_name = pod.node_name;
  if (record.nominated) nominations_.erase(record.id);
  record.nominated = nominated && !wanted.empty();
  if (record.nominated) nominations_[record.id] = wanted;
}

void ClusterState::Impl::PutMember(const PodRecord& record, const Pod& pod, Delta& delta) {
  Member member;
  member.pod = record.id;
  member.name = pod.meta.name;
  member.uid = pod.meta.uid;
  member.shape = record.facts.shape;
  member.state = StateOf(pod);
  member.running = pod.phase == PodPhase::kRunning;
  member.started_elsewhere = record.started_elsewhere;
  member.node = record.facts.node;
  member.priority = pod.priority;
  member.created = pod.meta.created;
  if (pod.phase == PodPhase::kFailed) member.status_reason = pod.status_reason;
  if (pod.scheduled_condition.has_value() && pod.scheduled_condition->status == "False") {
    member.waiting_reason = pod.scheduled_condition->reason;
  }
  const GangTable::MemberChange change =
      gangs_.PutMember(record.facts.gang, std::move(member), pod, delta);
  if (change == GangTable::MemberChange::kStanding) delta.pods_changed.insert(record.id);
}

void ClusterState::Impl::RemovePod(PodRecord& record, Delta& delta) {
  const PodId id = record.id;
  if (record.charged) {
    delta.room_grew.insert(record.anchor);
    GiveBack(record);
  }
  Detach(record);
  if (record.facts.gang.valid()) {
    gangs_.RemoveMember(record.facts.gang, id, delta);
    delta.pods_changed.erase(id);
    delta.pods_gone.insert(id);
  }
  if (record.nominated) nominations_.erase(id);
  if (!record.facts.uid.empty()) by_uid_.erase(&record);
  by_name_.erase(&record);
  pods_.erase(id);
}

// ---- where pods stand

const std::string& ClusterState::Impl::WantedName(const PodRecord& record) const {
  return record.nominated ? nominations_.at(record.id) : record.facts.node_name;
}

NodeId ClusterState::Impl::AnchorOf(const PodRecord& record) const {
  if (record.facts.node_name.empty() && record.facts.reserved.valid()) return record.facts.reserved;
  const std::string& wanted = WantedName(record);
  return wanted.empty() ? NodeId() : nodes_.Find(wanted).value_or(NodeId());
}

void ClusterState::Impl::GiveBack(PodRecord& record) {
  nodes_.Charge(record.anchor, shapes_.Of(record.facts.shape), NodeBlock::Change::kGive);
  record.charged = false;
}

void ClusterState::Impl::Attach(PodRecord& record, NodeId anchor) {
  record.anchor = anchor;
  if (anchor.valid()) {
    anchored_[anchor.index()].push_back(&record);
  } else if (!WantedName(record).empty()) {
    waiting_[WantedName(record)].push_back(&record);
    record.waits = true;
  }
}

void ClusterState::Impl::Detach(PodRecord& record) {
  const auto drop = [&record](std::vector<PodRecord*>& list) {
    const auto at = std::find(list.begin(), list.end(), &record);
    CHECK(at != list.end()) << "pod " << record.facts.name << " is not listed at its anchor";
    *at = list.back();
    list.pop_back();
  };
  if (record.anchor.valid()) drop(anchored_[record.anchor.index()]);
  if (record.waits) {
    const auto it = waiting_.find(WantedName(record));
    drop(it->second);
    if (it->second.empty()) waiting_.erase(it);
  }
  record.anchor = NodeId();
  record.waits = false;
}

void ClusterState::Impl::Settle(PodRecord& record, ShapeId shape, Delta& delta) {
  PodFacts& facts = record.facts;
  const NodeId anchor = AnchorOf(record);
  const bool charge = anchor.valid() && !facts.terminal;
  if (record.charged && (!charge || anchor != record.anchor || shape != facts.shape)) {
    delta.room_grew.insert(record.anchor);
    GiveBack(record);
  }
  const bool listed_right =
      anchor == record.anchor && record.waits == (!anchor.valid() && !WantedName(record).empty());
  if (!listed_right) {
    Detach(record);
    Attach(record, anchor);
  }
  facts.shape = shape;
  facts.node = facts.node_name.empty() ? NodeId() : anchor;
  if (charge && !record.charged) {
    nodes_.Charge(anchor, shapes_.Of(shape), NodeBlock::Change::kTake);
    record.charged = true;
  }
}

// The node under the pod appeared or went.
void ClusterState::Impl::NoteMove(const PodRecord& record, Delta& delta) {
  if (!record.facts.gang.valid()) return;
  gangs_.MoveMember(record.facts.gang, record.id, record.facts.node, delta);
  delta.pods_changed.insert(record.id);
}

// ---- nodes

void ClusterState::Impl::Upsert(const Node& node, Delta& delta) {
  const NodeTable::Change change = nodes_.Upsert(node);
  if (change.facts_changed) delta.nodes_changed.insert(change.node);
  if (change.room_grew) delta.room_grew.insert(change.node);
  if (!change.appeared) return;
  if (anchored_.size() <= change.node.index()) anchored_.resize(change.node.index() + 1);
  const auto it = waiting_.find(node.meta.name);
  if (it == waiting_.end()) return;
  const std::vector<PodRecord*> came = it->second;
  for (PodRecord* record : came) {
    Settle(*record, record->facts.shape, delta);
    NoteMove(*record, delta);
  }
}

void ClusterState::Impl::RemoveNode(NodeId node, Delta& delta) {
  const std::vector<PodRecord*> left = anchored_[node.index()];
  for (PodRecord* record : left) {
    if (record->charged) GiveBack(*record);
    if (record->facts.reserved == node) record->facts.reserved = NodeId();
  }
  for (auto it = holds_.begin(); it != holds_.end();) {
    if (it->second.node == node) {
      nodes_.Charge(node, shapes_.Of(it->second.shape), NodeBlock::Change::kGive);
      holds_changed_ = true;
      it = holds_.erase(it);
    } else {
      ++it;
    }
  }
  nodes_.Remove(node);
  for (PodRecord* record : left) {
    Settle(*record, record->facts.shape, delta);
    NoteMove(*record, delta);
  }
  delta.nodes_changed.erase(node);
  delta.room_grew.erase(node);
  delta.nodes_gone.push_back(node);
}

// ---- what configures us

void ClusterState::Impl::Upsert(const Namespace& object, Delta& delta) {
  gangs_.SetNamespaceQueue(object.meta.name, object.meta.labels.Get(kDefaultQueueLabel), delta);
  delta.queues_changed = true;
}

void ClusterState::Impl::Upsert(const PriorityClass& object, Delta& delta) {
  gangs_.SetClassValue(object.meta.name, object.value, delta);
  delta.queues_changed = true;
}

void ClusterState::Impl::Upsert(const Queue& object, Delta& delta) {
  queues_[object.meta.name] = object;
  delta.queues_changed = true;
}

void ClusterState::Impl::Upsert(const Topology& object, Delta& delta) {
  topologies_[object.meta.name] = object;
  PublishTopologies(delta);
}

void ClusterState::Impl::PublishTopologies(Delta& delta) {
  draft_.tables.topologies.clear();
  std::vector<std::string> keys;
  for (const auto& [name, topology] : topologies_) {
    draft_.tables.topologies.push_back(topology);
    for (const TopologyLevel& level : topology.levels) keys.push_back(level.node_label);
  }
  draft_.changed = true;
  nodes_.TrackColumns(keys);
  delta.queues_changed = true;
}

void ClusterState::Impl::RemoveConfiguration(const ObjectKey& key, Delta& delta) {
  switch (key.kind) {
    case ResourceKind::kNamespace:
      gangs_.SetNamespaceQueue(key.name, "", delta);
      break;
    case ResourceKind::kPriorityClass:
      gangs_.SetClassValue(key.name, std::nullopt, delta);
      break;
    case ResourceKind::kQueue:
      queues_.erase(key.name);
      break;
    case ResourceKind::kTopology:
      topologies_.erase(key.name);
      PublishTopologies(delta);
      break;
    case ResourceKind::kCohort:
    case ResourceKind::kResourceFlavor:
    case ResourceKind::kNode:
    case ResourceKind::kPod:
    case ResourceKind::kPodGroup:
      break;
  }
  delta.queues_changed = true;
}

void ClusterState::Impl::Apply(const ObjectDeleted& event, Delta& delta) {
  const ObjectKey& key = event.key;
  // A late word about an object whose name another has taken since.
  const auto is_older = [&event](absl::string_view uid) {
    return !event.uid.empty() && !uid.empty() && event.uid != uid;
  };
  switch (key.kind) {
    case ResourceKind::kPod: {
      PodRecord* record = PodNamed(key.namespace_name, key.name);
      if (record != nullptr && !is_older(record->facts.uid)) RemovePod(*record, delta);
      return;
    }
    case ResourceKind::kNode: {
      const std::optional<NodeId> node = nodes_.Find(key.name);
      if (node.has_value() && !is_older(nodes_.UidOf(*node))) RemoveNode(*node, delta);
      return;
    }
    case ResourceKind::kPodGroup:
      gangs_.RemoveGroup({.namespace_name = key.namespace_name, .name = key.name}, event.uid,
                         delta);
      return;
    case ResourceKind::kNamespace:
    case ResourceKind::kPriorityClass:
    case ResourceKind::kQueue:
    case ResourceKind::kCohort:
    case ResourceKind::kResourceFlavor:
    case ResourceKind::kTopology:
      RemoveConfiguration(key, delta);
      return;
  }
}

void ClusterState::Impl::Apply(const ObjectInvalid& event, Delta& delta) {
  const ObjectKey& key = event.key;
  switch (key.kind) {
    case ResourceKind::kPod:
      if (PodRecord* record = PodNamed(key.namespace_name, key.name)) RemovePod(*record, delta);
      return;
    case ResourceKind::kNode:
      if (const std::optional<NodeId> node = nodes_.Find(key.name)) {
        delta.nodes_changed.insert(nodes_.Disable(*node).node);
      }
      return;
    case ResourceKind::kPodGroup:
      gangs_.RefuseGroup({.namespace_name = key.namespace_name, .name = key.name}, event.uid,
                         event.problem, delta);
      return;
    case ResourceKind::kNamespace:
    case ResourceKind::kPriorityClass:
    case ResourceKind::kQueue:
    case ResourceKind::kCohort:
    case ResourceKind::kResourceFlavor:
    case ResourceKind::kTopology:
      RemoveConfiguration(key, delta);
      return;
  }
}

std::vector<Queue> ClusterState::Impl::Queues() const {
  std::vector<Queue> queues;
  for (const auto& [name, queue] : queues_) queues.push_back(queue);
  return queues;
}

// ---- room kept by us

void ClusterState::Impl::Reserve(PodId pod, NodeId node) {
  PodRecord& record = *pods_.at(pod);
  CHECK(nodes_.Has(node)) << "reserving " << record.facts.name << " on a node that is gone";
  CHECK(record.facts.node_name.empty()) << "reserving " << record.facts.name << ", which is bound";
  record.facts.reserved = node;
  Delta nobody_waits_for_less_room;
  Settle(record, record.facts.shape, nobody_waits_for_less_room);
}

void ClusterState::Impl::Release(PodId pod, Delta& delta) {
  const auto it = pods_.find(pod);
  if (it == pods_.end()) return;
  it->second->facts.reserved = NodeId();
  Settle(*it->second, it->second->facts.shape, delta);
}

HoldId ClusterState::Impl::Hold(NodeId node, ShapeId shape) {
  CHECK(nodes_.Has(node)) << "holding room on a node that is gone";
  const HoldId hold(next_hold_++);
  holds_.emplace(hold, HeldRoom{.hold = hold, .node = node, .shape = shape});
  holds_changed_ = true;
  nodes_.Charge(node, shapes_.Of(shape), NodeBlock::Change::kTake);
  return hold;
}

void ClusterState::Impl::ReleaseHold(HoldId hold, Delta& delta) {
  const auto it = holds_.find(hold);
  if (it == holds_.end()) return;
  nodes_.Charge(it->second.node, shapes_.Of(it->second.shape), NodeBlock::Change::kGive);
  delta.room_grew.insert(it->second.node);
  holds_changed_ = true;
  holds_.erase(it);
}

SnapshotPtr ClusterState::Impl::Publish() {
  if (published_ != nullptr && !nodes_.changed() && !draft_.changed && !holds_changed_) {
    return published_;
  }
  if (draft_.changed) {
    tables_ = std::make_shared<const Tables>(draft_.tables);
    draft_.changed = false;
  }
  if (holds_changed_) {
    std::vector<HeldRoom> held;
    for (const auto& [hold, room] : holds_) held.push_back(room);
    held_ = std::make_shared<const std::vector<HeldRoom>>(std::move(held));
    holds_changed_ = false;
  }
  Snapshot next;
  next.version = published_ == nullptr ? 1 : published_->version + 1;
  next.tables = tables_;
  next.holds = held_;
  nodes_.PublishInto(next);
  published_ = std::make_shared<const Snapshot>(std::move(next));
  return published_;
}

// ---- invariants

absl::Status ClusterState::Impl::CheckPods() const {
  size_t listed = 0;
  for (uint32_t i = 0; i < anchored_.size(); ++i) {
    for (const PodRecord* record : anchored_[i]) {
      ++listed;
      if (record->anchor != NodeId(i)) {
        return absl::InternalError(absl::StrCat("pod ", record->facts.name, " is listed at node ",
                                                nodes_.NameOf(NodeId(i)), ", not at its anchor"));
      }
    }
  }
  size_t anchored = 0;
  for (const auto& [id, record] : pods_) {
    const auto wrong = [&record = record](absl::string_view what) {
      return absl::InternalError(absl::StrCat("pod ", record->facts.name, ": ", what));
    };
    if (record->anchor.valid()) ++anchored;
    if (record->anchor != AnchorOf(*record)) return wrong("is not where it is bound or reserved");
    if (record->charged != (record->anchor.valid() && !record->facts.terminal)) {
      return wrong(record->charged ? "ended, but is charged"
                                   : "stands on a node, but is not charged");
    }
  }
  if (listed != anchored) return absl::InternalError("a pod is listed at no node, or at two");
  return absl::OkStatus();
}

absl::Status ClusterState::Impl::CheckRoom() const {
  absl::btree_map<std::pair<NodeId, ResourceId>, int64_t> used;
  const auto charge = [&](NodeId node, ShapeId shape) {
    for (const auto& [resource, amount] : shapes_.Of(shape).requests) {
      used[{node, resource}] += amount;
    }
  };
  for (const auto& [id, record] : pods_) {
    if (record->charged) charge(record->anchor, record->facts.shape);
  }
  for (const auto& [id, room] : holds_) charge(room.node, room.shape);
  for (uint32_t i = 0; i < anchored_.size(); ++i) {
    for (uint32_t r = 0; r < draft_.tables.resources.size(); ++r) {
      const auto it = used.find({NodeId(i), ResourceId(r)});
      const int64_t taken = it == used.end() ? 0 : it->second;
      const int64_t allocatable = nodes_.Allocatable(NodeId(i), ResourceId(r));
      if (nodes_.Free(NodeId(i), ResourceId(r)) == allocatable - taken) continue;
      return absl::InternalError(
          absl::StrCat("node ", nodes_.NameOf(NodeId(i)), ": ", draft_.tables.resources[r].name,
                       " free ", nodes_.Free(NodeId(i), ResourceId(r)), ", but allocatable ",
                       allocatable, ", taken ", taken));
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterState::Impl::CheckInvariants() const {
  for (const absl::Status& status :
       {CheckPods(), CheckRoom(), nodes_.CheckInvariants(), gangs_.CheckInvariants()}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ---- the face

ClusterState::ClusterState(ClusterStateOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ClusterState::~ClusterState() = default;

void ClusterState::Apply(ObjectEvent event, absl::Time, Delta& delta) {
  std::visit([&](auto&& what) { impl_->Apply(std::move(what), delta); }, std::move(event));
}
SnapshotPtr ClusterState::Publish() { return impl_->Publish(); }
void ClusterState::Reserve(PodId pod, NodeId node) { impl_->Reserve(pod, node); }
void ClusterState::Release(PodId pod, Delta& delta) { impl_->Release(pod, delta); }
HoldId ClusterState::Hold(NodeId node, ShapeId shape) { return impl_->Hold(node, shape); }
void ClusterState::ReleaseHold(HoldId hold, Delta& delta) { impl_->ReleaseHold(hold, delta); }
void ClusterState::CoolDown(NodeId node, absl::Time until) {
  if (impl_->nodes().Has(node)) impl_->nodes().SetCoolDown(node, until);
}

const Gang* ClusterState::FindGang(GangId gang) const { return impl_->gangs().Find(gang); }
std::optional<GangId> ClusterState::GangNamed(const GangKey& key) const {
  return impl_->gangs().Named(key);
}
std::vector<GangId> ClusterState::Gangs() const { return impl_->gangs().All(); }
const PodFacts* ClusterState::FindPod(PodId pod) const { return impl_->FindPod(pod); }
std::optional<PodId> ClusterState::PodWithUid(absl::string_view uid) const {
  return impl_->PodWithUid(uid);
}
absl::string_view ClusterState::NodeName(NodeId node) const { return impl_->nodes().NameOf(node); }
std::optional<NodeId> ClusterState::NodeNamed(absl::string_view name) const {
  return impl_->nodes().Find(name);
}
std::vector<Queue> ClusterState::Queues() const { return impl_->Queues(); }
bool ClusterState::Synced(ResourceKind kind) const { return impl_->Synced(kind); }
bool ClusterState::MayFit(ShapeId shape, NodeId node) const {
  return impl_->nodes().MayFit(node, impl_->shapes().Of(shape));
}
absl::Status ClusterState::CheckInvariants() const { return impl_->CheckInvariants(); }

}  // namespace maniple
