// The objects of a small cluster, which change at random as those of a real one may.
//
//   WorldOfEvents world(seed);
//   state.Apply(world.Next(), now, delta);      // … and so on
//   if (world.is_settled()) …world.AllThereIs(), as a fresh state would be told…
//
// A pod that ran once keeps its node and its group, and does not wake up again: what a running pod
// said before is remembered on purpose.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/oracle/state/random_objects.h"

namespace maniple {

class WorldOfEvents final : private RandomObjects {
 public:
  using RandomObjects::UpstreamGroups;

  explicit WorldOfEvents(uint64_t seed) : RandomObjects(seed) {}

  // Of a node or a PodGroup that cannot be read, what it said last counts: only those know it who
  // saw that. It is mended by the next event.
  [[nodiscard]] bool is_settled() const { return !mended_.has_value(); }
  [[nodiscard]] std::vector<ObjectEvent> AllThereIs() const;

  // A pod that is bound after it left its group stays in it while room is kept for it.
  // So it is not bound before this says that no room is kept any more.
  void NoRoomIsKept() { regrouped_.clear(); }

  // Something comes, is edited, goes, cannot be read any more, or is told once more.
  ObjectEvent Next();

 private:
  static const Object& ObjectOf(const ObjectEvent& event);
  static ObjectKey KeyOf(const Object& object);
  ObjectEvent Put(const ObjectEvent& event);
  template <typename T>
  const T* Known(const ObjectKey& key) const {
    const auto at = objects_.find(key);
    return at == objects_.end() ? nullptr : &std::get<T>(at->second);
  }

  static ObjectEvent RefusalOf(const ObjectKey& key);
  static bool IsRemembered(ResourceKind kind);
  ObjectEvent Refuse(const ObjectKey& key, const Object& object);

  // Delivers an event twice, deletes, refuses, or tells late of an older object of that name.
  ObjectEvent Again();
  static bool TellsUids(ResourceKind kind);

  // A pod that is made, or the next step in the life of one.
  ObjectEvent AnyPod();

  Pod NewPod(const std::string& name, const std::string& in);

  static void Drop(StringMap& labels, absl::string_view key);
  void Relabel(Pod& pod);
  void Regroup(Pod& pod);

  void Edit(Pod& pod);
  void Resize(Pod& pod);

  int made_ = 0;
  std::map<ObjectKey, Object> objects_;
  std::set<ObjectKey> refused_;
  std::set<std::string> regrouped_;  // uids of pods
  std::optional<Object> mended_;
};

}  // namespace maniple
