// The part of the pod table that says which gang a pod belongs to, when that changes while the pod
// runs or is being bound.
#include <memory>
#include <utility>

#include "scheduler/state/pod_table.h"

namespace maniple {

// A running pod stays with the gang in which it was bound, whatever its labels say meanwhile.
// Otherwise it could leave the Queue that is charged for it, or burden another. So does a pod whose
// bind is under way: no other gang may plan it, and it keeps its room until the bind is through.
bool PodTable::Stays(const Record& record) {
  if (!record.facts.gang.valid() || record.facts.terminal) return false;
  return IsPromised(record) || !record.facts.node_name.empty();
}

void PodTable::FollowProducers(Runners runners, Delta& delta) {
  DirectoryChange change = std::exchange(change_, {});
  for (const PodId pod : change.pods) {
    const auto at = pods_.find(pod);
    if (at == pods_.end() || !at->second->facts.gang.valid()) continue;
    FileAnew(*at->second, runners, delta);
  }
  for (const GroupName& gang : change.gangs) {
    const ForeignGang* foreign = producers_.Find(gang);
    const GangKey key{.namespace_name = gang.namespace_name, .name = gang.group_name};
    gangs_.SetForeign(
        key, foreign == nullptr ? nullptr : std::make_shared<const ForeignGang>(*foreign), delta);
    gangs_.SetAsksForNone(key, producers_.AsksForNone(gang), delta);
  }
}

// A pod bound for a gang that was not declared yet was bound for the gang that turns up, and a pod
// that runs by itself becomes a member when its owner grows into a gang.
void PodTable::FileAnew(Record& record, Runners runners, Delta& delta) {
  if (IsPromised(record) && !record.facts.terminal) {
    misfiled_.insert(record.id);
    return;
  }
  const bool runs = runners == Runners::kStay && Stays(record);
  const bool ran_alone = runs && gangs_.IsSingle(record.facts.gang);
  const PodPlace place = producers_.PlaceOf(record.id);
  const bool may_move =
      ran_alone ? !place.group_name.empty() : gangs_.IsMereName(record.facts.gang);
  misfiled_.erase(record.id);
  if (runs && !may_move) return;
  record.facts.gang = gangs_.Rehome({.pod = record.id,
                                     .from = record.facts.gang,
                                     .namespace_name = record.facts.namespace_name,
                                     .pod_name = record.facts.name,
                                     .ran_alone = ran_alone},
                                    place, delta);
}

bool PodTable::IsPromised(const Record& record) {
  return record.facts.reserved.valid() || record.awaited;
}

void PodTable::NoteMoved(const Record& record, const Pod& pod, const PodPlace& place) {
  if (!moved_.empty()) moved_.erase(record.id);
  const GangId last = record.facts.gang;
  if (!last.valid() || record.facts.terminal || !IsPromised(record)) return;
  if (!gangs_.IsPlaceOf(last, pod, place)) moved_.emplace(record.id, pod);
}

void PodTable::NoteStranger(const Record& record, absl::string_view group, Delta& delta) {
  for (const GangKey& key : strangers_.Note(record.id, record.facts.namespace_name, group)) {
    gangs_.Touch(key, delta);
  }
}

void PodTable::FileMoved(Delta& delta) {
  for (const PodId id : std::exchange(to_file_, {})) {
    const auto known = pods_.find(id);
    if (known == pods_.end() || IsPromised(*known->second)) continue;
    if (const auto moved = moved_.find(id); moved != moved_.end()) {
      const Pod pod = std::move(moved->second);
      misfiled_.erase(id);
      Upsert(pod, delta);
    } else if (misfiled_.contains(id)) {
      FileAnew(*known->second, Runners::kStay, delta);
    }
  }
}

}  // namespace maniple
