#include "scheduler/state/pod_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/base/sort_unique.h"
#include "scheduler/state/node_label_keys.h"
#include "scheduler/state/pod_caps.h"
#include "scheduler/state/shape_terms.h"

namespace maniple {
namespace {

MemberState StateOf(const Pod& pod) {
  if (pod.phase == PodPhase::kSucceeded) return MemberState::kSucceeded;
  if (pod.phase == PodPhase::kFailed) return MemberState::kFailed;
  if (pod.meta.deleted.has_value()) return MemberState::kTerminating;
  if (!pod.node_name.empty()) return MemberState::kBound;
  return pod.scheduling_gates.empty() ? MemberState::kPending : MemberState::kGated;
}

bool SameOccupancy(const PodConstraints& a, const PodConstraints& b) {
  return a.requests == b.requests && a.host_ports == b.host_ports && a.pod_terms == b.pod_terms &&
         OccupancyOf(a.volumes) == OccupancyOf(b.volumes);
}

}  // namespace

PodTable::PodTable(std::vector<std::string> scheduler_names, Rooms rooms)
    : scheduler_names_(std::move(scheduler_names)),
      shapes_(rooms.shapes),
      nodes_(rooms.nodes),
      gangs_(rooms.gangs),
      budgets_(rooms.budgets),
      mix_(rooms.mix),
      volumes_(rooms.volumes),
      labels_(rooms.labels),
      queries_(rooms.queries),
      producers_(rooms.producers),
      counters_(rooms.counters) {}

PodTable::Record* PodTable::Named(absl::string_view namespace_name, absl::string_view name) {
  const auto it = by_name_.find(PodKey(namespace_name, name));
  return it == by_name_.end() ? nullptr : *it;
}

bool PodTable::IsOurs(const Pod& pod) const {
  return std::find(scheduler_names_.begin(), scheduler_names_.end(), pod.scheduler_name) !=
         scheduler_names_.end();
}

PodQueries::PodIdentity PodTable::IdentityOf(const Record& record) {
  return {.pod = record.id,
          .namespace_name = record.facts.namespace_name,
          .terminating = record.facts.terminating};
}

ShapeTable::SharedTerms PodTable::LearnTerms(const Record& asking,
                                             const PodConstraints& constraints, Delta& delta) {
  if (!AsksOfPods(constraints)) return nullptr;
  if (ShapeTable::SharedTerms known = shapes_.TermsOf(constraints)) return known;
  nodes_.TrackColumns(TopologyKeysOf(constraints));
  auto own = std::make_shared<const OwnTerms>(OwnTermsOf(constraints, queries_));
  const AskedAnew anew = queries_.TakeFresh();
  if (anew.queries.empty()) return own;
  std::vector<PodId> pods = PodsAt(anew.places);
  std::erase(pods, asking.id);  // it is in the middle of a change, and answers after that
  MatchAnew(pods, anew, delta);
  return own;
}

void PodTable::AddPodsAt(const QueryPlaces& places, std::vector<PodId>& pods) const {
  size_t in_namespaces = pods_.size();
  if (!places.namespaces.empty()) {
    in_namespaces = 0;
    for (const std::string& name : places.namespaces) {
      const auto at = of_namespace_.find(name);
      if (at != of_namespace_.end()) in_namespaces += at->second.size();
    }
  }
  size_t with_label = pods_.size();
  if (!places.key.empty()) {
    with_label = places.values.empty() ? labels_.CountOfKey(places.key) : 0;
    for (const std::string& value : places.values) {
      with_label += labels_.CountOf({places.key, value});
    }
  }
  const auto add = [&pods](const auto& more) { pods.insert(pods.end(), more.begin(), more.end()); };
  if (!places.key.empty() && with_label <= in_namespaces) {
    if (places.values.empty()) add(labels_.PodsWithKey(places.key));
    for (const std::string& value : places.values) add(labels_.PodsWith({places.key, value}));
  } else if (!places.namespaces.empty()) {
    for (const std::string& name : places.namespaces) {
      const auto at = of_namespace_.find(name);
      if (at != of_namespace_.end()) add(at->second);
    }
  } else {
    for (const auto& [id, record] : pods_) pods.push_back(id);
  }
}

std::vector<PodId> PodTable::PodsAt(const std::vector<QueryPlaces>& places) const {
  std::vector<PodId> pods;
  for (const QueryPlaces& at : places) {
    AddPodsAt(at, pods);
    if (pods.size() < 2 * pods_.size()) continue;
    SortUnique(pods);  // many places have the same pods
  }
  SortUnique(pods);
  return pods;
}

void PodTable::NamespaceChanged(absl::string_view namespace_name, const AskedAnew& anew,
                                Delta& delta) {
  const auto at = of_namespace_.find(namespace_name);
  if (anew.queries.empty() || at == of_namespace_.end()) return;
  std::vector<PodId> pods(at->second.begin(), at->second.end());
  std::sort(pods.begin(), pods.end());
  MatchAnew(pods, anew, delta);
}

void PodTable::MatchAnew(const std::vector<PodId>& pods, const AskedAnew& anew, Delta& delta) {
  for (const PodId pod : pods) {
    Record& record = *pods_.at(pod);
    ++counters_.pods_matched_anew;
    const std::vector<PodCountId>& before = shapes_.Of(record.facts.shape).matches;
    std::vector<PodCountId> matches = queries_.MatchesAnew(IdentityOf(record), before, anew);
    if (matches == before) continue;
    Delta no_room_came;
    Settle(record, shapes_.WithMatches(record.facts.shape, std::move(matches)), no_room_came);
    if (record.facts.gang.valid()) {
      gangs_.SetShape(record.facts.gang, record.id, record.facts.shape, delta);
    }
  }
}

void PodTable::NoteLeftOut(const PodVolumes& volumes, bool ours, PodConstraints& constraints) {
  CappedVolumes capped = CappedVolumesOf(volumes);
  if (!ours) {
    counters_.pod_parts_left_out += capped.left_out;
    return;
  }
  constraints.unsupported.push_back(std::move(capped.unsupported));
  std::ranges::sort(constraints.unsupported);
}

// While a pod is reserved, its volumes are being bound for the chosen node.
// Their needs of that time stand until the pod is bound or given up.
ShapeId PodTable::ShapeFor(const Record& record, const Pod& pod, Identity identity, Delta& delta) {
  const bool ours = IsOurs(pod);
  const ShapeId shape = record.facts.shape;
  const PodConstraints* known = shape.valid() ? &shapes_.Of(shape).constraints : nullptr;
  PodConstraints with_volumes;
  const PodConstraints* wanted = &pod.constraints;
  if (volumes_.Uses(record.id)) {
    with_volumes = pod.constraints;
    SharedVolumeNeeds needs(volumes_.NeedsOf(record.id));
    const bool kept = known != nullptr && record.facts.reserved.valid();
    with_volumes.volumes = kept ? known->volumes : std::move(needs);
    if (!IsWithinCaps(pod.volumes)) NoteLeftOut(pod.volumes, ours, with_volumes);
    wanted = &with_volumes;
  }
  // Most events do not change it.
  if (known != nullptr && identity == Identity::kSame &&
      (ours ? *known == *wanted : SameOccupancy(*known, *wanted))) {
    return shape;
  }
  return ShapeOf(record, *wanted, ours ? Whose::kOurs : Whose::kOthers, delta);
}

ShapeId PodTable::ShapeOf(const Record& record, const PodConstraints& constraints, Whose whose,
                          Delta& delta) {
  beyond_.erase(record.id);
  if (whose == Whose::kOthers) {
    PodConstraints occupancy = OccupancyOf(constraints);
    if (!IsWithinCaps(occupancy)) {
      CappedPod capped = CappedPodOf(occupancy);
      counters_.pod_parts_left_out += capped.left_out;
      occupancy = OccupancyOf(capped.constraints);
    }
    if (!MayAsk(record, occupancy)) {
      CappedPod capped = WithoutPodTerms(occupancy);
      counters_.pod_parts_left_out += capped.left_out;
      beyond_.insert_or_assign(record.id, Beyond{std::exchange(occupancy, {}), whose});
      occupancy = OccupancyOf(capped.constraints);
    }
    return Interned(record, occupancy, delta).id;
  }
  if (!IsWithinCaps(constraints)) {
    return ShapeOf(record, CappedPodOf(constraints).constraints, whose, delta);
  }
  if (!MayAsk(record, constraints)) {
    const ShapeId shape = ShapeOf(record, WithoutPodTerms(constraints).constraints, whose, delta);
    beyond_.insert_or_assign(record.id, Beyond{constraints, whose});
    return shape;
  }
  const ShapeTable::Interned interned = Interned(record, constraints, delta);
  if (interned.is_new) {
    nodes_.TrackLabels(LabelKeysOf(constraints));
    nodes_.TrackImages(shapes_.Of(interned.id).images);
  }
  return interned.id;
}

ShapeTable::Interned PodTable::Interned(const Record& record, const PodConstraints& constraints,
                                        Delta& delta) {
  ShapeTable::SharedTerms own = LearnTerms(record, constraints, delta);
  if (own != nullptr) asked_.Note(record.facts.namespace_name, *own, queries_);
  return shapes_.Intern(constraints, queries_.MatchesOf(IdentityOf(record)), std::move(own));
}

bool PodTable::MayAsk(const Record& record, const PodConstraints& constraints) const {
  if (!AsksOfPods(constraints)) return true;
  // Each term is one query, and all required affinity together may be another.
  if (asked_.MayAsk(record.facts.namespace_name, PodTermsOf(constraints) + 1)) return true;
  const ShapeTable::SharedTerms own = shapes_.TermsOf(constraints);
  return own != nullptr && asked_.Asks(record.facts.namespace_name, *own, queries_);
}

void PodTable::CountQueriesAgain() {
  asked_.Clear();
  for (const auto& [id, record] : pods_) {
    const ShapeTable::SharedTerms& own = shapes_.OwnTermsOf(record->facts.shape);
    if (own != nullptr) asked_.Note(record->facts.namespace_name, *own, queries_);
  }
  retries_beyond_ = !beyond_.empty();
}

void PodTable::RetryThoseBeyond(Delta& delta) {
  if (!std::exchange(retries_beyond_, false)) return;
  for (const auto& [pod, beyond] : absl::btree_map<PodId, Beyond>(beyond_)) {
    Record& record = *pods_.at(pod);
    Settle(record, ShapeOf(record, beyond.constraints, beyond.whose, delta), delta);
    if (record.facts.gang.valid()) {
      gangs_.SetShape(record.facts.gang, record.id, record.facts.shape, delta);
    }
  }
}

PodTable::Record& PodTable::Admit(const Pod& pod, Delta& delta) {
  // A uid is unique; under another name it is not the pod that we knew.
  if (const auto it = by_uid_.find(pod.meta.uid); it != by_uid_.end()) Remove(**it, delta);
  auto made = std::make_unique<Record>();
  Record& record = *made;
  record.id = PodId(next_++);
  record.facts.namespace_name = pod.meta.namespace_name;
  record.facts.name = pod.meta.name;
  record.facts.uid = pod.meta.uid;
  if (!record.facts.uid.empty()) by_uid_.insert(&record);
  by_name_.insert(&record);
  of_namespace_[record.facts.namespace_name].insert(record.id);
  pods_.emplace(record.id, std::move(made));
  return record;
}

void PodTable::Upsert(const Pod& pod, Delta& delta) {
  RetryThoseBeyond(delta);
  Record* known = Named(pod.meta.namespace_name, pod.meta.name);
  if (known != nullptr && known->facts.uid != pod.meta.uid) {
    Remove(*known, delta);  // the same name, another pod
    known = nullptr;
  }
  const bool first_sight = known == nullptr;
  Record& record = first_sight ? Admit(pod, delta) : *known;
  if (!first_sight && record.facts.node_name.empty() && !pod.node_name.empty()) {
    const NodeId reserved = record.facts.reserved;
    record.started_elsewhere =
        (reserved.valid() ? nodes_.NameOf(reserved) : WantedName(record)) != pod.node_name;
  }
  const bool was_terminating = record.facts.terminating;
  const bool stood = Stays(record);  // a pod that this event binds is filed by its labels
  SetFacts(record, pod);
  volumes_.SetUse(record.id, pod);
  const bool relabelled = labels_.Put(record.id, pod.meta.labels);
  const Identity identity = relabelled || was_terminating != record.facts.terminating
                                ? Identity::kChanged
                                : Identity::kSame;
  const ShapeId shape = ShapeFor(record, pod, identity, delta);
  if (first_sight) mix_.NoteArrival(shape);
  Settle(record, shape, delta);

  const bool ours = IsOurs(pod);
  const PodPlace place = ours ? producers_.Put(record.id, pod, change_) : PodPlace{};
  const GangId last = record.facts.gang;
  const bool stays = stood && Stays(record);
  const GangId gang = !ours ? GangId() : stays ? last : gangs_.GangOf(pod, place, last);
  NoteMoved(record, pod, place);
  if (record.facts.gang.valid() && record.facts.gang != gang) {
    gangs_.RemoveMember(record.facts.gang, record.id, delta);
  }
  const bool joined = gang.valid() && !record.facts.gang.valid();
  record.facts.gang = gang;
  NoteStranger(record, ours ? "" : pod.meta.labels.Get(kPodGroupLabel), delta);
  if (!gang.valid()) return;
  if (relabelled || joined) budgets_.NoteLabels(pod.meta.namespace_name, delta);
  PutMember(record, pod, place, delta);
  const bool is_through = !IsPromised(record);
  if (is_through && misfiled_.contains(record.id)) to_file_.push_back(record.id);
}

// Sets all fields but shape, anchor and gang.
void PodTable::SetFacts(Record& record, const Pod& pod) {
  PodFacts& facts = record.facts;
  facts.resource_version = pod.meta.resource_version;
  facts.terminal = pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
  facts.terminating = pod.meta.deleted.has_value();
  facts.grace = pod.meta.deletion_grace;
  if (!pod.node_name.empty()) facts.reserved = NodeId();
  if (record.awaited && pod.node_name.empty()) return;  // a bind to that name may be under way
  record.awaited = false;
  const bool nominated = pod.node_name.empty() && !facts.terminating && !IsOurs(pod);
  const std::string& wanted = nominated ? pod.nominated_node_name : pod.node_name;
  if (WantedName(record) == wanted && facts.node_name == pod.node_name) return;
  if (record.waits) Detach(record);  // it is listed under the old name
  facts.node_name = pod.node_name;
  if (record.nominated) nominations_.erase(record.id);
  record.nominated = nominated && !wanted.empty();
  if (record.nominated) nominations_[record.id] = {wanted, pod.priority};
}

void PodTable::PutMember(const Record& record, const Pod& pod, const PodPlace& place,
                         Delta& delta) {
  gangs_.PutMember(record.facts.gang,
                   {.pod = record.id,
                    .shape = record.facts.shape,
                    .node = record.facts.node,
                    .state = StateOf(pod),
                    .started_elsewhere = record.started_elsewhere,
                    .sub_group = place.sub_group,
                    .passed_over = place.passed_over,
                    .awaited = place.awaited},
                   pod, delta);
}

void PodTable::Remove(Record& record, Delta& delta) {
  const PodId id = record.id;
  if (record.charged) {
    delta.room_grew.insert(record.anchor);
    NoteVolumesFreed(record, delta);
    GiveBack(record);
  }
  Detach(record);
  if (record.facts.gang.valid()) {
    producers_.Forget(id, change_);
    gangs_.RemoveMember(record.facts.gang, id, delta);
  }
  volumes_.Forget(id);
  labels_.Forget(id);
  beyond_.erase(id);
  moved_.erase(id);
  misfiled_.erase(id);
  NoteStranger(record, "", delta);
  if (record.nominated) nominations_.erase(id);
  if (!record.facts.uid.empty()) by_uid_.erase(&record);
  by_name_.erase(&record);
  const auto neighbours = of_namespace_.find(record.facts.namespace_name);
  neighbours->second.erase(id);
  if (neighbours->second.empty()) of_namespace_.erase(neighbours);
  pods_.erase(id);
}

void PodTable::Remove(absl::string_view namespace_name, absl::string_view name,
                      absl::string_view uid, Delta& delta) {
  Record* record = Named(namespace_name, name);
  if (record == nullptr) return;
  const std::string& known = record->facts.uid;
  if (!uid.empty() && !known.empty() && uid != known) return;
  Remove(*record, delta);
}

// ---- looking

const PodFacts* PodTable::Find(PodId pod) const {
  const auto it = pods_.find(pod);
  return it == pods_.end() ? nullptr : &it->second->facts;
}

std::optional<PodId> PodTable::WithUid(absl::string_view uid) const {
  const auto it = by_uid_.find(uid);
  if (it == by_uid_.end()) return std::nullopt;
  return (*it)->id;
}

void PodTable::ForEachCharge(absl::FunctionRef<void(NodeId, ShapeId, bool nominee)> visit) const {
  for (const auto& [id, record] : pods_) {
    if (record->charged) visit(record->anchor, record->facts.shape, record->as_nominee);
  }
}

void PodTable::NoteShapes(UsedIds& used) const {
  for (const auto& [id, record] : pods_) used.Note(record->facts.shape);
}

absl::Status PodTable::CheckInvariants() const {
  size_t listed = 0;
  for (uint32_t i = 0; i < anchored_.size(); ++i) {
    for (const Record* record : anchored_[i]) {
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
    if (shapes_.Of(record->facts.shape).matches != queries_.MatchesOfSlowly(IdentityOf(*record))) {
      return wrong("is of a shape that other queries select");
    }
    if (record->anchor != AnchorOf(*record)) return wrong("is not where it is bound or reserved");
    if (record->charged != (record->anchor.valid() && !record->facts.terminal)) {
      return wrong(record->charged ? "ended, but is charged"
                                   : "stands on a node, but is not charged");
    }
    if (record->charged && record->as_nominee != record->IsNominee()) return wrong("is miscounted");
  }
  if (listed != anchored) return absl::InternalError("a pod is listed at no node, or at two");
  return absl::OkStatus();
}

}  // namespace maniple
