// Places of pods: bound, reserved or nominated.
#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "scheduler/state/pod_table.h"

namespace maniple {

const std::string& PodTable::WantedName(const Record& record) const {
  return record.nominated ? nominations_.at(record.id).node_name : record.facts.node_name;
}

NodeId PodTable::AnchorOf(const Record& record) const {
  if (record.facts.node_name.empty() && record.facts.reserved.valid()) return record.facts.reserved;
  const std::string& wanted = WantedName(record);
  if (wanted.empty()) return NodeId();
  // Most events leave the pod where it is, and a name is read faster than it is looked up.
  if (record.anchor.valid() && nodes_.NameOf(record.anchor) == wanted) return record.anchor;
  return nodes_.Find(wanted).value_or(NodeId());
}

void PodTable::ForEachOn(NodeId node, absl::FunctionRef<void(const PodFacts&)> visit) const {
  if (node.index() >= anchored_.size()) return;
  for (const Record* record : anchored_[node.index()]) visit(record->facts);
}

bool PodTable::TakesRoomOn(PodId pod, NodeId node) const {
  const auto record = pods_.find(pod);
  return record != pods_.end() && record->second->charged && record->second->anchor == node;
}

// The volumes of the pod there count as its own, or no longer do.
void PodTable::NoteAttached(const Record& record) {
  if (!volumes_.Uses(record.id)) return;  // its shape may tell of older needs
  volumes_.NoteUsersChanged(nodes_.NameOf(record.anchor));
}

void PodTable::GiveBack(Record& record) {
  const auto give = record.as_nominee ? NodeBlock::Change::kGivePromised : NodeBlock::Change::kGive;
  nodes_.Charge(record.anchor, shapes_.Of(record.facts.shape), give);
  mix_.NoteCharge(record.facts.shape, -1);
  record.charged = false;
  NoteAttached(record);
}

// A claim that one pod at a time may use is free again for pods on other nodes.
void PodTable::NoteVolumesFreed(const Record& record, Delta& delta) const {
  if (!shapes_.Of(record.facts.shape).volume_uses.empty()) delta.volumes_changed = true;
}

void PodTable::Attach(Record& record, NodeId anchor) {
  record.anchor = anchor;
  if (anchor.valid()) {
    anchored_[anchor.index()].push_back(&record);
  } else if (!WantedName(record).empty()) {
    waiting_[WantedName(record)].push_back(&record);
    record.waits = true;
  }
}

void PodTable::Detach(Record& record) {
  const auto drop = [&record](std::vector<Record*>& list) {
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

void PodTable::Settle(Record& record, ShapeId shape, Delta& delta) {
  PodFacts& facts = record.facts;
  const NodeId anchor = AnchorOf(record);
  const bool charge = anchor.valid() && !facts.terminal;
  const bool nominee = record.IsNominee();
  const bool leaves = !charge || anchor != record.anchor || shape != facts.shape;
  if (record.charged && leaves) {
    delta.room_grew.insert(record.anchor);
    NoteVolumesFreed(record, delta);
  }
  if (record.charged && (leaves || nominee != record.as_nominee)) GiveBack(record);
  const bool listed_right =
      anchor == record.anchor && record.waits == (!anchor.valid() && !WantedName(record).empty());
  if (!listed_right) {
    Detach(record);
    Attach(record, anchor);
  }
  facts.shape = shape;
  facts.node = facts.node_name.empty() ? NodeId() : anchor;
  facts.is_awaited = record.awaited;
  facts.awaited = record.awaited ? anchor : NodeId();
  if (charge && !record.charged) {
    record.as_nominee = nominee;
    nodes_.Charge(anchor, shapes_.Of(shape),
                  nominee ? NodeBlock::Change::kTakePromised : NodeBlock::Change::kTake);
    mix_.NoteCharge(shape, 1);
    record.charged = true;
    NoteAttached(record);
  }
}

// The node under the pod appeared or went.
void PodTable::NoteMove(const Record& record, Delta& delta) {
  if (!record.facts.gang.valid()) return;
  gangs_.MoveMember(record.facts.gang, record.id, record.facts.node, delta);
}

// ---- volumes come and go

namespace {

// The known needs, and the claims for one pod at a time that `now` shows to be shared.
SharedVolumeNeeds WithExclusiveUses(const SharedVolumeNeeds& known, const SharedVolumeNeeds& now) {
  if (now.get() == nullptr) return known;
  VolumeNeeds both = known.get() == nullptr ? VolumeNeeds() : *known.get();
  for (const VolumeUse& use : now.get()->uses) {
    if (use.kind == VolumeUseKind::kExclusive &&
        std::ranges::find(both.uses, use) == both.uses.end()) {
      both.uses.push_back(use);
    }
  }
  std::sort(both.uses.begin(), both.uses.end());
  return SharedVolumeNeeds(std::move(both));
}

}  // namespace

void PodTable::FollowVolumes(Delta& delta) {
  while (volumes_.any_stale()) {  // when one pod stops sharing a volume, it becomes another's own
    for (const PodId pod : volumes_.TakeStale()) FollowVolumes(*pods_.at(pod), delta);
  }
  volumes_.TakeUsersOfRewritten([&](PodId pod) { TellBindingOf(*pods_.at(pod), delta); });
}

// A claim of the pod was written, which the binding of its volumes must know.
void PodTable::TellBindingOf(const Record& record, Delta& delta) const {
  if (!record.facts.reserved.valid() || !record.facts.gang.valid()) return;
  delta.gangs_changed.insert(record.facts.gang);
}

void PodTable::FollowVolumes(Record& record, Delta& delta) {
  SharedVolumeNeeds needs(volumes_.NeedsOf(record.id));
  const PodConstraints& known = shapes_.Of(record.facts.shape).constraints;
  TellBindingOf(record, delta);
  if (record.facts.reserved.valid()) {
    // Its node is settled, but the volumes that it keeps from newcomers may have changed.
    needs = WithExclusiveUses(known.volumes, needs);
  }
  const bool ours = record.facts.gang.valid();
  if (known.volumes == (ours ? needs : OccupancyOf(needs))) return;
  const auto beyond = beyond_.find(record.id);
  PodConstraints constraints = beyond == beyond_.end() ? known : beyond->second.constraints;
  constraints.volumes = std::move(needs);
  Settle(record, ShapeOf(record, constraints, ours ? Whose::kOurs : Whose::kOthers, delta), delta);
  if (ours) gangs_.SetShape(record.facts.gang, record.id, record.facts.shape, delta);
}

// ---- nodes come and go

void PodTable::NodeAppeared(NodeId node, Delta& delta) {
  if (anchored_.size() <= node.index()) anchored_.resize(node.index() + 1);
  const auto it = waiting_.find(nodes_.NameOf(node));
  if (it == waiting_.end()) return;
  const std::vector<Record*> came = it->second;
  for (Record* record : came) {
    Settle(*record, record->facts.shape, delta);
    NoteMove(*record, delta);
  }
}

std::vector<PodId> PodTable::LeaveNode(NodeId node) {
  std::vector<PodId> left;
  for (Record* record : anchored_[node.index()]) {
    left.push_back(record->id);
    if (record->charged) GiveBack(*record);
    if (record->facts.reserved != node) continue;
    // The bind names the node, not its uid: if a node of that name comes back, the pod is there.
    record->facts.reserved = NodeId();
    if (!record->facts.gang.valid()) continue;
    AwaitAt(*record, nodes_.NameOf(node));
  }
  return left;
}

void PodTable::SettleAfterNode(const std::vector<PodId>& left, Delta& delta) {
  for (const PodId pod : left) {
    Record& record = *pods_.at(pod);
    Settle(record, record.facts.shape, delta);
    NoteMove(record, delta);
  }
}

// ---- room that other schedulers have promised

std::vector<PromisedRoom> PodTable::PromisedBelow(int32_t priority) const {
  std::vector<PromisedRoom> rooms;
  for (const auto& [pod, nomination] : nominations_) {
    if (nomination.priority >= priority) continue;
    const Record& record = *pods_.at(pod);
    if (record.charged) rooms.push_back({.node = record.anchor, .shape = record.facts.shape});
  }
  std::sort(rooms.begin(), rooms.end());
  return rooms;
}

bool PodTable::AnyNominatedTo(NodeId node) const {
  return std::any_of(nominations_.begin(), nominations_.end(),
                     [&](const auto& entry) { return pods_.at(entry.first)->anchor == node; });
}

// ---- reservations

void PodTable::ForgetAwaited(Record& record) {
  if (!std::exchange(record.awaited, false)) return;
  if (record.waits) Detach(record);  // it is listed under the name
  record.nominated = false;
  nominations_.erase(record.id);
}

void PodTable::AwaitAt(Record& record, absl::string_view node_name) {
  record.awaited = true;
  record.nominated = true;
  nominations_[record.id] = {.node_name = std::string(node_name)};
}

void PodTable::NoteBound(PodId pod, absl::string_view node_name, Delta& delta) {
  const auto it = pods_.find(pod);
  if (it == pods_.end() || !it->second->facts.node_name.empty()) return;
  Record& record = *it->second;
  if (record.facts.reserved.valid() && nodes_.NameOf(record.facts.reserved) == node_name) return;
  ForgetAwaited(record);
  record.facts.reserved = NodeId();
  AwaitAt(record, node_name);
  Settle(record, record.facts.shape, delta);
}

void PodTable::Reserve(PodId pod, NodeId node) {
  Record& record = *pods_.at(pod);
  CHECK(nodes_.Has(node)) << "reserving " << record.facts.name << " on a node that is gone";
  CHECK(record.facts.node_name.empty()) << "reserving " << record.facts.name << ", which is bound";
  ForgetAwaited(record);
  record.facts.reserved = node;
  Delta nobody_waits_for_less_room;
  Settle(record, record.facts.shape, nobody_waits_for_less_room);
}

void PodTable::Release(PodId pod, Delta& delta) {
  const auto it = pods_.find(pod);
  if (it == pods_.end()) return;
  ForgetAwaited(*it->second);
  it->second->facts.reserved = NodeId();
  Settle(*it->second, it->second->facts.shape, delta);
  if (moved_.contains(pod) || misfiled_.contains(pod)) to_file_.push_back(pod);
  if (!volumes_.Uses(pod)) return;
  volumes_.Unassume(pod);
  delta.volumes_changed = true;
  FollowVolumes(*it->second, delta);
}

}  // namespace maniple
